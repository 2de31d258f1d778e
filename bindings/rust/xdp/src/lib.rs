#![doc = include_str!("../README.md")]
//!
//! # Why it is sound
//!
//! The kernel and the program share memory, and safe Rust must not see bytes change under a `&`,
//! nor reach outside of the memory. So:
//!
//! - **Who has the [`Frame`] has the chunk.** There is one token for each chunk of a [`Umem`]. It
//!   cannot be copied or made up, its bytes are reached only through it, and a ring takes it by
//!   value when the kernel gets the chunk. So the kernel never writes what Rust may read or write,
//!   and two threads never have one chunk:
//!
//!   ```compile_fail,E0505
//!   # use strata_xdp::{Frame, Umem};
//!   # fn send(umem: &Umem, frame: Frame, frames: &mut Vec<Frame>) {
//!   let bytes = umem.bytes(&frame);
//!   frames.push(frame); // on its way into a ring
//!   println!("{bytes:?}");
//!   # }
//!   ```
//! - **A frame never leaves its chunk.** What it covers is checked when it is set, also when the
//!   kernel says it. Addresses are no part of the interface: [`Descriptor`] shows them, and nothing
//!   takes them.
//! - **A frame never leaves its memory.** Each use compares its `Umem`'s number with that at hand,
//!   and panics if they differ: that is a bug, like an index out of bounds.
//! - **What the kernel has when a socket closes stays lost.** Somebody may have duplicated the
//!   descriptor, and the kernel may then write on. The memory goes with the `Umem`; the kernel has
//!   pinned its pages, and writes to nothing else.
//! - **A ring has one user.** There is one value for each ring, [`Send`] but not [`Sync`], and its
//!   functions take `&mut self`. The fill and completion ring that sockets of one `Umem` and queue
//!   share have a lock between them.
//!
//!   ```compile_fail,E0277
//!   fn shared_by_threads<T: Sync>() {}
//!   shared_by_threads::<strata_xdp::RxRing>();
//!   ```
//! - **What a [`Port`] lends ends with its next call**: it borrows the port.
//!
//! One thing is trusted: that the kernel hands back those chunks that it was handed. It could not
//! be otherwise, for it could write anywhere in the memory unseen. So could the daemon that made a
//! socket ([`Socket::open_through_daemon`]) in the memory that it made with it; strata's does not.
//!
//! Everything closes when it is dropped, in whatever order: rings hold their socket, sockets their
//! memory, routes their program.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_debug_implementations)]

mod ffi;
mod frame;
mod options;
mod own_program;
mod port;
mod program;
mod rings;
mod socket;
mod statistics;
mod umem;

pub use frame::{Descriptor, Frame};
pub use options::{BusyPoll, CopyMode, SocketOptions, UmemOptions};
pub use own_program::OwnProgram;
pub use port::{Frames, Port, PortOptions};
pub use program::{AttachMode, Filter, Program, Route};
pub use rings::{CompletionRing, FillRing, Rings, RxRing, TxRing};
pub use socket::Socket;
pub use statistics::Statistics;
pub use strata_base::{Error, MacAddress, Result};
pub use umem::Umem;
