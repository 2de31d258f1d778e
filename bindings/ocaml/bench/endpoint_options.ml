(* The options that both programs have. *)

open Xsk

type t = {
  mutable interface : string;
  mutable queue : int;
  mutable count : int;
  mutable frame_size : int;
  mutable need_wakeup : bool;
  mutable zerocopy : bool;
  mutable through_daemon : bool;
}

let usual () =
  {
    interface = "";
    queue = 0;
    count = 1_000_000;
    frame_size = 2048;
    need_wakeup = false;
    zerocopy = false;
    through_daemon = false;
  }

let specs t =
  [
    ("-d", Arg.String (fun name -> t.interface <- name), "IFACE the interface");
    ("-q", Arg.Int (fun number -> t.queue <- number), "QUEUE of the interface (0)");
    ("-c", Arg.Int (fun number -> t.count <- number), "COUNT packets (1000000)");
    ("-f", Arg.Int (fun bytes -> t.frame_size <- bytes), "BYTES of a frame of the UMEM (2048)");
    ("-w", Arg.Unit (fun () -> t.need_wakeup <- true), " let the kernel sleep until it is woken");
    ("-z", Arg.Unit (fun () -> t.zerocopy <- true), " zero-copy, or fail");
    ( "-through-daemon",
      Arg.Unit (fun () -> t.through_daemon <- true),
      " by the strata daemon, without privileges" );
  ]

let bad text =
  Printf.eprintf "%s: %s\n" (Filename.basename Sys.argv.(0)) text;
  exit 2

let check t =
  if t.interface = "" then bad "name an interface: -d IFACE";
  if t.count <= 0 then bad "ask for one packet at least: -c COUNT";
  if t.frame_size <> 2048 && t.frame_size <> 4096 then
    bad (Printf.sprintf "a UMEM frame has 2048 or 4096 bytes, not %d: -f BYTES" t.frame_size)

let socket t =
  {
    Socket.Config.default with
    mode = (if t.zerocopy then Zerocopy else Automatic);
    flags = (if t.need_wakeup then [ Need_wakeup ] else []);
  }

let umem t = { Umem.Config.default with frame_size = t.frame_size }

(* A socket of [config] and of [umem t] above. The daemon has [filter]'s frames come to it. *)
let open_socket ?filter ({ interface; queue; through_daemon; _ } as t) config =
  if through_daemon then
    Socket.open_through_daemon ~interface ~queue ?filter ~umem:(umem t) config
  else Socket.create (Umem.create (umem t)) ~interface ~queue config

(* Says what went wrong instead of where. *)
let run_reporting main =
  try main () with
  | Error (_, operation, sentence) ->
      Printf.eprintf "%s: %s: %s\n" (Filename.basename Sys.argv.(0)) operation sentence;
      exit 1
  | Invalid_argument sentence -> bad sentence
