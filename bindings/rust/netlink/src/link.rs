use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_char;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::{null, null_mut, NonNull};
use std::time::Duration;

use strata_base::binding::{c_string, checked};
use strata_base::MacAddress;

use crate::error::Result;
use crate::family::text;
use crate::ffi;
use crate::generic::{milliseconds, Options};

const IFF_UP: u32 = 0x1;
const IFF_RUNNING: u32 = 0x40;

/// A network interface, as rtnetlink tells it; of the network namespace of the thread that asks.
///
/// ```
/// use strata_netlink::Link;
///
/// for link in Link::all()? {
///     println!("{}: {} {} mtu {}", link.index, link.name, link.mac, link.mtu);
/// }
/// assert_eq!(Link::named("lo")?.index, 1);
/// # Ok::<(), strata_netlink::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The interface's number.
    pub index: i32,
    /// Its name.
    pub name: String,
    /// "veth", "vlan", …; empty for hardware.
    pub kind: String,
    /// Zero for those that have none.
    pub mac: MacAddress,
    /// Bytes of the largest payload.
    pub mtu: u32,
    /// IFF_… of netdevice(7).
    pub flags: u32,
    /// The other end of a veth, or what a VLAN device stands on.
    pub peer: Option<i32>,
}

impl Link {
    /// All of them, by index.
    pub fn all() -> Result<Vec<Link>> {
        // SAFETY: NULL stands for all.
        unsafe { Link::told(null()) }
    }

    /// Fails with `ENODEV` when there is none of that name.
    pub fn named(name: &str) -> Result<Link> {
        let name = c_string(name)?;
        // SAFETY: it lives as long as the call.
        let mut told = unsafe { Link::told(name.as_ptr()) }?;
        Ok(told.pop().expect("the library told of one link"))
    }

    /// It was set up; whether it has a carrier, [`Link::is_running`] tells.
    pub fn is_up(&self) -> bool {
        self.flags & IFF_UP != 0
    }

    /// Up, and the link carries.
    pub fn is_running(&self) -> bool {
        self.is_up() && self.flags & IFF_RUNNING != 0
    }

    /// # Safety
    /// `name` is NULL, or a C string.
    unsafe fn told(name: *const c_char) -> Result<Vec<Link>> {
        let mut list = null_mut();
        // SAFETY: the caller's promise.
        checked(unsafe { ffi::strata_nl_links_open(name, &mut list) })?;
        let list = Links(NonNull::new(list).expect("the library made a list"));
        // SAFETY: open as long as `list`.
        let at = |index| unsafe { ffi::strata_nl_links_at(list.0.as_ptr(), index).as_ref() };
        Ok((0..).map_while(at).map(Link::of).collect())
    }

    fn of(raw: &ffi::Link) -> Link {
        // SAFETY: the library's, never NULL; they are copied.
        let (name, kind) = unsafe { (text(raw.name), text(raw.kind)) };
        Link {
            index: raw.index,
            name,
            kind,
            mac: MacAddress(raw.mac),
            mtu: raw.mtu,
            flags: raw.flags,
            peer: Some(raw.peer).filter(|index| *index != 0),
        }
    }
}

/// The library's list, which goes when it has been copied.
struct Links(NonNull<ffi::Links>);

impl Drop for Links {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_nl_links_close(self.0.as_ptr()) };
    }
}

/// What happened to a [`Link`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// It is so now; also when it is new.
    Changed(Link),
    /// It was so at last.
    Removed(Link),
}

/// Hears what happens to links from the moment on when it was opened: open it first, and look at
/// what there is then. Belongs to one thread at a time, and may be sent to another.
pub struct LinkWatch {
    handle: NonNull<ffi::Watch>,
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the C handle may be used by any one thread at a time.
unsafe impl Send for LinkWatch {}

impl LinkWatch {
    /// Hears what happens from now on.
    pub fn open() -> Result<LinkWatch> {
        LinkWatch::open_with(&Options::default())
    }

    /// A larger `receive_buffer` loses fewer events.
    pub fn open_with(options: &Options) -> Result<LinkWatch> {
        let mut handle = null_mut();
        // SAFETY: both live as long as the call.
        checked(unsafe { ffi::strata_nl_watch_open(&options.raw(), &mut handle) })?;
        let handle = NonNull::new(handle).expect("the library opened a watch");
        Ok(LinkWatch { handle, not_sync: PhantomData })
    }

    /// What happened next; `None` when nothing has. Does not wait. Fails with `ENOBUFS` when
    /// something was lost: look at [`Link::all`] again; then goes on.
    pub fn try_event(&mut self) -> Result<Option<LinkEvent>> {
        self.event(Some(Duration::ZERO))
    }

    /// The same, and waits for `timeout` (`None`: for ever), rounded up to milliseconds.
    pub fn event(&mut self, timeout: Option<Duration>) -> Result<Option<LinkEvent>> {
        let mut link = null();
        // SAFETY: open as long as `self`.
        let what = checked(unsafe {
            ffi::strata_nl_watch_event(self.handle.as_ptr(), milliseconds(timeout), &mut link)
        })?;
        if what == 0 {
            return Ok(None);
        }
        // SAFETY: it stays until the next call.
        let link = Link::of(unsafe { &*link });
        Ok(Some(match what {
            ffi::LINK_CHANGED => LinkEvent::Changed(link),
            _ => LinkEvent::Removed(link),
        }))
    }
}

impl Drop for LinkWatch {
    fn drop(&mut self) {
        // SAFETY: opened once, and closed only here.
        unsafe { ffi::strata_nl_watch_close(self.handle.as_ptr()) };
    }
}

/// To poll it beside others, readable when something has happened. It stays the watch's.
impl AsFd for LinkWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl AsRawFd for LinkWatch {
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: open as long as `self`.
        unsafe { ffi::strata_nl_watch_fd(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for LinkWatch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("LinkWatch").field("fd", &self.as_raw_fd()).finish()
    }
}
