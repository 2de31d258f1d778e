module Tag = struct
  type t = { tpid : int; vlan_id : int; priority : int; drop_eligible : bool }

  let make ?(tpid = 0x8100) ?(priority = 0) ?(drop_eligible = false) vlan_id =
    { tpid; vlan_id; priority; drop_eligible }
end

type t = {
  destination : Mac.t;
  source : Mac.t;
  tags : Tag.t list;
  ethertype : int option;
  payload : bytes;
}

external build_raw : int array -> string -> bytes -> int -> bytes -> int = "xsk_frame_build"
external parse_raw : bytes -> bytes -> int array -> int = "xsk_frame_parse"

let most_tags = 4

let build ?(mtu = 1500) t =
  let operation = "Frame.build" in
  if List.length t.tags > most_tags then Fault.refuse operation "a frame has four tags at most";
  Option.iter (Fault.check_range operation "the EtherType" ~most:0xffff) t.ethertype;
  Fault.check_range operation "the MTU" ~most:Fault.largest_u32 mtu;
  let ints_of { Tag.tpid; vlan_id; priority; drop_eligible } =
    Fault.check_range operation "the TPID" ~most:0xffff tpid;
    Fault.check_range operation "the VID" ~most:4094 vlan_id;
    Fault.check_range operation "the priority" ~most:7 priority;
    [ tpid; vlan_id; priority; Bool.to_int drop_eligible ]
  in
  let ints = Option.value t.ethertype ~default:(-1) :: List.concat_map ints_of t.tags in
  let memory = Bytes.create (max 60 (14 + (4 * most_tags) + Bytes.length t.payload)) in
  let macs = Mac.to_bytes t.destination ^ Mac.to_bytes t.source in
  let size =
    Fault.check operation (build_raw (Array.of_list ints) macs t.payload mtu memory)
  in
  Bytes.sub memory 0 size

let parse bytes =
  let macs = Bytes.create 12 in
  let ints = Array.make (3 + (4 * most_tags)) 0 in
  let size = Fault.check "Frame.parse" (parse_raw bytes macs ints) in
  let mac at = Mac.of_bytes (Bytes.sub_string macs at 6) in
  let tag i =
    let at = 3 + (4 * i) in
    {
      Tag.tpid = ints.(at);
      vlan_id = ints.(at + 1);
      priority = ints.(at + 2);
      drop_eligible = ints.(at + 3) <> 0;
    }
  in
  {
    destination = mac 0;
    source = mac 6;
    tags = List.init ints.(1) tag;
    ethertype = (if ints.(0) < 0 then None else Some ints.(0));
    payload = Bytes.sub bytes ints.(2) size;
  }
