(** Which frames come to a socket: {!Program.Filter}. *)

(** What is [None] is not asked for. *)
type t = {
  ethertype : int option;  (** behind all VLAN tags *)
  vlan_id : int option;  (** of the outermost tag *)
  destination : Mac.t option;
  udp_port : int option;  (** the destination's *)
}

val all : t
(** Every frame. *)

(**/**)

val to_ints : string -> t -> int array
val mac : t -> string
