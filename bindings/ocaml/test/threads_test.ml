(* Waiting: other threads and signal handlers run meanwhile. *)

open Xsk

(* Would the waiting thread keep the runtime lock, no frame would ever be sent. *)
let waiting_lets_others_run () =
  Rig.with_sides @@ fun a b ->
  Rig.with_program b @@ fun () ->
  let got = ref Bytes.empty and waits = ref false in
  let wait () =
    let desc = Desc.create () in
    waits := true;
    if Rx_queue.poll_and_consume b.rx ~timeout_ms:(-1) [| desc |] ~pos:0 ~nb:1 = 1 then
      got := Umem.read b.umem desc
  in
  let waiting = Thread.create wait () in
  Rig.wait_until "the thread waits" (fun () -> !waits);
  let sent = Rig.frame ~size:60 3 in
  Rig.send a ~index:0 sent;
  Thread.join waiting;
  Expect.bytes "frame" ~wanted:sent !got

let closing_under_a_waiting_thread () =
  let before = Rig.count_fds () in
  let side = Rig.side "vethA" in
  let config = { Frames_test.port_config with socket = Rig.small_socket } in
  let port = Port.open_ ~interface:"vethB" ~queue:0 config in
  let started = ref 0 and closed = ref 0 in
  let wait call () =
    incr started;
    match call () with exception Xsk.Closed _ -> incr closed | _ -> ()
  in
  let waiting =
    [
      Thread.create (wait (fun () -> ignore (Rx_queue.poll side.rx ~timeout_ms:1500))) ();
      Thread.create (wait (fun () -> ignore (Socket.poll_in side.socket ~timeout_ms:2000))) ();
      Thread.create (wait (fun () -> ignore (Port.receive port ~timeout_ms:1500))) ();
    ]
  in
  Rig.wait_until "the threads wait" (fun () -> !started = 3);
  Rig.close side;
  Port.close port;
  Expect.is_true "closed at once" (Socket.is_closed side.socket && Port.is_closed port);
  List.iter Thread.join waiting;
  Expect.int "threads that heard of it" ~wanted:3 !closed;
  Expect.int "descriptors" ~wanted:before (Rig.count_fds ())

exception Rang

(* It would wait for ever. *)
let signal_handlers_run () =
  let side = Rig.side "vethA" in
  let rings = ref 0 in
  let ring _ =
    incr rings;
    if !rings = 3 then raise Rang
  in
  let usual = Sys.signal Sys.sigalrm (Sys.Signal_handle ring) in
  let timer = { Unix.it_interval = 0.05; it_value = 0.05 } in
  ignore (Unix.setitimer Unix.ITIMER_REAL timer);
  Expect.raises "poll" (( = ) Rang) (fun () -> Rx_queue.poll side.rx ~timeout_ms:(-1));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0. });
  Sys.set_signal Sys.sigalrm usual;
  Rig.close side;
  Expect.closed "closed for good" (fun () -> Rx_queue.poll side.rx ~timeout_ms:0)

let many_threads_open_and_forget () =
  Gc.full_major ();
  let before = Rig.count_fds () in
  let umem = Umem.create Rig.small_umem in
  let keeper = Socket.create umem ~interface:"vethA" ~queue:0 Rig.small_socket in
  let failed = ref 0 in
  let work number =
    try
      for i = 1 to 50 do
        let socket = Socket.create umem ~interface:"vethA" ~queue:0 Rig.small_socket in
        if (i + number) mod 2 = 0 then Socket.close socket;
        if i mod 10 = 0 then Gc.full_major ()
      done
    with raised ->
      incr failed;
      prerr_endline (Printexc.to_string raised)
  in
  List.iter Thread.join (List.init 4 (Thread.create work));
  Expect.int "failed threads" ~wanted:0 !failed;
  Socket.close keeper;
  Gc.full_major ();
  Gc.full_major ();
  Expect.int "descriptors" ~wanted:before (Rig.count_fds ())

let all () =
  let test = Expect.test in
  test "waiting lets others run" waiting_lets_others_run;
  test "closing under a waiting thread" closing_under_a_waiting_thread;
  test "signal handlers run" signal_handlers_run;
  test "many threads open and forget" many_threads_open_and_forget
