type t = Endpoint.t

let of_endpoint t = t

external produce_raw :
  Endpoint.handle -> Desc.t array -> (int[@untagged]) -> (int[@untagged]) -> (int[@untagged])
  = "xsk_tx_produce_byte" "xsk_tx_produce"
  [@@noalloc]

external needs_wakeup_raw : Endpoint.handle -> (int[@untagged])
  = "xsk_tx_needs_wakeup_byte" "xsk_tx_needs_wakeup"
  [@@noalloc]

let produce (t : t) descriptors ~pos ~nb =
  Fault.check_slice "Tx_queue.produce" ~length:(Array.length descriptors) ~pos ~nb;
  Fault.check "Tx_queue.produce" (produce_raw t.handle descriptors pos nb)

let needs_wakeup (t : t) =
  Fault.check "Tx_queue.needs_wakeup" (needs_wakeup_raw t.handle) <> 0
  || not t.is_zerocopy

let wakeup_kernel (t : t) = Endpoint.wake_transmit "Tx_queue.wakeup_kernel" t

(* What the kernel takes in a call in copy mode. *)
let frames_a_call = 32

let rec wakeup_for t ~left =
  if (not (wakeup_kernel t)) && left > 0 then wakeup_for t ~left:(left - frames_a_call)

let produce_and_wakeup_kernel t descriptors ~pos ~nb =
  let count = produce t descriptors ~pos ~nb in
  if count > 0 && needs_wakeup t then wakeup_for t ~left:count;
  count
