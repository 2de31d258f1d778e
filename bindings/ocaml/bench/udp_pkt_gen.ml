(* Sends numbered UDP packets by AF_XDP, in batches of 64, and says how fast. *)

open Xsk

let batch = 64

type sender = {
  umem : Umem.t;
  tx : Tx_queue.t;
  comp : Comp_queue.t;
  descs : Desc.t array;
  free : int array;  (* frames that are ours: the first [free_count] *)
  mutable free_count : int;
  template_sum : int;
}

let reap t =
  let count = Comp_queue.consume t.comp t.free ~pos:t.free_count ~nb:batch in
  t.free_count <- t.free_count + count

(* Up to a batch, of numbers from [first] on; how many. *)
let send t ~first ~most =
  let nb = min (min batch most) t.free_count in
  for i = 0 to nb - 1 do
    let address = t.free.(t.free_count - 1 - i) in
    t.descs.(i).addr <- address;
    Packet.put_sequence t.umem address ~template_sum:t.template_sum (first + i)
  done;
  let taken = Tx_queue.produce_and_wakeup_kernel t.tx t.descs ~pos:0 ~nb in
  t.free_count <- t.free_count - taken;
  if taken = 0 && Tx_queue.needs_wakeup t.tx then ignore (Tx_queue.wakeup_kernel t.tx);
  taken

let send_all t count =
  let sent = ref 0 in
  while !sent < count do
    reap t;
    sent := !sent + send t ~first:!sent ~most:(count - !sent)
  done

(* Until all have gone; false when the kernel brings none back for 5 s. *)
let wait_for_all t =
  let frames = Umem.frame_count t.umem in
  let until = ref (Unix.gettimeofday () +. 5.) in
  while t.free_count < frames && Unix.gettimeofday () < !until do
    let before = t.free_count in
    reap t;
    if t.free_count > before then until := Unix.gettimeofday () +. 5.
    else if Tx_queue.needs_wakeup t.tx then ignore (Tx_queue.wakeup_kernel t.tx)
  done;
  t.free_count = frames

let make options ~source ~destination =
  let config = { (Endpoint_options.socket options) with rx_size = 0 } in
  let socket = Endpoint_options.open_socket options config in
  let umem = Socket.umem socket in
  let packet, template_sum = Packet.template ~source ~destination in
  let frames = Umem.frame_count umem in
  let address = Umem.frame umem in
  for i = 0 to frames - 1 do
    Umem.write umem ~addr:(address i) packet ~pos:0 ~len:Packet.size
  done;
  let descs = Desc.make_array batch in
  Array.iter (fun desc -> desc.Desc.len <- Packet.size) descs;
  {
    umem;
    tx = Socket.tx_queue socket;
    comp = Socket.comp_queue socket;
    descs;
    (* With room for a batch of completions, whatever is free. *)
    free = Array.init (frames + batch) (fun i -> if i < frames then address i else 0);
    free_count = frames;
    template_sum;
  }

let run (options : Endpoint_options.t) ~source ~destination =
  let sender = make options ~source ~destination in
  let start = Unix.gettimeofday () in
  let words = Gc.minor_words () in
  send_all sender options.count;
  let words = Gc.minor_words () -. words in
  let all_gone = wait_for_all sender in
  let seconds = Unix.gettimeofday () -. start in
  let count = float_of_int options.count in
  Printf.printf "[udp_pkt_gen] %d (pkts) %.6f (s) %.0f (pps)\n" options.count seconds
    (count /. seconds);
  Printf.printf "[udp_pkt_gen] minor words: %.6f (per pkt)\n" (words /. count);
  if not all_gone then (
    prerr_endline "udp_pkt_gen: the kernel holds some of the packets still";
    exit 1)

(* "IP:PORT" *)
let address_of option text =
  match String.split_on_char ':' text with
  | [ address; port ] -> (
      match (Unix.inet_addr_of_string address, int_of_string_opt port) with
      | address, Some port when port > 0 && port <= 0xffff -> (address, port)
      | _ | (exception Failure _) -> Endpoint_options.bad (option ^ " wants IP:PORT, not " ^ text))
  | _ -> Endpoint_options.bad (option ^ " wants IP:PORT, not " ^ text)

let main () =
  let options = Endpoint_options.usual () in
  let text = Hashtbl.create 4 in
  let of_text name what =
    (name, Arg.String (fun given -> Hashtbl.replace text name given), what)
  in
  let specs =
    Endpoint_options.specs options
    @ [
        of_text "-dmac" "MAC of the receiver";
        of_text "-smac" "MAC of the sender";
        of_text "-dip" "IP:PORT of the receiver";
        of_text "-sip" "IP:PORT of the sender";
      ]
  in
  Arg.parse (Arg.align specs)
    (fun other -> raise (Arg.Bad ("unexpected " ^ other)))
    "udp_pkt_gen -d IFACE -q QUEUE -c COUNT -dmac MAC -smac MAC -dip IP:PORT -sip IP:PORT \
     [-f BYTES] [-w] [-z] [-through-daemon]";
  Endpoint_options.check options;
  let given name =
    match Hashtbl.find_opt text name with
    | Some given -> given
    | None -> Endpoint_options.bad ("give " ^ name)
  in
  let side mac ip =
    let address, port = address_of ip (given ip) in
    { Packet.mac = Mac.of_string (given mac); address; port }
  in
  run options ~source:(side "-smac" "-sip") ~destination:(side "-dmac" "-dip")

let () = Endpoint_options.run_reporting main
