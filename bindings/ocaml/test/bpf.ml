(* What a loader of XDP programs does: bpf_stubs.c. *)

external descriptor_of_int : int -> Unix.file_descr = "%identity"
external make_map : unit -> int = "test_bpf_map"
external make_program : Unix.file_descr -> int = "test_bpf_program"

let made number =
  if number < 0 then failwith (Printf.sprintf "bpf(2): errno %d" (-number));
  descriptor_of_int number

let map () = made (make_map ())

(* It redirects every frame to entry 5 of the map. *)
let program map = made (make_program map)
