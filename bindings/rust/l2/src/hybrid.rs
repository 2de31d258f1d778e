use std::cell::Cell;
use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::io::{AsRawFd, RawFd};
use std::ptr::{null, null_mut, NonNull};
use std::time::Duration;

use strata_base::binding::{c_string, checked, defaults, milliseconds};
use strata_base::{MacAddress, Result};

use crate::channel::lent;
use crate::ffi;

/// What a [`Hybrid`] agrees on. `..HybridOptions::default()` gives what is not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HybridOptions {
    /// Where a listener listens (0: a free one), or a client connects to.
    pub tcp_port: u16,
    /// A listener's numeric address; `None`: all.
    pub listen_address: Option<String>,
    /// Of its frames.
    pub ethertype: u16,
    /// `Some(0)`: only a priority; `None`: no tag.
    pub vlan_id: Option<u16>,
    /// PCP of the tag.
    pub priority: u8,
    /// For all until the endpoint is made.
    pub timeout_ms: u32,
    /// A listener's patience with one caller.
    pub greeting_timeout_ms: u32,
    /// How long a peer may say nothing.
    pub peer_timeout_ms: u32,
}

/// Port 9000, 0x88b5, VID 10, priority 7, 30 s, 5 s, 10 s.
impl Default for HybridOptions {
    fn default() -> HybridOptions {
        let usual: ffi::HybridOptions = defaults();
        HybridOptions {
            tcp_port: usual.tcp_port,
            listen_address: None,
            ethertype: usual.ethertype,
            vlan_id: u16::try_from(usual.vlan_id).ok(),
            priority: usual.priority,
            timeout_ms: usual.timeout_ms,
            greeting_timeout_ms: usual.greeting_timeout_ms,
            peer_timeout_ms: usual.peer_timeout_ms,
        }
    }
}

impl HybridOptions {
    fn with_raw<T>(&self, open: impl FnOnce(&ffi::HybridOptions) -> T) -> Result<T> {
        let address: Option<CString> = self.listen_address.as_ref().map(c_string).transpose()?;
        Ok(open(&ffi::HybridOptions {
            tcp_port: self.tcp_port,
            listen_address: address.as_ref().map_or(null(), |text| text.as_ptr()),
            ethertype: self.ethertype,
            vlan_id: self.vlan_id.map_or(-1, i32::from),
            priority: self.priority,
            timeout_ms: self.timeout_ms,
            greeting_timeout_ms: self.greeting_timeout_ms,
            peer_timeout_ms: self.peer_timeout_ms,
            ..defaults()
        }))
    }
}

/// A server's TCP port.
pub struct HybridListener {
    handle: NonNull<ffi::HybridListener>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time.
unsafe impl Send for HybridListener {}

impl HybridListener {
    /// Fails with `ENODEV`, `EPERM`, `EADDRINUSE`, and with `EINVAL` for `lo`.
    pub fn listen(interface: &str, options: &HybridOptions) -> Result<HybridListener> {
        let name = c_string(interface)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call.
        checked(options.with_raw(|raw| unsafe {
            ffi::strata_hybrid_listen(name.as_ptr(), raw, &mut handle)
        })?)?;
        let handle = NonNull::new(handle).expect("the library opened a listener");
        Ok(HybridListener { handle, not_sync: PhantomData })
    }

    /// The TCP port that it listens on, also when 0 was asked for.
    pub fn port(&self) -> u16 {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_hybrid_listener_port(self.handle.as_ptr()) }
    }

    /// Waits for a client, as long as the options say. Fails with `ETIMEDOUT`.
    pub fn accept(&mut self) -> Result<Hybrid> {
        let mut handle = null_mut();
        // SAFETY: open as long as `self`.
        checked(unsafe { ffi::strata_hybrid_accept(self.handle.as_ptr(), &mut handle) })?;
        Ok(Hybrid::of(handle))
    }
}

impl Drop for HybridListener {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_hybrid_listener_close(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for HybridListener {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("HybridListener").field("port", &self.port()).finish()
    }
}

/// A message, lent until the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HybridMessage<'a> {
    /// The message itself.
    pub bytes: &'a [u8],
    /// (VID, priority) of the tag that it came with.
    pub tag: Option<(u16, u8)>,
}

/// An endpoint that agrees with its peer over TCP, notices its end by that, and sends data in
/// frames, with a VLAN tag for switches. Data may be lost.
///
/// Belongs to one thread at a time, and may be sent to another. Needs CAP_NET_RAW, and an interface
/// with a MAC address.
pub struct Hybrid {
    handle: NonNull<ffi::Hybrid>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time.
unsafe impl Send for Hybrid {}

impl Hybrid {
    /// `host` is a numeric address. Tries until the server is there, as long as the options say.
    /// Fails with `ETIMEDOUT`, and with `EBUSY` when it uses another EtherType or VLAN.
    pub fn connect(interface: &str, host: &str, options: &HybridOptions) -> Result<Hybrid> {
        let name = c_string(interface)?;
        let host = c_string(host)?;
        let mut handle = null_mut();
        // SAFETY: all of them live as long as the call.
        checked(options.with_raw(|raw| unsafe {
            ffi::strata_hybrid_connect(name.as_ptr(), host.as_ptr(), raw, &mut handle)
        })?)?;
        Ok(Hybrid::of(handle))
    }

    fn of(handle: *mut ffi::Hybrid) -> Hybrid {
        let handle = NonNull::new(handle).expect("the library opened an endpoint");
        Hybrid { handle, not_sync: PhantomData }
    }

    /// The peer's MAC address.
    pub fn peer(&self) -> MacAddress {
        let mut mac = [0; 6];
        // SAFETY: open as long as `self`; room for six bytes.
        unsafe { ffi::strata_hybrid_peer(self.handle.as_ptr(), mac.as_mut_ptr()) };
        MacAddress(mac)
    }

    /// The bytes of the largest message, by the MTU.
    pub fn max_payload(&self) -> usize {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_hybrid_max_payload(self.handle.as_ptr()) }
    }

    /// One message, in one frame. Fails with `EMSGSIZE` above [`Hybrid::max_payload`], with
    /// `ECONNRESET` when the peer is gone.
    pub fn send(&mut self, payload: &[u8]) -> Result<()> {
        // SAFETY: open as long as `self`; that many bytes are there.
        checked(unsafe {
            let handle = self.handle.as_ptr();
            ffi::strata_hybrid_send(handle, payload.as_ptr().cast(), payload.len())
        })?;
        Ok(())
    }

    /// The next message, or `None` when none came in `timeout` (`None`: waits for ever). Fails with
    /// `ECONNRESET` when the peer is gone, after all that came from it.
    pub fn receive(&mut self, timeout: Option<Duration>) -> Result<Option<HybridMessage<'_>>> {
        let mut raw =
            ffi::HybridMessage { bytes: null(), size: 0, was_tagged: 0, priority: 0, vlan_id: 0 };
        // SAFETY: open as long as `self`; `raw` lives as long as the call.
        let came = checked(unsafe {
            ffi::strata_hybrid_receive(self.handle.as_ptr(), milliseconds(timeout), &mut raw)
        })?;
        // SAFETY: lent until the next call, which needs `self`, borrowed as long.
        Ok((came == 1).then(|| HybridMessage {
            bytes: unsafe { lent(raw.bytes.cast(), raw.size) },
            tag: (raw.was_tagged != 0).then_some((raw.vlan_id, raw.priority)),
        }))
    }
}

impl Drop for Hybrid {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_hybrid_close(self.handle.as_ptr()) };
    }
}

/// Of the frames: to poll it for reading; it stays the endpoint's.
impl AsRawFd for Hybrid {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_hybrid_data_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Hybrid {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Hybrid").field("peer", &self.peer()).finish()
    }
}
