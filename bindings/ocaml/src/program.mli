(** The XDP program of an interface: it brings the frames that a filter is about to sockets, and
    lets all others go on to the kernel.

    A process has one for an interface, however often it attaches; it stays as long as one of the
    handles or routes does, and never longer than the process. Forgotten ones are closed by the
    collector, but a route lives at least as long as its socket can be reached.

    Any thread may call. Linux 6.1 or newer; needs CAP_NET_ADMIN and CAP_BPF. *)

type t

type route
(** That a socket gets the frames of a filter. *)

module Mode = Attach_mode
(** Where it runs. *)

module Filter = Filter
(** Which frames it brings. *)

val attach : interface:string -> Mode.t -> t
(** Other threads run meanwhile.
    @raise Xsk.Error
      [EBUSY] when another program is there, which the sentence names, or this process has it there
      in the other mode; [ENODEV]; [EPERM]; [EOPNOTSUPP] for a mode that the driver lacks. *)

val close : t -> unit
(** Gives the handle up; routes keep the program. Twice is harmless. *)

val is_native : t -> bool
(** @raise Xsk.Closed after [close]. *)

val route : t -> Filter.t -> Socket.t -> route
(** Brings the frames of the filter that arrive on the socket's queue to the socket, from now on.
    @raise Xsk.Error
      [EEXIST] when another socket of that queue has them, [EINVAL] for a socket of another
      interface; another for more than 16 filters or a queue above 63.
    @raise Xsk.Closed when the program or the socket was closed.
    @raise Invalid_argument for numbers that no frame has. *)

val close_route : route -> unit
(** The frames go to the kernel again. Twice is harmless. *)
