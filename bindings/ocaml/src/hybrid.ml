module Config = struct
  type t = {
    tcp_port : int;
    listen_address : string option;
    ethertype : int;
    vlan_id : int option;
    priority : int;
    timeout_ms : int;
    greeting_timeout_ms : int;
    peer_timeout_ms : int;
  }

  external defaults : int array -> unit = "xsk_hybrid_defaults"

  let default =
    let usual = Array.make 7 0 in
    defaults usual;
    {
      tcp_port = usual.(0);
      listen_address = None;
      ethertype = usual.(1);
      vlan_id = (if usual.(2) < 0 then None else Some usual.(2));
      priority = usual.(3);
      timeout_ms = usual.(4);
      greeting_timeout_ms = usual.(5);
      peer_timeout_ms = usual.(6);
    }

  let to_ints operation t =
    let number what most value =
      Fault.check_range operation what ~most value;
      value
    in
    [|
      number "the TCP port" 0xffff t.tcp_port;
      number "the EtherType" 0xffff t.ethertype;
      Option.fold ~none:(-1) ~some:(number "the VLAN id" 4094) t.vlan_id;
      number "the priority" 7 t.priority;
      number "the timeout" Fault.largest_u32 t.timeout_ms;
      number "the greeting timeout" Fault.largest_u32 t.greeting_timeout_ms;
      number "the peer timeout" Fault.largest_u32 t.peer_timeout_ms;
    |]
end

type t = Device.t
type listener = Device.t
type message = { bytes : bytes; tag : (int * int) option }

external listen_in : listener -> string -> string -> int array -> int = "xsk_hybrid_listen"
external port_raw : listener -> int = "xsk_hybrid_port"
external accept_in : t -> listener -> int = "xsk_hybrid_accept"
external connect_in : t -> string -> string -> int array -> int = "xsk_hybrid_connect"
external send_raw : t -> bytes -> int = "xsk_hybrid_send"
external receive_raw : t -> bytes array -> int array -> int -> int = "xsk_hybrid_receive"
external max_payload_raw : t -> int = "xsk_hybrid_max_payload"
external control_fd_raw : t -> int = "xsk_hybrid_control_fd"
external peer_raw : t -> bytes -> int = "xsk_hybrid_peer"

(* Bytes of the kernel's buffers behind one, roughly: what the collector is told of. *)
let weight = 0x10000

let listen ~interface (config : Config.t) =
  let operation = "Hybrid.listen" in
  Fault.check_interface operation interface;
  Option.iter (Fault.check_name operation ~kind:"address") config.listen_address;
  let address = Option.value config.listen_address ~default:"" in
  let made = Device.blank weight in
  let ints = Config.to_ints operation config in
  ignore (Fault.check operation (listen_in made interface address ints));
  made

let port listener = Fault.check "Hybrid.port" (port_raw listener)

let accept listener =
  let made = Device.blank weight in
  ignore (Fault.check "Hybrid.accept" (accept_in made listener));
  made

let listener_fd listener = Device.fd "Hybrid.listener_fd" listener
let close_listener = Device.close

let connect ~interface ~host config =
  let operation = "Hybrid.connect" in
  Fault.check_interface operation interface;
  Fault.check_name operation ~kind:"address" host;
  let made = Device.blank weight in
  let ints = Config.to_ints operation config in
  ignore (Fault.check operation (connect_in made interface host ints));
  made

let send t message = ignore (Fault.check "Hybrid.send" (send_raw t message))

let receive t ~timeout_ms =
  let to_ = [| Bytes.empty |] and tag = [| -1; 0 |] in
  let came = Device.wait_in_pieces "Hybrid.receive" ~timeout_ms (receive_raw t to_ tag) in
  if not came then None
  else Some { bytes = to_.(0); tag = (if tag.(0) < 0 then None else Some (tag.(0), tag.(1))) }

let max_payload t = Fault.check "Hybrid.max_payload" (max_payload_raw t)

let peer t =
  let bytes = Bytes.create 6 in
  ignore (Fault.check "Hybrid.peer" (peer_raw t bytes));
  Mac.of_bytes (Bytes.unsafe_to_string bytes)

let data_fd t = Device.fd "Hybrid.data_fd" t

let control_fd t =
  Device.descriptor_of_int (Fault.check "Hybrid.control_fd" (control_fd_raw t))

let close = Device.close
let is_closed = Device.is_closed
