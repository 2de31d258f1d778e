use std::fmt;
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::ptr::{null_mut, NonNull};

use strata_base::binding::{c_string, checked};
use strata_base::Result;

use crate::ffi;
use crate::program::AttachMode;

/// An XDP program of one's own, which a loader (libbpf, aya, bpf(2)) has loaded, attached to an
/// interface: as long as this lives, and no longer than the process, however that ends.
///
/// It redirects frames by an XSKMAP, into which
/// [`Socket::enter_in_map`](crate::Socket::enter_in_map) puts sockets. Needs CAP_NET_ADMIN. For any
/// thread. Linux 6.1 or newer.
#[must_use = "it is attached only as long as it lives"]
pub struct OwnProgram {
    handle: NonNull<ffi::OwnProgram>,
}

// SAFETY: nothing changes it but closing it, and the kernel locks what that does.
unsafe impl Send for OwnProgram {}
// SAFETY: its one other function reads what never changes.
unsafe impl Sync for OwnProgram {}

impl OwnProgram {
    /// Attaches the program of that descriptor, which stays the caller's.
    ///
    /// Fails with `ENODEV` without such an interface; `EPERM`; `EBUSY` when another program is
    /// attached; `EOPNOTSUPP` for a mode that the driver lacks; `EINVAL` or `EBADF` when it is no
    /// XDP program.
    pub fn attach(
        interface: &str,
        program: BorrowedFd<'_>,
        mode: AttachMode,
    ) -> Result<OwnProgram> {
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all live as long as the call.
        checked(unsafe {
            ffi::strata_xdp_own_program_attach(
                name.as_ptr(),
                program.as_raw_fd(),
                mode.raw(),
                &mut handle,
            )
        })?;
        Ok(OwnProgram { handle: NonNull::new(handle).expect("the library attached a program") })
    }

    /// Where it runs; not [`AttachMode::Automatic`].
    pub fn mode(&self) -> AttachMode {
        // SAFETY: open as long as `self`.
        match unsafe { ffi::strata_xdp_own_program_mode(self.handle.as_ptr()) } {
            ffi::NATIVE => AttachMode::Native,
            ffi::HARDWARE => AttachMode::Hardware,
            _ => AttachMode::Generic,
        }
    }
}

impl Drop for OwnProgram {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_xdp_own_program_close(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for OwnProgram {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("OwnProgram").field("mode", &self.mode()).finish()
    }
}
