module Mode = struct
  type t = Automatic | Native | Generic

  let to_int = function Automatic -> 0 | Native -> 1 | Generic -> 2
end

module Filter = struct
  type t = {
    ethertype : int option;
    vlan_id : int option;
    destination : Mac.t option;
    udp_port : int option;
  }

  let all = { ethertype = None; vlan_id = None; destination = None; udp_port = None }

  let to_ints operation t =
    let number what ~most = function
      | None -> -1
      | Some number ->
          Fault.check_range operation what ~most number;
          number
    in
    [|
      number "ethertype" ~most:0xffff t.ethertype;
      number "vlan_id" ~most:4095 t.vlan_id;
      number "udp_port" ~most:0xffff t.udp_port;
    |]

  (* The empty string stands for none. *)
  let mac t = Option.fold t.destination ~none:"" ~some:Mac.to_bytes
end

type handle
type t = handle
type route = { route : Endpoint.route; socket : Endpoint.t }

external blank : unit -> handle = "xsk_program_blank"
external attach_in : handle -> string -> int -> int = "xsk_program_attach"
external close : handle -> unit = "xsk_program_close"
external is_native_raw : handle -> int = "xsk_program_is_native"
external blank_route : unit -> Endpoint.route = "xsk_route_blank"

external route_in : Endpoint.route -> handle -> Endpoint.handle -> int array -> string -> int
  = "xsk_route_add"

external close_route_raw : Endpoint.route -> unit = "xsk_route_close"

let attach ~interface mode =
  Fault.check_interface "Program.attach" interface;
  let made = blank () in
  ignore (Fault.check "Program.attach" (attach_in made interface (Mode.to_int mode)));
  made

let is_native t = Fault.check "Program.is_native" (is_native_raw t) <> 0

let route t filter socket =
  let operation = "Program.route" in
  let ints = Filter.to_ints operation filter in
  let route = blank_route () in
  let socket = Socket.endpoint socket in
  ignore (Fault.check operation (route_in route t socket.handle ints (Filter.mac filter)));
  socket.routes <- route :: socket.routes;
  { route; socket }

let close_route { route; socket } =
  socket.routes <- List.filter (fun one -> one != route) socket.routes;
  close_route_raw route
