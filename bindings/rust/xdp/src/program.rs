use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_int;
use std::ptr::{null, null_mut, NonNull};

use strata_base::binding::{c_string, checked, defaults};
use strata_base::{MacAddress, Result};

use crate::ffi;
use crate::socket::Socket;

/// Where a [`Program`] runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttachMode {
    /// Native where the driver has it.
    Automatic,
    /// In the driver, or fail with `EOPNOTSUPP`.
    Native,
    /// Behind the driver, on what the kernel has made of the frame: works with every driver, and
    /// costs a copy.
    Generic,
    /// On the network card, which few can. For an [`OwnProgram`](crate::OwnProgram) only.
    Hardware,
}

impl AttachMode {
    pub(crate) fn raw(self) -> c_int {
        match self {
            AttachMode::Automatic => ffi::AUTOMATIC,
            AttachMode::Native => ffi::NATIVE,
            AttachMode::Generic => ffi::GENERIC,
            AttachMode::Hardware => ffi::HARDWARE,
        }
    }
}

/// Which frames: those for which all that is given is true. Nothing given: every frame.
///
/// ```
/// use strata_xdp::Filter;
///
/// let profinet_of_vlan_7 =
///     Filter { ethertype: Some(0x8892), vlan_id: Some(7), ..Filter::default() };
/// # let _ = profinet_of_vlan_7;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Filter {
    /// Behind all VLAN tags.
    pub ethertype: Option<u16>,
    /// VID of the outermost tag.
    pub vlan_id: Option<u16>,
    /// The MAC address the frame is sent to.
    pub destination: Option<MacAddress>,
    /// Destination port of UDP over IPv4, or over IPv6 without extension headers.
    pub udp_port: Option<u16>,
}

impl Filter {
    /// Its pointer is that of `self.destination`: valid as long as `self` is borrowed.
    pub(crate) fn raw(&self) -> ffi::Filter {
        let number = |given: Option<u16>| given.map_or(-1, i32::from);
        ffi::Filter {
            ethertype: number(self.ethertype),
            vlan_id: number(self.vlan_id),
            udp_port: number(self.udp_port),
            destination: self.destination.as_ref().map_or(null(), |mac| mac.0.as_ptr()),
            ..defaults()
        }
    }
}

/// The program of an interface that brings chosen frames to sockets; all others go on to the
/// kernel: ping and TCP work beside it.
///
/// A process has one for each interface. It is attached as long as a `Program` or [`Route`] of that
/// interface lives, and no longer than the process, however that ends. Belongs to one thread at a
/// time, and may be sent to another. Needs CAP_NET_ADMIN and CAP_BPF. Linux 6.1 or newer.
pub struct Program {
    handle: NonNull<ffi::Program>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the library keeps what programs and routes share behind locks of its own.
unsafe impl Send for Program {}

impl Program {
    /// Attaches it, or takes the one that this process has there.
    ///
    /// Fails with `ENODEV` without such an interface; `EPERM`; `EBUSY` when another program is
    /// attached, which the sentence names, or this one in another mode; `EOPNOTSUPP` when the
    /// driver has no native mode.
    pub fn attach(interface: &str, mode: AttachMode) -> Result<Program> {
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: both live as long as the call.
        checked(unsafe { ffi::strata_xdp_program_attach(name.as_ptr(), mode.raw(), &mut handle) })?;
        let handle = NonNull::new(handle).expect("the library attached a program");
        Ok(Program { handle, not_sync: PhantomData })
    }

    /// Whether it runs in the driver, and not in the kernel's generic hook.
    pub fn is_native(&self) -> bool {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_xdp_program_is_native(self.handle.as_ptr()) != 0 }
    }

    /// Brings the frames that `filter` is about, of the socket's queue, to the socket, as long as
    /// the [`Route`] lives.
    ///
    /// Fails with `EEXIST` when a socket has those already; `EINVAL` when the socket is of another
    /// interface; `EMSGSIZE` above 16 filters, or above queue 63.
    pub fn route(&self, filter: &Filter, socket: &Socket) -> Result<Route> {
        let raw = filter.raw();
        let mut handle = null_mut();
        // SAFETY: all live as long as the call; `raw` points into `filter`.
        checked(unsafe {
            ffi::strata_xdp_route_add(self.handle.as_ptr(), &raw, socket.pointer(), &mut handle)
        })?;
        Ok(Route { handle: NonNull::new(handle).expect("the library added a route") })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_xdp_program_close(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Program").field("is_native", &self.is_native()).finish()
    }
}

/// A [`Filter`]'s frames on one queue come to one [`Socket`] as long as this lives.
///
/// It keeps the program attached, but not the socket open: when that closes first, the frames go to
/// the kernel again. For any thread.
#[must_use = "frames come to the socket only as long as the route lives"]
pub struct Route {
    handle: NonNull<ffi::Route>,
}

// SAFETY: its one function, which closes it, takes the program's lock.
unsafe impl Send for Route {}
// SAFETY: a shared reference can do nothing.
unsafe impl Sync for Route {}

impl Drop for Route {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_xdp_route_close(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Route").finish_non_exhaustive()
    }
}
