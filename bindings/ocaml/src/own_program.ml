type handle
type t = handle
type mode = Automatic | Native | Generic | Hardware

external blank : unit -> handle = "xsk_own_program_blank"
external attach_in : handle -> string -> Unix.file_descr -> int -> int = "xsk_own_program_attach"
external close : handle -> unit = "xsk_own_program_close"
external mode_raw : handle -> int = "xsk_own_program_mode"

let to_int = function Automatic -> 0 | Native -> 1 | Generic -> 2 | Hardware -> 3

let attach ~interface program mode =
  Fault.check_interface "Own_program.attach" interface;
  let made = blank () in
  ignore (Fault.check "Own_program.attach" (attach_in made interface program (to_int mode)));
  made

let mode t =
  match Fault.check "Own_program.mode" (mode_raw t) with
  | 1 -> Native
  | 3 -> Hardware
  | _ -> Generic
