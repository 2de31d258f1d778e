(** AF_XDP sockets: one queue of one interface, and its rings.

    What arrives there comes to a socket only when a {!Program} brings it. Sending needs none.

    A socket keeps its UMEM's memory, whatever becomes of the {!Umem.t}. One that is forgotten is
    closed by the collector, when its queues are forgotten too; [close] does it at once. After that
    all calls on it and its queues raise {!Xsk.Closed}.

    Threads: different threads may use its different rings. Calls that wait let other threads run.
    Linux 6.1 or newer; needs CAP_NET_RAW, or {!open_through_daemon}. *)

type t

module Mode : sig
  type t =
    | Automatic  (** zero-copy if the driver can *)
    | Copy
    | Zerocopy  (** the driver reads and writes the UMEM itself, or [create] fails *)

  (**/**)

  val to_int : t -> int
end

module Flag : sig
  type t =
    | Need_wakeup  (** the kernel sleeps when it has nothing to do: see [needs_wakeup] *)
    | Multi_buffer  (** frames larger than one of the UMEM come in parts; Linux 6.6 *)
end

module Config : sig
  type busy_poll = {
    duration_us : int;
    budget : int;  (** frames at once, 1 to 65535 *)
  }

  type t = {
    rx_size : int;  (** entries of the ring, a power of two; 0: the socket only sends *)
    tx_size : int;  (** likewise; 0: it only receives *)
    fill_size : int;
    comp_size : int;
    mode : Mode.t;  (** all sockets of a UMEM have the first one's *)
    flags : Flag.t list;
    busy_poll : busy_poll option;
        (** The kernel polls the driver within the calls of the socket's user; Linux 5.11. *)
    busy_limit_ms : int;
        (** How long to wait for a queue that is still held, as it is for some 20 ms after its last
            socket was closed. *)
  }

  val default : t
  (** Rings of 2048, [Automatic], [[Need_wakeup]], no busy polling, 500 ms. *)

  (**/**)

  val to_ints : string -> t -> int array
end

(** What the kernel counted since the socket was made. *)
module Statistics : sig
  type t = {
    dropped : int;  (** frames that a program brought to the socket, and that were lost *)
    rx_ring_full : int;  (** those of them for which the receive ring had no room *)
    fill_ring_empty : int;  (** looks for a frame to receive into that found none *)
    tx_ring_empty : int;  (** looks for something to send that found nothing *)
    invalid_rx : int;  (** addresses in the fill ring outside of the UMEM *)
    invalid_tx : int;  (** descriptors in the transmit ring that are not within it *)
  }

  (**/**)

  val read : string -> (int array -> int) -> t
end

val create : Umem.t -> interface:string -> queue:int -> Config.t -> t
(** Binds to a queue of an interface. Sockets of one UMEM on one queue have the fill and the
    completion ring in common; on other queues and interfaces they have their own.
    @raise Xsk.Error
      [ENODEV] when there is no such interface; [EPERM] without CAP_NET_RAW; [EBUSY] when another
      UMEM's socket holds the queue; [EOPNOTSUPP] for a mode that the driver lacks; [ENOBUFS] when
      more memory would be locked than allowed; [EINVAL] when there is no such queue or a size is
      wrong.
    @raise Xsk.Closed when the UMEM was closed.
    @raise Invalid_argument for numbers that the kernel could not even be told. *)

val open_through_daemon :
  ?daemon_socket:string ->
  interface:string ->
  queue:int ->
  ?mode:Attach_mode.t ->
  ?filter:Filter.t ->
  umem:Umem.Config.t ->
  Config.t ->
  t
(** The same for a process without privileges: the strata daemon that listens at [daemon_socket]
    ($STRATA_BROKER_SOCKET, or /run/strata/broker.sock) makes the socket, its UMEM, which
    {!umem} returns, and, when it receives, the program and the route for [filter]
    ({!Program.Filter.all}) in [mode] ([Automatic]), if its policy allows that. Linux 6.4 or newer.

    Socket and UMEM are owned as others are, and closed in any order. The program stays the
    daemon's, and goes with the socket. Waits for the daemon, 10 s at most; other threads run
    meanwhile.
    @raise Xsk.Error
      [EPERM] when the policy forbids it; [ENOENT], [ECONNREFUSED] or [EACCES] when no daemon can be
      reached; [EOPNOTSUPP] before Linux 6.4, and for [Huge_pages]; [EMSGSIZE] above 64 MiB; and all
      that the daemon met when it made the socket, in its words.
    @raise Invalid_argument for numbers that the kernel could not even be told. *)

val close : t -> unit
(** Twice is harmless. When another thread waits for the socket, the kernel's part of it goes when
    that thread's waiting ends. *)

val is_closed : t -> bool
val umem : t -> Umem.t

(** {1 Queues}

    Always the same ones; they keep the socket from the collector, and may be used after [close],
    to get {!Xsk.Closed}. *)

val fill_queue : t -> Fill_queue.t
val comp_queue : t -> Comp_queue.t

val rx_queue : t -> Rx_queue.t
(** @raise Invalid_argument when [rx_size] was 0. *)

val tx_queue : t -> Tx_queue.t
(** @raise Invalid_argument when [tx_size] was 0. *)

(** {1 The socket itself}

    All raise {!Xsk.Closed} after [close]. *)

val enter_in_map : ?key:int -> t -> Unix.file_descr -> unit
(** Has an entry of an XSKMAP lead to it: [key], or that of its queue's number. The kernel takes it
    out when the socket closes. For programs of one's own: {!Own_program}.
    @raise Xsk.Error [E2BIG] above the map's last key; another for what is no such map.
    @raise Xsk.Closed after [close]. *)

val fd : t -> Unix.file_descr
(** For [Unix.select] and the like. It stays the socket's: do not close it, nor use it after
    [close]. *)

val is_zerocopy : t -> bool
(** The mode that the kernel chose. *)

val is_busy_polled : t -> bool option
(** Whether busy polling has an effect; the kernel tells only after the first frame: [None]. *)

val statistics : t -> Statistics.t

val wakeup_receive : t -> unit
(** Has the kernel look at the fill ring. Never waits.
    @raise Xsk.Error for the link ([ENETDOWN], [ENODEV]). *)

val wakeup_transmit : t -> bool
(** As {!Tx_queue.wakeup_kernel}. *)

val poll_in : t -> timeout_ms:int -> bool
(** As {!Rx_queue.poll}. *)

val poll_out : t -> timeout_ms:int -> bool
(** The same, until the kernel takes more to send. *)

(**/**)

val endpoint : t -> Endpoint.t

type request

val request :
  string ->
  interface:string ->
  queue:int ->
  mode:Attach_mode.t ->
  filter:Filter.t ->
  umem:Umem.Config.t ->
  Config.t ->
  request
