use std::os::raw::c_int;

use strata_base::binding::defaults;

use crate::ffi;

/// How the memory of a [`Umem`](crate::Umem) is divided. `..UmemOptions::default()` gives what is
/// not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UmemOptions {
    /// How many frames there are.
    pub frame_count: u32,
    /// In bytes: 2048 or 4096, or with `unaligned` any size between them.
    pub frame_size: u32,
    /// Bytes left free in front of each received frame, beside the 256 that the kernel takes.
    pub headroom: u32,
    /// Frames may have a size that is no power of two. A driver in zero-copy mode may then want
    /// `huge_pages` too.
    pub unaligned: bool,
    /// In pages of 2 MiB, of those that the system has set aside.
    pub huge_pages: bool,
}

/// 4096 frames of 4096 bytes.
impl Default for UmemOptions {
    fn default() -> UmemOptions {
        UmemOptions::from(&defaults())
    }
}

impl From<&ffi::UmemOptions> for UmemOptions {
    fn from(raw: &ffi::UmemOptions) -> UmemOptions {
        UmemOptions {
            frame_count: raw.frame_count,
            frame_size: raw.frame_size,
            headroom: raw.headroom,
            unaligned: raw.unaligned != 0,
            huge_pages: raw.huge_pages != 0,
        }
    }
}

impl UmemOptions {
    pub(crate) fn raw(&self) -> ffi::UmemOptions {
        ffi::UmemOptions {
            frame_count: self.frame_count,
            frame_size: self.frame_size,
            headroom: self.headroom,
            unaligned: self.unaligned.into(),
            huge_pages: self.huge_pages.into(),
            ..defaults()
        }
    }
}

/// Whether the driver reads and writes the UMEM itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyMode {
    /// Zero-copy where the driver has it.
    Automatic,
    /// Works with every driver.
    Copy,
    /// Or fail with `EOPNOTSUPP`.
    ZeroCopy,
}

/// The kernel polls the driver in the calls of this socket's user, not in interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyPoll {
    /// In microseconds.
    pub duration_us: u32,
    /// Frames at once: 1 to 65535.
    pub budget: u32,
}

/// A socket's rings and modes. `..SocketOptions::default()` gives what is not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketOptions {
    /// Entries, a power of two; 0: the socket only sends.
    pub receive_size: u32,
    /// Entries, a power of two; 0: the socket only receives.
    pub transmit_size: u32,
    /// Entries, a power of two.
    pub fill_size: u32,
    /// Entries, a power of two.
    pub completion_size: u32,
    /// Whether frames are copied.
    pub mode: CopyMode,
    /// The kernel sleeps until it is woken: see [`wake_if_needed`].
    ///
    /// [`wake_if_needed`]: crate::FillRing::wake_if_needed
    pub need_wakeup: bool,
    /// Packets larger than a frame come and go as several (Linux 6.6): see [`Frame::continues`].
    ///
    /// [`Frame::continues`]: crate::Frame::continues
    pub multi_buffer: bool,
    /// The program's calls drive the card.
    pub busy_poll: Option<BusyPoll>,
    /// How long to wait for a queue that is still held, as it is for some 20 ms after its last
    /// socket was closed. In milliseconds.
    pub busy_limit_ms: u32,
}

/// Rings of 2048, automatic mode, `need_wakeup`, 500 ms for a queue that is held.
impl Default for SocketOptions {
    fn default() -> SocketOptions {
        let raw: ffi::SocketOptions = defaults();
        let budget = raw.busy_poll_budget;
        let busy_poll = BusyPoll { duration_us: raw.busy_poll_us, budget };
        SocketOptions {
            receive_size: raw.receive_size,
            transmit_size: raw.transmit_size,
            fill_size: raw.fill_size,
            completion_size: raw.completion_size,
            mode: match c_int::from(raw.mode) {
                ffi::COPY => CopyMode::Copy,
                ffi::ZEROCOPY => CopyMode::ZeroCopy,
                _ => CopyMode::Automatic,
            },
            need_wakeup: raw.need_wakeup != 0,
            multi_buffer: raw.multi_buffer != 0,
            busy_poll: (budget != 0).then_some(busy_poll),
            busy_limit_ms: raw.busy_limit_ms,
        }
    }
}

impl SocketOptions {
    pub(crate) fn raw(&self) -> ffi::SocketOptions {
        let busy_poll = self.busy_poll.unwrap_or(BusyPoll { duration_us: 0, budget: 0 });
        let mode = match self.mode {
            CopyMode::Automatic => ffi::AUTOMATIC,
            CopyMode::Copy => ffi::COPY,
            CopyMode::ZeroCopy => ffi::ZEROCOPY,
        };
        ffi::SocketOptions {
            receive_size: self.receive_size,
            transmit_size: self.transmit_size,
            fill_size: self.fill_size,
            completion_size: self.completion_size,
            mode: mode as u8,
            need_wakeup: self.need_wakeup.into(),
            multi_buffer: self.multi_buffer.into(),
            busy_poll_us: busy_poll.duration_us,
            busy_poll_budget: busy_poll.budget,
            busy_limit_ms: self.busy_limit_ms,
            ..defaults()
        }
    }
}
