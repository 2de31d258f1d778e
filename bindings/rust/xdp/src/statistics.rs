use crate::ffi;

/// What the kernel counted since a socket was made, in frames.
///
/// The first three overlap, and kernels differ in how: in copy mode on Linux 6.18 `dropped` counts
/// all that the next two count, and what was too long; by its source, 6.1 leaves out of it what
/// `receive_ring_full` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Lost between the interface and the receive ring.
    pub dropped: u64,
    /// Lost, for the receiver was too slow.
    pub receive_ring_full: u64,
    /// Looks for a frame to receive into that found none. In copy mode each lost a frame; in
    /// zero-copy mode the driver looks again, and what it lost meanwhile the interface counts.
    pub fill_ring_empty: u64,
    /// Looks for something to send that found nothing.
    pub transmit_ring_empty: u64,
    /// Addresses in the fill ring that were none.
    pub invalid_receive: u64,
    /// Descriptors in the transmit ring that were none.
    pub invalid_transmit: u64,
}

impl From<ffi::Statistics> for Statistics {
    fn from(raw: ffi::Statistics) -> Statistics {
        Statistics {
            dropped: raw.dropped,
            receive_ring_full: raw.receive_ring_full,
            fill_ring_empty: raw.fill_ring_empty,
            transmit_ring_empty: raw.transmit_ring_empty,
            invalid_receive: raw.invalid_receive,
            invalid_transmit: raw.invalid_transmit,
        }
    }
}
