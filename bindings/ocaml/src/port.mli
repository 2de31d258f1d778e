(** Ports: frames instead of rings. A port has a UMEM, a socket, a program and a route of its own.

    Sending copies a frame into the UMEM, receiving out of it: for those who can afford a copy and
    an allocation for each frame. Frames are whole Ethernet frames, with all VLAN tags and without
    checksum (FCS).

    A port that is forgotten is closed by the collector. One thread at a time may send and one
    receive. Linux 6.1 or newer; needs CAP_NET_RAW, and to receive CAP_NET_ADMIN and CAP_BPF, or
    {!open_through_daemon}. *)

type t

module Config : sig
  type t = {
    mode : Program.Mode.t;
    filter : Program.Filter.t;
    umem : Umem.Config.t;
    socket : Socket.Config.t;  (** with an [rx_size] of 0 the port only sends *)
  }

  val default : t
  (** All frames, and the defaults of its parts. *)
end

val open_ : interface:string -> queue:int -> Config.t -> t
(** @raise Xsk.Error as {!Umem.create}, {!Socket.create}, {!Program.attach}, {!Program.route}. *)

val open_through_daemon :
  ?daemon_socket:string -> interface:string -> queue:int -> Config.t -> t
(** The same for a process without privileges: made by the strata daemon that listens at
    [daemon_socket] ($STRATA_BROKER_SOCKET, or /run/strata/broker.sock), if its policy allows it.
    The program is the daemon's, and goes with the port. Linux 6.4 or newer.
    @raise Xsk.Error as {!Socket.open_through_daemon}. *)

val close : t -> unit
(** Frames that the kernel has not sent yet are lost. Twice is harmless. After it all but
    [is_closed] raise {!Xsk.Closed}. *)

val is_closed : t -> bool

val send : t -> bytes -> bool
(** [false] when there is no room now: the kernel is still busy with earlier frames; wait a little
    and try again. Never waits.
    @raise Xsk.Error
      [EINVAL] for an empty frame or one longer than a frame of the UMEM (unless [Multi_buffer]);
      of the link [ENETDOWN], [ENODEV]. *)

val send_batch : t -> bytes array -> pos:int -> nb:int -> int
(** The same for [nb] frames; returns how many were taken, from the first on. Raises only when none
    was.
    @raise Invalid_argument when [pos] and [nb] are not within the array. *)

val receive : t -> timeout_ms:int -> bytes option
(** The next frame; [None] when none came within [timeout_ms] (negative: waits for ever; 0: does
    not). Other threads and signal handlers run meanwhile, as for {!Rx_queue.poll}. *)

val receive_batch : t -> bytes array -> pos:int -> nb:int -> timeout_ms:int -> int
(** Waits for the first of up to [nb] frames (64 at most), puts new byte strings into the array from
    [pos] on, and returns how many.
    @raise Invalid_argument when [pos] and [nb] are not within the array. *)

val fd : t -> Unix.file_descr
(** To wait for frames with [Unix.select] and the like; it stays the port's. *)

val is_zerocopy : t -> bool

val is_native : t -> bool option
(** Whether its program is in the driver; [None] for a port that only sends. *)

val flush : t -> timeout_ms:int -> unit
(** Waits until the kernel has sent all frames; negative: for ever. Other threads run meanwhile.
    @raise Xsk.Error [ETIMEDOUT] when it has not. *)

val statistics : t -> Socket.Statistics.t
