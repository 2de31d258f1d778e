(* A socket, ring, channel or netlink connection, and what they have in common. *)

type t

external blank : int -> t = "xsk_device_blank"
external close : t -> unit = "xsk_device_close"
external fd_raw : t -> int = "xsk_device_fd"
external descriptor_of_int : int -> Unix.file_descr = "%identity"

let is_closed t = fd_raw t < 0
let fd operation t = descriptor_of_int (Fault.check operation (fd_raw t))
