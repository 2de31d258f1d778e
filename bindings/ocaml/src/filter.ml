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
