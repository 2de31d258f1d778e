use std::convert::TryFrom;
use std::ops::Deref;
use std::slice;

use strata_base::binding::{checked, invalid};
use strata_base::{Error, MacAddress, Result};

use crate::ffi;

/// Of an interface, unless somebody set another.
pub const DEFAULT_MTU: usize = 1500;

const MOST_TAGS: usize = 4;

/// A VLAN tag (IEEE 802.1Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VlanTag {
    /// 0x8100 (802.1Q) or 0x88a8 (802.1ad).
    pub tpid: u16,
    /// VID, 0 to 4094; 0 gives only a priority.
    pub vlan_id: u16,
    /// PCP, 0 to 7.
    pub priority: u8,
    /// DEI.
    pub drop_eligible: bool,
}

impl VlanTag {
    /// Of 802.1Q.
    pub fn new(vlan_id: u16, priority: u8) -> VlanTag {
        VlanTag { tpid: 0x8100, vlan_id, priority, drop_eligible: false }
    }

    fn raw(self) -> ffi::VlanTag {
        ffi::VlanTag {
            tpid: self.tpid,
            vlan_id: self.vlan_id,
            priority: self.priority,
            dei: self.drop_eligible.into(),
        }
    }

    fn of(raw: ffi::VlanTag) -> VlanTag {
        VlanTag {
            tpid: raw.tpid,
            vlan_id: raw.vlan_id,
            priority: raw.priority,
            drop_eligible: raw.dei != 0,
        }
    }
}

/// Up to four tags, outermost first; read as a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tags {
    tags: [VlanTag; MOST_TAGS],
    count: usize,
}

impl Default for Tags {
    fn default() -> Tags {
        Tags { tags: [VlanTag::new(0, 0); MOST_TAGS], count: 0 }
    }
}

impl From<VlanTag> for Tags {
    fn from(only: VlanTag) -> Tags {
        Tags { tags: [only; MOST_TAGS], count: 1 }
    }
}

impl TryFrom<&[VlanTag]> for Tags {
    type Error = Error;

    fn try_from(from: &[VlanTag]) -> Result<Tags> {
        let mut tags = Tags::default();
        if from.len() > MOST_TAGS {
            return Err(invalid(format!(
                "use {} tags: a frame has {MOST_TAGS} at most",
                from.len()
            )));
        }
        tags.tags[..from.len()].copy_from_slice(from);
        tags.count = from.len();
        Ok(tags)
    }
}

impl Deref for Tags {
    type Target = [VlanTag];

    fn deref(&self) -> &[VlanTag] {
        &self.tags[..self.count]
    }
}

/// An Ethernet frame, whose payload is borrowed.
///
/// ```
/// use strata_l2::{Frame, MacAddress, VlanTag, DEFAULT_MTU};
///
/// let frame = Frame {
///     destination: MacAddress::BROADCAST,
///     source: MacAddress([2, 0, 0, 0, 0, 1]),
///     tags: VlanTag::new(10, 7).into(),
///     ethertype: Some(0x88b5),
///     payload: b"start the pump",
/// };
/// let bytes = frame.build(DEFAULT_MTU)?;
/// assert_eq!(bytes[12..16], [0x81, 0, 0xe0, 10]);
/// let read = Frame::parse(&bytes)?;
/// assert_eq!((read.tags[0].vlan_id, read.ethertype), (10, Some(0x88b5)));
/// assert!(read.payload.starts_with(frame.payload)); // padded to the least size
/// # Ok::<(), strata_l2::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// To whom it goes.
    pub destination: MacAddress,
    /// From whom it comes.
    pub source: MacAddress,
    /// Its VLAN tags, the outermost first.
    pub tags: Tags,
    /// From 0x0600 on; `None`: an 802.3 frame, which has its payload's length there.
    pub ethertype: Option<u16>,
    /// What is behind the type, the padding of short frames included.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame. Fails with `EBADMSG` when the bytes end within its header.
    pub fn parse(bytes: &'a [u8]) -> Result<Frame<'a>> {
        let mut raw = raw_frame();
        // SAFETY: that many bytes are there, and `raw` lives as long as the call.
        checked(unsafe { ffi::strata_frame_parse(bytes.as_ptr().cast(), bytes.len(), &mut raw) })?;
        let mut tags = Tags { count: raw.tag_count as usize, ..Tags::default() };
        for (to, from) in tags.tags.iter_mut().zip(&raw.tags[..tags.count]) {
            *to = VlanTag::of(*from);
        }
        let payload = match raw.payload_size {
            0 => &[],
            // SAFETY: it points into `bytes`, which is borrowed for 'a.
            size => unsafe { slice::from_raw_parts(raw.payload.cast(), size) },
        };
        Ok(Frame {
            destination: MacAddress(raw.destination),
            source: MacAddress(raw.source),
            tags,
            ethertype: u16::try_from(raw.ethertype).ok(),
            payload,
        })
    }

    /// Writes it to `memory`, padded to 60 bytes, and returns its size. Fails with `EINVAL` when a
    /// field cannot be right, with `EMSGSIZE` when the payload is above `mtu` or there is not
    /// enough memory. Allocates nothing.
    pub fn build_into(&self, mtu: usize, memory: &mut [u8]) -> Result<usize> {
        let mut raw = ffi::Frame {
            destination: self.destination.0,
            source: self.source.0,
            ethertype: self.ethertype.map_or(-1, i32::from),
            tag_count: self.tags.len() as u32,
            payload: self.payload.as_ptr().cast(),
            payload_size: self.payload.len(),
            ..raw_frame()
        };
        for (to, from) in raw.tags.iter_mut().zip(self.tags.iter()) {
            *to = from.raw();
        }
        let mut built = 0;
        // SAFETY: frame, payload and memory are there as long as the call.
        checked(unsafe {
            let size = memory.len();
            ffi::strata_frame_build(&raw, mtu, memory.as_mut_ptr().cast(), size, &mut built)
        })?;
        Ok(built)
    }

    /// The same in memory of its own.
    pub fn build(&self, mtu: usize) -> Result<Vec<u8>> {
        let mut memory = vec![0; 60.max(14 + 4 * MOST_TAGS + self.payload.len())];
        let size = self.build_into(mtu, &mut memory)?;
        memory.truncate(size);
        Ok(memory)
    }
}

fn raw_frame() -> ffi::Frame {
    ffi::Frame {
        destination: [0; 6],
        source: [0; 6],
        ethertype: -1,
        tag_count: 0,
        tags: [ffi::VlanTag::default(); MOST_TAGS],
        payload: std::ptr::null(),
        payload_size: 0,
    }
}

/// The outermost tag of a frame.
pub fn outer_tag(frame: &[u8]) -> Option<VlanTag> {
    let mut tag = ffi::VlanTag::default();
    // SAFETY: that many bytes are there, and `tag` lives as long as the call.
    let found =
        unsafe { ffi::strata_frame_outer_tag(frame.as_ptr().cast(), frame.len(), &mut tag) };
    (found == 1).then(|| VlanTag::of(tag))
}

/// Puts a tag in as the outermost one: `memory` begins with four free bytes, and the frame behind
/// them; the tagged frame is all of it. Fails with `EINVAL` for a tag that cannot be, or when there
/// is no whole header.
pub fn push_tag(memory: &mut [u8], tag: VlanTag) -> Result<()> {
    // SAFETY: that many bytes are there, and the tag lives as long as the call.
    checked(unsafe {
        ffi::strata_frame_push_tag(memory.as_mut_ptr().cast(), memory.len(), &tag.raw())
    })?;
    Ok(())
}

/// Takes the outermost tag out, if there is one, by moving the addresses: what it returns is the
/// frame without it.
pub fn pop_tag(frame: &mut [u8]) -> &mut [u8] {
    // SAFETY: that many bytes are there.
    let begins = unsafe { ffi::strata_frame_pop_tag(frame.as_mut_ptr().cast(), frame.len()) };
    &mut frame[begins..]
}
