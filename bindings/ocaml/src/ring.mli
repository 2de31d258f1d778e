(** Packet rings: memory that the kernel writes frames to (PACKET_MMAP), from which many are copied
    without a system call. The rules of {!Raw_socket} hold. *)

module Kind : sig
  type t =
    | Blocks of { size : int; count : int; timeout_ms : int; send_slots : int }
        (** Frames come by blocks, when one is full or the time has passed (TPACKET_V3): for many
            frames. [size] in bytes, a power of two from a page on; with [send_slots] of 0 it cannot
            send. *)
    | Frames of { slots : int }
        (** Each is there at once (TPACKET_V2): where one frame's delay counts. *)

  val blocks : t
  (** 16 of 256 KiB, 1 ms, no sending. *)

  val frames : t
  (** 1024. *)
end

type t

val open_ : interface:string -> Kind.t -> Raw_socket.Config.t -> t
(** @raise Xsk.Error
      as {!Raw_socket.open_}; [EMSGSIZE] when its memory is more than 1 GiB or half of the
      machine's. *)

val close : t -> unit
val is_closed : t -> bool

val send_batch : t -> bytes array -> pos:int -> nb:int -> int
(** As {!Raw_socket.send_batch}.
    @raise Xsk.Error [EOPNOTSUPP] when it has no slots to send. *)

val receive : t -> timeout_ms:int -> bytes option
val receive_batch : t -> bytes array -> pos:int -> nb:int -> timeout_ms:int -> int
val fd : t -> Unix.file_descr
val statistics : t -> Raw_socket.Statistics.t
