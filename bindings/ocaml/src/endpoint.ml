(* What a socket, its queues and the routes to it have in common. *)

type handle
type route

type t = {
  handle : handle;
  umem : Umem.t;
  is_zerocopy : bool;
  (* So that a route that its user forgets lives as long as its socket. *)
  mutable routes : route list;
}

external blank : unit -> handle = "xsk_socket_blank"

external wait_raw : handle -> (int[@untagged]) -> (int[@untagged]) -> (int[@untagged])
  = "xsk_socket_wait_byte" "xsk_socket_wait"

external wake_receive_raw : handle -> (int[@untagged])
  = "xsk_wake_receive_byte" "xsk_wake_receive"
  [@@noalloc]

external wake_transmit_raw : handle -> (int[@untagged])
  = "xsk_wake_transmit_byte" "xsk_wake_transmit"
  [@@noalloc]

let wait operation t ~for_output ~timeout_ms =
  Fault.check_system operation (wait_raw t.handle for_output timeout_ms) <> 0

let wake_receive operation t = ignore (Fault.check operation (wake_receive_raw t.handle))
let wake_transmit operation t = Fault.check operation (wake_transmit_raw t.handle) <> 0
