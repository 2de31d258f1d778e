(** Generic netlink, and the network interfaces.

    A connection that is forgotten is closed by the collector, and belongs to the network namespace
    of the thread that opened it. One thread at a time is in a call with it; another that calls
    meanwhile gets {!Xsk.Error} [EBUSY]. All that asks lets other threads run. No call needs
    privileges, but a family may. *)

type t

val open_ : unit -> t
val close : t -> unit
val is_closed : t -> bool
val fd : t -> Unix.file_descr

(** {1 Families} *)

type operation = { command : int; flags : int  (** GENL_…: 1 admin, 2 do, 4 dump, 8 policy *) }
type group = { name : string; id : int }

type family = {
  name : string;
  id : int;
  version : int;
  operations : operation list;
  groups : group list;
}

val resolve : t -> string -> int
(** The number of a family, which is another each time that it is registered.
    @raise Xsk.Error [ENOENT] when there is none of that name in this network namespace. *)

val families : ?name:string -> t -> family list
(** That one, or all, by number. *)

(** {1 Asking} *)

(** An attribute of a request. *)
type value =
  | Flag
  | U8 of int
  | U16 of int
  | U32 of int
  | U64 of int64
  | Text of string  (** with a NUL behind it *)
  | Bytes of string
  | Nest of (int * value) list

type message = {
  family : int;
  command : int;
  version : int;
  flags : int;
  attributes : string;  (** to be read by {!val-attributes} *)
}

val ask :
  t ->
  family:int ->
  command:int ->
  ?version:int ->
  ?ack:bool ->
  (int * value) list ->
  message option
(** Sends a request with attributes of those types, and waits for its reply; [None] when that is an
    acknowledgement alone, for which [ack] asks.
    @raise Xsk.Error the kernel's errors, in its own words; [ETIMEDOUT]; [EMSGSIZE].
    @raise Invalid_argument for a number that its field does not hold. *)

val dump : t -> family:int -> command:int -> ?version:int -> (int * value) list -> message list
(** @raise Xsk.Error as {!ask}; [EBUSY] when what was dumped changed meanwhile: ask again. *)

(** {1 What families multicast} *)

val join : t -> int -> unit
(** The id of a group. Use another connection than to ask. *)

val leave : t -> int -> unit

val event : t -> timeout_ms:int -> message option
(** The next message; [None] when none came within [timeout_ms] (negative: waits for ever; 0: does
    not).
    @raise Xsk.Error [ENOBUFS] when some were lost; then goes on. *)

(** {1 Attributes, as they are received}

    Whatever the bytes hold, nothing is read outside of them. *)

val attributes : string -> (int * string) list
(** Types and values, of a message or of a nest. *)

val number : string -> int64 option
(** Of one, two, four and eight bytes. *)

val text : string -> string
(** Up to its NUL. *)

(** {1 Links} *)

type link = {
  index : int;
  peer : int;  (** the other end of a veth, or what a VLAN device stands on; or 0 *)
  name : string;
  kind : string;  (** "veth", "vlan", …; "" for hardware *)
  mtu : int;
  flags : int;  (** IFF_… *)
  mac : Mac.t;
}

val links : ?name:string -> unit -> link list
(** That one, or all, by index.
    @raise Xsk.Error [ENODEV] when there is none of that name. *)
