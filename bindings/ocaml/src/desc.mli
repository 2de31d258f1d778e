(** A frame, or a part of one, that stands in a receive or transmit ring: [struct xdp_desc].

    Plain records of the caller: queues read and write them, and keep none. *)

type t = {
  mutable addr : int;
      (** Where it is in the UMEM. With {!Umem.Flag.t.Unaligned} the upper bits are an offset: see
          {!Umem.position}. *)
  mutable len : int;  (** bytes, 0 to 2{^32}-1 *)
  mutable options : int;  (** 0, or {!continues_option} *)
}

val create : unit -> t
(** All zeros. *)

val make_array : int -> t array
(** As many different descriptors. ([Array.make n (create ())] would be [n] times the same one.) *)

val continues_option : int
(** The frame goes on in the next descriptor: multi-buffer, Linux 6.6. *)

val continues : t -> bool
