module Mode = struct
  type t = Automatic | Copy | Zerocopy

  let to_int = function Automatic -> 0 | Copy -> 1 | Zerocopy -> 2
end

module Flag = struct
  type t = Need_wakeup | Multi_buffer
end

module Config = struct
  type busy_poll = { duration_us : int; budget : int }

  type t = {
    rx_size : int;
    tx_size : int;
    fill_size : int;
    comp_size : int;
    mode : Mode.t;
    flags : Flag.t list;
    busy_poll : busy_poll option;
    busy_limit_ms : int;
  }

  let default =
    {
      rx_size = 2048;
      tx_size = 2048;
      fill_size = 2048;
      comp_size = 2048;
      mode = Mode.Automatic;
      flags = [ Flag.Need_wakeup ];
      busy_poll = None;
      busy_limit_ms = 500;
    }

  let check operation t { duration_us; budget } =
    let check = Fault.check_range operation ~most:Fault.largest_u32 in
    check "rx_size" t.rx_size;
    check "tx_size" t.tx_size;
    check "fill_size" t.fill_size;
    check "comp_size" t.comp_size;
    check "busy_limit_ms" t.busy_limit_ms;
    Fault.check_range operation "duration_us" ~most:0x7fff_ffff duration_us;
    Fault.check_range operation "budget" ~most:0xffff budget

  let to_ints operation t =
    let busy = Option.value t.busy_poll ~default:{ duration_us = 0; budget = 0 } in
    check operation t busy;
    let flag one = Bool.to_int (List.mem one t.flags) in
    [|
      t.rx_size; t.tx_size; t.fill_size; t.comp_size; Mode.to_int t.mode; flag Flag.Need_wakeup;
      flag Flag.Multi_buffer; busy.duration_us; busy.budget; t.busy_limit_ms;
    |]
end

module Statistics = struct
  type t = {
    dropped : int;
    rx_ring_full : int;
    fill_ring_empty : int;
    tx_ring_empty : int;
    invalid_rx : int;
    invalid_tx : int;
  }

  let read operation count_into =
    let counted = Array.make 6 0 in
    ignore (Fault.check operation (count_into counted));
    {
      dropped = counted.(0);
      rx_ring_full = counted.(1);
      fill_ring_empty = counted.(2);
      tx_ring_empty = counted.(3);
      invalid_rx = counted.(4);
      invalid_tx = counted.(5);
    }
end

type t = { endpoint : Endpoint.t; config : Config.t }

(* As xsk_read_request takes it. *)
type request = string * int * int * int array * string * int array * int array

let request operation ~interface ~queue ~mode ~filter ~umem config =
  Fault.check_interface operation interface;
  Fault.check_range operation "queue" ~most:Fault.largest_u32 queue;
  ( interface,
    queue,
    Attach_mode.to_int mode,
    Filter.to_ints operation filter,
    Filter.mac filter,
    Umem.Config.to_ints operation umem,
    Config.to_ints operation config )

external open_in : Endpoint.handle -> Umem.handle -> string -> int -> int array -> int
  = "xsk_socket_open"

external open_through_daemon_in :
  Endpoint.handle -> Umem.handle -> request -> string option -> int
  = "xsk_socket_open_through_daemon"

external close_handle : Endpoint.handle -> unit = "xsk_socket_close"
external enter_raw : Endpoint.handle -> Unix.file_descr -> int -> int = "xsk_socket_enter_in_map"
external fd_raw : Endpoint.handle -> int = "xsk_socket_fd"
external is_zerocopy_raw : Endpoint.handle -> int = "xsk_socket_is_zerocopy"
external is_busy_polled_raw : Endpoint.handle -> int = "xsk_socket_is_busy_polled"
external statistics_raw : Endpoint.handle -> int array -> int = "xsk_socket_statistics"

(* That is what a descriptor is on Unix. *)
external descriptor_of_int : int -> Unix.file_descr = "%identity"

let opened operation handle umem config =
  let is_zerocopy = Fault.check operation (is_zerocopy_raw handle) <> 0 in
  { endpoint = { handle; umem; is_zerocopy; routes = [] }; config }

let create umem ~interface ~queue config =
  let operation = "Socket.create" in
  Fault.check_interface operation interface;
  Fault.check_range operation "queue" ~most:Fault.largest_u32 queue;
  let ints = Config.to_ints operation config in
  let handle = Endpoint.blank () in
  ignore (Fault.check operation (open_in handle (Umem.handle umem) interface queue ints));
  opened operation handle umem config

let open_through_daemon ?daemon_socket ~interface ~queue ?(mode = Attach_mode.Automatic)
    ?(filter = Filter.all) ~umem config =
  let operation = "Socket.open_through_daemon" in
  Option.iter (Fault.check_daemon_socket operation) daemon_socket;
  let request = request operation ~interface ~queue ~mode ~filter ~umem config in
  let handle = Endpoint.blank () in
  let make_in memory = open_through_daemon_in handle memory request daemon_socket in
  let umem = Umem.make operation umem ~make_in in
  opened operation handle umem config

let close t =
  t.endpoint.routes <- [];
  close_handle t.endpoint.handle

let endpoint t = t.endpoint
let umem t = t.endpoint.umem
let fill_queue t = Fill_queue.of_endpoint t.endpoint
let comp_queue t = Comp_queue.of_endpoint t.endpoint

let rx_queue t =
  if t.config.rx_size = 0 then Fault.refuse "Socket.rx_queue" "the socket only sends";
  Rx_queue.of_endpoint t.endpoint

let tx_queue t =
  if t.config.tx_size = 0 then Fault.refuse "Socket.tx_queue" "the socket only receives";
  Tx_queue.of_endpoint t.endpoint

let enter_in_map ?key t map =
  let operation = "Socket.enter_in_map" in
  Option.iter (Fault.check_range operation "key" ~most:Fault.largest_u32) key;
  let number = Option.value key ~default:(-1) in
  ignore (Fault.check operation (enter_raw t.endpoint.handle map number))

let fd t = descriptor_of_int (Fault.check "Socket.fd" (fd_raw t.endpoint.handle))
let is_closed t = fd_raw t.endpoint.handle < 0

let is_zerocopy t =
  Fault.check "Socket.is_zerocopy" (is_zerocopy_raw t.endpoint.handle) <> 0

let is_busy_polled t =
  match is_busy_polled_raw t.endpoint.handle with
  | 0 -> Some false
  | 1 -> Some true
  | code when code = Fault.closed_code -> raise (Fault.Closed "Socket.is_busy_polled")
  | _ -> None

let statistics t = Statistics.read "Socket.statistics" (statistics_raw t.endpoint.handle)
let wakeup_receive t = Endpoint.wake_receive "Socket.wakeup_receive" t.endpoint
let wakeup_transmit t = Endpoint.wake_transmit "Socket.wakeup_transmit" t.endpoint

let poll_in t ~timeout_ms =
  Endpoint.wait "Socket.poll_in" t.endpoint ~for_output:0 ~timeout_ms

let poll_out t ~timeout_ms =
  Endpoint.wait "Socket.poll_out" t.endpoint ~for_output:1 ~timeout_ms
