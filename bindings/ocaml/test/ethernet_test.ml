(* Frames, raw sockets and rings, between vethA and vethB, and channels. *)

open Xsk

let source = Mac.of_string "02:00:00:00:00:01"
let ours = { Raw_socket.Config.default with ethertype = Some Rig.ethertype }

let frame ?(tags = []) text =
  {
    Frame.destination = Mac.broadcast;
    source;
    tags;
    ethertype = Some Rig.ethertype;
    payload = Bytes.of_string text;
  }

let tag = Frame.Tag.make 10 ~priority:7 ~drop_eligible:true
let numbered i = Frame.build (frame ~tags:[ tag ] (Printf.sprintf "%8d" i))

let check_number i bytes =
  let got = Frame.parse bytes in
  Expect.is_true "its tag" (got.tags = [ tag ]);
  Expect.int "its number" ~wanted:i
    (int_of_string (String.trim (Bytes.sub_string got.payload 0 8)))

let with_open open_ close run =
  let made = open_ () in
  Fun.protect ~finally:(fun () -> close made) (fun () -> run made)

let with_raw ?(config = ours) interface =
  with_open (fun () -> Raw_socket.open_ ~interface config) Raw_socket.close

let frames () =
  let outer = Frame.Tag.make 4094 ~tpid:0x88a8 ~priority:5 in
  let made = frame ~tags:[ outer; tag ] (String.make 100 'x') in
  let bytes = Frame.build made in
  Expect.int "the outer TPID" ~wanted:0x88a8 (Bytes.get_uint16_be bytes 12);
  Expect.int "the inner TCI" ~wanted:0xf00a (Bytes.get_uint16_be bytes 18);
  Expect.is_true "it is read as it was" (Frame.parse bytes = made);
  let by_length = { made with ethertype = None; tags = [] } in
  Expect.is_true "802.3" (Frame.parse (Frame.build by_length) = by_length);
  Expect.int "padded" ~wanted:60 (Bytes.length (Frame.build (frame "")));
  Expect.error "cut" ~code:(Unix.EUNKNOWNERR 74) ~operation:"Frame.parse" ~says:"13 bytes"
    (fun () -> Frame.parse (Bytes.create 13));
  Expect.invalid "five tags" (fun () -> Frame.build (frame ~tags:[ tag; tag; tag; tag; tag ] ""));
  Expect.invalid "VID" (fun () -> Frame.build (frame ~tags:[ Frame.Tag.make 4095 ] ""));
  Expect.raises "too large"
    (function Error (EMSGSIZE, "Frame.build", _) -> true | _ -> false)
    (fun () -> Frame.build (frame (String.make 1501 'x')))

let sockets () =
  with_raw "vethB" @@ fun receiver ->
  with_raw ~config:Raw_socket.Config.default "vethA" @@ fun sender ->
  Expect.int "MTU" ~wanted:1500 (Raw_socket.mtu sender);
  Expect.is_true "nothing yet" (Raw_socket.receive receiver ~timeout_ms:0 = None);
  Expect.is_true "nothing in 1 ms" (Raw_socket.receive receiver ~timeout_ms:1 = None);
  Raw_socket.send sender (numbered 99);
  (match Raw_socket.receive receiver ~timeout_ms:5000 with
  | Some bytes -> check_number 99 bytes
  | None -> Expect.fail "nothing came");
  let many = Array.init 200 numbered in
  let got = Array.make 64 Bytes.empty in
  let sent = ref 0 and next = ref 0 in
  while !next < 200 do
    sent := !sent + Raw_socket.send_batch sender many ~pos:!sent ~nb:(200 - !sent);
    let count = Raw_socket.receive_batch receiver got ~pos:0 ~nb:64 ~timeout_ms:5000 in
    Expect.is_true "some came" (count > 0);
    for i = 0 to count - 1 do
      check_number !next got.(i);
      incr next;
      if i mod 16 = 0 then Gc.full_major ()
    done
  done;
  Expect.is_true "counted" (Raw_socket.statistics receiver = { received = 201; dropped = 0 });
  Expect.raises "above the MTU"
    (function Error (EMSGSIZE, "Raw_socket.send", _) -> true | _ -> false)
    (fun () -> Raw_socket.send sender (Bytes.create 1600));
  Expect.invalid "slice" (fun () -> Raw_socket.send_batch sender many ~pos:199 ~nb:2);
  Expect.error "no interface" ~code:Unix.ENODEV ~operation:"Raw_socket.open_" ~says:"none0"
    (fun () -> Raw_socket.open_ ~interface:"none0" ours)

let rings () =
  let run kind =
    with_open (fun () -> Ring.open_ ~interface:"vethB" kind ours) Ring.close @@ fun ring ->
    with_raw ~config:Raw_socket.Config.default "vethA" @@ fun sender ->
    Expect.is_true "nothing yet" (Ring.receive ring ~timeout_ms:0 = None);
    let many = Array.init 40 numbered in
    let got = Array.make 100 Bytes.empty in
    for _ = 1 to 60 do
      Expect.int "sent" ~wanted:40 (Raw_socket.send_batch sender many ~pos:0 ~nb:40);
      let next = ref 0 in
      while !next < 40 do
        let count = Ring.receive_batch ring got ~pos:0 ~nb:100 ~timeout_ms:5000 in
        Expect.is_true "some came" (count > 0);
        for i = 0 to count - 1 do
          check_number !next got.(i);
          incr next
        done
      done
    done;
    Expect.is_true "none was lost" (Ring.statistics ring = { received = 2400; dropped = 0 });
    Expect.is_true "it can be polled" (Unix.select [ Ring.fd ring ] [] [] 0. = ([], [], []))
  in
  run Ring.Kind.blocks;
  run Ring.Kind.frames;
  with_raw "vethB" @@ fun receiver ->
  let sending = Ring.Kind.Blocks { size = 1 lsl 16; count = 2; timeout_ms = 1; send_slots = 16 } in
  with_open (fun () -> Ring.open_ ~interface:"vethA" sending ours) Ring.close @@ fun sender ->
  Expect.int "sent by a ring" ~wanted:2
    (Ring.send_batch sender [| numbered 0; numbered 1 |] ~pos:0 ~nb:2);
  for i = 0 to 1 do
    check_number i (Option.get (Raw_socket.receive receiver ~timeout_ms:5000))
  done;
  with_open (fun () -> Ring.open_ ~interface:"vethA" Ring.Kind.blocks ours) Ring.close
  @@ fun silent ->
  Expect.raises "it cannot send"
    (function Error (EOPNOTSUPP, "Ring.send_batch", _) -> true | _ -> false)
    (fun () -> Ring.send_batch silent [| numbered 0 |] ~pos:0 ~nb:1)

let line ?(acknowledged = false) interface =
  Channel.open_ { Channel.Config.default with interface; name = "line"; acknowledged }

let next channel = Option.get (Channel.receive channel ~timeout_ms:5000)

let channels () =
  with_open (fun () -> line "vethA") Channel.close @@ fun one ->
  with_open (fun () -> line "vethB") Channel.close @@ fun other ->
  Expect.is_true "nothing yet" (Channel.receive other ~timeout_ms:0 = None);
  let large = Bytes.make 100_000 'x' in
  Channel.send one Bytes.empty;
  Channel.send one large;
  Expect.is_true "posted" (Channel.post one (Bytes.of_string "posted"));
  Channel.flush one;
  Expect.bytes "empty" ~wanted:Bytes.empty (next other);
  Expect.bytes "large" ~wanted:large (next other);
  Expect.bytes "posted" ~wanted:(Bytes.of_string "posted") (next other);
  Expect.raises "too large"
    (function Error (EMSGSIZE, "Channel.send", _) -> true | _ -> false)
    (fun () -> Channel.send one (Bytes.create (2 lsl 20)))

(* The other end echoes in a thread: both run only if waiting gives up the runtime lock. *)
let acknowledged () =
  let one = line ~acknowledged:true "vethA" in
  let other = line ~acknowledged:true "vethB" in
  let echo () =
    for _ = 1 to 100 do
      Channel.send other (next other)
    done;
    Channel.finish other ~timeout_ms:5000
  in
  let echoing = Thread.create echo () in
  for i = 1 to 100 do
    let message = Bytes.of_string (string_of_int i) in
    Channel.send one message;
    Expect.bytes "echo" ~wanted:message (next one)
  done;
  Channel.finish one ~timeout_ms:5000;
  Thread.join echoing;
  Expect.is_true "it has a peer" (Channel.has_peer one);
  Channel.close other;
  Expect.raises "the peer is gone"
    (function Error (ECONNRESET, "Channel.receive", _) -> true | _ -> false)
    (fun () -> Channel.receive one ~timeout_ms:10_000);
  Expect.is_true "told once" (Channel.receive one ~timeout_ms:0 = None);
  Channel.close one

let shared () =
  let channel = line "lo" in
  let outcome = ref None in
  let wait () =
    outcome := Some (try Ok (Channel.receive channel ~timeout_ms:(-1)) with raised -> Error raised)
  in
  let waiting = Thread.create wait () in
  (* What never waits itself, so that it cannot be the one that keeps the other out. *)
  let busy = function Xsk.Error (EBUSY, "Channel.has_peer", _) -> true | _ -> false in
  Rig.wait_until "another thread's call is refused" (fun () ->
      match Channel.has_peer channel with
      | _ -> false
      | exception raised when busy raised -> true);
  Channel.close channel;
  Thread.join waiting;
  (match !outcome with
  | Some (Error (Closed _)) -> ()
  | _ -> Expect.fail "the one that waited was not told");
  Expect.closed "send" (fun () -> Channel.send channel Bytes.empty)

(* They agree by way of lo, and send by the veth. *)
let hybrids () =
  let config =
    {
      Hybrid.Config.default with
      tcp_port = 0;
      listen_address = Some "127.0.0.1";
      vlan_id = Some 42;
      priority = 6;
      timeout_ms = 10_000;
    }
  in
  let listener = Hybrid.listen ~interface:"vethB" config in
  let port = Hybrid.port listener in
  Expect.is_true "a free port" (port <> 0);
  let accepted = ref None in
  let accepting = Thread.create (fun () -> accepted := Some (Hybrid.accept listener)) () in
  let client =
    Hybrid.connect ~interface:"vethA" ~host:"127.0.0.1" { config with tcp_port = port }
  in
  Thread.join accepting;
  let server = match !accepted with Some one -> one | None -> Expect.fail "nobody was accepted" in
  Expect.is_true "they know each other" (Hybrid.peer client <> Hybrid.peer server);
  Expect.is_true "nothing yet" (Hybrid.receive client ~timeout_ms:0 = None);
  Expect.is_true "two descriptors" (Hybrid.data_fd client <> Hybrid.control_fd client);
  Hybrid.send server (Bytes.of_string "start the pump");
  (match Hybrid.receive client ~timeout_ms:20_000 with
  | Some { bytes; tag = Some (42, 6) } ->
      Expect.bytes "message" ~wanted:(Bytes.of_string "start the pump") bytes
  | Some _ -> Expect.fail "with another tag, or none"
  | None -> Expect.fail "no message");
  Expect.error "too long" ~code:Unix.EMSGSIZE ~operation:"Hybrid.send" ~says:"" (fun () ->
      Hybrid.send client (Bytes.create (Hybrid.max_payload client + 1)));
  Hybrid.close server;
  Hybrid.close server;
  Expect.error "the peer went" ~code:Unix.ECONNRESET ~operation:"Hybrid.receive" ~says:""
    (fun () -> Hybrid.receive client ~timeout_ms:20_000);
  Expect.closed "send" (fun () -> Hybrid.send server Bytes.empty);
  Hybrid.close client;
  Hybrid.close_listener listener;
  Expect.closed "accept" (fun () -> Hybrid.accept listener);
  Expect.closed "control_fd" (fun () -> Hybrid.control_fd client);
  Expect.error "not over lo" ~code:Unix.EINVAL ~operation:"Hybrid.listen" ~says:"lo" (fun () ->
      Hybrid.listen ~interface:"lo" config);
  Expect.error "no interface" ~code:Unix.ENODEV ~operation:"Hybrid.connect" ~says:"none0"
    (fun () -> Hybrid.connect ~interface:"none0" ~host:"127.0.0.1" config);
  Expect.invalid "a priority" (fun () ->
      Hybrid.listen ~interface:"vethB" { config with priority = 8 });
  Expect.invalid "a VLAN id" (fun () ->
      Hybrid.listen ~interface:"vethB" { config with vlan_id = Some (-1) })

let interrupted () =
  with_raw "vethB" @@ fun receiver ->
  let previous = Sys.signal Sys.sigalrm (Signal_handle (fun _ -> failwith "alarm")) in
  Fun.protect ~finally:(fun () -> Sys.set_signal Sys.sigalrm previous) @@ fun () ->
  let alarmed = function Failure text -> text = "alarm" | _ -> false in
  let with_alarm run =
    ignore (Unix.setitimer ITIMER_REAL { it_interval = 0.; it_value = 0.05 });
    run ()
  in
  Expect.raises "a socket" alarmed (fun () ->
      with_alarm (fun () -> Raw_socket.receive receiver ~timeout_ms:(-1)));
  with_open (fun () -> line "lo") Channel.close @@ fun channel ->
  Expect.raises "a channel" alarmed (fun () ->
      with_alarm (fun () -> Channel.receive channel ~timeout_ms:(-1)));
  Expect.is_true "it goes on" (Channel.receive channel ~timeout_ms:0 = None)

let closed () =
  let before = Rig.count_fds () in
  for _ = 1 to 30 do
    let socket = Raw_socket.open_ ~interface:"vethA" ours in
    let ring = Ring.open_ ~interface:"vethA" Ring.Kind.blocks ours in
    let channel = line "lo" in
    (match Raw_socket.open_ ~interface:"none0" ours with
    | _ -> Expect.fail "it is not there"
    | exception Error _ -> ());
    Raw_socket.close socket;
    Raw_socket.close socket;
    Ring.close ring;
    Channel.close channel;
    Expect.closed "receive" (fun () -> Raw_socket.receive socket ~timeout_ms:0);
    Expect.closed "fd" (fun () -> Ring.fd ring);
    Expect.is_true "closed" (Channel.is_closed channel)
  done;
  Expect.int "descriptors" ~wanted:before (Rig.count_fds ());
  for _ = 1 to 30 do
    ignore (Raw_socket.open_ ~interface:"vethA" ours);
    ignore (Ring.open_ ~interface:"vethA" Ring.Kind.frames ours)
  done;
  Gc.full_major ();
  Gc.full_major ();
  Expect.int "descriptors that nobody closed" ~wanted:before (Rig.count_fds ())

let all () =
  Expect.test "frames are built and read" frames;
  Expect.test "raw sockets send and receive many frames" sockets;
  Expect.test "rings receive and send" rings;
  Expect.test "channels carry messages of any size" channels;
  Expect.test "an acknowledged peer that goes is told of once" acknowledged;
  Expect.test "a channel has one thread at a time" shared;
  Expect.test "hybrids agree by TCP and send tagged frames" hybrids;
  Expect.test "signals end waiting" interrupted;
  Expect.test "sockets, rings and channels close, also by the collector" closed
