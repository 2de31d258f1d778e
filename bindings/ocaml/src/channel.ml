module Config = struct
  type t = {
    interface : string;
    name : string;
    ethertype : int;
    acknowledged : bool;
    max_message : int;
    send_buffer : int;
    receive_buffer : int;
    max_delay_us : int;
    send_timeout_ms : int;
    peer_timeout_ms : int;
  }

  external defaults : int array -> unit = "xsk_channel_defaults"

  let default =
    let usual = Array.make 8 0 in
    defaults usual;
    {
      interface = "lo";
      name = "default";
      ethertype = usual.(0);
      acknowledged = usual.(1) <> 0;
      max_message = usual.(2);
      send_buffer = usual.(3);
      receive_buffer = usual.(4);
      max_delay_us = usual.(5);
      send_timeout_ms = usual.(6);
      peer_timeout_ms = usual.(7);
    }
end

type t = Device.t

external open_in : t -> string -> string -> int array -> int = "xsk_channel_open"
external send_raw : t -> bytes -> bool -> int = "xsk_channel_send"
external finish_raw : t -> int -> int = "xsk_channel_finish"
external receive_raw : t -> bytes array -> int -> int = "xsk_channel_receive"
external has_peer_raw : t -> int = "xsk_channel_has_peer"

let open_ (config : Config.t) =
  let operation = "Channel.open_" in
  Fault.check_interface operation config.interface;
  Fault.check_name operation ~kind:"channel's name" config.name;
  let number what most value =
    Fault.check_range operation what ~most value;
    value
  in
  let ints =
    [|
      number "the EtherType" 0xffff config.ethertype;
      Bool.to_int config.acknowledged;
      number "the largest message" max_int config.max_message;
      number "the send buffer" max_int config.send_buffer;
      number "the receive buffer" max_int config.receive_buffer;
      number "the delay" Fault.largest_u32 config.max_delay_us;
      number "the send timeout" Fault.largest_u32 config.send_timeout_ms;
      number "the peer timeout" Fault.largest_u32 config.peer_timeout_ms;
    |]
  in
  let made = Device.blank config.send_buffer in
  ignore (Fault.check operation (open_in made config.interface config.name ints));
  made

let close = Device.close
let is_closed = Device.is_closed
let fd t = Device.fd "Channel.fd" t
let send t message = ignore (Fault.check "Channel.send" (send_raw t message false))
let post t message = Fault.check "Channel.post" (send_raw t message true) = 1
let flush t = ignore (Fault.check "Channel.flush" (finish_raw t (-1)))

let finish t ~timeout_ms =
  let operation = "Channel.finish" in
  Fault.check_range operation "the timeout" ~most:0x3fff_ffff timeout_ms;
  ignore (Fault.check operation (finish_raw t timeout_ms))

let receive t ~timeout_ms =
  let to_ = [| Bytes.empty |] in
  let came = Device.wait_in_pieces "Channel.receive" ~timeout_ms (receive_raw t to_) in
  if came then Some to_.(0) else None

let has_peer t = Fault.check "Channel.has_peer" (has_peer_raw t) <> 0
