module Mode = Attach_mode
module Filter = Filter

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
