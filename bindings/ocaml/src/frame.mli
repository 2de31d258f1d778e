(** Ethernet frames with VLAN tags (IEEE 802.3, 802.1Q), as values. *)

module Tag : sig
  type t = {
    tpid : int;  (** 0x8100 (802.1Q) or 0x88a8 (802.1ad) *)
    vlan_id : int;  (** VID, 0 to 4094; 0 gives only a priority *)
    priority : int;  (** PCP, 0 to 7 *)
    drop_eligible : bool;  (** DEI *)
  }

  val make : ?tpid:int -> ?priority:int -> ?drop_eligible:bool -> int -> t
  (** The tag of a VID: 802.1Q, priority 0. *)
end

type t = {
  destination : Mac.t;
  source : Mac.t;
  tags : Tag.t list;  (** outermost first, four at most *)
  ethertype : int option;  (** [None]: an 802.3 frame, which has its payload's length there *)
  payload : bytes;
}

val build : ?mtu:int -> t -> bytes
(** Padded to 60 bytes. The payload may have [mtu] bytes (1500).
    @raise Invalid_argument for a number that a field does not hold.
    @raise Xsk.Error [EINVAL] when a field cannot be right, [EMSGSIZE] above the MTU. *)

val parse : bytes -> t
(** With copies of what it has.
    @raise Xsk.Error [EBADMSG] when it ends within its header. *)
