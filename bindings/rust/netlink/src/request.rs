use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::null;

use crate::error::Result;
use crate::ffi;
use crate::generic::Generic;
use crate::message::Message;

const ACK: u16 = 0x004;

/// A request that is being written, in its connection's memory. What has no room there is left
/// out, and [`Request::ask`] fails with `EMSGSIZE` then.
///
/// ```
/// use strata_netlink::Generic;
///
/// let mut on = Generic::open()?;
/// // CTRL_CMD_GETFAMILY with CTRL_ATTR_FAMILY_NAME
/// let reply = on.request(16, 3).text(2, "nlctrl").ask()?;
/// assert_eq!(reply.attributes.number(1), Some(16)); // CTRL_ATTR_FAMILY_ID
/// # Ok::<(), strata_netlink::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is sent before it is asked"]
pub struct Request<'a> {
    on: &'a mut Generic,
}

/// A nest of a [`Request`] that is being written.
#[derive(Debug)]
#[must_use = "give it back from the closure"]
pub struct Nest<'a> {
    on: &'a mut Generic,
}

macro_rules! puts {
    ($of:ident) => {
        /// Attributes, each with its type.
        impl<'a> $of<'a> {
            /// An attribute without data.
            pub fn flag(self, kind: u16) -> Self {
                // SAFETY: the connection is open as long as it lives, here and below.
                unsafe { ffi::strata_nl_put_flag(self.on.raw(), kind) };
                self
            }

            /// A number of 8 bits.
            pub fn u8(self, kind: u16, value: u8) -> Self {
                // SAFETY: as above.
                unsafe { ffi::strata_nl_put_u8(self.on.raw(), kind, value) };
                self
            }

            /// A number of 16 bits, in the byte order of the machine, as all numbers here.
            pub fn u16(self, kind: u16, value: u16) -> Self {
                // SAFETY: as above.
                unsafe { ffi::strata_nl_put_u16(self.on.raw(), kind, value) };
                self
            }

            /// A number of 32 bits.
            pub fn u32(self, kind: u16, value: u32) -> Self {
                // SAFETY: as above.
                unsafe { ffi::strata_nl_put_u32(self.on.raw(), kind, value) };
                self
            }

            /// A number of 64 bits.
            pub fn u64(self, kind: u16, value: u64) -> Self {
                // SAFETY: as above.
                unsafe { ffi::strata_nl_put_u64(self.on.raw(), kind, value) };
                self
            }

            /// With a NUL behind it.
            pub fn text(self, kind: u16, text: &str) -> Self {
                let (start, size) = (text.as_ptr().cast(), text.len());
                // SAFETY: as above; that number of bytes, which are copied.
                unsafe { ffi::strata_nl_put_text(self.on.raw(), kind, start, size) };
                self
            }

            /// Bytes as they are.
            pub fn bytes(self, kind: u16, bytes: &[u8]) -> Self {
                let (start, size) = (bytes.as_ptr().cast(), bytes.len());
                // SAFETY: as above; that number of bytes, which are copied.
                unsafe { ffi::strata_nl_put_bytes(self.on.raw(), kind, start, size) };
                self
            }

            /// What `within` puts into it is in a nest. At most 8 deep.
            pub fn nest(self, kind: u16, within: impl FnOnce(Nest<'_>) -> Nest<'_>) -> Self {
                // SAFETY: as above.
                unsafe { ffi::strata_nl_open_nest(self.on.raw(), kind) };
                let _ = within(Nest { on: &mut *self.on });
                // SAFETY: as above.
                unsafe { ffi::strata_nl_close_nest(self.on.raw()) };
                self
            }
        }
    };
}

puts!(Request);
puts!(Nest);

impl<'a> Request<'a> {
    pub(crate) fn new(on: &'a mut Generic, family: u16, command: u8, version: u8) -> Request<'a> {
        // SAFETY: open as long as `on`.
        unsafe { ffi::strata_nl_begin(on.raw(), family, command, version) };
        Request { on }
    }

    /// NLM_F_… of linux/netlink.h; what makes it a request is there already.
    pub fn flags(self, flags: u16) -> Self {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_nl_add_flags(self.on.raw(), flags) };
        self
    }

    /// Has the kernel say that it did it, also where it has nothing else to say.
    pub fn acknowledged(self) -> Self {
        self.flags(ACK)
    }

    /// For families that have a header of their own: before all attributes.
    pub fn header(self, header: &[u8]) -> Self {
        let (start, size) = (header.as_ptr().cast(), header.len());
        // SAFETY: open as long as `self`; that number of bytes, which are copied.
        unsafe { ffi::strata_nl_put_header(self.on.raw(), start, size) };
        self
    }

    /// Sends it, and waits for the reply. Fails with the kernel's errors, with its words and the
    /// place; `ETIMEDOUT`; `EMSGSIZE`.
    pub fn ask(self) -> Result<Message<'a>> {
        let mut reply = null();
        // SAFETY: open as long as `self`.
        let code = unsafe { ffi::strata_nl_ask(self.on.raw(), &mut reply) };
        self.on.checked(code)?;
        // SAFETY: it stays until the next call, which needs the connection, which is borrowed.
        Ok(unsafe { Message::of(reply) })
    }

    /// Sends it as a dump, and calls `each` for each message of the reply. Fails as
    /// [`Request::ask`]; with `EBUSY` when what was dumped changed meanwhile: ask again. If `each`
    /// panics, the rest of the dump is read, and then the panic goes on.
    pub fn dump(self, each: impl FnMut(Message<'_>)) -> Result<()> {
        dump(self.on, each)
    }
}

struct Receiver<Each> {
    each: Each,
    panicked: Option<Box<dyn Any + Send>>,
}

fn dump<Each: FnMut(Message<'_>)>(on: &mut Generic, each: Each) -> Result<()> {
    let mut receiver = Receiver { each, panicked: None };
    let context = (&mut receiver as *mut Receiver<Each>).cast();
    // SAFETY: open as long as `on`; the function takes that context, which outlives the call.
    let code = unsafe { ffi::strata_nl_dump(on.raw(), receive::<Each>, context) };
    if let Some(panicked) = receiver.panicked {
        resume_unwind(panicked);
    }
    on.checked(code).map(drop)
}

/// Lets no panic go through C.
unsafe extern "C" fn receive<Each: FnMut(Message<'_>)>(
    context: *mut c_void,
    message: *const ffi::Message,
) {
    // SAFETY: `dump` gave it, and uses it no more until it has returned.
    let receiver = unsafe { &mut *context.cast::<Receiver<Each>>() };
    if receiver.panicked.is_some() {
        return;
    }
    // SAFETY: it stays as long as this call, and `each` cannot keep it.
    let message = unsafe { Message::of(message) };
    let each = &mut receiver.each;
    receiver.panicked = catch_unwind(AssertUnwindSafe(|| each(message))).err();
}
