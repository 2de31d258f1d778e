(* Frames through rings and ports, and what programs let pass. *)

open Xsk

let arrive_whole_and_in_order mode () =
  Rig.with_sides @@ fun a b ->
  Rig.with_program ~mode b @@ fun () ->
  for i = 0 to 999 do
    let sent = Rig.tagged_frame i in
    Rig.send a ~index:(i mod 128) sent;
    Expect.bytes (Printf.sprintf "frame %d" i) ~wanted:sent (Rig.receive b)
  done;
  let counted = Socket.statistics b.socket in
  Expect.int "dropped" ~wanted:0
    (counted.dropped + counted.invalid_rx + counted.invalid_tx)

let go_in_batches () =
  Rig.with_sides @@ fun a b ->
  Rig.with_program b @@ fun () ->
  let descs = Desc.make_array 128 in
  let sent = Array.init 100 Rig.tagged_frame in
  Array.iteri
    (fun i frame ->
      let desc = descs.(i + 7) in
      desc.addr <- Umem.frame a.umem i;
      desc.len <- Bytes.length frame;
      Umem.write a.umem ~addr:desc.addr frame ~pos:0 ~len:desc.len)
    sent;
  let taken = Tx_queue.produce_and_wakeup_kernel a.tx descs ~pos:7 ~nb:100 in
  Expect.int "produced" ~wanted:100 taken;
  let back = Array.make 128 (-1) in
  let count = ref 0 in
  Rig.wait_until "completions" (fun () ->
      ignore (Tx_queue.wakeup_kernel a.tx);
      count := !count + Comp_queue.consume a.comp back ~pos:!count ~nb:(128 - !count);
      !count = 100);
  for i = 0 to 99 do
    Expect.int "completed in order" ~wanted:(Umem.frame a.umem i) back.(i)
  done;
  let got = Desc.make_array 128 in
  let count = ref 0 in
  while !count < 100 do
    let more =
      Rx_queue.poll_and_consume b.rx ~timeout_ms:20_000 got ~pos:!count ~nb:(128 - !count)
    in
    if more = 0 then Expect.fail "only %d of 100 frames came" !count;
    count := !count + more
  done;
  Array.iteri (fun i frame -> Expect.bytes "frame" ~wanted:frame (Umem.read b.umem got.(i))) sent

let port_config =
  { Port.Config.default with umem = Rig.small_umem; socket = Rig.small_socket; filter = Rig.filter }

let rec send_by port frame = if not (Port.send port frame) then send_by port frame

let go_through_ports () =
  let b = Port.open_ ~interface:"vethB" ~queue:0 port_config in
  let only_sends = { port_config with socket = { Rig.small_socket with rx_size = 0 } } in
  let a = Port.open_ ~interface:"vethA" ~queue:0 only_sends in
  Expect.is_true "sends only" (Port.is_native a = None && Port.is_native b <> None);
  Expect.is_true "nothing yet" (Port.receive b ~timeout_ms:0 = None);
  for i = 0 to 499 do
    let sent = Rig.tagged_frame i in
    send_by a sent;
    match Port.receive b ~timeout_ms:20_000 with
    | Some got -> Expect.bytes "frame" ~wanted:sent got
    | None -> Expect.fail "frame %d did not come" i
  done;
  let sent = Array.init 40 Rig.tagged_frame in
  Expect.int "sent" ~wanted:40 (Port.send_batch a sent ~pos:0 ~nb:40);
  Port.flush a ~timeout_ms:20_000;
  let got = Array.make 64 Bytes.empty in
  let count = ref 0 in
  while !count < 40 do
    let more = Port.receive_batch b got ~pos:!count ~nb:(64 - !count) ~timeout_ms:20_000 in
    if more = 0 then Expect.fail "only %d of 40 frames came" !count;
    count := !count + more
  done;
  Array.iteri (fun i frame -> Expect.bytes "frame" ~wanted:frame got.(i)) sent;
  Expect.error "too long" ~code:Unix.EINVAL ~operation:"Port.send" ~says:"5000" (fun () ->
      Port.send a (Bytes.create 5000));
  Expect.invalid "slice" (fun () -> Port.send_batch a sent ~pos:39 ~nb:2);
  List.iter Port.close [ a; b; a; b ];
  Expect.closed "send" (fun () -> Port.send a sent.(0));
  Expect.closed "receive" (fun () -> Port.receive b ~timeout_ms:1000);
  Expect.closed "flush" (fun () -> Port.flush a ~timeout_ms:0);
  Expect.closed "statistics" (fun () -> Port.statistics b);
  Expect.closed "fd" (fun () -> Port.fd b)

(* UDP over IPv4 with VLAN [vlan_id], to [port]; the program looks no deeper. *)
let udp_frame ~vlan_id ~destination ~port =
  let ip = Bytes.make 20 '\000' and udp = Bytes.make 26 '\000' in
  Bytes.set_uint8 ip 0 0x45;
  Bytes.set_uint16_be ip 2 46;
  Bytes.set_uint8 ip 9 17;
  Bytes.set_uint16_be udp 2 port;
  Bytes.set_uint16_be udp 4 26;
  let tags = [ Rig.tag ~tpid:0x8100 ~priority:0 ~vlan_id ] in
  let made = Rig.frame ~tags ~ethertype:0x0800 ~size:0 0 in
  Bytes.blit_string (Mac.to_bytes destination) 0 made 0 6;
  Bytes.concat Bytes.empty [ made; ip; udp ]

let filters_ask_for_all_they_name () =
  let destination = Mac.of_string "02:00:00:00:00:0b" in
  let filter =
    {
      Program.Filter.ethertype = Some 0x0800;
      vlan_id = Some 7;
      destination = Some destination;
      udp_port = Some 5000;
    }
  in
  Rig.with_sides @@ fun a b ->
  Rig.with_program ~filter b @@ fun () ->
  let other = Mac.of_string "02:00:00:00:00:0c" in
  let wanted = udp_frame ~vlan_id:7 ~destination ~port:5000 in
  Rig.send a ~index:0 (udp_frame ~vlan_id:8 ~destination ~port:5000);
  Rig.send a ~index:0 (udp_frame ~vlan_id:7 ~destination:other ~port:5000);
  Rig.send a ~index:0 (udp_frame ~vlan_id:7 ~destination ~port:5001);
  Rig.send a ~index:0 (Rig.frame ~size:60 1);
  Rig.send a ~index:0 wanted;
  Expect.bytes "the only one" ~wanted (Rig.receive b);
  Expect.is_true "no more" (not (Socket.poll_in b.socket ~timeout_ms:50))

let checksum bytes =
  let sum = ref 0 in
  for i = 0 to (Bytes.length bytes / 2) - 1 do
    sum := !sum + Bytes.get_uint16_be bytes (2 * i)
  done;
  let folded = (!sum land 0xffff) + (!sum lsr 16) in
  lnot ((folded land 0xffff) + (folded lsr 16)) land 0xffff

(* Pings the peer's 192.0.2.2 past a program on vethP that wants other frames. *)
let ping_passes () =
  let umem = Umem.create Rig.small_umem in
  let socket = Socket.create umem ~interface:"vethP" ~queue:0 Rig.small_socket in
  let program = Program.attach ~interface:"vethP" Program.Mode.Automatic in
  ignore (Program.route program Rig.filter socket);
  let raw = Unix.socket Unix.PF_INET Unix.SOCK_RAW 1 in
  Unix.setsockopt_float raw Unix.SO_RCVTIMEO 20.;
  let request = Bytes.make 16 '\042' in
  Bytes.set_uint16_be request 0 0x0800;
  Bytes.set_uint16_be request 2 0;
  Bytes.set_uint16_be request 2 (checksum request);
  let to_peer = Unix.ADDR_INET (Unix.inet_addr_of_string "192.0.2.2", 0) in
  Expect.int "ping" ~wanted:16 (Unix.sendto raw request 0 16 [] to_peer);
  let reply = Bytes.create 256 in
  let rec wait () =
    let size, _ = Unix.recvfrom raw reply 0 256 [] in
    let is_reply = size = 36 && Bytes.get_uint8 reply 20 = 0 in
    if not is_reply then wait ()
  in
  wait ();
  Expect.bytes "payload" ~wanted:(Bytes.sub request 4 12) (Bytes.sub reply 24 12);
  Unix.close raw;
  Expect.int "nothing for the socket" ~wanted:0
    (Rx_queue.consume (Socket.rx_queue socket) (Desc.make_array 4) ~pos:0 ~nb:4);
  Program.close program;
  Socket.close socket

let large_frames_come_in_parts () =
  let config =
    { port_config with socket = { Rig.small_socket with flags = [ Need_wakeup; Multi_buffer ] } }
  in
  let b = Port.open_ ~interface:"vethJ" ~queue:0 config in
  let a = Port.open_ ~interface:"vethI" ~queue:0 config in
  for i = 0 to 99 do
    let sent = Rig.frame ~size:(50 + (i * 89)) i in
    send_by a sent;
    match Port.receive b ~timeout_ms:20_000 with
    | Some got -> Expect.bytes "frame" ~wanted:sent got
    | None -> Expect.fail "frame %d did not come" i
  done;
  Port.close a;
  Port.close b

let lost_frames_are_counted () =
  Rig.with_sides @@ fun a b ->
  Rig.with_program b @@ fun () ->
  (* 128 places, of which the frames are not taken out. *)
  for i = 0 to 149 do
    Rig.send a ~index:(i mod 128) (Rig.frame ~size:60 i)
  done;
  let counted = Socket.statistics b.socket in
  Expect.int "arrived" ~wanted:128
    (Rx_queue.consume b.rx (Desc.make_array 200) ~pos:0 ~nb:200);
  Expect.int "lost" ~wanted:22 counted.dropped

let all () =
  let test = Expect.test in
  test "frames arrive whole, in order, with tags (native)"
    (arrive_whole_and_in_order Program.Mode.Native);
  test "frames arrive whole, in order, with tags (generic)"
    (arrive_whole_and_in_order Program.Mode.Generic);
  test "frames go in batches" go_in_batches;
  test "frames go through ports" go_through_ports;
  test "filters ask for all that they name" filters_ask_for_all_they_name;
  test "ping passes the program" ping_passes;
  test "lost frames are counted" lost_frames_are_counted;
  test "large frames come in parts" large_frames_come_in_parts
