(** Two endpoints that agree over TCP, notice each other's end by it, and send data in Ethernet
    frames, with a VLAN tag for switches. Data may be lost. Not over lo.

    What is forgotten is closed by the collector. One thread at a time is in a call with an endpoint
    or a listener; another that calls meanwhile gets {!Xsk.Error} [EBUSY]. [accept], [connect],
    [send] and [receive] let other threads run. Needs CAP_NET_RAW. *)

module Config : sig
  type t = {
    tcp_port : int;  (** a listener's (0: a free one), or the one that a client connects to *)
    listen_address : string option;  (** a listener's, numeric; [None]: all *)
    ethertype : int;
    vlan_id : int option;  (** [Some 0]: only a priority; [None]: no tag *)
    priority : int;  (** PCP of the tag *)
    timeout_ms : int;  (** for all until the endpoint is made *)
    greeting_timeout_ms : int;  (** a listener's patience with one caller *)
    peer_timeout_ms : int;
  }

  val default : t
  (** Port 9000, 0x88b5, VID 10, priority 7, 30 s, 5 s, 10 s. *)
end

type t
(** An endpoint. *)

type listener

type message = { bytes : bytes; tag : (int * int) option  (** VID and priority *) }

val listen : interface:string -> Config.t -> listener
(** @raise Xsk.Error [ENODEV], [EPERM], [EADDRINUSE]; [EINVAL] for lo. *)

val port : listener -> int
(** That it listens on, also when 0 was asked for. *)

val accept : listener -> t
(** Waits for a client, as long as the configuration says.
    @raise Xsk.Error [ETIMEDOUT]. *)

val listener_fd : listener -> Unix.file_descr

val close_listener : listener -> unit
(** Endpoints that were accepted stay open. Twice is harmless. *)

val connect : interface:string -> host:string -> Config.t -> t
(** [host] is a numeric address. Tries until the server is there, as long as the configuration says.
    @raise Xsk.Error [ETIMEDOUT]; [EBUSY] when it uses another EtherType or VLAN. *)

val send : t -> bytes -> unit
(** One message, in one frame.
    @raise Xsk.Error [EMSGSIZE] above [max_payload]; [ECONNRESET] when the peer is gone. *)

val receive : t -> timeout_ms:int -> message option
(** The next message; [None] when none came within [timeout_ms] (negative: waits for ever; 0: does
    not).
    @raise Xsk.Error [ECONNRESET] when the peer is gone, after all that came from it. *)

val max_payload : t -> int
(** The bytes of the largest message, by the MTU. *)

val peer : t -> Mac.t
(** The peer's address. *)

val data_fd : t -> Unix.file_descr
(** To poll, together with [control_fd], for reading. *)

val control_fd : t -> Unix.file_descr

val close : t -> unit
(** Closes the connection, by which the peer notices it. Twice is harmless. *)

val is_closed : t -> bool
