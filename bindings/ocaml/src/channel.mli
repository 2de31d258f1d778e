(** Messages between processes in raw Ethernet frames: all that open the same name on the same
    interface hear each other.

    A channel that is forgotten is closed by the collector. One thread at a time is in a call with
    it; another that calls meanwhile gets {!Xsk.Error} [EBUSY]. All calls but [fd] let other threads
    run. Needs CAP_NET_RAW. *)

module Config : sig
  type t = {
    interface : string;  (** "lo": between processes of this machine *)
    name : string;
    ethertype : int;
    acknowledged : bool;
        (** exactly two endpoints, and each message arrives once and in order; else any number, and
            a slow one loses some *)
    max_message : int;  (** bytes; both ends should agree *)
    send_buffer : int;  (** bytes of frames that wait to be sent, or acknowledged *)
    receive_buffer : int;  (** bytes of frames that the kernel keeps *)
    max_delay_us : int;  (** the longest that a posted message waits for others *)
    send_timeout_ms : int;
    peer_timeout_ms : int;  (** acknowledged: a peer that says nothing for this time is gone *)
  }

  val default : t
  (** "lo", "default", 0xaaaa, unacknowledged, 1 MiB, 4 MiB, 8 MiB, 100 us, 5 s, 5 s. *)
end

type t

val open_ : Config.t -> t
(** @raise Xsk.Error [ENODEV], [EPERM], and [EINVAL] for a limit that cannot be right. *)

val close : t -> unit
(** Sends what was posted, if there is room, and tells the peer. Twice is harmless. *)

val is_closed : t -> bool

val send : t -> bytes -> unit
(** At once, waiting for room for up to [send_timeout_ms].
    @raise Xsk.Error
      [EMSGSIZE] above [max_message], [ETIMEDOUT], [ENETDOWN]; [ECONNRESET] once when the peer is
      gone. *)

val post : t -> bytes -> bool
(** Leaves it to go together with others; [false] when there is no room now. *)

val flush : t -> unit

val finish : t -> timeout_ms:int -> unit
(** Waits until all is sent, and, acknowledged, has arrived.
    @raise Xsk.Error [ETIMEDOUT]. *)

val receive : t -> timeout_ms:int -> bytes option
(** The next message; [None] when none came within [timeout_ms] (negative: waits for ever; 0: does
    not).
    @raise Xsk.Error [ECONNRESET] once when the peer is gone; [ENETDOWN]. *)

val has_peer : t -> bool
(** Acknowledged: the two ends have found each other. *)

val fd : t -> Unix.file_descr
