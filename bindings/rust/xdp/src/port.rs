use std::cell::Cell;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use std::time::Duration;
use std::{fmt, slice};

use strata_base::binding::{c_string, checked, milliseconds};
use strata_base::Result;

use crate::ffi;
use crate::options::{SocketOptions, UmemOptions};
use crate::program::{AttachMode, Filter};
use crate::statistics::Statistics;

/// Frames that one call of the library moves.
const BATCH: usize = 64;

/// What a [`Port`] consists of. `..PortOptions::default()` gives what is not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortOptions {
    /// Which frames to receive.
    pub filter: Filter,
    /// Where the program runs.
    pub attach_mode: AttachMode,
    /// Of its UMEM.
    pub memory: UmemOptions,
    /// A `receive_size` of 0: it only sends, and attaches no program.
    pub socket: SocketOptions,
}

/// All frames, automatic modes, and the defaults of [`UmemOptions`] and [`SocketOptions`].
impl Default for PortOptions {
    fn default() -> PortOptions {
        PortOptions {
            filter: Filter::default(),
            attach_mode: AttachMode::Automatic,
            memory: UmemOptions::default(),
            socket: SocketOptions::default(),
        }
    }
}

/// One queue of one interface for those who want frames, not rings: memory, socket, program and
/// route in one.
///
/// Belongs to one thread at a time, and may be sent to another. It allocates nothing once it is
/// open. Needs CAP_NET_RAW, and to receive CAP_NET_ADMIN and CAP_BPF, or
/// [`Port::open_through_daemon`]. Linux 6.1 or newer.
///
/// What arrives is lent until the next call, which the borrow checker holds:
///
/// ```compile_fail,E0499
/// # use strata_xdp::{Port, PortOptions};
/// let mut port = Port::open("eth0", 0, &PortOptions::default())?;
/// let first = port.receive(None)?.next();
/// let second = port.receive(None)?.next(); // may overwrite what `first` shows
/// println!("{first:?} {second:?}");
/// # Ok::<(), strata_xdp::Error>(())
/// ```
pub struct Port {
    handle: NonNull<ffi::Port>,
    received: Box<[ffi::Iovec; BATCH]>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time; `received` is written before it is
// read in each call.
unsafe impl Send for Port {}

impl PortOptions {
    /// Calls `open` with what the library takes, which points to what lives as long as that call.
    pub(crate) fn with_raw<T>(&self, open: impl FnOnce(*const ffi::PortOptions) -> T) -> T {
        let filter = self.filter.raw();
        let memory = self.memory.raw();
        let socket = self.socket.raw();
        open(&ffi::PortOptions {
            size: std::mem::size_of::<ffi::PortOptions>(),
            attach_mode: self.attach_mode.raw(),
            filter: &filter,
            memory: &memory,
            socket: &socket,
        })
    }
}

impl Port {
    /// Opens it. Fails as [`Umem::new`], [`Socket::open`], [`Program::attach`] and
    /// [`Program::route`] do.
    ///
    /// [`Umem::new`]: crate::Umem::new
    /// [`Socket::open`]: crate::Socket::open
    /// [`Program::attach`]: crate::Program::attach
    /// [`Program::route`]: crate::Program::route
    pub fn open(interface: &str, queue: u32, options: &PortOptions) -> Result<Port> {
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call.
        checked(options.with_raw(|raw| unsafe {
            ffi::strata_xdp_port_open(name.as_ptr(), queue, raw, &mut handle)
        }))?;
        Ok(Port::of(handle))
    }

    /// The same for a process without privileges: made by the strata daemon that listens at
    /// `daemon` (`None`: `$STRATA_BROKER_SOCKET`, or `/run/strata/broker.sock`), if its policy
    /// allows it. The program is the daemon's, and goes with the port. Linux 6.4 or newer.
    ///
    /// Fails as [`Socket::open_through_daemon`] does.
    ///
    /// ```no_run
    /// use strata_xdp::{Filter, Port, PortOptions};
    ///
    /// let filter = Filter { ethertype: Some(0x88b5), ..Filter::default() };
    /// let options = PortOptions { filter, ..PortOptions::default() };
    /// let mut port = Port::open_through_daemon(None, "eth0", 0, &options)?;
    /// for frame in port.receive(None)? {
    ///     println!("{frame:02x?}");
    /// }
    /// # Ok::<(), strata_xdp::Error>(())
    /// ```
    ///
    /// [`Socket::open_through_daemon`]: crate::Socket::open_through_daemon
    pub fn open_through_daemon(
        daemon: Option<&Path>,
        interface: &str,
        queue: u32,
        options: &PortOptions,
    ) -> Result<Port> {
        let daemon = daemon.map(c_string).transpose()?;
        let daemon = daemon.as_ref().map_or(null(), |path| path.as_ptr());
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call; NULL stands for no path.
        checked(options.with_raw(|raw| unsafe {
            ffi::strata_xdp_port_open_through_daemon(daemon, name.as_ptr(), queue, raw, &mut handle)
        }))?;
        Ok(Port::of(handle))
    }

    /// One that the library has just opened.
    fn of(handle: *mut ffi::Port) -> Port {
        Port {
            handle: NonNull::new(handle).expect("the library opened a port"),
            received: Box::new([ffi::Iovec::NONE; BATCH]),
            not_sync: PhantomData,
        }
    }

    /// The mode that the kernel chose.
    pub fn is_zerocopy(&self) -> bool {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_xdp_port_is_zerocopy(self.handle.as_ptr()) != 0 }
    }

    /// Whether its program runs in the driver; `None` when it only sends.
    pub fn is_native(&self) -> Option<bool> {
        // SAFETY: open as long as `self`.
        let known = unsafe { ffi::strata_xdp_port_is_native(self.handle.as_ptr()) };
        (known >= 0).then_some(known != 0)
    }

    /// Copies frames into its memory and has them sent; returns how many were taken, first to last:
    /// fewer, or 0, when there is no room now. Does not wait.
    ///
    /// Fails with `EINVAL` when the first is empty, or longer than a frame of the memory (and the
    /// socket not `multi_buffer`); when the interface is down. A later frame of that kind ends the
    /// call, and is the first of the next.
    ///
    /// In copy mode the kernel sends only when it is called, some frames at a time: where the
    /// driver is slow to give them back, the last of them may wait for the next call, which may be
    /// one without frames.
    pub fn send<Bytes: AsRef<[u8]>>(&mut self, frames: &[Bytes]) -> Result<usize> {
        let mut parts = [ffi::Iovec::NONE; BATCH];
        let mut taken = 0;
        loop {
            let batch = &frames[taken..frames.len().min(taken + BATCH)];
            for (part, frame) in parts.iter_mut().zip(batch) {
                let bytes = frame.as_ref();
                *part = ffi::Iovec { base: bytes.as_ptr() as *mut _, length: bytes.len() };
            }
            let mut sent = 0;
            // SAFETY: open as long as `self`; that many parts are there, and are only read.
            let code = unsafe {
                let handle = self.handle.as_ptr();
                ffi::strata_xdp_port_send(handle, parts.as_ptr(), batch.len(), &mut sent)
            };
            if let Err(error) = checked(code) {
                return if taken == 0 { Err(error) } else { Ok(taken) };
            }
            taken += sent;
            if sent < BATCH || taken == frames.len() {
                return Ok(taken);
            }
        }
    }

    /// What has arrived: up to 64 frames, each with its Ethernet header first. Waits for the first
    /// for `timeout` (zero: not, `None`: for ever), rounded up to milliseconds. No frame is no
    /// error.
    pub fn receive(&mut self, timeout: Option<Duration>) -> Result<Frames<'_>> {
        let mut count = 0;
        // SAFETY: open as long as `self`; there is room for BATCH frames.
        checked(unsafe {
            ffi::strata_xdp_port_receive(
                self.handle.as_ptr(),
                self.received.as_mut_ptr(),
                BATCH,
                milliseconds(timeout),
                &mut count,
            )
        })?;
        Ok(Frames { parts: self.received[..count].iter() })
    }

    /// Waits until the kernel has sent all frames, for at most `timeout` (`None`: for ever). Fails
    /// with `ETIMEDOUT` when it has not.
    pub fn flush(&mut self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: open as long as `self`, which is borrowed alone.
        checked(unsafe {
            ffi::strata_xdp_port_flush(self.handle.as_ptr(), milliseconds(timeout))
        })?;
        Ok(())
    }

    /// What the kernel counted since it was opened.
    pub fn statistics(&self) -> Result<Statistics> {
        let mut counted = ffi::Statistics::default();
        // SAFETY: open as long as `self`; `counted` lives as long as the call.
        checked(unsafe { ffi::strata_xdp_port_statistics(self.handle.as_ptr(), &mut counted) })?;
        Ok(counted.into())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here; what was received is lent no longer.
        unsafe { ffi::strata_xdp_port_close(self.handle.as_ptr()) };
    }
}

/// To poll it beside others, readable when there is something to receive. It stays the port's.
impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for Port {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_xdp_port_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Port")
            .field("fd", &self.as_raw_fd())
            .field("is_zerocopy", &self.is_zerocopy())
            .field("is_native", &self.is_native())
            .finish()
    }
}

/// The frames that [`Port::receive`] lends, first to last.
pub struct Frames<'a> {
    parts: slice::Iter<'a, ffi::Iovec>,
}

// SAFETY: it holds nothing but slices of bytes that nobody writes as long as they are lent.
unsafe impl Send for Frames<'_> {}
// SAFETY: as above.
unsafe impl Sync for Frames<'_> {}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let part = self.parts.next()?;
        // SAFETY: the library points it to what it received, which stays as it is until its next
        // call; that needs the port, which is borrowed for 'a. Never NULL.
        Some(unsafe { slice::from_raw_parts(part.base.cast::<u8>(), part.length) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.parts.size_hint()
    }
}

impl ExactSizeIterator for Frames<'_> {}
impl FusedIterator for Frames<'_> {}

impl fmt::Debug for Frames<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Frames").field("left", &self.len()).finish()
    }
}
