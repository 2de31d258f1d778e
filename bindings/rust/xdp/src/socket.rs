use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, ptr};

use strata_base::binding::{c_string, checked, milliseconds};
use strata_base::Result;

use crate::ffi;
use crate::options::SocketOptions;
use crate::port::PortOptions;
use crate::rings::{CompletionRing, FillRing, Rings, RxRing, TxRing};
use crate::statistics::Statistics;
use crate::umem::{QueueLocks, Umem};

/// One queue of one interface.
///
/// It is a handle: clones name the same socket, which closes when the last of them and of its
/// [`Rings`] has gone. It keeps its [`Umem`] alive. For any thread; the rings are for one each.
///
/// What arrives on the queue comes to the socket only when a [`Program`](crate::Program) brings it
/// there; sending needs none. Needs CAP_NET_RAW, or [`Socket::open_through_daemon`]. Linux 6.1 or
/// newer.
///
/// The frames that the kernel has when a socket closes are lost to the `Umem`: the kernel may still
/// read and write them. So use a new `Umem` rather than open many sockets on one, one after the
/// other.
#[derive(Clone)]
pub struct Socket {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    handle: NonNull<ffi::Socket>,
    pub umem: Umem,
    pub locks: Arc<QueueLocks>,
    pub multi_buffer: bool,
}

// SAFETY: of the C functions, those that use a ring are called by the one owner of that ring (see
// rings.rs); all others only read what never changes, or make a system call with the descriptor.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Socket {
    /// Opens a socket on `queue` of the interface, and its rings.
    ///
    /// Sockets of one `Umem` on one queue have its fill and completion ring together: the frames
    /// that one puts in may come out at the other. Their rings of that kind are still one for each
    /// thread, with a lock between them. All sockets of a `Umem` have the mode of the first.
    ///
    /// Fails with `EINVAL` for sizes that are no powers of two, or no such queue; `ENODEV` without
    /// such an interface; `EPERM` without CAP_NET_RAW; `EBUSY` when another holds the queue;
    /// `EOPNOTSUPP` for a mode that the driver lacks; `ENOBUFS` when more memory would be locked
    /// than allowed.
    pub fn open(
        umem: &Umem,
        interface: &str,
        queue: u32,
        options: &SocketOptions,
    ) -> Result<(Socket, Rings)> {
        let name = c_string(interface)?;
        let raw = options.raw();
        let (handle, locks) = umem.add_user(queue, |memory| {
            let mut opened = null_mut();
            // SAFETY: all of them live as long as the call, and no other uses `memory` meanwhile.
            checked(unsafe {
                ffi::strata_xdp_socket_open(memory, name.as_ptr(), queue, &raw, &mut opened)
            })?;
            Ok(opened)
        })?;
        Ok(Socket::of(handle, umem.clone(), locks, options))
    }

    /// The same for a process without privileges: the strata daemon that listens at `daemon`
    /// (`None`: `$STRATA_BROKER_SOCKET`, or `/run/strata/broker.sock`) makes the socket, its memory
    /// ([`Socket::umem`]) and, when it receives, the program and route for
    /// [`PortOptions::filter`], if its policy allows that. Linux 6.4 or newer.
    ///
    /// Socket and memory are owned as others are. The program stays the daemon's, and goes with the
    /// socket. Waits for the daemon, 10 s at most.
    ///
    /// Fails with `EPERM` when the policy forbids it; `ENOENT`, `ECONNREFUSED` or `EACCES` when no
    /// daemon can be reached; `EOPNOTSUPP` before Linux 6.4, and for huge pages; `EMSGSIZE` above
    /// 64 MiB; and with all that the daemon met when it made the socket, in its words.
    ///
    /// ```no_run
    /// use std::path::Path;
    /// use strata_xdp::{PortOptions, Socket};
    ///
    /// let daemon = Path::new("/run/strata/broker.sock");
    /// let options = PortOptions::default();
    /// let (socket, mut rings) = Socket::open_through_daemon(Some(daemon), "eth0", 0, &options)?;
    /// let room = rings.fill.room(socket.umem().frame_count());
    /// rings.fill.fill(&mut socket.umem().take(room));
    /// rings.fill.wake_if_needed()?;
    /// # Ok::<(), strata_xdp::Error>(())
    /// ```
    ///
    /// [`PortOptions::filter`]: crate::PortOptions::filter
    pub fn open_through_daemon(
        daemon: Option<&Path>,
        interface: &str,
        queue: u32,
        options: &PortOptions,
    ) -> Result<(Socket, Rings)> {
        let daemon = daemon.map(c_string).transpose()?;
        let daemon = daemon.as_ref().map_or(null(), |path| path.as_ptr());
        let name = c_string(interface)?;
        let (mut memory, mut opened) = (null_mut(), null_mut());
        // SAFETY: all of them live as long as the call; NULL stands for no path.
        checked(options.with_raw(|raw| unsafe {
            let (memory, opened) = (&mut memory, &mut opened);
            let name = name.as_ptr();
            ffi::strata_xdp_socket_open_through_daemon(daemon, name, queue, raw, memory, opened)
        }))?;
        // SAFETY: a handle that was just made, of these options, and is nobody else's.
        let umem = unsafe { Umem::of(memory, &options.memory) };
        // The memory may be refused: then the socket closes.
        let umem = umem.map_err(|error| {
            // SAFETY: opened above, and used by nobody.
            unsafe { ffi::strata_xdp_socket_close(opened) };
            error
        })?;
        let (handle, locks) = umem.add_user(queue, |_| Ok(opened))?;
        Ok(Socket::of(handle, umem, locks, &options.socket))
    }

    /// One that the library has just opened.
    fn of(
        handle: *mut ffi::Socket,
        umem: Umem,
        locks: Arc<QueueLocks>,
        options: &SocketOptions,
    ) -> (Socket, Rings) {
        let handle = NonNull::new(handle).expect("the library opened a socket");
        let multi_buffer = options.multi_buffer;
        let inner = Arc::new(Inner { handle, umem, locks, multi_buffer });
        // The only rings of this socket that there will ever be.
        let rings = Rings {
            fill: FillRing::new(inner.clone()),
            completion: CompletionRing::new(inner.clone()),
            rx: (options.receive_size != 0).then(|| RxRing::new(inner.clone())),
            tx: (options.transmit_size != 0).then(|| TxRing::new(inner.clone())),
        };
        (Socket { inner }, rings)
    }

    /// The memory of its frames.
    pub fn umem(&self) -> &Umem {
        &self.inner.umem
    }

    /// The mode that the kernel chose.
    pub fn is_zerocopy(&self) -> bool {
        self.inner.is_zerocopy()
    }

    /// Whether busy polling has an effect, which the kernel tells only after the first frame came:
    /// `None` before.
    pub fn is_busy_polled(&self) -> Option<bool> {
        // SAFETY: open as long as `inner` lives.
        let known = unsafe { ffi::strata_xdp_socket_is_busy_polled(self.inner.pointer()) };
        (known >= 0).then_some(known != 0)
    }

    /// What the kernel counted since the socket was made.
    pub fn statistics(&self) -> Result<Statistics> {
        let mut counted = ffi::Statistics::default();
        // SAFETY: open as long as `inner` lives; `counted` lives as long as the call.
        checked(unsafe { ffi::strata_xdp_socket_statistics(self.inner.pointer(), &mut counted) })?;
        Ok(counted.into())
    }

    /// Waits until there is something to receive; see [`RxRing::wait`].
    pub fn wait_readable(&self, timeout: Option<Duration>) -> Result<bool> {
        self.inner.wait_readable(timeout)
    }

    /// Waits until more can be sent; see [`TxRing::wait`].
    pub fn wait_writable(&self, timeout: Option<Duration>) -> Result<bool> {
        self.inner.wait_writable(timeout)
    }

    /// Has an entry of an XSKMAP lead to it: `key`, or that of its queue's number. The kernel takes
    /// it out when the socket closes. Fails with `E2BIG` above the map's last key, `EBADF` or
    /// `EINVAL` for what is no such map.
    pub fn enter_in_map(&self, map: BorrowedFd<'_>, key: Option<u32>) -> Result<()> {
        let key = key.map_or(-1, i64::from);
        // SAFETY: both are open as long as the call.
        checked(unsafe {
            ffi::strata_xdp_socket_enter_in_map(self.inner.pointer(), map.as_raw_fd(), key)
        })?;
        Ok(())
    }

    pub(crate) fn pointer(&self) -> *const ffi::Socket {
        self.inner.pointer()
    }
}

impl Inner {
    pub(crate) fn pointer(&self) -> *mut ffi::Socket {
        self.handle.as_ptr()
    }

    pub(crate) fn is_zerocopy(&self) -> bool {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_xdp_socket_is_zerocopy(self.pointer()) != 0 }
    }

    pub(crate) fn wait_readable(&self, timeout: Option<Duration>) -> Result<bool> {
        // SAFETY: open as long as `self`; only polls the descriptor.
        let code = unsafe { ffi::strata_xdp_wait_readable(self.pointer(), milliseconds(timeout)) };
        Ok(checked(code)? != 0)
    }

    pub(crate) fn wait_writable(&self, timeout: Option<Duration>) -> Result<bool> {
        // SAFETY: open as long as `self`; only polls the descriptor.
        let code = unsafe { ffi::strata_xdp_wait_writable(self.pointer(), milliseconds(timeout)) };
        Ok(checked(code)? != 0)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here; all rings have gone.
        self.umem.remove_user(|| unsafe { ffi::strata_xdp_socket_close(self.handle.as_ptr()) });
    }
}

/// To poll it beside others, readable when there is something to receive. It stays the socket's.
impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `inner` lives.
        unsafe { ffi::strata_xdp_socket_fd(self.inner.pointer()) }
    }
}

/// Two handles are equal when they name the same socket.
impl PartialEq for Socket {
    fn eq(&self, other: &Socket) -> bool {
        ptr::eq(&*self.inner, &*other.inner)
    }
}

impl Eq for Socket {}

impl fmt::Debug for Socket {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Socket")
            .field("fd", &self.as_raw_fd())
            .field("is_zerocopy", &self.is_zerocopy())
            .field("umem", &self.inner.umem)
            .finish()
    }
}
