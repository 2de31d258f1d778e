(* Memory, a program and its map that the caller brings. *)

open Xsk

(* Zeros that begin with a page: the mapping of a file in memory that has no name any more. *)
let pages size =
  let path = Filename.temp_file ~temp_dir:"/dev/shm" "strata" "umem" in
  let file = Unix.openfile path [ Unix.O_RDWR ] 0o600 in
  Unix.unlink path;
  Fun.protect ~finally:(fun () -> Unix.close file) @@ fun () ->
  Bigarray.array1_of_genarray
    (Unix.map_file file Bigarray.char Bigarray.c_layout true [| size |])

let size = Umem.Config.size Rig.small_umem

let with_program run =
  let map = Bpf.map () in
  let program = Bpf.program map in
  Fun.protect
    (fun () -> run map program)
    ~finally:(fun () -> List.iter Unix.close [ map; program ])

let frames_come_into_the_callers_memory () =
  let memory = pages size in
  let umem = Umem.create_over Rig.small_umem memory in
  let socket = Socket.create umem ~interface:"vethB" ~queue:0 Rig.small_socket in
  let fill = Socket.fill_queue socket and rx = Socket.rx_queue socket in
  with_program @@ fun map program ->
  Socket.enter_in_map socket map ~key:5;
  Expect.error "beyond the map" ~code:Unix.E2BIG ~operation:"Socket.enter_in_map" ~says:""
    (fun () -> Socket.enter_in_map socket map ~key:8);
  Expect.invalid "a negative key" (fun () -> Socket.enter_in_map socket map ~key:(-1));
  let own = Own_program.attach ~interface:"vethB" program Own_program.Automatic in
  Expect.is_true "native" (Own_program.mode own = Own_program.Native);
  let addresses = Rig.frames_from umem ~first:128 ~count:128 in
  Expect.int "filled" ~wanted:128 (Fill_queue.produce fill addresses ~pos:0 ~nb:128);
  let a = Rig.side "vethA" in
  let sent = Rig.tagged_frame 7 in
  Rig.send a ~index:0 sent;
  let desc = Desc.create () in
  Expect.int "received" ~wanted:1
    (Rx_queue.poll_and_consume rx ~timeout_ms:20_000 [| desc |] ~pos:0 ~nb:1);
  let part = Bigarray.Array1.sub memory (Umem.position umem desc.addr) desc.len in
  Expect.bytes "in the caller's memory" ~wanted:sent
    (Bytes.init desc.len (fun at -> part.{at}));
  Own_program.close own;
  Own_program.close own;
  Expect.closed "mode" (fun () -> Own_program.mode own);
  Rig.close a;
  Socket.close socket;
  Umem.close umem;
  Expect.closed "enter_in_map" (fun () -> Socket.enter_in_map socket map)

(* Neither too early, with a socket that writes into it, nor never. *)
let the_memory_is_let_go_with_its_last_user () =
  let gone = ref false in
  let open_one () =
    let memory = pages size in
    Gc.finalise (fun _ -> gone := true) memory;
    let umem = Umem.create_over Rig.small_umem memory in
    let socket = Socket.create umem ~interface:"vethB" ~queue:0 Rig.small_socket in
    Umem.close umem;
    socket
  in
  let socket = Sys.opaque_identity open_one () in
  Gc.full_major ();
  Expect.is_true "the socket uses it" (not !gone);
  Socket.close socket;
  Gc.full_major ();
  Gc.full_major ();
  Expect.is_true "nobody uses it" !gone

let what_cannot_be_is_refused () =
  let refuses what memory =
    Expect.error what ~code:Unix.EINVAL ~operation:"Umem.create_over" ~says:"" (fun () ->
        Umem.create_over Rig.small_umem memory)
  in
  let memory = pages (size + 4096) in
  refuses "too small" (Bigarray.Array1.sub memory 0 (size - 4096));
  refuses "within a page" (Bigarray.Array1.sub memory 8 size);
  Umem.close (Umem.create_over Rig.small_umem (Bigarray.Array1.sub memory 4096 size));
  with_program @@ fun map program ->
  let refuses what run =
    Expect.raises what (function Xsk.Error (_, "Own_program.attach", _) -> true | _ -> false) run
  in
  let attach interface what mode () = Own_program.attach ~interface what mode in
  refuses "no interface" (attach "vethZ" program Own_program.Native);
  refuses "a map is no program" (attach "vethB" map Own_program.Generic);
  refuses "a veth has no processor" (attach "vethB" program Own_program.Hardware);
  Own_program.close (attach "vethB" program Own_program.Generic ())

let all () =
  Expect.test "own program: frames come into the caller's memory"
    frames_come_into_the_callers_memory;
  Expect.test "own program: the memory is let go with its last user"
    the_memory_is_let_go_with_its_last_user;
  Expect.test "own program: what cannot be is refused" what_cannot_be_is_refused
