type t = { mutable addr : int; mutable len : int; mutable options : int }

let create () = { addr = 0; len = 0; options = 0 }
let make_array count = Array.init count (fun _ -> create ())
let continues_option = 1
let continues t = t.options land continues_option <> 0
