use strata_base::binding::defaults;
use strata_base::MacAddress;

use crate::ffi;

/// How a group of sockets shares what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FanoutMode {
    /// A flow always goes to the same.
    Hash,
    /// In turns.
    LoadBalance,
    /// By the processor that a frame came on.
    Cpu,
    /// To the next when one is full.
    Rollover,
    /// By chance.
    Random,
    /// By the card's queue.
    Queue,
}

/// Membership of a group (PACKET_FANOUT), all of whose members have the same interface and mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fanout {
    /// The group's number.
    pub group: u16,
    /// How it shares what comes.
    pub mode: FanoutMode,
}

/// What a socket or a ring takes and how. `..RawOptions::default()` gives what is not named: it
/// takes all, and hears nothing outgoing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawOptions {
    /// Only this, behind all tags.
    pub ethertype: Option<u16>,
    /// Only this VID.
    pub vlan_id: Option<u16>,
    /// Receives nothing.
    pub send_only: bool,
    /// Also what this machine sends.
    pub hear_outgoing: bool,
    /// The card takes frames for other MAC addresses too.
    pub promiscuous: bool,
    /// Frames go to the driver without its queue: no shaping.
    pub qdisc_bypass: bool,
    /// Of the kernel.
    pub timestamps: bool,
    /// Shares what comes with other sockets.
    pub fanout: Option<Fanout>,
    /// SO_PRIORITY, 0 to 7.
    pub priority: Option<u8>,
    /// Bytes.
    pub receive_buffer: Option<u32>,
    /// Bytes.
    pub send_buffer: Option<u32>,
    /// Groups to be a member of.
    pub multicast: Vec<MacAddress>,
}

impl RawOptions {
    /// Calls `open` with what the library takes, which points to what lives as long as that call.
    pub(crate) fn with_raw<T>(&self, open: impl FnOnce(&ffi::RawSocketOptions) -> T) -> T {
        let groups: Vec<u8> = self.multicast.iter().flat_map(|each| each.0).collect();
        open(&ffi::RawSocketOptions {
            ethertype: self.ethertype.map_or(-1, i32::from),
            vlan_id: self.vlan_id.map_or(-1, i32::from),
            send_only: self.send_only.into(),
            hear_outgoing: self.hear_outgoing.into(),
            promiscuous: self.promiscuous.into(),
            qdisc_bypass: self.qdisc_bypass.into(),
            timestamps: self.timestamps.into(),
            fanout_group: self.fanout.map_or(-1, |of| of.group.into()),
            fanout_mode: self.fanout.map_or(0, |of| of.mode as u8),
            priority: self.priority.map_or(-1, |of| i8::try_from(of).unwrap_or(i8::MAX)),
            receive_buffer: self.receive_buffer.unwrap_or(0),
            send_buffer: self.send_buffer.unwrap_or(0),
            multicast: groups.as_ptr(),
            multicast_count: self.multicast.len(),
            ..defaults()
        })
    }
}

/// How a [`Ring`](crate::Ring) hands frames over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingKind {
    /// By blocks, when one is full or the time has passed (TPACKET_V3): for many frames.
    Blocks {
        /// Bytes, a power of two from a page on.
        size: u32,
        /// How many blocks there are.
        count: u32,
        /// The longest that a block waits until it is full.
        timeout_ms: u32,
        /// The least number of frames that it has room to send; 0: it cannot send.
        send_slots: u32,
    },
    /// Each at once (TPACKET_V2): where one frame's delay counts.
    Frames {
        /// How many frames there is room for.
        slots: u32,
        /// The largest frame that is not cut; 0: by the interface's MTU.
        size: u32,
    },
}

impl RingKind {
    /// 16 blocks of 256 KiB, 1 ms; no sending.
    pub fn blocks() -> RingKind {
        let usual: ffi::RingOptions = defaults();
        RingKind::Blocks {
            size: usual.block_size,
            count: usual.block_count,
            timeout_ms: usual.block_timeout_ms,
            send_slots: 0,
        }
    }

    /// 1024 frames of the interface's size.
    pub fn frames() -> RingKind {
        RingKind::Frames { slots: defaults::<ffi::RingOptions>().slots, size: 0 }
    }
}

/// What a [`Ring`](crate::Ring) is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingOptions {
    /// How frames come.
    pub kind: RingKind,
    /// What it takes.
    pub socket: RawOptions,
}

/// Blocks.
impl Default for RingOptions {
    fn default() -> RingOptions {
        RingOptions { kind: RingKind::blocks(), socket: RawOptions::default() }
    }
}

impl RingOptions {
    pub(crate) fn with_raw<T>(&self, open: impl FnOnce(&ffi::RingOptions) -> T) -> T {
        let mut raw: ffi::RingOptions = defaults();
        match self.kind {
            RingKind::Blocks { size, count, timeout_ms, send_slots } => {
                raw.block_size = size;
                raw.block_count = count;
                raw.block_timeout_ms = timeout_ms;
                raw.send_slots = send_slots;
            }
            RingKind::Frames { slots, size } => {
                raw.kind = 1;
                raw.slots = slots;
                raw.frame_size = size;
            }
        }
        self.socket.with_raw(|socket| {
            raw.socket = socket;
            open(&raw)
        })
    }
}
