(** The fill ring: addresses of frames for the kernel to receive into. Sockets of one UMEM on one
    queue of an interface have one in common.

    No call allocates or waits. All raise {!Xsk.Closed} when the socket was closed. One thread at
    a time may produce to a ring. *)

type t

val produce : t -> int array -> pos:int -> nb:int -> int
(** [produce t addresses ~pos ~nb] hands the frames at [addresses.(pos)] to
    [addresses.(pos + nb - 1)] to the kernel. All or nothing: [nb], or 0 when the ring has not as
    many free places.
    @raise Invalid_argument
      when [pos] and [nb] are not within the array, or an address is negative; then nothing is
      produced. *)

val needs_wakeup : t -> bool
(** Whether the kernel sleeps until [wakeup_kernel]; never without the socket's [Need_wakeup]. *)

val wakeup_kernel : t -> unit
(** Has the kernel look at the ring.
    @raise Xsk.Error for the link ([ENETDOWN], [ENODEV]). *)

val produce_and_wakeup_kernel : t -> int array -> pos:int -> nb:int -> int
(** [produce], then [wakeup_kernel] when that [needs_wakeup]. When the latter raises, the frames
    are the kernel's already. *)

(**/**)

val of_endpoint : Endpoint.t -> t
