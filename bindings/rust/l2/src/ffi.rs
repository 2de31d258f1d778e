//! strata.h, strata_l2.h and strata_ipc.h, by hand.

use std::os::raw::{c_char, c_int, c_void};

pub use strata_base::binding::Iovec;

strata_base::opaque!(RawSocket, Ring, Channel, Hybrid, HybridListener);

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct VlanTag {
    pub tpid: u16,
    pub vlan_id: u16,
    pub priority: u8,
    pub dei: u8,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub destination: [u8; 6],
    pub source: [u8; 6],
    pub ethertype: i32,
    pub tag_count: u32,
    pub tags: [VlanTag; 4],
    pub payload: *const c_void,
    pub payload_size: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RawSocketOptions {
    pub size: usize,
    pub ethertype: i32,
    pub vlan_id: i32,
    pub send_only: u8,
    pub hear_outgoing: u8,
    pub promiscuous: u8,
    pub qdisc_bypass: u8,
    pub timestamps: u8,
    pub fanout_group: i32,
    pub fanout_mode: u8,
    pub priority: i8,
    pub receive_buffer: u32,
    pub send_buffer: u32,
    pub multicast: *const u8,
    pub multicast_count: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Received {
    pub bytes: *const c_void,
    pub size: usize,
    pub wire_size: usize,
    pub time_ns: u64,
}

impl Received {
    pub const NONE: Received =
        Received { bytes: std::ptr::null(), size: 0, wire_size: 0, time_ns: 0 };
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    pub memory: *mut c_void,
    pub size: usize,
    pub frame: Received,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RingOptions {
    pub size: usize,
    pub socket: *const RawSocketOptions,
    pub kind: u32,
    pub block_size: u32,
    pub block_count: u32,
    pub block_timeout_ms: u32,
    pub send_slots: u32,
    pub slots: u32,
    pub frame_size: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ChannelOptions {
    pub size: usize,
    pub interface_name: *const c_char,
    pub name: *const c_char,
    pub ethertype: u16,
    pub acknowledged: u8,
    pub max_message: usize,
    pub send_buffer: usize,
    pub receive_buffer: usize,
    pub max_delay_us: u32,
    pub send_timeout_ms: u32,
    pub peer_timeout_ms: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub bytes: *const c_void,
    pub size: usize,
    pub sender: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HybridOptions {
    pub size: usize,
    pub tcp_port: u16,
    pub listen_address: *const c_char,
    pub ethertype: u16,
    pub vlan_id: i32,
    pub priority: u8,
    pub timeout_ms: u32,
    pub greeting_timeout_ms: u32,
    pub peer_timeout_ms: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HybridMessage {
    pub bytes: *const c_void,
    pub size: usize,
    pub was_tagged: u8,
    pub priority: u8,
    pub vlan_id: u16,
}

extern "C" {
    pub fn strata_frame_build(
        frame: *const Frame,
        mtu: usize,
        memory: *mut c_void,
        size: usize,
        built: *mut usize,
    ) -> c_int;
    pub fn strata_frame_parse(bytes: *const c_void, size: usize, frame: *mut Frame) -> c_int;
    pub fn strata_frame_outer_tag(frame: *const c_void, size: usize, tag: *mut VlanTag) -> c_int;
    pub fn strata_frame_push_tag(memory: *mut c_void, size: usize, tag: *const VlanTag) -> c_int;
    pub fn strata_frame_pop_tag(frame: *mut c_void, size: usize) -> usize;

    pub fn strata_raw_socket_defaults(options: *mut RawSocketOptions);
    pub fn strata_raw_socket_open(
        interface_name: *const c_char,
        options: *const RawSocketOptions,
        opened: *mut *mut RawSocket,
    ) -> c_int;
    pub fn strata_raw_socket_open_through_daemon(
        daemon_socket: *const c_char,
        interface_name: *const c_char,
        options: *const RawSocketOptions,
        opened: *mut *mut RawSocket,
    ) -> c_int;
    pub fn strata_raw_socket_close(which: *mut RawSocket);
    pub fn strata_raw_socket_fd(which: *const RawSocket) -> c_int;
    pub fn strata_raw_socket_mac(which: *const RawSocket, mac: *mut u8);
    pub fn strata_raw_socket_mtu(which: *const RawSocket) -> u32;
    pub fn strata_raw_socket_send(
        which: *mut RawSocket,
        frame: *const c_void,
        size: usize,
    ) -> c_int;
    pub fn strata_raw_socket_send_batch(
        which: *mut RawSocket,
        frames: *const Iovec,
        count: usize,
        sent: *mut usize,
    ) -> c_int;
    pub fn strata_raw_socket_receive(
        which: *mut RawSocket,
        memory: *mut c_void,
        size: usize,
        timeout_ms: c_int,
        received: *mut Received,
    ) -> c_int;
    pub fn strata_raw_socket_receive_batch(
        which: *mut RawSocket,
        slots: *mut Slot,
        count: usize,
        timeout_ms: c_int,
        received: *mut usize,
    ) -> c_int;
    pub fn strata_raw_socket_statistics(
        which: *mut RawSocket,
        received: *mut u64,
        dropped: *mut u64,
    ) -> c_int;

    pub fn strata_ring_defaults(options: *mut RingOptions);
    pub fn strata_ring_open(
        interface_name: *const c_char,
        options: *const RingOptions,
        opened: *mut *mut Ring,
    ) -> c_int;
    pub fn strata_ring_close(which: *mut Ring);
    pub fn strata_ring_fd(which: *const Ring) -> c_int;
    pub fn strata_ring_mac(which: *const Ring, mac: *mut u8);
    pub fn strata_ring_mtu(which: *const Ring) -> u32;
    pub fn strata_ring_receive(
        which: *mut Ring,
        frames: *mut Received,
        count: usize,
        timeout_ms: c_int,
        received: *mut usize,
    ) -> c_int;
    pub fn strata_ring_send(
        which: *mut Ring,
        frames: *const Iovec,
        count: usize,
        sent: *mut usize,
    ) -> c_int;
    pub fn strata_ring_statistics(which: *mut Ring, received: *mut u64, dropped: *mut u64)
        -> c_int;

    pub fn strata_channel_defaults(options: *mut ChannelOptions);
    pub fn strata_channel_open(options: *const ChannelOptions, opened: *mut *mut Channel) -> c_int;
    pub fn strata_channel_close(which: *mut Channel);
    pub fn strata_channel_send(which: *mut Channel, message: *const c_void, size: usize) -> c_int;
    pub fn strata_channel_post(which: *mut Channel, message: *const c_void, size: usize) -> c_int;
    pub fn strata_channel_flush(which: *mut Channel) -> c_int;
    pub fn strata_channel_finish(which: *mut Channel, timeout_ms: c_int) -> c_int;
    pub fn strata_channel_receive(
        which: *mut Channel,
        timeout_ms: c_int,
        received: *mut Message,
    ) -> c_int;
    pub fn strata_channel_turn(which: *mut Channel) -> c_int;
    pub fn strata_channel_fd(which: *const Channel) -> c_int;
    pub fn strata_channel_wants_to_write(which: *const Channel) -> c_int;
    pub fn strata_channel_deadline_us(which: *const Channel) -> i64;
    pub fn strata_channel_has_peer(which: *const Channel) -> c_int;

    pub fn strata_hybrid_defaults(options: *mut HybridOptions);
    pub fn strata_hybrid_listen(
        interface_name: *const c_char,
        options: *const HybridOptions,
        opened: *mut *mut HybridListener,
    ) -> c_int;
    pub fn strata_hybrid_listener_close(which: *mut HybridListener);
    pub fn strata_hybrid_listener_port(which: *const HybridListener) -> u16;
    pub fn strata_hybrid_accept(which: *mut HybridListener, opened: *mut *mut Hybrid) -> c_int;
    pub fn strata_hybrid_connect(
        interface_name: *const c_char,
        host: *const c_char,
        options: *const HybridOptions,
        opened: *mut *mut Hybrid,
    ) -> c_int;
    pub fn strata_hybrid_close(which: *mut Hybrid);
    pub fn strata_hybrid_send(which: *mut Hybrid, payload: *const c_void, size: usize) -> c_int;
    pub fn strata_hybrid_max_payload(which: *const Hybrid) -> usize;
    pub fn strata_hybrid_peer(which: *const Hybrid, mac: *mut u8);
    pub fn strata_hybrid_receive(
        which: *mut Hybrid,
        timeout_ms: c_int,
        received: *mut HybridMessage,
    ) -> c_int;
    pub fn strata_hybrid_data_fd(which: *const Hybrid) -> c_int;
}

strata_base::grows!(RawSocketOptions, strata_raw_socket_defaults);
strata_base::grows!(RingOptions, strata_ring_defaults);
strata_base::grows!(ChannelOptions, strata_channel_defaults);
strata_base::grows!(HybridOptions, strata_hybrid_defaults);

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;
    use strata_base::binding::stated;

    #[test]
    fn structures_are_those_of_the_headers() {
        let (size, socket) = stated::<RawSocketOptions>();
        assert_eq!(size, size_of::<RawSocketOptions>());
        assert_eq!((socket.ethertype, socket.vlan_id, socket.fanout_group), (-1, -1, -1));
        assert_eq!((socket.priority, socket.multicast_count), (-1, 0));
        let (size, ring) = stated::<RingOptions>();
        assert_eq!(size, size_of::<RingOptions>());
        assert_eq!((ring.block_size, ring.block_count, ring.slots), (1 << 18, 16, 1024));
        let (size, channel) = stated::<ChannelOptions>();
        assert_eq!(size, size_of::<ChannelOptions>());
        assert_eq!((channel.ethertype, channel.max_message), (0xaaaa, 1 << 20));
        assert_eq!((channel.max_delay_us, channel.peer_timeout_ms), (100, 5000));
        let (size, hybrid) = stated::<HybridOptions>();
        assert_eq!(size, size_of::<HybridOptions>());
        assert_eq!((hybrid.tcp_port, hybrid.ethertype, hybrid.vlan_id), (9000, 0x88b5, 10));
        assert_eq!((hybrid.priority, hybrid.peer_timeout_ms), (7, 10_000));
    }
}
