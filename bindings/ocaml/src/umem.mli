(** UMEM: the memory whose frames sockets send from and receive into.

    It is divided into frames of one size. A frame is known by its address, the offset in bytes from
    the memory's beginning; which frame is whose is the user's book-keeping: a frame belongs to the
    kernel from the moment that its address is produced to a {!Fill_queue} or {!Tx_queue} until it
    comes back from the {!Rx_queue} or {!Comp_queue}.

    The memory lives as long as the UMEM is open, a socket uses it, or a Bigarray of it (or a part
    of one) can be reached: it never dangles. A UMEM that is forgotten is closed by the collector.

    Threads: any may call; the runtime lock puts the calls in order. Linux 6.1 or newer. *)

type t

type buffer = (char, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

module Flag : sig
  type t =
    | Unaligned
        (** Frames may begin anywhere, and have any size from 2048 to 4096. Addresses that the
            kernel returns then carry an offset in their upper 16 bits. *)
    | Huge_pages  (** of 2 MiB, which the administrator sets aside (vm.nr_hugepages) *)
end

module Config : sig
  type t = {
    frame_count : int;
    frame_size : int;  (** bytes: 2048 or 4096, unless [Unaligned] *)
    headroom : int;  (** bytes free in front of each received frame, beside the kernel's 256 *)
    flags : Flag.t list;
  }

  val default : t
  (** 4096 frames of 4096 bytes, no headroom, no flag. *)

  (**/**)

  val to_ints : string -> t -> int array
  val size : t -> int
end

val create : Config.t -> t
(** Allocates the memory, all zeros.
    @raise Xsk.Error
      [EINVAL] for a size that the kernel would refuse; [ENOMEM] when there is no such memory.
    @raise Invalid_argument for a size that is negative or above 2{^32}-1. *)

val create_over : Config.t -> buffer -> t
(** The same in memory of the caller's, from a page's beginning on, as [Unix.map_file] gives it of a
    file in memory (tmpfs, hugetlbfs; Linux 6.5 takes none of a disk's: [EFAULT] of a socket): a
    mapping that other programs share, say. It stays reachable as long as the UMEM's memory does.
    @raise Xsk.Error [EINVAL] for memory that does not begin with a page, or is too small.
    @raise Invalid_argument as [create]. *)

val close : t -> unit
(** Gives the UMEM up: no more sockets can be made of it, and its memory is not reached through it.
    Sockets that are open go on, as do Bigarrays that [memory] returned. Twice is harmless. *)

val is_closed : t -> bool
val config : t -> Config.t
val frame_count : t -> int

val frame_size : t -> int
(** In bytes. *)

val memory : t -> buffer
(** The memory itself, not a copy; always the same Bigarray.
    @raise Xsk.Closed after [close], as all below. *)

(** {1 Addresses} *)

val frame : t -> int -> int
(** Where frame [0 <= index < frame_count] begins: its address.
    @raise Invalid_argument for another. *)

val frame_of : t -> int -> int
(** The beginning of the frame that an address from a ring is in, to be used again. (With
    [Unaligned]: the address that was produced, if that was one of [frame].)
    @raise Invalid_argument for a negative address. *)

val position : t -> int -> int
(** Where in [memory] an address of a ring is: the address itself, but for [Unaligned]. Does not
    allocate.
    @raise Invalid_argument for a negative address. *)

(** {1 Bytes}

    All raise [Invalid_argument] for bytes outside of the UMEM or of the caller's buffer. All but
    [read] allocate nothing. *)

val read : t -> Desc.t -> bytes
(** A copy of what a descriptor from a ring is about. *)

val read_into : t -> Desc.t -> bytes -> pos:int -> unit
(** The same, into a buffer from [pos] on. *)

val write : t -> addr:int -> bytes -> pos:int -> len:int -> unit
(** Copies [len] bytes from [pos] on to the address [addr]. *)

val get_uint8 : t -> int -> int
(** At a position (not an address) of the memory, as those below. *)

val set_uint8 : t -> int -> int -> unit

val get_uint16_be : t -> int -> int
(** Big-endian, as network headers are. *)

val set_uint16_be : t -> int -> int -> unit

(**/**)

type handle

val handle : t -> handle

val make : string -> Config.t -> make_in:(handle -> int) -> t
(** Of what [make_in] puts into the handle; it returns 0 or a code as [Fault.check] takes it. *)
