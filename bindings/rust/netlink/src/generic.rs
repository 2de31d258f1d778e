use std::cell::Cell;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int};
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null, null_mut, NonNull};
use std::time::Duration;
use std::{fmt, slice};

use strata_base::binding::{c_string, checked, defaults, error_of};

use crate::error::{Error, Result};
use crate::family::{text, Families, Family};
use crate::ffi;
use crate::message::Message;
use crate::request::Request;

/// Of a connection. `..Options::default()` gives what is not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The kernel's words about what is wrong with a request, for one more system call to open.
    pub extended_acks: bool,
    /// SO_RCVBUF, in bytes; what is multicast above it is lost. 0: as the kernel has it.
    pub receive_buffer: u32,
    /// The longest wait for a reply, rounded down to milliseconds.
    pub patience: Duration,
    /// Bytes of the largest request, and the largest datagram received: 1 KiB to 16 MiB.
    pub largest_message: u32,
}

/// Extended ACKs, 5 s, 32 KiB.
impl Default for Options {
    fn default() -> Options {
        let raw = defaults::<ffi::Options>();
        Options {
            extended_acks: raw.extended_acks != 0,
            receive_buffer: raw.receive_buffer,
            patience: Duration::from_millis(raw.patience_ms.into()),
            largest_message: raw.largest_message,
        }
    }
}

impl Options {
    pub(crate) fn raw(&self) -> ffi::Options {
        ffi::Options {
            extended_acks: self.extended_acks.into(),
            receive_buffer: self.receive_buffer,
            patience_ms: u32::try_from(self.patience.as_millis()).unwrap_or(u32::MAX),
            largest_message: self.largest_message,
            ..defaults()
        }
    }
}

/// A connection to generic netlink, and to the controller that knows its families; of the network
/// namespace of the thread that opens it.
///
/// Belongs to one thread at a time, and may be sent to another. A request takes two system calls
/// and allocates nothing. Linux 6.1 or newer.
///
/// What the kernel answers is lent until the next call, which the borrow checker holds:
///
/// ```compile_fail,E0499
/// # use strata_netlink::Generic;
/// let mut on = Generic::open()?;
/// let first = on.request(16, 3).text(2, "nlctrl").ask()?;
/// let second = on.request(16, 3).text(2, "ethtool").ask()?; // overwrites what `first` shows
/// println!("{first:?} {second:?}");
/// # Ok::<(), strata_netlink::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// fn shared_by_threads<T: Sync>() {}
/// shared_by_threads::<strata_netlink::Generic>();
/// ```
pub struct Generic {
    handle: NonNull<ffi::Nl>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time.
unsafe impl Send for Generic {}

impl Generic {
    /// With the defaults of [`Options`].
    pub fn open() -> Result<Generic> {
        // SAFETY: NULL stands for the defaults.
        unsafe { Generic::open_raw(null()) }
    }

    /// Fails with `EINVAL` for a largest message out of bounds.
    pub fn open_with(options: &Options) -> Result<Generic> {
        // SAFETY: it lives as long as the call.
        unsafe { Generic::open_raw(&options.raw()) }
    }

    /// # Safety
    /// `options` is NULL, or points to some.
    unsafe fn open_raw(options: *const ffi::Options) -> Result<Generic> {
        let mut handle = null_mut();
        // SAFETY: the caller's promise.
        checked(unsafe { ffi::strata_nl_open(options, &mut handle) })?;
        let handle = NonNull::new(handle).expect("the library opened a connection");
        Ok(Generic { handle, not_sync: PhantomData })
    }

    /// The number of a family. Fails with `ENOENT` when there is none of that name in this network
    /// namespace.
    pub fn resolve(&mut self, name: &str) -> Result<u16> {
        let name = c_string(name)?;
        let mut id = 0;
        // SAFETY: open as long as `self`; both live as long as the call.
        let code = unsafe { ffi::strata_nl_resolve(self.raw(), name.as_ptr(), &mut id) };
        self.checked(code)?;
        Ok(id)
    }

    /// What the controller tells of a family. Fails as [`Generic::resolve`].
    pub fn family(&mut self, name: &str) -> Result<Family> {
        let name = c_string(name)?;
        // SAFETY: it lives as long as the call.
        let mut told = unsafe { self.told(name.as_ptr()) }?;
        Ok(told.pop().expect("the library told of one family"))
    }

    /// All of them, by id.
    pub fn families(&mut self) -> Result<Vec<Family>> {
        // SAFETY: NULL stands for all.
        unsafe { self.told(null()) }
    }

    /// # Safety
    /// `name` is NULL, or a C string.
    unsafe fn told(&mut self, name: *const c_char) -> Result<Vec<Family>> {
        let mut list = null_mut();
        // SAFETY: open as long as `self`; the caller's promise.
        let code = unsafe { ffi::strata_nl_families_open(self.raw(), name, &mut list) };
        self.checked(code)?;
        Ok(Families(NonNull::new(list).expect("the library made a list")).to_vec())
    }

    /// Begins a request to the family of that number, in version 1 of its commands.
    pub fn request(&mut self, family: u16, command: u8) -> Request<'_> {
        self.request_of_version(family, command, 1)
    }

    /// Begins a request in another version of the family's commands.
    pub fn request_of_version(&mut self, family: u16, command: u8, version: u8) -> Request<'_> {
        Request::new(self, family, command, version)
    }

    /// Hears a multicast group from now on. Use another connection than to ask: what is multicast
    /// while a reply is awaited is passed over.
    pub fn join(&mut self, group: u32) -> Result<()> {
        // SAFETY: open as long as `self`.
        let code = unsafe { ffi::strata_nl_join(self.raw(), group) };
        self.checked(code).map(drop)
    }

    /// Hears the group no longer; what came before may still be read.
    pub fn leave(&mut self, group: u32) -> Result<()> {
        // SAFETY: open as long as `self`.
        let code = unsafe { ffi::strata_nl_leave(self.raw(), group) };
        self.checked(code).map(drop)
    }

    /// The next message that was multicast; `None` when none has come. Does not wait. Fails with
    /// `ENOBUFS` when some were lost, as they came faster than they were read; then goes on.
    pub fn try_event(&mut self) -> Result<Option<Message<'_>>> {
        self.event(Some(Duration::ZERO))
    }

    /// The same, and waits for one for `timeout` (`None`: for ever), rounded up to milliseconds.
    pub fn event(&mut self, timeout: Option<Duration>) -> Result<Option<Message<'_>>> {
        let mut event = null();
        // SAFETY: open as long as `self`.
        let code = unsafe { ffi::strata_nl_event(self.raw(), milliseconds(timeout), &mut event) };
        if self.checked(code)? == 0 {
            return Ok(None);
        }
        // SAFETY: it stays until the next call, which needs `self`, which is borrowed.
        Ok(Some(unsafe { Message::of(event) }))
    }

    /// What came with the last ACK; empty when nothing did.
    pub fn cookie(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: open as long as `self`.
        let bytes = unsafe { ffi::strata_nl_cookie(self.handle.as_ptr(), &mut size) };
        if size == 0 {
            return &[];
        }
        // SAFETY: that number of bytes, which stay until the next call that takes `self` mutably.
        unsafe { slice::from_raw_parts(bytes.cast(), size) }
    }

    pub(crate) fn raw(&mut self) -> *mut ffi::Nl {
        self.handle.as_ptr()
    }

    /// The value of the call that has just returned `code`.
    pub(crate) fn checked(&self, code: c_int) -> Result<c_int> {
        if code >= 0 {
            return Ok(code);
        }
        // SAFETY: open as long as `self`; never NULL, nor is its text, which is copied.
        let (failure, reason) = unsafe {
            let failure = *ffi::strata_nl_last_failure(self.handle.as_ptr());
            (failure, text(failure.text))
        };
        let offset = usize::try_from(failure.offset).ok();
        Err(Error { base: error_of(code), reason, offset })
    }
}

impl Drop for Generic {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here; what was received is lent no longer.
        unsafe { ffi::strata_nl_close(self.handle.as_ptr()) };
    }
}

/// To poll it beside others, readable when an event has come. It stays the connection's.
impl AsFd for Generic {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for Generic {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_nl_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Generic {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Generic").field("fd", &self.as_raw_fd()).finish()
    }
}

/// As poll(2) takes it: -1 for ever, rounded up so that it never waits too short.
pub(crate) fn milliseconds(timeout: Option<Duration>) -> c_int {
    timeout.map_or(-1, |limit| {
        c_int::try_from((limit.as_nanos() + 999_999) / 1_000_000).unwrap_or(c_int::MAX)
    })
}
