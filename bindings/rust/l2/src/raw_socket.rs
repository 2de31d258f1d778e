use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use std::time::Duration;

use strata_base::binding::{c_string, checked, milliseconds, Iovec};
use strata_base::errno::ETIMEDOUT;
use strata_base::{MacAddress, Result};

use crate::ffi;
use crate::options::RawOptions;
use crate::received::{DeviceStatistics, Frames, Received, Slots, Source};

/// Frames that one call of the library moves.
pub(crate) const BATCH: usize = 64;

/// An AF_PACKET socket that is bound to an interface: it sends and receives whole frames.
///
/// Belongs to one thread at a time, and may be sent to another. Needs CAP_NET_RAW, or
/// [`RawSocket::open_through_daemon`].
///
/// ```no_run
/// use strata_l2::{RawOptions, RawSocket};
///
/// let options = RawOptions { ethertype: Some(0x88b5), ..RawOptions::default() };
/// let mut socket = RawSocket::open("eth0", &options)?;
/// let mut memory = [0; 2048];
/// while let Some(frame) = socket.receive(&mut memory, None)? {
///     println!("{:02x?}", frame.bytes);
/// }
/// # Ok::<(), strata_l2::Error>(())
/// ```
pub struct RawSocket {
    handle: NonNull<ffi::RawSocket>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time.
unsafe impl Send for RawSocket {}

impl RawSocket {
    /// Fails with `ENODEV` when there is no such interface, with `EPERM` without CAP_NET_RAW.
    pub fn open(interface: &str, options: &RawOptions) -> Result<RawSocket> {
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call.
        checked(options.with_raw(|raw| unsafe {
            ffi::strata_raw_socket_open(name.as_ptr(), raw, &mut handle)
        }))?;
        Ok(RawSocket::of(handle))
    }

    /// The same for a process without privileges: made by the strata daemon that listens at
    /// `daemon` (`None`: `$STRATA_BROKER_SOCKET`, or `/run/strata/broker.sock`). Fails with `EPERM`
    /// when its policy forbids it.
    pub fn open_through_daemon(
        daemon: Option<&Path>,
        interface: &str,
        options: &RawOptions,
    ) -> Result<RawSocket> {
        let daemon = daemon.map(c_string).transpose()?;
        let daemon = daemon.as_ref().map_or(null(), |path| path.as_ptr());
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call; NULL stands for no path.
        checked(options.with_raw(|raw| unsafe {
            ffi::strata_raw_socket_open_through_daemon(daemon, name.as_ptr(), raw, &mut handle)
        }))?;
        Ok(RawSocket::of(handle))
    }

    fn of(handle: *mut ffi::RawSocket) -> RawSocket {
        let handle = NonNull::new(handle).expect("the library opened a socket");
        RawSocket { handle, not_sync: PhantomData }
    }

    /// Of its interface.
    pub fn mac(&self) -> MacAddress {
        let mut mac = [0; 6];
        // SAFETY: open as long as `self`; room for six bytes.
        unsafe { ffi::strata_raw_socket_mac(self.handle.as_ptr(), mac.as_mut_ptr()) };
        MacAddress(mac)
    }

    /// The interface's MTU in bytes, as it was when the socket was opened.
    pub fn mtu(&self) -> usize {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_raw_socket_mtu(self.handle.as_ptr()) as usize }
    }

    /// Sends one frame, waiting for room. Fails with `EMSGSIZE` above the MTU, `ENETDOWN`,
    /// `ENODEV`.
    pub fn send(&mut self, frame: &[u8]) -> Result<()> {
        // SAFETY: open as long as `self`; that many bytes are there.
        checked(unsafe {
            let handle = self.handle.as_ptr();
            ffi::strata_raw_socket_send(handle, frame.as_ptr().cast(), frame.len())
        })?;
        Ok(())
    }

    /// Sends frames without waiting, first to last, and returns how many were taken; 0 when there
    /// is no room now. Fails as `send` does when the first is refused.
    pub fn send_batch<Bytes: AsRef<[u8]>>(&mut self, frames: &[Bytes]) -> Result<usize> {
        send_batches(frames, |parts, count, sent| {
            // SAFETY: open as long as `self`; that many parts are there, and are only read.
            unsafe { ffi::strata_raw_socket_send_batch(self.handle.as_ptr(), parts, count, sent) }
        })
    }

    /// The next frame, in `memory`, which is to have four bytes more than the largest; `None` when
    /// none came in `timeout` (`None`: waits for ever). Fails with `ENETDOWN` once each time that
    /// the link goes down, with `ENODEV` when the interface is gone.
    pub fn receive<'m>(
        &mut self,
        memory: &'m mut [u8],
        timeout: Option<Duration>,
    ) -> Result<Option<Received<'m>>> {
        let mut received = ffi::Received::NONE;
        // SAFETY: open as long as `self`; that much memory is there.
        let outcome = checked(unsafe {
            ffi::strata_raw_socket_receive(
                self.handle.as_ptr(),
                memory.as_mut_ptr().cast(),
                memory.len(),
                milliseconds(timeout),
                &mut received,
            )
        });
        match outcome {
            Err(error) if error.errno() == ETIMEDOUT => Ok(None),
            Err(error) => Err(error),
            // SAFETY: within `memory`, which is borrowed for 'm.
            Ok(_) => Ok(Some(unsafe { Received::of(&received) })),
        }
    }

    /// What is there, up to 64 frames in one system call, after a wait for the first of up to
    /// `timeout`. None is no error. Allocates nothing.
    pub fn receive_batch<'s>(
        &mut self,
        slots: &'s mut Slots,
        timeout: Option<Duration>,
    ) -> Result<Frames<'s>> {
        let mut count = 0;
        // SAFETY: open as long as `self`; the slots lead into their own memory.
        checked(unsafe {
            ffi::strata_raw_socket_receive_batch(
                self.handle.as_ptr(),
                slots.slots.as_mut_ptr(),
                slots.slots.len(),
                milliseconds(timeout),
                &mut count,
            )
        })?;
        Ok(Frames { of: Source::Slots(slots.slots[..count].iter()) })
    }

    /// Frames that the filter took, and those of them that were lost.
    pub fn statistics(&mut self) -> Result<DeviceStatistics> {
        let mut counted = DeviceStatistics::default();
        // SAFETY: open as long as `self`; both numbers live as long as the call.
        checked(unsafe {
            let DeviceStatistics { received, dropped } = &mut counted;
            ffi::strata_raw_socket_statistics(self.handle.as_ptr(), received, dropped)
        })?;
        Ok(counted)
    }
}

/// Sends by `send`, which takes 64 at most, until one call takes less than it was given.
pub(crate) fn send_batches<Bytes: AsRef<[u8]>>(
    frames: &[Bytes],
    mut send: impl FnMut(*const Iovec, usize, *mut usize) -> std::os::raw::c_int,
) -> Result<usize> {
    let mut parts = [Iovec::NONE; BATCH];
    let mut taken = 0;
    loop {
        let batch = &frames[taken..frames.len().min(taken + BATCH)];
        for (part, frame) in parts.iter_mut().zip(batch) {
            *part = Iovec::of(frame.as_ref());
        }
        let mut sent = 0;
        if let Err(error) = checked(send(parts.as_ptr(), batch.len(), &mut sent)) {
            return if taken == 0 { Err(error) } else { Ok(taken) };
        }
        taken += sent;
        if sent < BATCH || taken == frames.len() {
            return Ok(taken);
        }
    }
}

impl Drop for RawSocket {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_raw_socket_close(self.handle.as_ptr()) };
    }
}

/// To poll it beside others; it stays the socket's.
impl AsFd for RawSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for RawSocket {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_raw_socket_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for RawSocket {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("RawSocket").field("fd", &self.as_raw_fd()).finish()
    }
}
