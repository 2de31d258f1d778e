type t = Endpoint.t

let of_endpoint t = t

external consume_raw :
  Endpoint.handle -> int array -> (int[@untagged]) -> (int[@untagged]) -> (int[@untagged])
  = "xsk_comp_consume_byte" "xsk_comp_consume"
  [@@noalloc]

let consume (t : t) addresses ~pos ~nb =
  Fault.check_slice "Comp_queue.consume" ~length:(Array.length addresses) ~pos ~nb;
  Fault.check "Comp_queue.consume" (consume_raw t.handle addresses pos nb)
