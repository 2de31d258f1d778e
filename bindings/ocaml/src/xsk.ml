(** AF_XDP, raw Ethernet and netlink over the C ABI of strata.

    A {!Umem} is memory divided into frames; a {!Socket} of it is bound to a queue of an interface,
    and has four rings: {!Fill_queue}, {!Rx_queue}, {!Tx_queue} and {!Comp_queue}. A {!Program}
    brings frames to sockets. {!Port} is all of it in one, for those who want frames and no rings.

    A {!Raw_socket} and a {!Ring} send and receive whole frames without AF_XDP, which {!Frame}
    builds and reads; a {!Channel} carries messages between processes, a {!Hybrid} between two ends
    that also hold a TCP connection. {!Netlink} asks generic
    netlink's families, and lists links.

    All that is closed by hand may be forgotten instead: the collector closes it. *)

exception Error = Fault.Error
(** [Error (code, operation, sentence)], in the manner of [Unix.Unix_error]: the errno, the function
    that failed ("Socket.create"), and strata's sentence about what could not be done, why, and what
    to do. *)

exception Closed = Fault.Closed
(** [Closed operation]: the UMEM, socket, program or port was closed before. *)

module Channel = Channel
module Comp_queue = Comp_queue
module Desc = Desc
module Fill_queue = Fill_queue
module Frame = Frame
module Hybrid = Hybrid
module Mac = Mac
module Netlink = Netlink
module Own_program = Own_program
module Port = Port
module Program = Program
module Raw_socket = Raw_socket
module Ring = Ring
module Rx_queue = Rx_queue
module Socket = Socket
module Tx_queue = Tx_queue
module Umem = Umem
