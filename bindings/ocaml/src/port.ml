module Config = struct
  type t = {
    mode : Program.Mode.t;
    filter : Program.Filter.t;
    umem : Umem.Config.t;
    socket : Socket.Config.t;
  }

  let default =
    {
      mode = Program.Mode.Automatic;
      filter = Program.Filter.all;
      umem = Umem.Config.default;
      socket = Socket.Config.default;
    }
end

type t = Device.t

external open_in : t -> Socket.request -> int = "xsk_port_open"

external open_through_daemon_in : t -> Socket.request -> string option -> int
  = "xsk_port_open_through_daemon"

external is_zerocopy_raw : t -> int = "xsk_port_is_zerocopy"
external is_native_raw : t -> int = "xsk_port_is_native"
external try_flush : t -> int = "xsk_port_try_flush"
external statistics_raw : t -> int array -> int = "xsk_port_statistics"
external send_raw : t -> bytes array -> int -> int -> int = "xsk_port_send"
external receive_raw : t -> bytes array -> int -> int -> int -> int = "xsk_port_receive"

let make operation ~interface ~queue (config : Config.t) ~open_in =
  let { Config.mode; filter; umem; socket } = config in
  let request = Socket.request operation ~interface ~queue ~mode ~filter ~umem socket in
  let made = Device.blank (Umem.Config.size umem) in
  ignore (Fault.check operation (open_in made request));
  made

let open_ = make "Port.open_" ~open_in

let open_through_daemon ?daemon_socket ~interface ~queue config =
  let operation = "Port.open_through_daemon" in
  Option.iter (Fault.check_daemon_socket operation) daemon_socket;
  let open_in made request = open_through_daemon_in made request daemon_socket in
  make operation ~interface ~queue config ~open_in

let close = Device.close
let is_closed = Device.is_closed

let send_batch t frames ~pos ~nb =
  Fault.check_slice "Port.send_batch" ~length:(Array.length frames) ~pos ~nb;
  Fault.check "Port.send_batch" (send_raw t frames pos nb)

let send t frame = Fault.check "Port.send" (send_raw t [| frame |] 0 1) = 1

let receive_batch t frames ~pos ~nb ~timeout_ms =
  Fault.check_slice "Port.receive_batch" ~length:(Array.length frames) ~pos ~nb;
  Fault.check "Port.receive_batch" (receive_raw t frames pos nb timeout_ms)

let receive t ~timeout_ms =
  let frames = [| Bytes.empty |] in
  match Fault.check "Port.receive" (receive_raw t frames 0 1 timeout_ms) with
  | 0 -> None
  | _ -> Some frames.(0)

(* With the runtime lock at each try: others may send in between. *)
let flush t ~timeout_ms =
  let until = Unix.gettimeofday () +. (float_of_int timeout_ms /. 1000.) in
  let is_late () = timeout_ms >= 0 && Unix.gettimeofday () >= until in
  let rec go () =
    match Fault.check "Port.flush" (try_flush t) with
    | _ -> ()
    | exception Fault.Error (Unix.ETIMEDOUT, _, _) when not (is_late ()) ->
        Unix.sleepf 50e-6;
        go ()
  in
  go ()

let fd t = Device.fd "Port.fd" t
let is_zerocopy t = Fault.check "Port.is_zerocopy" (is_zerocopy_raw t) <> 0

let is_native t =
  match is_native_raw t with
  | 0 -> Some false
  | 1 -> Some true
  | code when code = Fault.closed_code -> raise (Fault.Closed "Port.is_native")
  | _ -> None

let statistics t = Socket.Statistics.read "Port.statistics" (statistics_raw t)
