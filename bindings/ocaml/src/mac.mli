(** MAC addresses: plain values. *)

type t

val of_string : string -> t
(** From ["aa:bb:cc:dd:ee:ff"], or with ['-'].
    @raise Xsk.Error [EINVAL] for anything else. *)

val of_bytes : string -> t
(** From its six bytes, as they stand in a frame.
    @raise Invalid_argument for another number of bytes. *)

val to_string : t -> string
val to_bytes : t -> string

val broadcast : t
(** ff:ff:ff:ff:ff:ff *)
