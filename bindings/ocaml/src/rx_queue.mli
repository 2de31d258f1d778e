(** The receive ring: frames that came.

    No call allocates. One thread at a time may consume from a ring. All raise {!Xsk.Closed} when
    the socket was closed, also by another thread while they wait. *)

type t

val consume : t -> Desc.t array -> pos:int -> nb:int -> int
(** Writes up to [nb] frames into the descriptors from [pos] on, which must be different ones (see
    {!Desc.make_array}), and returns how many there were. The frames are then the caller's, who
    gives them back by the {!Fill_queue}. Never waits.
    @raise Invalid_argument when [pos] and [nb] are not within the array. *)

val poll : t -> timeout_ms:int -> bool
(** Waits until there is something to receive: [false] after [timeout_ms] (negative: never; 0: does
    not wait). Other threads run meanwhile. Signal handlers run too, and the waiting then goes on,
    unless the handler raises.
    @raise Xsk.Error when the kernel cannot wait. *)

val poll_and_consume : t -> timeout_ms:int -> Desc.t array -> pos:int -> nb:int -> int
(** [consume]; when there is nothing, [poll] and [consume]. 0 when nothing came in time, and at once
    for an [nb] of 0. *)

(**/**)

val of_endpoint : Endpoint.t -> t
