(* daemon_echo IFACE COUNT: sends as many frames of queue 0 back, by a port that the daemon made;
   before that, and after, closes what can be closed in the orders there are. *)

open Xsk

let close_in_any_order ~interface =
  let open_ () =
    Socket.open_through_daemon ~interface ~queue:0 ~umem:Rig.small_umem Rig.small_socket
  in
  let socket = open_ () in
  let umem = Socket.umem socket in
  Umem.write umem ~addr:(Umem.frame umem 255) (Bytes.make 4096 'x') ~pos:0 ~len:4096;
  for _ = 1 to 2 do
    Socket.close socket;
    Umem.close umem
  done;
  let socket = open_ () in
  let umem = Socket.umem socket in
  let memory = Umem.memory umem in
  for _ = 1 to 2 do
    Umem.close umem;
    Socket.close socket
  done;
  Expect.is_true "the memory is there still" (memory.{Bigarray.Array1.dim memory - 1} = '\000');
  Expect.closed "fill" (fun () -> Fill_queue.needs_wakeup (Socket.fill_queue socket))

let echo ~interface ~count =
  let port = Port.open_through_daemon ~interface ~queue:0 Port.Config.default in
  prerr_endline "listening";
  for _ = 1 to count do
    match Port.receive port ~timeout_ms:20_000 with
    | Some frame -> Rig.wait_until "room to send" (fun () -> Port.send port frame)
    | None -> Expect.fail "nothing came"
  done;
  for _ = 1 to 2 do
    Port.close port
  done;
  Expect.is_true "closed" (Port.is_closed port)

let () =
  let interface = Sys.argv.(1) and count = int_of_string Sys.argv.(2) in
  match
    close_in_any_order ~interface;
    echo ~interface ~count
  with
  | () -> ()
  | exception raised ->
      prerr_endline (Expect.describe raised);
      exit 1
