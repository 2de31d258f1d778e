//! That a request allocates nothing, in Rust. Alone in its process, since it counts what all
//! threads allocate.
#![deny(unsafe_op_in_unsafe_fn)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use strata_netlink::Generic;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_request_costs_no_allocation() {
    let mut on = Generic::open().unwrap();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..1000 {
        let reply = on.request(16, 3).text(2, "nlctrl").nest(0x2001, |nest| nest.u32(1, 2)).ask();
        assert_eq!(reply.unwrap().attributes.text(2), Some("nlctrl"));
        on.request(16, 3).dump(|message| assert!(message.attributes.count() > 0)).unwrap();
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
}
