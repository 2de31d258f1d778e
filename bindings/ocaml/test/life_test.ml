(* Closing, forgetting, and using afterwards. *)

open Xsk

let closing_twice_is_harmless () =
  let side = Rig.side "vethA" in
  let program = Program.attach ~interface:"vethA" Program.Mode.Automatic in
  let route = Program.route program Rig.filter side.socket in
  for _ = 1 to 3 do
    Program.close_route route;
    Program.close program;
    Socket.close side.socket;
    Umem.close side.umem
  done;
  Expect.is_true "closed" (Socket.is_closed side.socket && Umem.is_closed side.umem)

let use_after_close_raises () =
  let side = Rig.side "vethA" in
  let program = Program.attach ~interface:"vethA" Program.Mode.Automatic in
  Rig.close side;
  let addresses = [| 0 |] and descs = Desc.make_array 1 in
  let check name run = Expect.closed name (fun () -> ignore (run ())) in
  check "fill" (fun () -> Fill_queue.produce side.fill addresses ~pos:0 ~nb:1);
  check "fill nothing" (fun () -> Fill_queue.produce side.fill addresses ~pos:0 ~nb:0);
  check "fill wakeup" (fun () -> Fill_queue.needs_wakeup side.fill);
  check "wakeup" (fun () -> Fill_queue.wakeup_kernel side.fill);
  check "comp" (fun () -> Comp_queue.consume side.comp addresses ~pos:0 ~nb:1);
  check "tx" (fun () -> Tx_queue.produce side.tx descs ~pos:0 ~nb:1);
  check "tx wakeup" (fun () -> Tx_queue.needs_wakeup side.tx);
  check "send" (fun () -> Tx_queue.wakeup_kernel side.tx);
  check "rx" (fun () -> Rx_queue.consume side.rx descs ~pos:0 ~nb:1);
  check "poll" (fun () -> Rx_queue.poll side.rx ~timeout_ms:(-1));
  check "rx poll" (fun () -> Rx_queue.poll_and_consume side.rx ~timeout_ms:1 descs ~pos:0 ~nb:1);
  check "fd" (fun () -> Socket.fd side.socket);
  check "is_zerocopy" (fun () -> Socket.is_zerocopy side.socket);
  check "is_busy_polled" (fun () -> Socket.is_busy_polled side.socket);
  check "statistics" (fun () -> Socket.statistics side.socket);
  check "poll_out" (fun () -> Socket.poll_out side.socket ~timeout_ms:(-1));
  check "route" (fun () -> Program.route program Rig.filter side.socket);
  check "memory" (fun () -> Umem.memory side.umem);
  check "frame_of" (fun () -> Umem.frame_of side.umem 0);
  check "read" (fun () -> Umem.read side.umem (Desc.create ()));
  check "get" (fun () -> Umem.get_uint8 side.umem 0);
  check "socket" (fun () ->
      Socket.create side.umem ~interface:"vethA" ~queue:0 Rig.small_socket);
  Program.close program;
  check "is_native" (fun () -> Program.is_native program)

(* The sockets go on when the UMEM is closed first. *)
let umem_before_sockets () =
  Rig.with_sides @@ fun a b ->
  Rig.with_program b @@ fun () ->
  let memory = Umem.memory b.umem in
  Umem.close b.umem;
  Gc.full_major ();
  let sent = Rig.frame ~size:60 5 in
  Rig.send a ~index:0 sent;
  let desc = Desc.create () in
  let got = Rx_queue.poll_and_consume b.rx ~timeout_ms:20_000 [| desc |] ~pos:0 ~nb:1 in
  Expect.int "received" ~wanted:1 got;
  let got = Bytes.init desc.len (fun i -> memory.{desc.addr + i}) in
  Expect.bytes "frame" ~wanted:sent got

let sockets_share_a_umem () =
  let umem = Umem.create Rig.small_umem in
  let create interface = Socket.create umem ~interface ~queue:0 Rig.small_socket in
  let first = create "vethB" and second = create "vethB" and sender = create "vethA" in
  let addresses = Rig.frames_from umem ~first:128 ~count:128 in
  let fill = Socket.fill_queue first in
  Expect.int "filled" ~wanted:128 (Fill_queue.produce fill addresses ~pos:0 ~nb:128);
  let shared = Socket.fill_queue second in
  Expect.int "full" ~wanted:0 (Fill_queue.produce shared addresses ~pos:0 ~nb:1);
  let program = Program.attach ~interface:"vethB" Program.Mode.Automatic in
  ignore (Program.route program Rig.filter second);
  Expect.error "taken" ~code:Unix.EEXIST ~operation:"Program.route" ~says:"another socket"
    (fun () -> Program.route program Rig.filter first);
  Expect.error "another interface" ~code:Unix.EINVAL ~operation:"Program.route" ~says:"vethB"
    (fun () -> Program.route program Rig.filter sender);
  Program.close program;
  (* What is left is the second's, with the ring that the first made. *)
  Socket.close first;
  Gc.full_major ();
  let desc = Desc.create () in
  desc.len <- 60;
  Umem.write umem ~addr:0 (Rig.frame ~size:46 1) ~pos:0 ~len:60;
  let tx = Socket.tx_queue sender in
  Expect.int "sent" ~wanted:1 (Tx_queue.produce_and_wakeup_kernel tx [| desc |] ~pos:0 ~nb:1);
  let got = Desc.create () in
  let rx = Socket.rx_queue second in
  Expect.int "received" ~wanted:1
    (Rx_queue.poll_and_consume rx ~timeout_ms:20_000 [| got |] ~pos:0 ~nb:1);
  Expect.bytes "the same" ~wanted:(Umem.read umem desc) (Umem.read umem got);
  List.iter Socket.close [ sender; second ]

let[@inline never] forget_sockets () =
  let umem = Umem.create Rig.small_umem in
  for _ = 1 to 200 do
    let socket = Socket.create umem ~interface:"vethA" ~queue:0 Rig.small_socket in
    Expect.is_true "open" (not (Socket.is_closed socket))
  done

let[@inline never] forget_ports () =
  for _ = 1 to 3 do
    let config = { Frames_test.port_config with umem = Rig.small_umem } in
    ignore (Port.open_ ~interface:"vethA" ~queue:0 config);
    Gc.full_major ()
  done

let[@inline never] forget_program () =
  let side = Rig.side "vethA" in
  ignore (Program.route (Program.attach ~interface:"vethA" Automatic) Rig.filter side.socket)

let the_collector_closes () =
  Gc.full_major ();
  let before = Rig.count_fds () in
  forget_sockets ();
  Gc.full_major ();
  Expect.int "descriptors after 200 sockets" ~wanted:before (Rig.count_fds ());
  forget_ports ();
  forget_program ();
  Gc.full_major ();
  Gc.full_major ();
  Expect.int "descriptors after ports and programs" ~wanted:before (Rig.count_fds ());
  (* And nothing is left on the interface. *)
  let program = Program.attach ~interface:"vethA" Program.Mode.Generic in
  Program.close program

let[@inline never] forget_all_but_queue () =
  let side = Rig.side "vethB" in
  Rig.give_frames side;
  let program = Program.attach ~interface:"vethB" Program.Mode.Automatic in
  ignore (Program.route program Rig.filter side.socket);
  (side.rx, Umem.memory side.umem)

let a_queue_keeps_its_socket_and_route () =
  let rx, memory = forget_all_but_queue () in
  Gc.full_major ();
  let a = Rig.side "vethA" in
  let sent = Rig.frame ~size:60 9 in
  Rig.send a ~index:0 sent;
  let desc = Desc.create () in
  Expect.int "received" ~wanted:1
    (Rx_queue.poll_and_consume rx ~timeout_ms:20_000 [| desc |] ~pos:0 ~nb:1);
  Expect.bytes "frame" ~wanted:sent (Bytes.init desc.len (fun i -> memory.{desc.addr + i}));
  Rig.close a

(* KiB of address space. *)
let virtual_size () =
  let from = open_in "/proc/self/status" in
  let rec find () =
    let line = input_line from in
    try Scanf.sscanf line "VmSize: %d" Fun.id with Scanf.Scan_failure _ -> find ()
  in
  Fun.protect find ~finally:(fun () -> close_in from)

let frames = 32768
let umem_kib = frames * 4

let[@inline never] part_of_memory () =
  let umem = Umem.create { Umem.Config.default with frame_count = frames } in
  let memory = Umem.memory umem in
  memory.{8192} <- 'x';
  let part = Bigarray.Array1.sub memory 8192 4096 in
  Umem.close umem;
  part

let[@inline never] use_part before =
  let part = part_of_memory () in
  Gc.full_major ();
  Expect.is_true "mapped while a part is there" (virtual_size () - before >= umem_kib);
  Expect.is_true "kept" (part.{0} = 'x');
  for i = 0 to 4095 do
    part.{i} <- 'y'
  done;
  let again = Bigarray.Array1.sub part 1 1 in
  Gc.full_major ();
  Expect.is_true "kept" (again.{0} = 'y')

let memory_never_dangles_and_goes () =
  Gc.full_major ();
  let before = virtual_size () in
  use_part before;
  Gc.full_major ();
  Expect.is_true "unmapped after" (virtual_size () - before < umem_kib / 2)

let all () =
  let test = Expect.test in
  test "closing twice is harmless" closing_twice_is_harmless;
  test "use after close raises" use_after_close_raises;
  test "a UMEM may be closed before its sockets" umem_before_sockets;
  test "sockets share a UMEM, and its rings" sockets_share_a_umem;
  test "the collector closes what is forgotten" the_collector_closes;
  test "a queue keeps its socket and its route" a_queue_keeps_its_socket_and_route;
  test "memory never dangles, and goes at last" memory_never_dangles_and_goes
