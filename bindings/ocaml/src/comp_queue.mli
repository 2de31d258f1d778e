(** The completion ring: addresses of frames that were sent, and are free again. Sockets of one UMEM
    on one queue of an interface have one in common.

    Does not allocate or wait. One thread at a time may consume from a ring. *)

type t

val consume : t -> int array -> pos:int -> nb:int -> int
(** Writes up to [nb] addresses into the array from [pos] on, and returns how many there were.
    @raise Invalid_argument when [pos] and [nb] are not within the array.
    @raise Xsk.Closed when the socket was closed. *)

(**/**)

val of_endpoint : Endpoint.t -> t
