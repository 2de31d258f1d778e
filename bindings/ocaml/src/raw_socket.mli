(** Raw sockets (packet(7)): whole Ethernet frames of an interface, with all VLAN tags and without
    checksum (FCS).

    A socket that is forgotten is closed by the collector. What may wait lets other threads and
    signal handlers run; while one thread is in {!send}, another that sends gets {!Xsk.Error}
    [EBUSY]. Needs CAP_NET_RAW, or {!open_through_daemon}. *)

module Fanout : sig
  type mode = Hash | Load_balance | Cpu | Rollover | Random | Queue

  type t = { group : int; mode : mode }
  (** Several sockets share what comes (PACKET_FANOUT). *)

  (**/**)

  val int_of_mode : mode -> int
end

module Config : sig
  type t = {
    ethertype : int option;  (** only this, behind all tags *)
    vlan_id : int option;  (** only this VID *)
    send_only : bool;
    hear_outgoing : bool;  (** also what this machine sends *)
    promiscuous : bool;
    qdisc_bypass : bool;
    fanout : Fanout.t option;
    priority : int option;  (** SO_PRIORITY, 0 to 7 *)
    receive_buffer : int option;  (** bytes *)
    send_buffer : int option;
    multicast : Mac.t list;  (** groups to be a member of *)
  }

  val default : t
  (** All frames. *)

  (**/**)

  val ints : string -> t -> int array
  val groups : t -> string
end

type t

val open_ : interface:string -> Config.t -> t
(** @raise Xsk.Error [ENODEV] when there is no such interface, [EPERM] without CAP_NET_RAW.
    @raise Invalid_argument for a number that an option does not hold. *)

val open_through_daemon : ?daemon_socket:string -> interface:string -> Config.t -> t
(** The same for a process without privileges: made by the strata daemon that listens at
    [daemon_socket] ($STRATA_BROKER_SOCKET, or /run/strata/broker.sock).
    @raise Xsk.Error [EPERM] when its policy forbids it. *)

val close : t -> unit
(** Twice is harmless. After it all but [is_closed] raise {!Xsk.Closed}. *)

val is_closed : t -> bool
val mac : t -> Mac.t
val mtu : t -> int

val send : t -> bytes -> unit
(** Waits for room.
    @raise Xsk.Error [EMSGSIZE] above the MTU, [ENETDOWN], [ENODEV]. *)

val send_batch : t -> bytes array -> pos:int -> nb:int -> int
(** Sends [nb] frames without waiting, and returns how many were taken, from the first on. Raises
    only when none was. *)

val receive : t -> timeout_ms:int -> bytes option
(** The next frame; [None] when none came within [timeout_ms] (negative: waits for ever; 0: does
    not).
    @raise Xsk.Error [ENETDOWN] once each time that the link goes down, [ENODEV]. *)

val receive_batch : t -> bytes array -> pos:int -> nb:int -> timeout_ms:int -> int
(** Waits for the first of up to [nb] frames (64 at most), puts new byte strings into the array from
    [pos] on, and returns how many. *)

val fd : t -> Unix.file_descr
(** To wait for frames with [Unix.select] and the like; it stays the socket's. *)

module Statistics : sig
  type t = { received : int; dropped : int }
  (** Accepted by the filter; and lost of those, since the receiver was too slow. *)

  (**/**)

  val read : string -> Device.t -> is_ring:bool -> t
end

val statistics : t -> Statistics.t

(**/**)

val send_frames : string -> Device.t -> is_ring:bool -> bytes array -> pos:int -> nb:int -> int

val receive_frames :
  string -> Device.t -> is_ring:bool -> bytes array -> pos:int -> nb:int -> timeout_ms:int -> int

val receive_one : string -> Device.t -> is_ring:bool -> timeout_ms:int -> bytes option
