type t = string

external parse : string -> bytes -> int = "xsk_mac_parse"
external format : string -> string = "xsk_mac_format"

let of_string text =
  let made = Bytes.create 6 in
  ignore (Fault.check "Mac.of_string" (parse text made));
  Bytes.unsafe_to_string made

let of_bytes bytes =
  if String.length bytes <> 6 then Fault.refuse "Mac.of_bytes" "a MAC address has 6 bytes";
  bytes

let to_string = format
let to_bytes t = t
let broadcast = "\255\255\255\255\255\255"
