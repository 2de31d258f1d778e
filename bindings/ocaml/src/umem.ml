open Bigarray

type buffer = (char, int8_unsigned_elt, c_layout) Array1.t

module Flag = struct
  type t = Unaligned | Huge_pages
end

module Config = struct
  type t = { frame_count : int; frame_size : int; headroom : int; flags : Flag.t list }

  let default = { frame_count = 4096; frame_size = 4096; headroom = 0; flags = [] }

  let to_ints operation t =
    let check = Fault.check_range operation ~most:Fault.largest_u32 in
    check "frame_count" t.frame_count;
    check "frame_size" t.frame_size;
    check "headroom" t.headroom;
    let flag one = Bool.to_int (List.mem one t.flags) in
    [| t.frame_count; t.frame_size; t.headroom; flag Flag.Unaligned; flag Flag.Huge_pages |]

  let size t = t.frame_count * t.frame_size
end

type handle

type t = {
  handle : handle;
  config : Config.t;
  mutable memory : buffer;
  mutable is_open : bool;
}

external blank : int -> handle = "xsk_umem_blank"
external create_in : handle -> int array -> int = "xsk_umem_create"
external create_over_in : handle -> int array -> buffer -> int = "xsk_umem_create_over"
external close_handle : handle -> unit = "xsk_umem_close"
external memory_of : handle -> buffer = "xsk_umem_memory"

external frame_of_raw : handle -> (int[@untagged]) -> (int[@untagged])
  = "xsk_umem_frame_of_byte" "xsk_umem_frame_of"
  [@@noalloc]

external position_raw : handle -> (int[@untagged]) -> (int[@untagged])
  = "xsk_umem_position_byte" "xsk_umem_position"
  [@@noalloc]

external read_raw :
  buffer -> (int[@untagged]) -> bytes -> (int[@untagged]) -> (int[@untagged]) -> unit
  = "xsk_umem_read_byte" "xsk_umem_read"
  [@@noalloc]

external write_raw :
  buffer -> (int[@untagged]) -> bytes -> (int[@untagged]) -> (int[@untagged]) -> unit
  = "xsk_umem_write_byte" "xsk_umem_write"
  [@@noalloc]

let make operation config ~make_in =
  let handle = blank (Config.size config) in
  ignore (Fault.check operation (make_in handle));
  { handle; config; memory = memory_of handle; is_open = true }

let create config =
  let operation = "Umem.create" in
  let ints = Config.to_ints operation config in
  make operation config ~make_in:(fun handle -> create_in handle ints)

let create_over config memory =
  let operation = "Umem.create_over" in
  let ints = Config.to_ints operation config in
  make operation config ~make_in:(fun handle -> create_over_in handle ints memory)

let no_memory = Array1.create char c_layout 0

let close t =
  t.is_open <- false;
  t.memory <- no_memory;
  close_handle t.handle

let is_closed t = not t.is_open
let check_open t operation = if not t.is_open then raise (Fault.Closed operation)

let memory t =
  check_open t "Umem.memory";
  t.memory

let handle t = t.handle
let config t = t.config
let frame_count t = t.config.frame_count
let frame_size t = t.config.frame_size

let frame t index =
  if index < 0 || index >= frame_count t then
    Fault.refuse "Umem.frame" (Printf.sprintf "there is no frame %d" index);
  index * frame_size t

(* No address of the kernel is negative; and what comes back for one could look like a code. *)
let check_address operation address =
  if address < 0 then Fault.refuse operation "a negative address"

let frame_of t address =
  check_address "Umem.frame_of" address;
  Fault.check "Umem.frame_of" (frame_of_raw t.handle address)

let position t address =
  check_address "Umem.position" address;
  Fault.check "Umem.position" (position_raw t.handle address)

(* --- bytes *)

let check_span t operation ~at ~size =
  check_open t operation;
  if at < 0 || size < 0 || at > Array1.dim t.memory - size then
    Fault.refuse operation (Printf.sprintf "%d bytes at %d are not within the UMEM" size at)

let read_into t (from : Desc.t) bytes ~pos =
  let at = position t from.addr in
  check_span t "Umem.read_into" ~at ~size:from.len;
  Fault.check_slice "Umem.read_into" ~length:(Bytes.length bytes) ~pos ~nb:from.len;
  read_raw t.memory at bytes pos from.len

let read t (from : Desc.t) =
  let at = position t from.addr in
  check_span t "Umem.read" ~at ~size:from.len;
  let bytes = Bytes.create from.len in
  read_raw t.memory at bytes 0 from.len;
  bytes

let write t ~addr bytes ~pos ~len =
  let at = position t addr in
  check_span t "Umem.write" ~at ~size:len;
  Fault.check_slice "Umem.write" ~length:(Bytes.length bytes) ~pos ~nb:len;
  write_raw t.memory at bytes pos len

let get_uint8 t at =
  check_span t "Umem.get_uint8" ~at ~size:1;
  Char.code (Array1.unsafe_get t.memory at)

let set_uint8 t at number =
  check_span t "Umem.set_uint8" ~at ~size:1;
  Array1.unsafe_set t.memory at (Char.unsafe_chr (number land 0xff))

let get_uint16_be t at =
  check_span t "Umem.get_uint16_be" ~at ~size:2;
  (Char.code (Array1.unsafe_get t.memory at) lsl 8)
  lor Char.code (Array1.unsafe_get t.memory (at + 1))

let set_uint16_be t at number =
  check_span t "Umem.set_uint16_be" ~at ~size:2;
  Array1.unsafe_set t.memory at (Char.unsafe_chr ((number lsr 8) land 0xff));
  Array1.unsafe_set t.memory (at + 1) (Char.unsafe_chr (number land 0xff))
