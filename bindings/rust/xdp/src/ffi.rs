//! strata_xdp.h, by hand. Nothing here is public.

use std::os::raw::{c_char, c_int, c_void};

strata_base::opaque!(Umem, Socket, Program, OwnProgram, Route, Port);

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct UmemOptions {
    pub size: usize,
    pub frame_count: u32,
    pub frame_size: u32,
    pub headroom: u32,
    pub unaligned: u8,
    pub huge_pages: u8,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Descriptor {
    pub address: u64,
    pub length: u32,
    pub options: u32,
}

pub const CONTINUES: u32 = 1;

pub const AUTOMATIC: c_int = 0;
pub const COPY: c_int = 1;
pub const ZEROCOPY: c_int = 2;

pub const NATIVE: c_int = 1;
pub const GENERIC: c_int = 2;
pub const HARDWARE: c_int = 3;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SocketOptions {
    pub size: usize,
    pub receive_size: u32,
    pub transmit_size: u32,
    pub fill_size: u32,
    pub completion_size: u32,
    pub mode: u8,
    pub need_wakeup: u8,
    pub multi_buffer: u8,
    pub busy_poll_us: u32,
    pub busy_poll_budget: u32,
    pub busy_limit_ms: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Statistics {
    pub dropped: u64,
    pub receive_ring_full: u64,
    pub fill_ring_empty: u64,
    pub transmit_ring_empty: u64,
    pub invalid_receive: u64,
    pub invalid_transmit: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    pub size: usize,
    pub ethertype: i32,
    pub vlan_id: i32,
    pub udp_port: i32,
    pub destination: *const u8,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PortOptions {
    pub size: usize,
    pub attach_mode: c_int,
    pub filter: *const Filter,
    pub memory: *const UmemOptions,
    pub socket: *const SocketOptions,
}

pub use strata_base::binding::Iovec;

extern "C" {
    pub fn strata_xdp_umem_defaults(options: *mut UmemOptions);
    pub fn strata_xdp_umem_create(options: *const UmemOptions, created: *mut *mut Umem) -> c_int;
    pub fn strata_xdp_umem_create_over(
        memory: *mut c_void,
        size: usize,
        options: *const UmemOptions,
        released: Option<unsafe extern "C" fn(*mut c_void)>,
        context: *mut c_void,
        created: *mut *mut Umem,
    ) -> c_int;
    pub fn strata_xdp_umem_close(which: *mut Umem);
    pub fn strata_xdp_umem_memory(which: *const Umem, size: *mut usize) -> *mut c_void;
    pub fn strata_xdp_umem_frame_of(which: *const Umem, address: u64) -> u64;
    pub fn strata_xdp_umem_position(which: *const Umem, address: u64) -> u64;

    pub fn strata_xdp_socket_defaults(options: *mut SocketOptions);
    pub fn strata_xdp_socket_open(
        memory: *mut Umem,
        interface_name: *const c_char,
        queue: u32,
        options: *const SocketOptions,
        opened: *mut *mut Socket,
    ) -> c_int;
    pub fn strata_xdp_socket_open_through_daemon(
        daemon_socket: *const c_char,
        interface_name: *const c_char,
        queue: u32,
        options: *const PortOptions,
        memory: *mut *mut Umem,
        opened: *mut *mut Socket,
    ) -> c_int;
    pub fn strata_xdp_socket_close(which: *mut Socket);
    pub fn strata_xdp_socket_fd(which: *const Socket) -> c_int;
    pub fn strata_xdp_socket_is_zerocopy(which: *const Socket) -> c_int;
    pub fn strata_xdp_socket_is_busy_polled(which: *const Socket) -> c_int;
    pub fn strata_xdp_fill(which: *mut Socket, addresses: *const u64, count: u32) -> u32;
    pub fn strata_xdp_complete(which: *mut Socket, addresses: *mut u64, count: u32) -> u32;
    pub fn strata_xdp_receive(which: *mut Socket, to: *mut Descriptor, count: u32) -> u32;
    pub fn strata_xdp_transmit(which: *mut Socket, of: *const Descriptor, count: u32) -> u32;
    pub fn strata_xdp_fill_room(which: *mut Socket, most: u32) -> u32;
    pub fn strata_xdp_transmit_room(which: *mut Socket, most: u32) -> u32;
    pub fn strata_xdp_fill_needs_wakeup(which: *const Socket) -> c_int;
    pub fn strata_xdp_transmit_needs_wakeup(which: *const Socket) -> c_int;
    pub fn strata_xdp_wake_transmit(which: *mut Socket) -> c_int;
    pub fn strata_xdp_wake_receive(which: *mut Socket) -> c_int;
    pub fn strata_xdp_wait_readable(which: *const Socket, timeout_ms: c_int) -> c_int;
    pub fn strata_xdp_wait_writable(which: *const Socket, timeout_ms: c_int) -> c_int;
    pub fn strata_xdp_socket_statistics(which: *const Socket, counted: *mut Statistics) -> c_int;

    pub fn strata_xdp_filter_defaults(filter: *mut Filter);
    pub fn strata_xdp_program_attach(
        interface_name: *const c_char,
        mode: c_int,
        attached: *mut *mut Program,
    ) -> c_int;
    pub fn strata_xdp_program_close(which: *mut Program);
    pub fn strata_xdp_program_is_native(which: *const Program) -> c_int;
    pub fn strata_xdp_route_add(
        program: *mut Program,
        filter: *const Filter,
        socket: *const Socket,
        added: *mut *mut Route,
    ) -> c_int;
    pub fn strata_xdp_route_close(which: *mut Route);

    pub fn strata_xdp_own_program_attach(
        interface_name: *const c_char,
        program_fd: c_int,
        mode: c_int,
        attached: *mut *mut OwnProgram,
    ) -> c_int;
    pub fn strata_xdp_own_program_close(which: *mut OwnProgram);
    pub fn strata_xdp_own_program_mode(which: *const OwnProgram) -> c_int;
    pub fn strata_xdp_socket_enter_in_map(which: *const Socket, map_fd: c_int, key: i64) -> c_int;

    pub fn strata_xdp_port_open(
        interface_name: *const c_char,
        queue: u32,
        options: *const PortOptions,
        opened: *mut *mut Port,
    ) -> c_int;
    pub fn strata_xdp_port_open_through_daemon(
        daemon_socket: *const c_char,
        interface_name: *const c_char,
        queue: u32,
        options: *const PortOptions,
        opened: *mut *mut Port,
    ) -> c_int;
    pub fn strata_xdp_port_close(which: *mut Port);
    pub fn strata_xdp_port_fd(which: *const Port) -> c_int;
    pub fn strata_xdp_port_is_zerocopy(which: *const Port) -> c_int;
    pub fn strata_xdp_port_is_native(which: *const Port) -> c_int;
    pub fn strata_xdp_port_send(
        which: *mut Port,
        frames: *const Iovec,
        count: usize,
        sent: *mut usize,
    ) -> c_int;
    pub fn strata_xdp_port_receive(
        which: *mut Port,
        frames: *mut Iovec,
        count: usize,
        timeout_ms: c_int,
        received: *mut usize,
    ) -> c_int;
    pub fn strata_xdp_port_flush(which: *mut Port, timeout_ms: c_int) -> c_int;
    pub fn strata_xdp_port_statistics(which: *const Port, counted: *mut Statistics) -> c_int;
}

strata_base::grows!(UmemOptions, strata_xdp_umem_defaults);
strata_base::grows!(SocketOptions, strata_xdp_socket_defaults);
strata_base::grows!(Filter, strata_xdp_filter_defaults);

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use strata_base::binding::stated;

    use super::*;

    #[test]
    fn structures_are_as_the_library_has_them() {
        let (size, umem) = stated::<UmemOptions>();
        assert_eq!(size, size_of::<UmemOptions>());
        assert_eq!((umem.frame_count, umem.frame_size, umem.headroom), (4096, 4096, 0));
        assert_eq!((umem.unaligned, umem.huge_pages), (0, 0));
        let (size, socket) = stated::<SocketOptions>();
        assert_eq!(size, size_of::<SocketOptions>());
        assert_eq!((socket.receive_size, socket.transmit_size), (2048, 2048));
        assert_eq!((socket.fill_size, socket.completion_size), (2048, 2048));
        assert_eq!((socket.mode, socket.need_wakeup, socket.multi_buffer), (0, 1, 0));
        assert_eq!((socket.busy_poll_us, socket.busy_poll_budget), (0, 0));
        assert_eq!(socket.busy_limit_ms, 500);
        let (size, filter) = stated::<Filter>();
        assert_eq!(size, size_of::<Filter>());
        assert_eq!((filter.ethertype, filter.vlan_id, filter.udp_port), (-1, -1, -1));
        assert!(filter.destination.is_null());
    }
}
