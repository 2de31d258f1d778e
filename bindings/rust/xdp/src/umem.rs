use std::os::raw::c_void;
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, slice};

use strata_base::binding::{checked, invalid};
use strata_base::Result;

use crate::ffi;
use crate::frame::Frame;
use crate::options::UmemOptions;

/// The memory whose frames sockets send from and receive into, and the frames that nobody has.
///
/// It is a handle: clones name the same memory, which goes when the last of them, and the last
/// socket that uses it, have gone. For any thread. Linux 6.1 or newer.
///
/// ```
/// use strata_xdp::{Umem, UmemOptions};
///
/// let umem = Umem::new(&UmemOptions { frame_count: 64, ..UmemOptions::default() })?;
/// let mut frame = umem.take_one().expect("64 are free");
/// frame.set_len(60)?;
/// umem.bytes_mut(&mut frame).fill(0xff);
/// assert_eq!(umem.bytes(&frame)[59], 0xff);
/// umem.give_back([frame]);
/// assert_eq!(umem.free_count(), 64);
/// # Ok::<(), strata_xdp::Error>(())
/// ```
#[derive(Clone)]
pub struct Umem {
    shared: Arc<Shared>,
}

struct Shared {
    handle: NonNull<ffi::Umem>,
    memory: NonNull<u8>,
    size: usize,
    identity: u32,
    frame_count: u32,
    frame_size: u32,
    /// Of the frames that are not out as a `Frame` or with the kernel.
    free: Mutex<Vec<u32>>,
    users: Mutex<Vec<QueueUsers>>,
}

/// Sockets of one UMEM on one queue have one fill and one completion ring, which only one thread at
/// a time may use.
#[derive(Default)]
pub(crate) struct QueueLocks {
    pub fill: Mutex<()>,
    pub completion: Mutex<()>,
}

/// Found by the queue's number alone, though queues of two interfaces share nothing: names are no
/// key, for an interface may have several, and change them.
pub(crate) struct QueueUsers {
    queue: u32,
    locks: Arc<QueueLocks>,
}

// SAFETY: `memory` is reached through frames only, each of which has its part of it for itself. Of
// the handle's functions those that change it (open and close a socket) are called with `users`
// locked, the others read what never changes.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

static NEXT_IDENTITY: AtomicU32 = AtomicU32::new(0);

pub(crate) fn lock<T>(which: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of this crate's locks.
    which.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Umem {
    /// Makes one. Fails with `EINVAL` for a size that the kernel would refuse, `ENOMEM` when there
    /// is not enough memory.
    pub fn new(options: &UmemOptions) -> Result<Umem> {
        let mut handle = null_mut();
        // SAFETY: both live as long as the call.
        checked(unsafe { ffi::strata_xdp_umem_create(&options.raw(), &mut handle) })?;
        // SAFETY: it was just made, of these options.
        unsafe { Umem::of(handle, options) }
    }

    /// Makes one over memory of the caller's, from a page's beginning on, which `owner` keeps
    /// there: a mapping, a buffer that other programs share. It is dropped when the last handle
    /// and the last socket have gone, in the thread of that.
    ///
    /// Fails with `EINVAL` for memory that does not begin with a page or is too small; `owner` is
    /// dropped then. Linux 6.5 or newer takes no shared mapping of a file on a disk: the first
    /// [`crate::Socket`] fails with `EFAULT` then; files of tmpfs and hugetlbfs are taken.
    ///
    /// # Safety
    /// `memory` is initialised and may be read and written until `owner` is dropped. What others do
    /// with it meanwhile, they do with frames that nobody here has.
    pub unsafe fn over<Owner: Send + 'static>(
        memory: NonNull<[u8]>,
        owner: Owner,
        options: &UmemOptions,
    ) -> Result<Umem> {
        unsafe extern "C" fn release<Owner>(context: *mut c_void) {
            // SAFETY: it is what `into_raw` gave, and the library calls this once.
            drop(unsafe { Box::from_raw(context.cast::<Owner>()) });
        }
        let context = Box::into_raw(Box::new(owner)).cast::<c_void>();
        let mut handle = null_mut();
        // SAFETY: the caller's promise; the rest lives as long as the call.
        let made = checked(unsafe {
            ffi::strata_xdp_umem_create_over(
                memory.as_ptr().cast(),
                memory.len(),
                &options.raw(),
                Some(release::<Owner>),
                context,
                &mut handle,
            )
        });
        if let Err(refused) = made {
            // SAFETY: the library has not taken it.
            unsafe { release::<Owner>(context) };
            return Err(refused);
        }
        // SAFETY: it was just made, of these options.
        unsafe { Umem::of(handle, options) }
    }

    /// Takes a handle over.
    ///
    /// # Safety
    /// It is open, of memory that `options` divide, and nobody else uses or closes it.
    pub(crate) unsafe fn of(handle: *mut ffi::Umem, options: &UmemOptions) -> Result<Umem> {
        let mut size = 0;
        // SAFETY: it is open.
        let memory = unsafe { ffi::strata_xdp_umem_memory(handle, &mut size) };
        let (handle, memory) = match (NonNull::new(handle), NonNull::new(memory.cast::<u8>())) {
            (Some(handle), Some(memory)) => (handle, memory),
            _ => return Err(invalid("create a UMEM: there is no memory".to_string())),
        };
        let mut shared = Shared {
            handle,
            memory,
            size,
            identity: 0,
            frame_count: options.frame_count,
            frame_size: options.frame_size,
            free: Mutex::default(),
            users: Mutex::default(),
        };
        // From here on `shared` closes the handle.
        shared.identity = NEXT_IDENTITY
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| last.checked_add(1))
            .map_err(|_| invalid("create a UMEM: 4 billion were made before".to_string()))?;
        let needed = u64::from(options.frame_count) * u64::from(options.frame_size);
        if (size as u64) < needed {
            return Err(invalid(format!(
                "create a UMEM: {needed} bytes are more than this machine's addresses reach"
            )));
        }
        *lock(&shared.free) = (0..options.frame_count).rev().collect();
        Ok(Umem { shared: Arc::new(shared) })
    }

    /// How many frames it is divided into.
    pub fn frame_count(&self) -> usize {
        self.shared.frame_count as usize
    }

    /// In bytes.
    pub fn frame_size(&self) -> usize {
        self.shared.frame_size as usize
    }

    /// How many frames [`Umem::take`] has.
    pub fn free_count(&self) -> usize {
        lock(&self.shared.free).len()
    }

    /// A free frame; `None` when there is none.
    pub fn take_one(&self) -> Option<Frame> {
        let index = lock(&self.shared.free).pop()?;
        Some(Frame::new(self.shared.identity, index, self.shared.frame_size))
    }

    /// Up to `count` free frames. To set up: the vector is what it allocates.
    pub fn take(&self, count: usize) -> Vec<Frame> {
        let mut free = lock(&self.shared.free);
        let first = free.len() - count.min(free.len());
        let new = |index| Frame::new(self.shared.identity, index, self.shared.frame_size);
        free.drain(first..).rev().map(new).collect()
    }

    /// Makes frames free again; `frames.drain(..)` keeps a vector for later. Allocates nothing.
    ///
    /// # Panics
    /// For a frame of another UMEM.
    pub fn give_back(&self, frames: impl IntoIterator<Item = Frame>) {
        for frame in frames {
            self.check_owner(&frame);
            // Its capacity is that of all frames.
            lock(&self.shared.free).push(frame.index);
        }
    }

    /// What the frame covers.
    ///
    /// # Panics
    /// For a frame of another UMEM.
    pub fn bytes<'a>(&'a self, frame: &'a Frame) -> &'a [u8] {
        let start = self.start_of(frame);
        // SAFETY: within the memory (see start_of), which is initialised, and lives as long as
        // `self`. Lending the only token of the chunk keeps others, and the kernel, from writing.
        unsafe { slice::from_raw_parts(self.shared.memory.as_ptr().add(start), frame.len()) }
    }

    /// What the frame covers, to be written.
    ///
    /// # Panics
    /// For a frame of another UMEM.
    pub fn bytes_mut<'a>(&'a self, frame: &'a mut Frame) -> &'a mut [u8] {
        let start = self.start_of(frame);
        // SAFETY: as for `bytes`; the token is lent mutably, so nobody else sees the chunk.
        unsafe { slice::from_raw_parts_mut(self.shared.memory.as_ptr().add(start), frame.len()) }
    }

    /// Copies `bytes` to where the frame begins, and makes it cover them. Fails with `EINVAL` when
    /// its chunk is too short.
    ///
    /// # Panics
    /// For a frame of another UMEM.
    pub fn write(&self, frame: &mut Frame, bytes: &[u8]) -> Result<()> {
        frame.set_len(bytes.len())?;
        self.bytes_mut(frame).copy_from_slice(bytes);
        Ok(())
    }

    /// Where its bytes begin; with all of its capacity it ends within the memory, for `of` has
    /// seen that the last frame does.
    fn start_of(&self, frame: &Frame) -> usize {
        self.check_owner(frame);
        frame.index as usize * self.shared.frame_size as usize + frame.range().start
    }

    /// A bug, not an error: it would hand the kernel, or the caller, a chunk that another has.
    #[track_caller]
    pub(crate) fn check_owner(&self, frame: &Frame) {
        assert!(
            frame.umem == self.shared.identity,
            "a frame was given to another UMEM than its own"
        );
    }

    /// The frame that the kernel gives back by an address of its rings. `None` for an address that
    /// is outside of the memory, which only a broken driver could write.
    ///
    /// # Safety
    /// The kernel has the chunk no longer, and there is no other token of it.
    pub(crate) unsafe fn returned(&self, address: u64) -> Option<Frame> {
        // SAFETY: the handle is open; the function only computes.
        let base = unsafe { ffi::strata_xdp_umem_frame_of(self.shared.handle.as_ptr(), address) };
        let index = base / u64::from(self.shared.frame_size);
        if index >= u64::from(self.shared.frame_count) {
            return None;
        }
        Some(Frame::new(self.shared.identity, index as u32, self.shared.frame_size))
    }

    /// The same, covering what was received.
    ///
    /// # Safety
    /// As for `returned`.
    pub(crate) unsafe fn received(&self, from: &ffi::Descriptor) -> Option<Frame> {
        // SAFETY: the caller's promise.
        let mut frame = unsafe { self.returned(from.address) }?;
        // SAFETY: the handle is open; the function only computes.
        let position =
            unsafe { ffi::strata_xdp_umem_position(self.shared.handle.as_ptr(), from.address) };
        let chunk = u64::from(frame.index) * u64::from(frame.capacity);
        let start = position.checked_sub(chunk)?;
        let end = start.checked_add(from.length.into())?;
        // A range that leaves the chunk is refused, and the frame stays empty.
        if let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) {
            let _ = frame.set_range(start..end);
        }
        frame.set_continues(from.options & ffi::CONTINUES != 0);
        Some(frame)
    }

    /// Opens a socket by `open`, alone with the handle.
    pub(crate) fn add_user<T>(
        &self,
        queue: u32,
        open: impl FnOnce(*mut ffi::Umem) -> Result<T>,
    ) -> Result<(T, Arc<QueueLocks>)> {
        let mut users = lock(&self.shared.users);
        let opened = open(self.shared.handle.as_ptr())?;
        if let Some(there) = users.iter().find(|each| each.queue == queue) {
            return Ok((opened, there.locks.clone()));
        }
        let locks = Arc::<QueueLocks>::default();
        users.push(QueueUsers { queue, locks: locks.clone() });
        Ok((opened, locks))
    }

    /// Closes a socket by `close`, alone with the handle.
    pub(crate) fn remove_user(&self, close: impl FnOnce()) {
        let _alone = lock(&self.shared.users);
        close();
    }
}

/// Two handles are equal when they name the same memory.
impl PartialEq for Umem {
    fn eq(&self, other: &Umem) -> bool {
        self.shared.identity == other.shared.identity
    }
}

impl Eq for Umem {}

impl fmt::Debug for Umem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Umem")
            .field("frame_count", &self.shared.frame_count)
            .field("frame_size", &self.shared.frame_size)
            .field("size", &self.shared.size)
            .finish()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: taken over by `of`, and closed only here; sockets hold the memory themselves.
        unsafe { ffi::strata_xdp_umem_close(self.handle.as_ptr()) };
    }
}
