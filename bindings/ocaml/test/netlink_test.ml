(* Netlink, against the controller that every kernel has. *)

open Xsk

let controller = 16
let get_family = 3
let family_id = 1
let family_name = 2

let with_connection run =
  let on = Netlink.open_ () in
  Fun.protect ~finally:(fun () -> Netlink.close on) (fun () -> run on)

let find kind message = List.assoc kind (Netlink.attributes message.Netlink.attributes)

let families () =
  with_connection @@ fun on ->
  Expect.int "by name" ~wanted:controller (Netlink.resolve on "nlctrl");
  let all = Netlink.families on in
  let named name = List.filter (fun (each : Netlink.family) -> each.name = name) all in
  (match named "nlctrl" with
  | [ one ] ->
      Expect.int "its number" ~wanted:controller one.id;
      Expect.is_true "it can be asked for families"
        (List.exists
           (fun (each : Netlink.operation) -> each.command = get_family)
           one.operations);
      Expect.is_true "its group"
        (List.exists (fun (each : Netlink.group) -> each.name = "notify") one.groups)
  | _ -> Expect.fail "there is one nlctrl");
  Expect.int "that one alone" ~wanted:1 (List.length (Netlink.families ~name:"nlctrl" on));
  Expect.raises "none"
    (function Error (ENOENT, "Netlink.resolve", text) -> String.length text > 0 | _ -> false)
    (fun () -> Netlink.resolve on "no_such_family")

let asking () =
  with_connection @@ fun on ->
  let ask attributes = Netlink.ask on ~family:controller ~command:get_family attributes in
  (match ask [ (family_name, Text "nlctrl") ] with
  | Some reply ->
      Expect.is_true "its number" (Netlink.number (find family_id reply) = Some 16L);
      Expect.is_true "its name" (Netlink.text (find family_name reply) = "nlctrl");
      let operations = Netlink.attributes (find 6 reply) in
      Expect.is_true "nests" (List.length operations > 1);
      List.iter
        (fun (_, nest) ->
          Expect.is_true "a command"
            (Netlink.number (List.assoc 1 (Netlink.attributes nest)) <> None))
        operations
  | None -> Expect.fail "no reply");
  (match ask [ (family_id, U16 controller) ] with
  | Some reply -> Expect.is_true "by number" (Netlink.text (find family_name reply) = "nlctrl")
  | None -> Expect.fail "no reply");
  let dumped = Netlink.dump on ~family:controller ~command:get_family [] in
  Expect.int "dumped" ~wanted:(List.length (Netlink.families on)) (List.length dumped);
  Expect.raises "in the kernel's words"
    (function Error ((ERANGE | EINVAL), "Netlink.ask", _) -> true | _ -> false)
    (fun () -> ask [ (family_name, Text (String.make 40 'x')) ]);
  Expect.raises "too large"
    (function Error (EMSGSIZE, "Netlink.ask", _) -> true | _ -> false)
    (fun () -> ask [ (family_name, Bytes (String.make 60_000 'x')) ]);
  Expect.invalid "u8" (fun () -> ask [ (1, U8 256) ]);
  Expect.invalid "in a nest" (fun () -> ask [ (1, Nest [ (2, U32 (-1)) ]) ]);
  Expect.invalid "a type" (fun () -> ask [ (0x8001, Flag) ]);
  let rec deep n = if n = 0 then Netlink.Flag else Nest [ (1, deep (n - 1)) ] in
  Expect.invalid "nests" (fun () -> ask [ (1, deep 9) ]);
  Expect.is_true "it goes on" (ask [ (family_name, Text "nlctrl") ] <> None)

let malformed () =
  let cases = [ ""; "\003\000\001\000"; "\255\000\001\000xx"; "\004"; "\000\000\000\000" ] in
  List.iter (fun bytes -> Expect.is_true "nothing is read" (Netlink.attributes bytes = [])) cases;
  Expect.is_true "up to what is malformed"
    (Netlink.attributes "\005\000\001\000a\000\000\000\200\000" = [ (1, "a") ]);
  Expect.is_true "flags of the type" (Netlink.attributes "\004\000\001\128" = [ (1, "") ]);
  Expect.is_true "sizes" (Netlink.number "abc" = None && Netlink.number "\007" = Some 7L);
  Expect.is_true "no NUL" (Netlink.text "abc" = "abc" && Netlink.text "ab\000c" = "ab")

let links () =
  let all = Netlink.links () in
  let named name = List.find (fun (each : Netlink.link) -> each.name = name) all in
  let a = named "vethA" and b = named "vethB" in
  Expect.int "peers" ~wanted:b.index a.peer;
  Expect.is_true "kind" (a.kind = "veth" && (named "lo").kind = "");
  Expect.int "MTU" ~wanted:9000 (named "vethI" : Netlink.link).mtu;
  Expect.is_true "one alone" (Netlink.links ~name:"vethA" () = [ a ]);
  Expect.raises "none"
    (function Error (ENODEV, "Netlink.links", _) -> true | _ -> false)
    (fun () -> Netlink.links ~name:"none0" ())

(* Nothing is multicast meanwhile: that it waits, gives up the lock, and closing ends it. *)
let events () =
  let on = Netlink.open_ () in
  let group =
    match Netlink.families ~name:"nlctrl" on with
    | [ { groups = [ one ]; _ } ] -> one.id
    | _ -> Expect.fail "nlctrl has one group"
  in
  Netlink.join on group;
  Expect.is_true "nothing yet" (Netlink.event on ~timeout_ms:0 = None);
  let told = ref false in
  let wait () = try ignore (Netlink.event on ~timeout_ms:(-1)) with Closed _ -> told := true in
  let waiting = Thread.create wait () in
  Rig.wait_until "another thread's call is refused" (fun () ->
      match Netlink.leave on group with
      | () ->
          Netlink.join on group;
          false
      | exception Error (EBUSY, _, _) -> true);
  Netlink.close on;
  Thread.join waiting;
  Expect.is_true "the one that waited was told" !told;
  Expect.closed "join" (fun () -> Netlink.join on group)

let closed () =
  let before = Rig.count_fds () in
  for _ = 1 to 50 do
    with_connection (fun on ->
        ignore (Netlink.families on);
        ignore (Netlink.links ()))
  done;
  for _ = 1 to 50 do
    ignore (Netlink.open_ ())
  done;
  Gc.full_major ();
  Gc.full_major ();
  Expect.int "descriptors" ~wanted:before (Rig.count_fds ())

let all () =
  Expect.test "netlink: families are found" families;
  Expect.test "netlink: requests and dumps are answered" asking;
  Expect.test "netlink: malformed attributes are not read" malformed;
  Expect.test "netlink: links are listed" links;
  Expect.test "netlink: events are waited for" events;
  Expect.test "netlink: connections close, also by the collector" closed
