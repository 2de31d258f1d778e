(* A socket, ring, channel or netlink connection, and what they have in common. *)

type t

external blank : int -> t = "xsk_device_blank"
external close : t -> unit = "xsk_device_close"
external fd_raw : t -> int = "xsk_device_fd"
external descriptor_of_int : int -> Unix.file_descr = "%identity"

(* Whether [call] gives 1 within that many milliseconds, negative: for ever. It is called for a
   tenth of a second at a time, and signal handlers run in between. *)
let wait_in_pieces operation ~timeout_ms call =
  let piece_ms = 100 in
  let until = Unix.gettimeofday () +. (float_of_int timeout_ms /. 1000.) in
  let rec wait () =
    let left =
      if timeout_ms < 0 then piece_ms
      else
        let left = ceil ((until -. Unix.gettimeofday ()) *. 1000.) in
        max 0 (min piece_ms (int_of_float left))
    in
    Fault.check operation (call left) = 1 || (left <> 0 && wait ())
  in
  wait ()

let is_closed t = fd_raw t < 0
let fd operation t = descriptor_of_int (Fault.check operation (fd_raw t))
