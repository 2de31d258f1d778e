(* What tests say, and the list of them. *)

exception Failed of string

let fail format = Printf.ksprintf (fun text -> raise (Failed text)) format
let is_true what holds = if not holds then fail "%s: does not hold" what
let int what ~wanted got = if got <> wanted then fail "%s: %d, not %d" what got wanted

let bytes what ~wanted got =
  if not (Bytes.equal got wanted) then
    fail "%s:\n  got    %S\n  wanted %S" what (Bytes.to_string got) (Bytes.to_string wanted)

let describe = function Failed text -> text | raised -> Printexc.to_string raised

let raises what is_wanted run =
  match run () with
  | _ -> fail "%s: raised nothing" what
  | exception (Failed _ as failed) -> raise failed
  | exception raised when is_wanted raised -> ()
  | exception raised -> fail "%s: raised %s" what (Printexc.to_string raised)

let closed what run = raises what (function Xsk.Closed _ -> true | _ -> false) run
let invalid what run = raises what (function Invalid_argument _ -> true | _ -> false) run

(* The operation and a word of the sentence. *)
let error what ~code ~operation ~says run =
  let mentions text =
    let size = String.length says in
    let rec at i =
      i + size <= String.length text && (String.sub text i size = says || at (i + 1))
    in
    at 0
  in
  raises what
    (function
      | Xsk.Error (got, name, text) -> got = code && name = operation && mentions text
      | _ -> false)
    run

let failures = ref 0

let test name run =
  match run () with
  | () -> Printf.printf "ok      %s\n%!" name
  | exception raised ->
      incr failures;
      Printf.printf "FAILED  %s: %s\n%!" name (describe raised)
