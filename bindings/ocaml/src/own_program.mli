(** An XDP program of one's own, which a loader (libbpf, bpf(2)) has loaded, attached to an
    interface. It redirects frames by an XSKMAP, into which {!Socket.enter_in_map} puts sockets.

    Attached as long as it can be reached and is not closed, and never longer than the process. Any
    thread may call. Linux 6.1 or newer; needs CAP_NET_ADMIN. *)

type t

(** Where it runs. *)
type mode =
  | Automatic  (** native if the driver can *)
  | Native  (** in the driver, or [attach] fails *)
  | Generic  (** before the network stack, for any driver *)
  | Hardware  (** on the network card, which few can *)

val attach : interface:string -> Unix.file_descr -> mode -> t
(** The descriptor of the program stays the caller's. Other threads run meanwhile.
    @raise Xsk.Error
      [EBUSY] when another program is attached; [EOPNOTSUPP] for a mode that the driver lacks;
      [ENODEV]; [EPERM]; [EINVAL] or [EBADF] when it is no XDP program. *)

val mode : t -> mode
(** Not [Automatic].
    @raise Xsk.Closed after [close]. *)

val close : t -> unit
(** Takes it off the interface. Twice is harmless. *)
