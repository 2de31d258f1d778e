type value =
  | Flag
  | U8 of int
  | U16 of int
  | U32 of int
  | U64 of int64
  | Text of string
  | Bytes of string
  | Nest of (int * value) list

type message = { family : int; command : int; version : int; flags : int; attributes : string }
type operation = { command : int; flags : int }
type group = { name : string; id : int }

type family = {
  name : string;
  id : int;
  version : int;
  operations : operation list;
  groups : group list;
}

type link = {
  index : int;
  peer : int;
  name : string;
  kind : string;
  mtu : int;
  flags : int;
  mac : Mac.t;
}

type t = Device.t
type raw_message = int * int * int * int * bool * string
type raw_family = string * int * int * (int * int) list * (string * int) list
type raw_link = int * int * string * string * int * int * string

external open_in : t -> int = "xsk_nl_open"
external resolve_raw : t -> string -> int = "xsk_nl_resolve"

external ask_raw :
  t -> int * int * int * int * bool -> (int * value) list -> raw_message list array -> int
  = "xsk_nl_ask"

external join_raw : t -> int -> bool -> int = "xsk_nl_join"
external event_raw : t -> raw_message list array -> int -> int = "xsk_nl_event"
external families_raw : t -> string option -> raw_family list array -> int = "xsk_nl_families"
external links_raw : string option -> raw_link list array -> int = "xsk_nl_links"

let open_ () =
  let made = Device.blank 65536 in
  ignore (Fault.check "Netlink.open_" (open_in made));
  made

let close = Device.close
let is_closed = Device.is_closed
let fd t = Device.fd "Netlink.fd" t

let resolve t name =
  Fault.check_name "Netlink.resolve" ~kind:"family's name" name;
  Fault.check "Netlink.resolve" (resolve_raw t name)

let message_of (family, command, version, flags, is_ack, attributes) =
  if is_ack then None else Some { family; command; version; flags; attributes }

(* What a field does not hold would be cut. *)
let rec check operation depth (kind, value) =
  let most what most number = Fault.check_range operation what ~most number in
  most "an attribute's type" 0x3fff kind;
  match value with
  | Flag | U64 _ | Text _ | Bytes _ -> ()
  | U8 number -> most "a u8" 0xff number
  | U16 number -> most "a u16" 0xffff number
  | U32 number -> most "a u32" Fault.largest_u32 number
  | Nest within ->
      if depth = 8 then Fault.refuse operation "nests are 8 deep at most";
      List.iter (check operation (depth + 1)) within

let request operation t ~family ~command ~version ~flags ~is_dump attributes =
  Fault.check_range operation "the family" ~most:0xffff family;
  Fault.check_range operation "the command" ~most:0xff command;
  Fault.check_range operation "the version" ~most:0xff version;
  List.iter (check operation 0) attributes;
  let got = [| [] |] in
  let ints = (family, command, version, flags, is_dump) in
  ignore (Fault.check operation (ask_raw t ints attributes got));
  List.rev got.(0)

let ask t ~family ~command ?(version = 1) ?(ack = false) attributes =
  let flags = if ack then 0x4 else 0 in
  match request "Netlink.ask" t ~family ~command ~version ~flags ~is_dump:false attributes with
  | reply :: _ -> message_of reply
  | [] -> None

let dump t ~family ~command ?(version = 1) attributes =
  request "Netlink.dump" t ~family ~command ~version ~flags:0 ~is_dump:true attributes
  |> List.filter_map message_of

let join t group = ignore (Fault.check "Netlink.join" (join_raw t group true))
let leave t group = ignore (Fault.check "Netlink.leave" (join_raw t group false))

let event t ~timeout_ms =
  let got = [| [] |] in
  let came = Device.wait_in_pieces "Netlink.event" ~timeout_ms (event_raw t got) in
  if came then message_of (List.hd got.(0)) else None

let families ?name t =
  let operation = "Netlink.families" in
  Option.iter (Fault.check_name operation ~kind:"family's name") name;
  let got = [| [] |] in
  ignore (Fault.check operation (families_raw t name got));
  List.map
    (fun (name, id, version, operations, groups) ->
      {
        name;
        id;
        version;
        operations = List.map (fun (command, flags) -> { command; flags }) operations;
        groups = List.map (fun (name, id) -> { name; id }) groups;
      })
    got.(0)

let links ?name () =
  let operation = "Netlink.links" in
  Option.iter (Fault.check_interface operation) name;
  let got = [| [] |] in
  ignore (Fault.check operation (links_raw name got));
  List.map
    (fun (index, peer, name, kind, mtu, flags, mac) ->
      { index; peer; name; kind; mtu; flags; mac = Mac.of_bytes mac })
    got.(0)

(* Nothing is read outside of the bytes: what is malformed ends the list. *)
let attributes bytes =
  let size = String.length bytes in
  let rec read at =
    if size - at < 4 then []
    else
      let length = String.get_uint16_ne bytes at in
      if length < 4 || length > size - at then []
      else
        let kind = String.get_uint16_ne bytes (at + 2) land 0x3fff in
        let value = String.sub bytes (at + 4) (length - 4) in
        (kind, value) :: read (min size (at + ((length + 3) land lnot 3)))
  in
  read 0

let number value =
  match String.length value with
  | 1 -> Some (Int64.of_int (String.get_uint8 value 0))
  | 2 -> Some (Int64.of_int (String.get_uint16_ne value 0))
  | 4 -> Some (Int64.logand (Int64.of_int32 (String.get_int32_ne value 0)) 0xffff_ffffL)
  | 8 -> Some (String.get_int64_ne value 0)
  | _ -> None

let text value =
  match String.index_opt value '\000' with Some at -> String.sub value 0 at | None -> value
