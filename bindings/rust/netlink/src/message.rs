use std::slice;

use crate::attribute::Attributes;
use crate::ffi;

/// A message of the kernel's: a reply, a part of a dump, or an event. It is lent until the next
/// call with its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The number of the family that sent it.
    pub family: u16,
    /// The command that it is of.
    pub command: u8,
    /// The version of the family's commands.
    pub version: u8,
    /// NLM_F_… of linux/netlink.h.
    pub flags: u16,
    /// It is an ACK alone: command, version and attributes tell nothing.
    pub is_ack: bool,
    /// Behind the family's own header, where it has one, too.
    pub attributes: Attributes<'a>,
}

impl<'a> Message<'a> {
    /// # Safety
    /// `raw` is the library's, and what it points to stays as it is for 'a.
    pub(crate) unsafe fn of(raw: *const ffi::Message) -> Message<'a> {
        // SAFETY: the caller's promise.
        let raw = unsafe { &*raw };
        let bytes = match raw.attributes_size {
            // The pointer may be NULL then.
            0 => &[],
            // SAFETY: the library points to that number of bytes that it received.
            size => unsafe { slice::from_raw_parts(raw.attributes.cast::<u8>(), size) },
        };
        Message {
            family: raw.family,
            command: raw.command,
            version: raw.version,
            flags: raw.flags,
            is_ack: raw.is_ack != 0,
            attributes: Attributes::new(bytes),
        }
    }
}
