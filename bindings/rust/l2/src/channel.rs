use std::cell::Cell;
use std::marker::PhantomData;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null_mut, NonNull};
use std::time::Duration;
use std::{fmt, slice};

use strata_base::binding::{c_string, checked, defaults, milliseconds};
use strata_base::Result;

use crate::ffi;

/// What a [`Channel`] is. `..ChannelOptions::default()` gives what is not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelOptions {
    /// `lo`: between processes of this machine.
    pub interface: String,
    /// All that open the same name on an interface hear each other.
    pub name: String,
    /// Of its frames.
    pub ethertype: u16,
    /// Exactly two endpoints, and each message arrives once and in order; else any number, and a
    /// slow one loses some.
    pub acknowledged: bool,
    /// Bytes; both ends should agree.
    pub max_message: usize,
    /// Bytes of frames that wait to be sent, or acknowledged.
    pub send_buffer: usize,
    /// Bytes of frames that the kernel keeps.
    pub receive_buffer: usize,
    /// The longest that a posted message waits for others.
    pub max_delay_us: u32,
    /// The longest that sending waits for room.
    pub send_timeout_ms: u32,
    /// Acknowledged: a peer that says nothing for this time is gone.
    pub peer_timeout_ms: u32,
}

/// `lo`, `default`, 0xaaaa, unacknowledged, 1 MiB, 4 MiB, 8 MiB, 100 us, 5 s, 5 s.
impl Default for ChannelOptions {
    fn default() -> ChannelOptions {
        let usual: ffi::ChannelOptions = defaults();
        ChannelOptions {
            interface: "lo".to_string(),
            name: "default".to_string(),
            ethertype: usual.ethertype,
            acknowledged: false,
            max_message: usual.max_message,
            send_buffer: usual.send_buffer,
            receive_buffer: usual.receive_buffer,
            max_delay_us: usual.max_delay_us,
            send_timeout_ms: usual.send_timeout_ms,
            peer_timeout_ms: usual.peer_timeout_ms,
        }
    }
}

/// A message, lent until the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The message itself.
    pub bytes: &'a [u8],
    /// The endpoint's random number; 0 where the call had to wait.
    pub sender: u64,
}

/// Messages between processes in raw Ethernet frames: all that open the same name on the same
/// interface hear each other.
///
/// Belongs to one thread at a time, and may be sent to another. Needs CAP_NET_RAW. When it is
/// dropped, what was posted goes out, if there is room, and the peer is told.
///
/// ```no_run
/// use strata_l2::{Channel, ChannelOptions};
///
/// let mut line = Channel::open(&ChannelOptions { name: "line".into(), ..Default::default() })?;
/// line.send(b"hello")?;
/// while let Some(message) = line.receive(None)? {
///     println!("{:?}", message.bytes);
/// }
/// # Ok::<(), strata_l2::Error>(())
/// ```
pub struct Channel {
    handle: NonNull<ffi::Channel>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time.
unsafe impl Send for Channel {}

impl Channel {
    /// Fails with `ENODEV`, `EPERM`, and with `EINVAL` for a limit that cannot be right.
    pub fn open(options: &ChannelOptions) -> Result<Channel> {
        let interface = c_string(&options.interface)?;
        let name = c_string(&options.name)?;
        let raw = ffi::ChannelOptions {
            interface_name: interface.as_ptr(),
            name: name.as_ptr(),
            ethertype: options.ethertype,
            acknowledged: options.acknowledged.into(),
            max_message: options.max_message,
            send_buffer: options.send_buffer,
            receive_buffer: options.receive_buffer,
            max_delay_us: options.max_delay_us,
            send_timeout_ms: options.send_timeout_ms,
            peer_timeout_ms: options.peer_timeout_ms,
            ..defaults()
        };
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call.
        checked(unsafe { ffi::strata_channel_open(&raw, &mut handle) })?;
        let handle = NonNull::new(handle).expect("the library opened a channel");
        Ok(Channel { handle, not_sync: PhantomData })
    }

    /// Sends a message at once, waiting for room. Fails with `EMSGSIZE` above `max_message`,
    /// `ETIMEDOUT`, `ENETDOWN`, and once with `ECONNRESET` when the peer is gone.
    pub fn send(&mut self, message: &[u8]) -> Result<()> {
        // SAFETY: open as long as `self`; that many bytes are there.
        checked(unsafe {
            let handle = self.handle.as_ptr();
            ffi::strata_channel_send(handle, message.as_ptr().cast(), message.len())
        })?;
        Ok(())
    }

    /// Leaves it to go together with others: with [`Channel::flush`], when they fill frames, or at
    /// a turn after `max_delay_us`. False when there is no room now.
    pub fn post(&mut self, message: &[u8]) -> Result<bool> {
        // SAFETY: open as long as `self`; that many bytes are there.
        let taken = checked(unsafe {
            let handle = self.handle.as_ptr();
            ffi::strata_channel_post(handle, message.as_ptr().cast(), message.len())
        })?;
        Ok(taken == 1)
    }

    /// Sends what was posted, as far as there is room; the rest goes with later calls.
    pub fn flush(&mut self) -> Result<()> {
        // SAFETY: open as long as `self`.
        checked(unsafe { ffi::strata_channel_flush(self.handle.as_ptr()) })?;
        Ok(())
    }

    /// Waits until all is sent, and, acknowledged, has arrived. Fails with `ETIMEDOUT`.
    pub fn finish(&mut self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: open as long as `self`.
        checked(unsafe {
            ffi::strata_channel_finish(self.handle.as_ptr(), milliseconds(timeout))
        })?;
        Ok(())
    }

    /// The next message, or `None` when none came in `timeout` (`None`: waits for ever). Fails once
    /// with `ECONNRESET` when the peer is gone; with `ENETDOWN`.
    pub fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<Message<'_>>> {
        let mut raw = ffi::Message { bytes: std::ptr::null(), size: 0, sender: 0 };
        // SAFETY: open as long as `self`; `raw` lives as long as the call.
        let came = checked(unsafe {
            ffi::strata_channel_receive(self.handle.as_ptr(), milliseconds(timeout), &mut raw)
        })?;
        // SAFETY: lent until the next call, which needs `self`, borrowed as long.
        Ok((came == 1).then(|| Message {
            bytes: unsafe { lent(raw.bytes.cast(), raw.size) },
            sender: raw.sender,
        }))
    }

    /// For a loop of one's own: call it when the descriptor is readable, when it is writable if
    /// [`Channel::wants_to_write`], and at [`Channel::deadline`]; then receive until there is
    /// nothing.
    pub fn turn(&mut self) -> Result<()> {
        // SAFETY: open as long as `self`.
        checked(unsafe { ffi::strata_channel_turn(self.handle.as_ptr()) })?;
        Ok(())
    }

    /// Whether `turn` is to be called once the descriptor is writable.
    pub fn wants_to_write(&self) -> bool {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_channel_wants_to_write(self.handle.as_ptr()) != 0 }
    }

    /// How long until it; zero when it has passed.
    pub fn deadline(&self) -> Option<Duration> {
        // SAFETY: open as long as `self`.
        let left = unsafe { ffi::strata_channel_deadline_us(self.handle.as_ptr()) };
        u64::try_from(left).ok().map(Duration::from_micros)
    }

    /// Acknowledged: the two ends have found each other.
    pub fn has_peer(&self) -> bool {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_channel_has_peer(self.handle.as_ptr()) != 0 }
    }
}

/// # Safety
/// That many bytes are there for 'a, and nobody writes them.
pub(crate) unsafe fn lent<'a>(bytes: *const u8, size: usize) -> &'a [u8] {
    match size {
        0 => &[],
        // SAFETY: the caller's promise.
        size => unsafe { slice::from_raw_parts(bytes, size) },
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_channel_close(self.handle.as_ptr()) };
    }
}

/// To poll it beside others; it stays the channel's.
impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for Channel {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_channel_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Channel")
            .field("fd", &self.as_raw_fd())
            .field("has_peer", &self.has_peer())
            .finish()
    }
}
