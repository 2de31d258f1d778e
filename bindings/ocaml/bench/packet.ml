(* A UDP packet of 60 bytes, the least that Ethernet has: a sequence number of 64 bits and zeros. *)

open Xsk

let ethernet_size = 14
let ip_size = 20
let udp_size = 8
let payload_size = 18
let size = ethernet_size + ip_size + udp_size + payload_size
let checksum_at = ethernet_size + ip_size + 6
let sequence_at = ethernet_size + ip_size + udp_size

type endpoint = { mac : Mac.t; address : Unix.inet_addr; port : int }

(* Of 16-bit words, as RFC 1071 has it, not folded. *)
let sum_of bytes ~from ~size =
  let sum = ref 0 in
  for i = 0 to (size / 2) - 1 do
    sum := !sum + Bytes.get_uint16_be bytes (from + (2 * i))
  done;
  !sum

let[@inline] fold sum =
  let once = (sum land 0xffff) + (sum lsr 16) in
  (once land 0xffff) + (once lsr 16)

let[@inline] complement sum = lnot (fold sum) land 0xffff

let four_bytes address =
  match String.split_on_char '.' (Unix.string_of_inet_addr address) with
  | [ _; _; _; _ ] as parts -> List.map int_of_string parts
  | _ -> invalid_arg "not an IPv4 address"

let put_address bytes at address =
  List.iteri (fun i part -> Bytes.set_uint8 bytes (at + i) part) (four_bytes address)

let put_ip bytes ~source ~destination =
  let at = ethernet_size in
  Bytes.set_uint16_be bytes at 0x4500;
  Bytes.set_uint16_be bytes (at + 2) (size - ethernet_size);
  Bytes.set_uint16_be bytes (at + 6) 0x4000;
  Bytes.set_uint16_be bytes (at + 8) 0x4011;
  put_address bytes (at + 12) source.address;
  put_address bytes (at + 16) destination.address;
  Bytes.set_uint16_be bytes (at + 10) (complement (sum_of bytes ~from:at ~size:ip_size))

(* The packet but for its sequence number and UDP checksum, and the sum of what that covers. *)
let template ~source ~destination =
  let bytes = Bytes.make size '\000' in
  Bytes.blit_string (Mac.to_bytes destination.mac) 0 bytes 0 6;
  Bytes.blit_string (Mac.to_bytes source.mac) 0 bytes 6 6;
  Bytes.set_uint16_be bytes 12 0x0800;
  put_ip bytes ~source ~destination;
  let at = ethernet_size + ip_size in
  let length = udp_size + payload_size in
  Bytes.set_uint16_be bytes at source.port;
  Bytes.set_uint16_be bytes (at + 2) destination.port;
  Bytes.set_uint16_be bytes (at + 4) length;
  let pseudo_header = sum_of bytes ~from:(ethernet_size + 12) ~size:8 + 17 + length in
  (bytes, pseudo_header + sum_of bytes ~from:at ~size:length)

(* The 16 bits from [shift] on. *)
let[@inline] word number shift = (number lsr shift) land 0xffff

(* Into a template at [position] of the UMEM. *)
let put_sequence umem position ~template_sum number =
  let at = position + sequence_at in
  Umem.set_uint16_be umem at (word number 48);
  Umem.set_uint16_be umem (at + 2) (word number 32);
  Umem.set_uint16_be umem (at + 4) (word number 16);
  Umem.set_uint16_be umem (at + 6) (word number 0);
  let high = word number 48 + word number 32 and low = word number 16 + word number 0 in
  let sum = complement (template_sum + high + low) in
  (* 0 would say that there is none. *)
  Umem.set_uint16_be umem (position + checksum_at) (if sum = 0 then 0xffff else sum)
