exception Error of Unix.error * string * string
exception Closed of string

let () =
  Printexc.register_printer (function
    | Error (code, operation, sentence) ->
        Some (Printf.sprintf "Xsk.Error(%s, %s): %s" (Unix.error_message code) operation sentence)
    | Closed operation -> Some (Printf.sprintf "Xsk.Closed(%s)" operation)
    | _ -> None)

external last_error : unit -> string = "xsk_last_error"
external unix_error : int -> Unix.error = "xsk_unix_error"

(* As handles.h has them. *)
let closed_code = -100_000
let range_code = -100_001
let busy_code = -100_002

let raise_for operation code =
  if code = closed_code then raise (Closed operation)
  else if code = range_code then
    invalid_arg (operation ^ ": an address, length or option that is negative or too large")
  else if code = busy_code then
    raise (Error (Unix.EBUSY, operation, "another thread is in a call with it"))
  else raise (Error (unix_error (-code), operation, last_error ()))

let check operation code = if code < 0 then raise_for operation code else code

(* For what does not come from strata, which then has no sentence for it. *)
let check_system operation code =
  if code >= 0 || code = closed_code then check operation code
  else
    let error = unix_error (-code) in
    raise (Error (error, operation, Unix.error_message error))

let refuse operation what = invalid_arg (operation ^ ": " ^ what)

(* [length - nb] cannot overflow, as [pos + nb] could. *)
let check_slice operation ~length ~pos ~nb =
  if pos < 0 || nb < 0 || pos > length - nb then
    refuse operation
      (Printf.sprintf "pos %d and nb %d are not within an array of %d" pos nb length)

let check_range operation what ~most number =
  if number < 0 || number > most then
    refuse operation (Printf.sprintf "%s is %d, not from 0 to %d" what number most)

let largest_u32 = 0xffff_ffff

(* The C library would take no more of it than what is in front of a NUL. *)
let check_name operation ~kind name =
  if name = "" || String.contains name '\000' then
    refuse operation (Printf.sprintf "%S is no %s" name kind)

let check_interface = check_name ~kind:"interface's name"
let check_daemon_socket = check_name ~kind:"path of a daemon's socket"
