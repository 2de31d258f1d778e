use std::iter::FusedIterator;
use std::{fmt, slice};

use crate::ffi;

/// A frame that was received, with all its VLAN tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received<'a> {
    /// The frame, with all its VLAN tags.
    pub bytes: &'a [u8],
    /// Above the size of `bytes` when it was cut.
    pub wire_size: usize,
    /// Nanoseconds since 1970; 0 when nobody took the time.
    pub time_ns: u64,
}

impl<'a> Received<'a> {
    /// # Safety
    /// What `raw` points to stays as it is for 'a.
    pub(crate) unsafe fn of(raw: &ffi::Received) -> Received<'a> {
        let bytes = match raw.size {
            0 => &[],
            // SAFETY: the caller's promise; not NULL where there are bytes.
            size => unsafe { slice::from_raw_parts(raw.bytes.cast(), size) },
        };
        Received { bytes, wire_size: raw.wire_size, time_ns: raw.time_ns }
    }

    /// Whether the frame was larger than the memory that was given.
    pub fn is_cut(&self) -> bool {
        self.wire_size > self.bytes.len()
    }
}

/// What the kernel counted since the device was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceStatistics {
    /// Accepted by the filter.
    pub received: u64,
    /// Those of them that were lost, since the receiver was too slow.
    pub dropped: u64,
}

/// Memory for frames that are received together: see
/// [`RawSocket::receive_batch`](crate::RawSocket::receive_batch).
pub struct Slots {
    // What `slots` lead into; never resized, so that it stays where it is.
    _memory: Vec<u8>,
    pub(crate) slots: Vec<ffi::Slot>,
}

// SAFETY: the pointers lead into its own memory, which nothing else has.
unsafe impl Send for Slots {}
// SAFETY: behind a shared reference nothing can be reached.
unsafe impl Sync for Slots {}

impl Slots {
    /// For `count` frames of up to `frame_size` bytes; a call fills 64 at most.
    pub fn new(count: usize, frame_size: usize) -> Slots {
        // The library keeps four bytes free for the tag that the kernel took out.
        let size = frame_size + 4;
        let mut memory = vec![0_u8; count * size];
        let begin = memory.as_mut_ptr();
        let slot = |index: usize| ffi::Slot {
            // SAFETY: within the memory, or at its end.
            memory: unsafe { begin.add(index * size) }.cast(),
            size,
            frame: ffi::Received::NONE,
        };
        Slots { slots: (0..count).map(slot).collect(), _memory: memory }
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Slots").field("count", &self.slots.len()).finish()
    }
}

/// Frames that are lent until the next call, first to last.
pub struct Frames<'a> {
    pub(crate) of: Source<'a>,
}

pub(crate) enum Source<'a> {
    Slots(slice::Iter<'a, ffi::Slot>),
    Ring(slice::Iter<'a, ffi::Received>),
}

// SAFETY: it holds nothing but slices of bytes that nobody writes as long as they are lent.
unsafe impl Send for Frames<'_> {}
// SAFETY: as above.
unsafe impl Sync for Frames<'_> {}

impl<'a> Iterator for Frames<'a> {
    type Item = Received<'a>;

    fn next(&mut self) -> Option<Received<'a>> {
        let raw = match &mut self.of {
            Source::Slots(slots) => &slots.next()?.frame,
            Source::Ring(frames) => frames.next()?,
        };
        // SAFETY: in memory of slots or of a ring that is borrowed for 'a, and lent until then.
        Some(unsafe { Received::of(raw) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.of {
            Source::Slots(slots) => slots.size_hint(),
            Source::Ring(frames) => frames.size_hint(),
        }
    }
}

impl ExactSizeIterator for Frames<'_> {}
impl FusedIterator for Frames<'_> {}

impl fmt::Debug for Frames<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Frames").field("left", &self.len()).finish()
    }
}
