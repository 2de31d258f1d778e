type t = Endpoint.t

let of_endpoint t = t

external consume_raw :
  Endpoint.handle -> Desc.t array -> (int[@untagged]) -> (int[@untagged]) -> (int[@untagged])
  = "xsk_rx_consume_byte" "xsk_rx_consume"
  [@@noalloc]

let consume (t : t) descriptors ~pos ~nb =
  Fault.check_slice "Rx_queue.consume" ~length:(Array.length descriptors) ~pos ~nb;
  Fault.check "Rx_queue.consume" (consume_raw t.handle descriptors pos nb)

let poll (t : t) ~timeout_ms = Endpoint.wait "Rx_queue.poll" t ~for_output:0 ~timeout_ms

let poll_and_consume t ~timeout_ms descriptors ~pos ~nb =
  let count = consume t descriptors ~pos ~nb in
  if count > 0 || nb = 0 then count
  else if poll t ~timeout_ms then consume t descriptors ~pos ~nb
  else 0
