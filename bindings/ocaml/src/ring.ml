module Kind = struct
  type t =
    | Blocks of { size : int; count : int; timeout_ms : int; send_slots : int }
    | Frames of { slots : int }

  let blocks = Blocks { size = 1 lsl 18; count = 16; timeout_ms = 1; send_slots = 0 }
  let frames = Frames { slots = 1024 }

  let memory = function Blocks { size; count; _ } -> size * count | Frames { slots } -> slots * 2048

  let ints operation kind =
    let check what number = Fault.check_range operation what ~most:Fault.largest_u32 number in
    match kind with
    | Blocks { size; count; timeout_ms; send_slots } ->
        check "the size" size;
        check "the count" count;
        check "the timeout" timeout_ms;
        check "the number of slots" send_slots;
        [| 0; size; count; timeout_ms; send_slots; 0 |]
    | Frames { slots } ->
        check "the number of slots" slots;
        [| 1; 0; 0; 0; 0; slots |]
end

type t = Device.t

external open_in : t -> string -> int array -> string -> int array -> int = "xsk_ring_open"

let open_ ~interface kind (config : Raw_socket.Config.t) =
  let operation = "Ring.open_" in
  Fault.check_interface operation interface;
  let kinds = Kind.ints operation kind in
  let made = Device.blank (Kind.memory kind) in
  let ints = Raw_socket.Config.ints operation config in
  let code = open_in made interface ints (Raw_socket.Config.groups config) kinds in
  ignore (Fault.check operation code);
  made

let close = Device.close
let is_closed = Device.is_closed
let fd t = Device.fd "Ring.fd" t
let send_batch t = Raw_socket.send_frames "Ring.send_batch" t ~is_ring:true
let receive t = Raw_socket.receive_one "Ring.receive" t ~is_ring:true
let receive_batch t = Raw_socket.receive_frames "Ring.receive_batch" t ~is_ring:true
let statistics t = Raw_socket.Statistics.read "Ring.statistics" t ~is_ring:true
