use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null_mut, NonNull};
use std::time::Duration;

use strata_base::binding::{c_string, checked, milliseconds};
use strata_base::{MacAddress, Result};

use crate::ffi;
use crate::options::RingOptions;
use crate::raw_socket::{send_batches, BATCH};
use crate::received::{DeviceStatistics, Frames, Source};

/// Memory that the kernel writes frames to, and that is read in place: no system call and no copy
/// a frame.
///
/// Belongs to one thread at a time, and may be sent to another. Needs CAP_NET_RAW.
///
/// What it lends ends with its next call, which the borrow checker holds:
///
/// ```compile_fail,E0499
/// # use strata_l2::{Ring, RingOptions};
/// let mut ring = Ring::open("eth0", &RingOptions::default())?;
/// let first = ring.receive(None)?.next();
/// let second = ring.receive(None)?.next(); // gives back what `first` shows
/// println!("{first:?} {second:?}");
/// # Ok::<(), strata_l2::Error>(())
/// ```
pub struct Ring {
    handle: NonNull<ffi::Ring>,
    received: Box<[ffi::Received; BATCH]>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time; `received` is written before it is
// read in each call.
unsafe impl Send for Ring {}

impl Ring {
    /// Fails as [`RawSocket::open`](crate::RawSocket::open) does, and with `EMSGSIZE` when its
    /// memory is more than 1 GiB or half of the machine's.
    pub fn open(interface: &str, options: &RingOptions) -> Result<Ring> {
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call.
        checked(
            options
                .with_raw(|raw| unsafe { ffi::strata_ring_open(name.as_ptr(), raw, &mut handle) }),
        )?;
        Ok(Ring {
            handle: NonNull::new(handle).expect("the library opened a ring"),
            received: Box::new([ffi::Received::NONE; BATCH]),
            not_sync: PhantomData,
        })
    }

    /// Of its interface.
    pub fn mac(&self) -> MacAddress {
        let mut mac = [0; 6];
        // SAFETY: open as long as `self`; room for six bytes.
        unsafe { ffi::strata_ring_mac(self.handle.as_ptr(), mac.as_mut_ptr()) };
        MacAddress(mac)
    }

    /// The interface's MTU in bytes, as it was when the ring was opened.
    pub fn mtu(&self) -> usize {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_ring_mtu(self.handle.as_ptr()) as usize }
    }

    /// What has arrived, up to 64 frames, in place; their room in the ring is taken as long as they
    /// are lent. Waits for the first for `timeout` (`None`: for ever); none is no error. Fails as
    /// [`RawSocket::receive`](crate::RawSocket::receive) does. Allocates nothing.
    pub fn receive(&mut self, timeout: Option<Duration>) -> Result<Frames<'_>> {
        let mut count = 0;
        // SAFETY: open as long as `self`; there is room for BATCH frames.
        checked(unsafe {
            ffi::strata_ring_receive(
                self.handle.as_ptr(),
                self.received.as_mut_ptr(),
                BATCH,
                milliseconds(timeout),
                &mut count,
            )
        })?;
        Ok(Frames { of: Source::Ring(self.received[..count].iter()) })
    }

    /// As [`RawSocket::send_batch`](crate::RawSocket::send_batch); fails with `EOPNOTSUPP` when it
    /// has no place to send from.
    pub fn send<Bytes: AsRef<[u8]>>(&mut self, frames: &[Bytes]) -> Result<usize> {
        send_batches(frames, |parts, count, sent| {
            // SAFETY: open as long as `self`; that many parts are there, and are only read.
            unsafe { ffi::strata_ring_send(self.handle.as_ptr(), parts, count, sent) }
        })
    }

    /// Frames that the filter took, and those of them that were lost.
    pub fn statistics(&mut self) -> Result<DeviceStatistics> {
        let mut counted = DeviceStatistics::default();
        // SAFETY: open as long as `self`; both numbers live as long as the call.
        checked(unsafe {
            let DeviceStatistics { received, dropped } = &mut counted;
            ffi::strata_ring_statistics(self.handle.as_ptr(), received, dropped)
        })?;
        Ok(counted)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here; what was received is lent no longer.
        unsafe { ffi::strata_ring_close(self.handle.as_ptr()) };
    }
}

/// To poll it beside others; it stays the ring's.
impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for Ring {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_ring_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Ring").field("fd", &self.as_raw_fd()).finish()
    }
}
