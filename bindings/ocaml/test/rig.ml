(* Sockets on both ends of vethA <==> vethB (see topology.sh), and frames for them. *)

open Xsk

let ethertype = 0x88b5

type side = {
  umem : Umem.t;
  socket : Socket.t;
  fill : Fill_queue.t;
  comp : Comp_queue.t;
  rx : Rx_queue.t;
  tx : Tx_queue.t;
}

let small_umem = { Umem.Config.default with frame_count = 256 }

let small_socket =
  { Socket.Config.default with rx_size = 128; tx_size = 128; fill_size = 128; comp_size = 128 }

let side ?(umem = small_umem) ?(socket = small_socket) interface =
  let umem = Umem.create umem in
  let socket = Socket.create umem ~interface ~queue:0 socket in
  {
    umem;
    socket;
    fill = Socket.fill_queue socket;
    comp = Socket.comp_queue socket;
    rx = Socket.rx_queue socket;
    tx = Socket.tx_queue socket;
  }

let close side =
  Socket.close side.socket;
  Umem.close side.umem

let frames_from umem ~first ~count = Array.init count (fun i -> Umem.frame umem (first + i))

(* The upper half of the frames are to receive into. *)
let give_frames side =
  let addresses = frames_from side.umem ~first:128 ~count:128 in
  Expect.int "filled" ~wanted:128 (Fill_queue.produce side.fill addresses ~pos:0 ~nb:128)

let filter = { Program.Filter.all with ethertype = Some ethertype }

(* What stands between the MAC addresses and the payload. *)
let tag ~tpid ~priority ~vlan_id =
  let bytes = Bytes.create 4 in
  Bytes.set_uint16_be bytes 0 tpid;
  Bytes.set_uint16_be bytes 2 ((priority lsl 13) lor vlan_id);
  bytes

let frame ?(tags = []) ?(ethertype = ethertype) ~size seed =
  let head = Bytes.of_string "\255\255\255\255\255\255\002\000\000\000\000\001" in
  let kind = Bytes.create 2 in
  Bytes.set_uint16_be kind 0 ethertype;
  let payload = Bytes.init size (fun i -> Char.chr ((seed + i) land 0xff)) in
  Bytes.concat Bytes.empty ((head :: tags) @ [ kind; payload ])

(* With no tag, one or two. *)
let tagged_frame i =
  let one = tag ~tpid:0x8100 ~priority:(i mod 8) ~vlan_id:(i mod 4095) in
  let two = [ tag ~tpid:0x88a8 ~priority:7 ~vlan_id:(i mod 4095); one ] in
  frame ~tags:(match i mod 3 with 0 -> [] | 1 -> [ one ] | _ -> two) ~size:(46 + (i mod 1400)) i

let wait_until what holds =
  let until = Unix.gettimeofday () +. 20. in
  while not (holds ()) do
    if Unix.gettimeofday () > until then Expect.fail "%s: not within 20 s" what;
    Thread.yield ()
  done

(* Sends one frame out of frame [index] of the UMEM, and waits until it has gone. *)
let send side ~index bytes =
  let desc = Desc.create () in
  desc.addr <- Umem.frame side.umem index;
  desc.len <- Bytes.length bytes;
  Umem.write side.umem ~addr:desc.addr bytes ~pos:0 ~len:desc.len;
  Expect.int "sent" ~wanted:1
    (Tx_queue.produce_and_wakeup_kernel side.tx [| desc |] ~pos:0 ~nb:1);
  let back = [| 0 |] in
  wait_until "completion" (fun () ->
      ignore (Tx_queue.wakeup_kernel side.tx);
      Comp_queue.consume side.comp back ~pos:0 ~nb:1 = 1);
  Expect.int "the address that came back" ~wanted:desc.addr back.(0)

(* One frame; its place goes back to the fill ring. *)
let receive side =
  let desc = Desc.create () in
  let got = Rx_queue.poll_and_consume side.rx ~timeout_ms:20_000 [| desc |] ~pos:0 ~nb:1 in
  Expect.int "received" ~wanted:1 got;
  let bytes = Umem.read side.umem desc in
  let address = Umem.frame_of side.umem desc.addr in
  Expect.int "given back" ~wanted:1
    (Fill_queue.produce_and_wakeup_kernel side.fill [| address |] ~pos:0 ~nb:1);
  bytes

let count_fds () = Array.length (Sys.readdir "/proc/self/fd")

(* Closes what the test leaves behind also when it fails. *)
let with_sides ?umem ?socket run =
  let a = side ?umem ?socket "vethA" in
  Fun.protect ~finally:(fun () -> close a) @@ fun () ->
  let b = side ?umem ?socket "vethB" in
  Fun.protect ~finally:(fun () -> close b) @@ fun () ->
  give_frames b;
  run a b

let with_program ?(mode = Program.Mode.Automatic) ?(filter = filter) side run =
  let program = Program.attach ~interface:"vethB" mode in
  let route = Program.route program filter side.socket in
  Fun.protect run ~finally:(fun () ->
      Program.close_route route;
      Program.close program)
