module Fanout = struct
  type mode = Hash | Load_balance | Cpu | Rollover | Random | Queue
  type t = { group : int; mode : mode }

  let int_of_mode = function
    | Hash -> 0
    | Load_balance -> 1
    | Cpu -> 2
    | Rollover -> 3
    | Random -> 4
    | Queue -> 5
end

module Config = struct
  type t = {
    ethertype : int option;
    vlan_id : int option;
    send_only : bool;
    hear_outgoing : bool;
    promiscuous : bool;
    qdisc_bypass : bool;
    fanout : Fanout.t option;
    priority : int option;
    receive_buffer : int option;
    send_buffer : int option;
    multicast : Mac.t list;
  }

  let default =
    {
      ethertype = None;
      vlan_id = None;
      send_only = false;
      hear_outgoing = false;
      promiscuous = false;
      qdisc_bypass = false;
      fanout = None;
      priority = None;
      receive_buffer = None;
      send_buffer = None;
      multicast = [];
    }

  (* As the stubs take it. *)
  let ints operation t =
    let number what ~most ~none =
      Option.fold ~none ~some:(fun number ->
          Fault.check_range operation what ~most number;
          number)
    in
    let group = Option.map (fun { Fanout.group; _ } -> group) t.fanout in
    let mode = Option.fold ~none:0 ~some:(fun of_ -> Fanout.int_of_mode of_.Fanout.mode) t.fanout in
    [|
      number "the EtherType" ~most:0xffff ~none:(-1) t.ethertype;
      number "the VID" ~most:4094 ~none:(-1) t.vlan_id;
      Bool.to_int t.send_only;
      Bool.to_int t.hear_outgoing;
      Bool.to_int t.promiscuous;
      Bool.to_int t.qdisc_bypass;
      number "the group" ~most:0xffff ~none:(-1) group;
      mode;
      number "the priority" ~most:7 ~none:(-1) t.priority;
      number "the receive buffer" ~most:Fault.largest_u32 ~none:0 t.receive_buffer;
      number "the send buffer" ~most:Fault.largest_u32 ~none:0 t.send_buffer;
    |]

  let groups t = String.concat "" (List.map Mac.to_bytes t.multicast)
end

type t = Device.t

external open_in : t -> string -> int array -> string -> string option -> int = "xsk_raw_open"
external mac_raw : t -> bytes -> int = "xsk_raw_mac"
external mtu_raw : t -> int = "xsk_raw_mtu"
external send_raw : t -> bytes -> int = "xsk_raw_send"
external frames_send : t -> bool -> bytes array -> int -> int -> int = "xsk_frames_send"

external frames_receive : t -> bool -> bytes array -> int * int -> int -> int
  = "xsk_frames_receive"

external frames_statistics : t -> bool -> int array -> int = "xsk_frames_statistics"

let make operation ~interface (config : Config.t) daemon =
  Fault.check_interface operation interface;
  (* What a socket receives into, so that the collector knows what it is worth. *)
  let made = Device.blank (64 * 9064) in
  let code =
    open_in made interface (Config.ints operation config) (Config.groups config) daemon
  in
  ignore (Fault.check operation code);
  made

let open_ ~interface config = make "Raw_socket.open_" ~interface config None

let open_through_daemon ?daemon_socket ~interface config =
  let operation = "Raw_socket.open_through_daemon" in
  Option.iter (Fault.check_daemon_socket operation) daemon_socket;
  make operation ~interface config (Some (Option.value daemon_socket ~default:""))

let close = Device.close
let is_closed = Device.is_closed
let fd t = Device.fd "Raw_socket.fd" t

let mac t =
  let to_ = Bytes.create 6 in
  ignore (Fault.check "Raw_socket.mac" (mac_raw t to_));
  Mac.of_bytes (Bytes.unsafe_to_string to_)

let mtu t = Fault.check "Raw_socket.mtu" (mtu_raw t)
let send t frame = ignore (Fault.check "Raw_socket.send" (send_raw t frame))

let send_frames operation t ~is_ring frames ~pos ~nb =
  Fault.check_slice operation ~length:(Array.length frames) ~pos ~nb;
  Fault.check operation (frames_send t is_ring frames pos nb)

let receive_frames operation t ~is_ring frames ~pos ~nb ~timeout_ms =
  Fault.check_slice operation ~length:(Array.length frames) ~pos ~nb;
  Fault.check operation (frames_receive t is_ring frames (pos, nb) timeout_ms)

let receive_one operation t ~is_ring ~timeout_ms =
  let frames = [| Bytes.empty |] in
  match Fault.check operation (frames_receive t is_ring frames (0, 1) timeout_ms) with
  | 0 -> None
  | _ -> Some frames.(0)

module Statistics = struct
  type t = { received : int; dropped : int }

  let read operation t ~is_ring =
    let to_ = [| 0; 0 |] in
    ignore (Fault.check operation (frames_statistics t is_ring to_));
    { received = to_.(0); dropped = to_.(1) }
end

let send_batch t = send_frames "Raw_socket.send_batch" t ~is_ring:false
let receive t = receive_one "Raw_socket.receive" t ~is_ring:false
let receive_batch t = receive_frames "Raw_socket.receive_batch" t ~is_ring:false
let statistics t = Statistics.read "Raw_socket.statistics" t ~is_ring:false
