use std::ops::Range;

use strata_base::binding::invalid;
use strata_base::Result;

/// A frame of a [`Umem`](crate::Umem), owned: who has it, and nobody else, not even the kernel, may
/// read and write its memory.
///
/// It is a token and holds no bytes itself; [`Umem::bytes`](crate::Umem::bytes) and
/// [`Umem::bytes_mut`](crate::Umem::bytes_mut) give those. There is one for each chunk of the
/// memory. A ring takes it out of a `Vec` when the kernel gets the chunk, and puts one into a `Vec`
/// when the kernel gives the chunk back. So it can be neither copied nor made up.
///
/// Of its chunk a frame covers a range, which [`Frame::set_len`] and [`Frame::set_range`] choose:
/// that is what its bytes are and what is transmitted. A received frame covers what was received,
/// with room for more headers in front; any other covers nothing.
///
/// A frame that is dropped is no error, but its chunk is lost until the `Umem` goes: give it back
/// with [`Umem::give_back`](crate::Umem::give_back), or to a ring.
///
/// It is [`Send`] and [`Sync`], 24 bytes large, and never touches the heap. All sizes are bytes.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a frame that is dropped is lost to its Umem"]
pub struct Frame {
    /// Which Umem's.
    pub(crate) umem: u32,
    pub(crate) index: u32,
    /// Of the whole chunk.
    pub(crate) capacity: u32,
    // offset + length <= capacity, always: all access to the memory rests on that.
    offset: u32,
    length: u32,
    continues: bool,
}

impl Frame {
    pub(crate) fn new(umem: u32, index: u32, capacity: u32) -> Frame {
        Frame { umem, index, capacity, offset: 0, length: 0, continues: false }
    }

    /// How many bytes it covers.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether it covers none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many bytes its chunk has.
    pub fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// What of its chunk it covers.
    pub fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }

    /// Covers `len` bytes from where it begins now. Fails with `EINVAL` when its chunk ends before.
    pub fn set_len(&mut self, len: usize) -> Result<()> {
        let start = self.offset as usize;
        self.set_range(start..start.saturating_add(len))
    }

    /// Covers these bytes of its chunk: for instance, from an earlier one on, to put a header in
    /// front of what was received. Fails with `EINVAL` when the chunk has no such bytes.
    pub fn set_range(&mut self, range: Range<usize>) -> Result<()> {
        if range.start > range.end || range.end > self.capacity() {
            return Err(invalid(format!(
                "cover the bytes {} to {} of a frame: it has {}; choose frames of another size",
                range.start,
                range.end,
                self.capacity()
            )));
        }
        // Both fit, for `capacity` does.
        self.offset = range.start as u32;
        self.length = (range.end - range.start) as u32;
        Ok(())
    }

    /// Whether the packet goes on in the next frame (multi-buffer, Linux 6.6).
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// See [`Frame::continues`]; for sockets with
    /// [`multi_buffer`](crate::SocketOptions::multi_buffer).
    pub fn set_continues(&mut self, continues: bool) {
        self.continues = continues;
    }

    /// Where it is: to log, or to compare with what other tools show.
    pub fn descriptor(&self) -> Descriptor {
        Descriptor {
            address: u64::from(self.index) * u64::from(self.capacity) + u64::from(self.offset),
            length: self.length,
            continues: self.continues,
        }
    }
}

/// Where a [`Frame`] is in its [`Umem`](crate::Umem): what stands in a receive or transmit ring.
///
/// A plain value, with which nothing can be read: only the frame itself opens its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// Offset of the first byte from the beginning of the memory, in bytes.
    pub address: u64,
    /// In bytes.
    pub length: u32,
    /// The packet goes on in the next descriptor.
    pub continues: bool,
}
