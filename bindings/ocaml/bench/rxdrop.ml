(* Receives packets by AF_XDP, in batches of 64, drops them, and says how fast. *)

open Xsk

let batch = 64
let idle_limit_s = 2.
let window_s = 1.

type receiver = {
  rx : Rx_queue.t;
  fill : Fill_queue.t;
  umem : Umem.t;
  descs : Desc.t array;
  addresses : int array;
}

(* All floats, so that the runtime keeps them unboxed. *)
type times = {
  mutable now : float;
  mutable first : float;  (* when the first packet came *)
  mutable last : float;
  mutable window_start : float;
  mutable fastest : float;  (* pps, of whole windows *)
  mutable slowest : float;
}

let stopped = ref false

(* Drops up to [most] packets; how many. *)
let drop t ~most =
  let nb = min batch most in
  let count = Rx_queue.poll_and_consume t.rx ~timeout_ms:100 t.descs ~pos:0 ~nb in
  for i = 0 to count - 1 do
    t.addresses.(i) <- Umem.frame_of t.umem t.descs.(i).addr
  done;
  (* The ring has room for all frames there are. *)
  ignore (Fill_queue.produce_and_wakeup_kernel t.fill t.addresses ~pos:0 ~nb:count);
  count

let end_window times ~packets =
  let seconds = times.now -. times.window_start in
  let rate = float_of_int packets /. seconds in
  if rate > times.fastest then times.fastest <- rate;
  if rate < times.slowest then times.slowest <- rate;
  times.window_start <- times.now

(* How many came. Ends at [count], after a pause, at [until], or when stopped. *)
let receive t times ~count ~until =
  let received = ref 0 and in_window = ref 0 and goes_on = ref true in
  while !goes_on do
    let got = drop t ~most:(count - !received) in
    times.now <- Unix.gettimeofday ();
    if got > 0 then (
      if !received = 0 then (
        times.first <- times.now;
        times.window_start <- times.now);
      times.last <- times.now;
      received := !received + got;
      in_window := !in_window + got);
    if !received > 0 && times.now -. times.window_start >= window_s && got > 0 then (
      end_window times ~packets:!in_window;
      in_window := 0);
    let is_idle = !received > 0 && times.now -. times.last >= idle_limit_s in
    goes_on := (not !stopped) && !received < count && (not is_idle) && times.now < until
  done;
  !received

let report times ~received ~words (counted : Socket.Statistics.t) =
  (* Less than a window: the rate of all of it. *)
  if times.fastest = 0. then (
    let seconds = max (times.last -. times.first) 1e-6 in
    times.fastest <- (if received = 0 then 0. else float_of_int received /. seconds);
    times.slowest <- times.fastest);
  Printf.printf "[rxdrop] max: %.0f (pps) min: %.0f (pps)\n" times.fastest times.slowest;
  Printf.printf "[rxdrop] total: %d (pkts) dropped: %d (pkts) minor words: %.6f (per pkt)\n"
    received counted.dropped
    (if received = 0 then 0. else words /. float_of_int received)

let make (options : Endpoint_options.t) ~port =
  let frames = (Endpoint_options.umem options).frame_count in
  let config =
    { (Endpoint_options.socket options) with tx_size = 0; rx_size = frames; fill_size = frames }
  in
  let filter = { Program.Filter.all with udp_port = port } in
  let socket = Endpoint_options.open_socket options ~filter config in
  let umem = Socket.umem socket in
  let fill = Socket.fill_queue socket in
  let addresses = Array.init frames (Umem.frame umem) in
  ignore (Fill_queue.produce_and_wakeup_kernel fill addresses ~pos:0 ~nb:frames);
  if not options.through_daemon then
    ignore (Program.route (Program.attach ~interface:options.interface Automatic) filter socket);
  let descs = Desc.make_array batch in
  (socket, { rx = Socket.rx_queue socket; fill; umem; descs; addresses })

let run (options : Endpoint_options.t) ~port ~limit_s =
  let stop = Sys.Signal_handle (fun _ -> stopped := true) in
  Sys.set_signal Sys.sigint stop;
  Sys.set_signal Sys.sigterm stop;
  let socket, receiver = make options ~port in
  Printf.eprintf "[rxdrop] listening on queue %d of %s\n%!" options.queue options.interface;
  let times =
    { now = 0.; first = 0.; last = 0.; window_start = 0.; fastest = 0.; slowest = infinity }
  in
  let until = Unix.gettimeofday () +. limit_s in
  let words = Gc.minor_words () in
  let received = receive receiver times ~count:options.count ~until in
  let words = Gc.minor_words () -. words in
  report times ~received ~words (Socket.statistics socket);
  Socket.close socket

let main () =
  let options = Endpoint_options.usual () in
  let port = ref None and limit_s = ref infinity in
  let specs =
    Endpoint_options.specs options
    @ [
        ("-p", Arg.Int (fun number -> port := Some number), "UDP_PORT receive only these (all)");
        ("-t", Arg.Set_float limit_s, "SECONDS end after these at the latest");
      ]
  in
  Arg.parse (Arg.align specs)
    (fun other -> raise (Arg.Bad ("unexpected " ^ other)))
    "rxdrop -d IFACE -q QUEUE -c COUNT [-f BYTES] [-w] [-z] [-p UDP_PORT] [-t SECONDS] \
     [-through-daemon]";
  Endpoint_options.check options;
  run options ~port:!port ~limit_s:!limit_s

let () = Endpoint_options.run_reporting main
