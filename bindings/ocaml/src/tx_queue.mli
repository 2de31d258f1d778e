(** The transmit ring: frames for the kernel to send.

    No call allocates or waits. All raise {!Xsk.Closed} when the socket was closed. One thread at
    a time may produce to a ring. *)

type t

val produce : t -> Desc.t array -> pos:int -> nb:int -> int
(** [produce t descriptors ~pos ~nb] hands frames to the kernel, in order. All or nothing: [nb], or
    0 when the ring has not as many free places. The descriptors may be used again at once, the
    frames not before their addresses come from the {!Comp_queue}. What the kernel cannot send (an
    address outside of the UMEM, say) it counts as [invalid_tx]; newer kernels return it by the
    {!Comp_queue}, older do not.
    @raise Invalid_argument
      when [pos] and [nb] are not within the array, or a field of a descriptor is negative or above
      2{^32}-1 (the address: 2{^62}-1); then nothing is produced. *)

val needs_wakeup : t -> bool
(** Whether the kernel sends nothing until [wakeup_kernel]: always so in copy mode. *)

val wakeup_kernel : t -> bool
(** Has the kernel send what is in the ring. [false] when it took only a part (in copy mode 32
    frames a call) or was busy, and wants to be called again.
    @raise Xsk.Error for the link ([ENETDOWN], [ENODEV]). *)

val produce_and_wakeup_kernel : t -> Desc.t array -> pos:int -> nb:int -> int
(** [produce], then [wakeup_kernel] as often as [nb] frames take, when that [needs_wakeup]. When
    the kernel is busy some may stay in the ring until a later wakeup, and when that raises, all. *)

(**/**)

val of_endpoint : Endpoint.t -> t
