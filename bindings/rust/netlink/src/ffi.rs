//! strata_nl.h, by hand.

use std::os::raw::{c_char, c_int, c_void};

strata_base::opaque!(Nl, Families, Links, Watch);

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub size: usize,
    pub receive_buffer: u32,
    pub patience_ms: u32,
    pub largest_message: u32,
    pub extended_acks: u8,
}

strata_base::grows!(Options, strata_nl_defaults);

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Failure {
    pub error_number: c_int,
    pub offset: i64,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    pub command: u32,
    pub flags: u32,
}

pub const NEEDS_ADMIN: u32 = 0x01;
pub const CAN_DO: u32 = 0x02;
pub const CAN_DUMP: u32 = 0x04;
pub const HAS_POLICY: u32 = 0x08;
pub const NEEDS_UNS_ADMIN: u32 = 0x10;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub name: *const c_char,
    pub id: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Family {
    pub name: *const c_char,
    pub id: u16,
    pub version: u32,
    pub header_size: u32,
    pub max_attribute: u32,
    pub operations: *const Operation,
    pub operation_count: usize,
    pub groups: *const Group,
    pub group_count: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub family: u16,
    pub flags: u16,
    pub command: u8,
    pub version: u8,
    pub is_ack: u8,
    pub attributes: *const c_void,
    pub attributes_size: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub index: i32,
    pub peer: i32,
    pub name: *const c_char,
    pub kind: *const c_char,
    pub mtu: u32,
    pub flags: u32,
    pub mac: [u8; 6],
}

pub const LINK_CHANGED: c_int = 1;

pub type Each = unsafe extern "C" fn(context: *mut c_void, message: *const Message);

extern "C" {
    pub fn strata_nl_defaults(options: *mut Options);
    pub fn strata_nl_open(options: *const Options, opened: *mut *mut Nl) -> c_int;
    pub fn strata_nl_close(which: *mut Nl);
    pub fn strata_nl_fd(which: *const Nl) -> c_int;
    pub fn strata_nl_last_failure(which: *const Nl) -> *const Failure;

    pub fn strata_nl_resolve(on: *mut Nl, name: *const c_char, family: *mut u16) -> c_int;
    pub fn strata_nl_families_open(
        on: *mut Nl,
        name: *const c_char,
        told: *mut *mut Families,
    ) -> c_int;
    pub fn strata_nl_families_close(which: *mut Families);
    pub fn strata_nl_families_at(which: *const Families, index: usize) -> *const Family;

    pub fn strata_nl_begin(on: *mut Nl, family: u16, command: u8, version: u8);
    pub fn strata_nl_add_flags(on: *mut Nl, flags: u16);
    pub fn strata_nl_put_header(on: *mut Nl, header: *const c_void, size: usize);
    pub fn strata_nl_put_flag(on: *mut Nl, kind: u16);
    pub fn strata_nl_put_u8(on: *mut Nl, kind: u16, value: u8);
    pub fn strata_nl_put_u16(on: *mut Nl, kind: u16, value: u16);
    pub fn strata_nl_put_u32(on: *mut Nl, kind: u16, value: u32);
    pub fn strata_nl_put_u64(on: *mut Nl, kind: u16, value: u64);
    pub fn strata_nl_put_text(on: *mut Nl, kind: u16, text: *const c_char, size: usize);
    pub fn strata_nl_put_bytes(on: *mut Nl, kind: u16, bytes: *const c_void, size: usize);
    pub fn strata_nl_open_nest(on: *mut Nl, kind: u16);
    pub fn strata_nl_close_nest(on: *mut Nl);
    pub fn strata_nl_ask(on: *mut Nl, reply: *mut *const Message) -> c_int;
    pub fn strata_nl_cookie(on: *const Nl, size: *mut usize) -> *const c_void;
    pub fn strata_nl_dump(on: *mut Nl, each: Each, context: *mut c_void) -> c_int;

    pub fn strata_nl_join(on: *mut Nl, group: u32) -> c_int;
    pub fn strata_nl_leave(on: *mut Nl, group: u32) -> c_int;
    pub fn strata_nl_event(on: *mut Nl, timeout_ms: c_int, event: *mut *const Message) -> c_int;

    pub fn strata_nl_links_open(name: *const c_char, told: *mut *mut Links) -> c_int;
    pub fn strata_nl_links_close(which: *mut Links);
    pub fn strata_nl_links_at(which: *const Links, index: usize) -> *const Link;
    pub fn strata_nl_watch_open(options: *const Options, opened: *mut *mut Watch) -> c_int;
    pub fn strata_nl_watch_close(which: *mut Watch);
    pub fn strata_nl_watch_fd(which: *const Watch) -> c_int;
    pub fn strata_nl_watch_event(
        which: *mut Watch,
        timeout_ms: c_int,
        link: *mut *const Link,
    ) -> c_int;
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use strata_base::binding::stated;

    use super::*;

    #[test]
    fn structures_are_as_the_library_has_them() {
        let (size, options) = stated::<Options>();
        assert_eq!(size, size_of::<Options>());
        assert_eq!((options.receive_buffer, options.patience_ms), (0, 5000));
        assert_eq!((options.largest_message, options.extended_acks), (32768, 1));
    }
}
