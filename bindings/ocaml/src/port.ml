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

type t
type settings = int * int array * string * int array * int array

external blank : int -> t = "xsk_port_blank"
external open_in : t -> string -> int -> settings -> int = "xsk_port_open"
external close : t -> unit = "xsk_port_close"
external fd_raw : t -> int = "xsk_port_fd"
external is_zerocopy_raw : t -> int = "xsk_port_is_zerocopy"
external is_native_raw : t -> int = "xsk_port_is_native"
external statistics_raw : t -> int array -> int = "xsk_port_statistics"
external send_raw : t -> bytes array -> int -> int -> int = "xsk_port_send"
external receive_raw : t -> bytes array -> int -> int -> int -> int = "xsk_port_receive"
external descriptor_of_int : int -> Unix.file_descr = "%identity"

let open_ ~interface ~queue (config : Config.t) =
  let operation = "Port.open_" in
  Fault.check_interface operation interface;
  Fault.check_range operation "queue" ~most:Fault.largest_u32 queue;
  let settings =
    ( Program.Mode.to_int config.mode,
      Program.Filter.to_ints operation config.filter,
      Program.Filter.mac config.filter,
      Umem.Config.to_ints operation config.umem,
      Socket.Config.to_ints operation config.socket )
  in
  let made = blank (Umem.Config.size config.umem) in
  ignore (Fault.check operation (open_in made interface queue settings));
  made

let is_closed t = fd_raw t < 0

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

let fd t = descriptor_of_int (Fault.check "Port.fd" (fd_raw t))
let is_zerocopy t = Fault.check "Port.is_zerocopy" (is_zerocopy_raw t) <> 0

let is_native t =
  match is_native_raw t with
  | 0 -> Some false
  | 1 -> Some true
  | code when code = Fault.closed_code -> raise (Fault.Closed "Port.is_native")
  | _ -> None

let statistics t = Socket.Statistics.read "Port.statistics" (statistics_raw t)
