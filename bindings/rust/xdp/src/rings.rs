use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use strata_base::binding::{checked, invalid};
use strata_base::Result;

use crate::ffi;
use crate::frame::Frame;
use crate::socket::Inner;
use crate::umem::{lock, Umem};

/// Entries that pass between a vector and a ring in one call of the library.
const BATCH: usize = 64;

/// The rings of a [`Socket`](crate::Socket): take them apart, and give each to the thread that uses
/// it. Each keeps the socket open, also one that stays behind in a variable.
#[derive(Debug)]
pub struct Rings {
    /// Frames that the kernel may receive into.
    pub fill: FillRing,
    /// Frames that were sent.
    pub completion: CompletionRing,
    /// `None` for a socket that only sends.
    pub rx: Option<RxRing>,
    /// `None` for a socket that only receives.
    pub tx: Option<TxRing>,
}

// A ring of each kind is made once for each socket (Socket::open), its functions take `&mut self`,
// and it is not Sync: so one thread at a time uses it.
macro_rules! ring {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        ///
        /// Belongs to one thread at a time, and may be sent to another. Nothing it does allocates
        /// or waits, if not said otherwise.
        pub struct $name {
            socket: Arc<Inner>,
            not_sync: PhantomData<Cell<()>>,
        }

        impl $name {
            pub(crate) fn new(socket: Arc<Inner>) -> $name {
                $name { socket, not_sync: PhantomData }
            }

            /// The memory of the frames that come and go here.
            pub fn umem(&self) -> &Umem {
                &self.socket.umem
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.debug_struct(stringify!($name)).field("umem", self.umem()).finish()
            }
        }
    };
}

ring! {
    /// Gives the kernel frames to receive into.
    FillRing
}

ring! {
    /// Gives back the frames that were sent.
    CompletionRing
}

ring! {
    /// Gives the frames that arrived.
    RxRing
}

ring! {
    /// Takes frames to be sent.
    TxRing
}

impl FillRing {
    /// Moves frames from the end of `frames` into the ring, as many as there is room for, and
    /// returns how many. What they cover does not matter.
    ///
    /// # Panics
    /// For a frame of another UMEM; then none is moved.
    pub fn fill(&mut self, frames: &mut Vec<Frame>) -> usize {
        frames.iter().for_each(|frame| self.umem().check_owner(frame));
        let mut addresses = [0; BATCH];
        let mut moved = 0;
        loop {
            let count = frames.len().min(BATCH);
            for (address, frame) in addresses.iter_mut().zip(frames.iter().rev()) {
                *address = u64::from(frame.index) * u64::from(frame.capacity);
            }
            let taken = {
                let _alone = lock(&self.socket.locks.fill);
                // SAFETY: open as long as `socket`; `count` addresses are there, each of a frame
                // whose only token goes below. The lock keeps other sockets of this queue out.
                unsafe {
                    ffi::strata_xdp_fill(self.socket.pointer(), addresses.as_ptr(), count as u32)
                }
            } as usize;
            frames.truncate(frames.len() - taken);
            moved += taken;
            if taken < BATCH {
                return moved;
            }
        }
    }

    /// How many frames [`FillRing::fill`] would take, up to `most`.
    pub fn room(&mut self, most: usize) -> usize {
        let _alone = lock(&self.socket.locks.fill);
        // SAFETY: open as long as `socket`, and the ring is this thread's, with the lock.
        unsafe { ffi::strata_xdp_fill_room(self.socket.pointer(), limited(most)) as usize }
    }

    /// The kernel waits for [`FillRing::wake`] before it looks at this ring again.
    pub fn needs_wakeup(&self) -> bool {
        // SAFETY: open as long as `socket`; reads one word, atomically.
        unsafe { ffi::strata_xdp_fill_needs_wakeup(self.socket.pointer()) != 0 }
    }

    /// Has the kernel look at this ring. A system call. Fails when the interface is down.
    pub fn wake(&mut self) -> Result<()> {
        // SAFETY: open as long as `socket`; a system call with its descriptor.
        checked(unsafe { ffi::strata_xdp_wake_receive(self.socket.pointer()) })?;
        Ok(())
    }

    /// [`FillRing::wake`], if the kernel waits for it. Call it after each [`FillRing::fill`].
    pub fn wake_if_needed(&mut self) -> Result<()> {
        if self.needs_wakeup() {
            self.wake()?;
        }
        Ok(())
    }
}

impl CompletionRing {
    /// Adds up to `most` frames that were sent to `frames`, and returns how many. They cover
    /// nothing; what was in them is still there.
    ///
    /// Allocates only when the vector's capacity is too small.
    pub fn complete(&mut self, frames: &mut Vec<Frame>, most: usize) -> usize {
        let mut addresses = [0; BATCH];
        let mut moved = 0;
        while moved < most {
            let count = (most - moved).min(BATCH);
            // Before the kernel's places are given back, so that nothing is lost if it fails.
            frames.reserve(count);
            let there = {
                let _alone = lock(&self.socket.locks.completion);
                // SAFETY: open as long as `socket`; there is room for `count` addresses. The lock
                // keeps other sockets of this queue out.
                unsafe {
                    let to = addresses.as_mut_ptr();
                    ffi::strata_xdp_complete(self.socket.pointer(), to, count as u32)
                }
            } as usize;
            for address in &addresses[..there] {
                // SAFETY: the kernel gives back what `transmit` handed it, and took the token of.
                frames.extend(unsafe { self.umem().returned(*address) });
            }
            moved += there;
            if there < count {
                break;
            }
        }
        moved
    }
}

impl RxRing {
    /// Adds up to `most` frames that have arrived to `frames`, first to last, and returns how many.
    /// Each covers what was received, its Ethernet header first.
    ///
    /// Allocates only when the vector's capacity is too small.
    pub fn receive(&mut self, frames: &mut Vec<Frame>, most: usize) -> usize {
        let mut descriptors = [ffi::Descriptor::default(); BATCH];
        let mut moved = 0;
        while moved < most {
            let count = (most - moved).min(BATCH);
            frames.reserve(count);
            // SAFETY: open as long as `socket`; there is room for `count` descriptors.
            let there = unsafe {
                let to = descriptors.as_mut_ptr();
                ffi::strata_xdp_receive(self.socket.pointer(), to, count as u32)
            } as usize;
            for descriptor in &descriptors[..there] {
                // SAFETY: the kernel gives back what `fill` handed it, and took the token of.
                frames.extend(unsafe { self.umem().received(descriptor) });
            }
            moved += there;
            if there < count {
                break;
            }
        }
        moved
    }

    /// Waits until there is something to receive; false when nothing came within `timeout` (`None`:
    /// for ever). Rounded up to milliseconds.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<bool> {
        self.socket.wait_readable(timeout)
    }
}

impl TxRing {
    /// Moves frames from the beginning of `frames` into the ring, as many as there is room for, and
    /// returns how many. What they cover is sent, after [`TxRing::wake_if_needed`].
    ///
    /// Fails with `EINVAL` when one of them covers nothing, or continues though the socket was made
    /// without `multi_buffer`; then none is moved.
    ///
    /// # Panics
    /// For a frame of another UMEM; then none is moved.
    pub fn transmit(&mut self, frames: &mut Vec<Frame>) -> Result<usize> {
        frames.iter().try_for_each(|frame| self.check(frame))?;
        let mut descriptors = [ffi::Descriptor::default(); BATCH];
        let mut moved = 0;
        while moved < frames.len() {
            let batch = &frames[moved..frames.len().min(moved + BATCH)];
            for (descriptor, frame) in descriptors.iter_mut().zip(batch) {
                let known = frame.descriptor();
                *descriptor = ffi::Descriptor {
                    address: known.address,
                    length: known.length,
                    options: if known.continues { ffi::CONTINUES } else { 0 },
                };
            }
            // SAFETY: open as long as `socket`; that many descriptors are there, each of a frame
            // whose only token goes below, before which nothing can panic.
            let taken = unsafe {
                let from = descriptors.as_ptr();
                ffi::strata_xdp_transmit(self.socket.pointer(), from, batch.len() as u32)
            } as usize;
            moved += taken;
            if taken < BATCH {
                break;
            }
        }
        frames.drain(..moved);
        Ok(moved)
    }

    /// The kernel would skip what is invalid, and never give its frame back.
    fn check(&self, frame: &Frame) -> Result<()> {
        self.umem().check_owner(frame);
        if frame.is_empty() {
            return Err(invalid(
                "send a frame by AF_XDP: it covers no bytes; set its length first".to_string(),
            ));
        }
        if frame.continues() && !self.socket.multi_buffer {
            return Err(invalid(
                "send a frame by AF_XDP: it continues in the next; open the socket with \
                 multi_buffer for that"
                    .to_string(),
            ));
        }
        Ok(())
    }

    /// How many frames [`TxRing::transmit`] would take, up to `most`.
    pub fn room(&mut self, most: usize) -> usize {
        // SAFETY: open as long as `socket`, and the ring is this thread's.
        unsafe { ffi::strata_xdp_transmit_room(self.socket.pointer(), limited(most)) as usize }
    }

    /// The kernel waits for [`TxRing::wake`] before it looks at this ring again. In copy mode it
    /// always does, whatever this says.
    pub fn needs_wakeup(&self) -> bool {
        // SAFETY: open as long as `socket`, which has such a ring; reads one word, atomically.
        unsafe { ffi::strata_xdp_transmit_needs_wakeup(self.socket.pointer()) != 0 }
    }

    /// Has the kernel send what is in the ring. A system call. False when it took only a part, and
    /// wants to be called again: in copy mode it takes 32 frames a call, and none while the
    /// completion ring is full. Fails when the interface is down.
    pub fn wake(&mut self) -> Result<bool> {
        // SAFETY: open as long as `socket`; a system call with its descriptor.
        Ok(checked(unsafe { ffi::strata_xdp_wake_transmit(self.socket.pointer()) })? != 0)
    }

    /// [`TxRing::wake`], if the kernel waits for it: in copy mode always. True when it does not, or
    /// took all. Call it after each [`TxRing::transmit`], and again, after
    /// [`CompletionRing::complete`], when it returned false.
    pub fn wake_if_needed(&mut self) -> Result<bool> {
        if self.socket.is_zerocopy() && !self.needs_wakeup() {
            return Ok(true);
        }
        self.wake()
    }

    /// Waits until more can be sent; false when that was not so within `timeout` (`None`: for
    /// ever). Rounded up to milliseconds.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<bool> {
        self.socket.wait_writable(timeout)
    }
}

fn limited(most: usize) -> u32 {
    u32::try_from(most).unwrap_or(u32::MAX)
}
