(* No call of the data path allocates: minor words are counted over 100,000 rounds. *)

open Xsk

let rounds = 100_000

let words_of run =
  (* What the counting itself allocates. *)
  let first = Gc.minor_words () in
  let second = Gc.minor_words () in
  run ();
  let third = Gc.minor_words () in
  int_of_float (third -. second -. (second -. first))

let rings_allocate_nothing () =
  Rig.with_sides @@ fun a b ->
  Rig.with_program b @@ fun () ->
  let sent = Desc.make_array 2 and got = Desc.make_array 2 in
  let back = Array.make 2 0 and free = Array.make 2 0 in
  let frame = Rig.frame ~size:60 1 in
  sent.(1).len <- Bytes.length frame;
  Umem.write a.umem ~addr:0 frame ~pos:0 ~len:(Bytes.length frame);
  let arrived = ref 0 and completed = ref 0 in
  let run () =
    for _ = 1 to rounds do
      ignore (Tx_queue.produce_and_wakeup_kernel a.tx sent ~pos:1 ~nb:1);
      completed := !completed + Comp_queue.consume a.comp back ~pos:0 ~nb:2;
      let count = Rx_queue.poll_and_consume b.rx ~timeout_ms:0 got ~pos:0 ~nb:2 in
      for i = 0 to count - 1 do
        free.(i) <- Umem.frame_of b.umem got.(i).addr
      done;
      arrived := !arrived + count;
      ignore (Fill_queue.produce_and_wakeup_kernel b.fill free ~pos:0 ~nb:count)
    done
  in
  Expect.int "minor words" ~wanted:0 (words_of run);
  if !arrived < rounds / 2 || !completed < rounds / 2 then
    Expect.fail "of %d frames %d completed and %d arrived" rounds !completed !arrived

let bytes_and_questions_allocate_nothing () =
  Rig.with_sides @@ fun a _ ->
  let desc = Desc.create () in
  desc.len <- 64;
  let bytes = Bytes.create 64 in
  let sum = ref 0 in
  let run () =
    for i = 1 to rounds do
      if Fill_queue.needs_wakeup a.fill then Fill_queue.wakeup_kernel a.fill;
      if Tx_queue.needs_wakeup a.tx then incr sum;
      if Rx_queue.poll a.rx ~timeout_ms:0 then incr sum;
      if Socket.poll_out a.socket ~timeout_ms:0 then incr sum;
      Umem.read_into a.umem desc bytes ~pos:0;
      Umem.write a.umem ~addr:(Umem.frame a.umem 3) bytes ~pos:0 ~len:64;
      Umem.set_uint16_be a.umem 128 i;
      Umem.set_uint8 a.umem 130 i;
      sum := !sum + Umem.get_uint16_be a.umem 128 + Umem.get_uint8 a.umem 130;
      sum := !sum + Umem.position a.umem i
    done
  in
  Expect.int "minor words" ~wanted:0 (words_of run);
  Expect.is_true "all was done" (!sum > rounds)

let all () =
  Expect.test "rings allocate nothing" rings_allocate_nothing;
  Expect.test "bytes and questions allocate nothing" bytes_and_questions_allocate_nothing
