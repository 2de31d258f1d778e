type t = Endpoint.t

let of_endpoint t = t

external produce_raw :
  Endpoint.handle -> int array -> (int[@untagged]) -> (int[@untagged]) -> (int[@untagged])
  = "xsk_fill_produce_byte" "xsk_fill_produce"
  [@@noalloc]

external needs_wakeup_raw : Endpoint.handle -> (int[@untagged])
  = "xsk_fill_needs_wakeup_byte" "xsk_fill_needs_wakeup"
  [@@noalloc]

let produce (t : t) addresses ~pos ~nb =
  Fault.check_slice "Fill_queue.produce" ~length:(Array.length addresses) ~pos ~nb;
  Fault.check "Fill_queue.produce" (produce_raw t.handle addresses pos nb)

let needs_wakeup (t : t) = Fault.check "Fill_queue.needs_wakeup" (needs_wakeup_raw t.handle) <> 0
let wakeup_kernel (t : t) = Endpoint.wake_receive "Fill_queue.wakeup_kernel" t

let produce_and_wakeup_kernel t addresses ~pos ~nb =
  let count = produce t addresses ~pos ~nb in
  if count > 0 && needs_wakeup t then wakeup_kernel t;
  count
