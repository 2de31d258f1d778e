(* Numbers that are wrong, and numbers that are large. *)

open Xsk

let slices_are_checked () =
  Rig.with_sides @@ fun a _ ->
  let addresses = Array.make 8 0 and descs = Desc.make_array 8 in
  let calls =
    [
      ("fill", Fill_queue.produce a.fill addresses);
      ("fill, wakeup", Fill_queue.produce_and_wakeup_kernel a.fill addresses);
      ("comp", Comp_queue.consume a.comp addresses);
      ("tx", Tx_queue.produce a.tx descs);
      ("tx, wakeup", Tx_queue.produce_and_wakeup_kernel a.tx descs);
      ("rx", Rx_queue.consume a.rx descs);
      ("rx, poll", Rx_queue.poll_and_consume a.rx ~timeout_ms:(-1) descs);
    ]
  in
  let wrong =
    [ (-3, 4); (0, 9); (8, 1); (9, 0); (0, -1); (1, 8); (1, max_int); (max_int, 1);
      (max_int, max_int); (min_int, 1); (0, min_int); (min_int, min_int); (-1, 0) ]
  in
  let check (name, call) =
    List.iter
      (fun (pos, nb) ->
        Expect.invalid (Printf.sprintf "%s ~pos:%d ~nb:%d" name pos nb) (fun () -> call ~pos ~nb))
      wrong;
    Expect.int (name ^ " of nothing") ~wanted:0 (call ~pos:0 ~nb:0);
    Expect.int (name ^ " of nothing at the end") ~wanted:0 (call ~pos:8 ~nb:0)
  in
  List.iter check calls

let produce_is_all_or_nothing () =
  Rig.with_sides @@ fun a b ->
  (* The ring of 128 is full. *)
  Expect.int "full" ~wanted:0 (Fill_queue.produce b.fill [| 0 |] ~pos:0 ~nb:1);
  let addresses = Rig.frames_from a.umem ~first:0 ~count:200 in
  Expect.int "more than it holds" ~wanted:0 (Fill_queue.produce a.fill addresses ~pos:0 ~nb:129);
  Expect.int "100" ~wanted:100 (Fill_queue.produce a.fill addresses ~pos:0 ~nb:100);
  Expect.int "29 more" ~wanted:0 (Fill_queue.produce a.fill addresses ~pos:100 ~nb:29);
  Expect.int "28 more" ~wanted:28 (Fill_queue.produce a.fill addresses ~pos:100 ~nb:28);
  let descs = Desc.make_array 129 in
  Expect.int "more than it holds" ~wanted:0 (Tx_queue.produce a.tx descs ~pos:0 ~nb:129);
  Expect.int "all" ~wanted:128 (Tx_queue.produce a.tx descs ~pos:1 ~nb:128);
  Expect.int "full" ~wanted:0 (Tx_queue.produce a.tx descs ~pos:0 ~nb:1)

let entries_are_checked () =
  Rig.with_sides @@ fun a _ ->
  let tx ?(addr = 0) ?(len = 60) ?(options = 0) () =
    Tx_queue.produce a.tx [| { Desc.addr; len; options } |] ~pos:0 ~nb:1
  in
  Expect.invalid "address -1" (fun () -> tx ~addr:(-1) ());
  Expect.invalid "length -1" (fun () -> tx ~len:(-1) ());
  Expect.invalid "length 2^32 + 60" (fun () -> tx ~len:((1 lsl 32) + 60) ());
  Expect.invalid "options 2^32" (fun () -> tx ~options:(1 lsl 32) ());
  Expect.invalid "fill -4096" (fun () -> Fill_queue.produce a.fill [| 0; -4096 |] ~pos:0 ~nb:2);
  let before = (Socket.statistics a.socket).invalid_tx in
  (* Were it cut to 32 bits it would be the valid address 0, and the frame be sent. *)
  ignore (tx ~addr:(1 lsl 32) ());
  ignore (Tx_queue.wakeup_kernel a.tx);
  Expect.int "invalid" ~wanted:(before + 1) (Socket.statistics a.socket).invalid_tx;
  let back = [| -1 |] in
  let count = Comp_queue.consume a.comp back ~pos:0 ~nb:1 in
  (* Newer kernels complete what they did not send. *)
  if count > 0 then Expect.int "uncut" ~wanted:(1 lsl 32) back.(0)

let wrong_numbers_are_refused () =
  let umem = Umem.create Rig.small_umem in
  let socket ?(interface = "vethA") ?(queue = 0) config () =
    Socket.create umem ~interface ~queue config
  in
  let config = Rig.small_socket in
  Expect.invalid "ring of -1" (socket { config with rx_size = -1 });
  Expect.invalid "ring of 2^32" (socket { config with rx_size = 1 lsl 32 });
  Expect.invalid "queue -1" (socket ~queue:(-1) config);
  Expect.invalid "a NUL in the name" (socket ~interface:"vethA\000B" config);
  Expect.invalid "no name" (socket ~interface:"" config);
  Expect.invalid "-1 frames" (fun () -> Umem.create { Rig.small_umem with frame_count = -1 });
  Expect.invalid "frame 256" (fun () -> Umem.frame umem 256);
  Expect.invalid "frame -1" (fun () -> Umem.frame umem (-1));
  Expect.invalid "position -1" (fun () -> Umem.position umem (-1));
  let size = Bigarray.Array1.dim (Umem.memory umem) in
  let bytes = Bytes.create 100 in
  let write ~addr ~pos ~len () = Umem.write umem ~addr bytes ~pos ~len in
  Expect.invalid "write behind the end" (write ~addr:(size - 99) ~pos:0 ~len:100);
  Expect.invalid "write far behind" (write ~addr:max_int ~pos:0 ~len:100);
  Expect.invalid "write too much" (write ~addr:0 ~pos:1 ~len:100);
  Expect.invalid "write -1" (write ~addr:0 ~pos:0 ~len:(-1));
  let read ~addr ~len () = Umem.read umem { Desc.addr; len; options = 0 } in
  Expect.invalid "read behind the end" (read ~addr:(size - 1) ~len:2);
  Expect.invalid "read max_int" (read ~addr:1 ~len:max_int);
  Expect.invalid "get behind the end" (fun () -> Umem.get_uint16_be umem (size - 1));
  Expect.invalid "set at -1" (fun () -> Umem.set_uint8 umem (-1) 0);
  Expect.invalid "ethertype" (fun () ->
      let filter = { Rig.filter with ethertype = Some 0x10000 } in
      Port.open_ ~interface:"vethA" ~queue:0 { Port.Config.default with filter });
  let only_sends = Socket.create umem ~interface:"vethA" ~queue:0 { config with rx_size = 0 } in
  Expect.invalid "no receive ring" (fun () -> Socket.rx_queue only_sends);
  let only_receives = Socket.create umem ~interface:"vethA" ~queue:0 { config with tx_size = 0 } in
  Expect.invalid "no transmit ring" (fun () -> Socket.tx_queue only_receives);
  List.iter Socket.close [ only_sends; only_receives ]

let errors_say_what_and_why () =
  let umem = Umem.create Rig.small_umem in
  let create ?(interface = "vethA") ?(queue = 0) ?(umem = umem) config () =
    Socket.create umem ~interface ~queue config
  in
  let error = Expect.error ~operation:"Socket.create" in
  error "no interface" ~code:Unix.ENODEV ~says:"none0" (create ~interface:"none0" Rig.small_socket);
  error "no queue" ~code:Unix.EINVAL ~says:"queue 9" (create ~queue:9 Rig.small_socket);
  error "odd ring" ~code:Unix.EINVAL ~says:"100"
    (create { Rig.small_socket with rx_size = 100 });
  error "zero-copy" ~code:Unix.EOPNOTSUPP ~says:"zero-copy"
    (create { Rig.small_socket with mode = Zerocopy });
  let held = create Rig.small_socket () in
  error "held" ~code:Unix.EBUSY ~says:"queue 0"
    (create ~umem:(Umem.create Rig.small_umem) { Rig.small_socket with busy_limit_ms = 0 });
  Socket.close held;
  Expect.error "frame size" ~code:Unix.EINVAL ~operation:"Umem.create" ~says:"3000" (fun () ->
      Umem.create { Rig.small_umem with frame_size = 3000 });
  Expect.error "MAC" ~code:Unix.EINVAL ~operation:"Mac.of_string" ~says:"02:00" (fun () ->
      Mac.of_string "02:00");
  Expect.is_true "MAC" (Mac.to_string (Mac.of_string "02-00-00-AB-00-01") = "02:00:00:ab:00:01");
  Expect.error "program" ~code:Unix.ENODEV ~operation:"Program.attach" ~says:"none0" (fun () ->
      Program.attach ~interface:"none0" Program.Mode.Automatic)

let errors_without_a_daemon () =
  let socket ?(umem = Rig.small_umem) ?(interface = "vethA") daemon_socket () =
    Socket.open_through_daemon ~daemon_socket ~interface ~queue:0 ~umem Rig.small_socket
  in
  let nowhere = "/nowhere/broker.sock" in
  let before = Rig.count_fds () in
  Expect.error "no daemon" ~code:Unix.ENOENT ~operation:"Socket.open_through_daemon" ~says:nowhere
    (socket nowhere);
  Expect.error "no daemon" ~code:Unix.ENOENT ~operation:"Port.open_through_daemon" ~says:nowhere
    (fun () ->
      Port.open_through_daemon ~daemon_socket:nowhere ~interface:"vethA" ~queue:0
        Port.Config.default);
  Expect.error "huge pages" ~code:Unix.EOPNOTSUPP ~operation:"Socket.open_through_daemon"
    ~says:"huge pages"
    (socket ~umem:{ Rig.small_umem with flags = [ Huge_pages ] } nowhere);
  Expect.int "descriptors" ~wanted:before (Rig.count_fds ());
  Expect.invalid "no path" (socket "");
  Expect.invalid "a NUL in the path" (socket "/nowhere\000/broker.sock");
  Expect.invalid "no name" (socket ~interface:"" nowhere);
  Expect.invalid "-1 frames" (socket ~umem:{ Rig.small_umem with frame_count = -1 } nowhere)

let unaligned =
  { Umem.Config.frame_count = 256; frame_size = 3000; headroom = 128; flags = [ Unaligned ] }

(* The kernel returns unaligned addresses with an offset from bit 48 on: far above 32 bits. They go
   out again as they came in. *)
let large_addresses_go_both_ways () =
  Rig.with_sides ~umem:unaligned @@ fun a b ->
  Rig.with_program b @@ fun () ->
  for i = 0 to 299 do
    let sent = Rig.frame ~size:(46 + i) i in
    Rig.send a ~index:(i mod 128) sent;
    let desc = Desc.create () in
    let got = Rx_queue.poll_and_consume b.rx ~timeout_ms:20_000 [| desc |] ~pos:0 ~nb:1 in
    Expect.int "received" ~wanted:1 got;
    Expect.int "offset" ~wanted:384 (desc.addr lsr 48);
    Expect.bytes "frame" ~wanted:sent (Umem.read b.umem desc);
    let start = Umem.frame_of b.umem desc.addr in
    Expect.int "frame's beginning" ~wanted:0 (start mod 3000);
    Expect.int "position" ~wanted:(start + 384) (Umem.position b.umem desc.addr);
    (* Sent back from where it lies. *)
    Expect.int "echo" ~wanted:1 (Tx_queue.produce_and_wakeup_kernel b.tx [| desc |] ~pos:0 ~nb:1);
    let back = [| 0 |] in
    Rig.wait_until "completion" (fun () ->
        ignore (Tx_queue.wakeup_kernel b.tx);
        Comp_queue.consume b.comp back ~pos:0 ~nb:1 = 1);
    Expect.int "uncut" ~wanted:desc.addr back.(0);
    Expect.int "given back" ~wanted:1
      (Fill_queue.produce b.fill [| Umem.frame_of b.umem back.(0) |] ~pos:0 ~nb:1)
  done

let addresses_are_not_cut () =
  let aligned = Umem.create Rig.small_umem and umem = Umem.create unaligned in
  List.iter
    (fun address ->
      Expect.int "aligned position" ~wanted:address (Umem.position aligned address);
      Expect.int "aligned frame" ~wanted:(address land lnot 4095) (Umem.frame_of aligned address))
    [ 0; 4097; (1 lsl 31) + 5; (1 lsl 32) + 5; (1 lsl 45) + 4095; (1 lsl 61) + 1 ];
  let base = (5 lsl 32) + 17 in
  let address = (4095 lsl 48) lor base in
  Expect.int "unaligned frame" ~wanted:base (Umem.frame_of umem address);
  Expect.int "unaligned position" ~wanted:(base + 4095) (Umem.position umem address)

let all () =
  let test = Expect.test in
  test "slices are checked" slices_are_checked;
  test "produce is all or nothing" produce_is_all_or_nothing;
  test "entries are checked" entries_are_checked;
  test "wrong numbers are refused" wrong_numbers_are_refused;
  test "errors say what and why" errors_say_what_and_why;
  test "errors without a daemon" errors_without_a_daemon;
  test "large addresses go both ways" large_addresses_go_both_ways;
  test "addresses are not cut" addresses_are_not_cut
