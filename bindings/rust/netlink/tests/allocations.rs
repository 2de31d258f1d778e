//! That a request allocates nothing, in Rust. Of the thread that asks: the harness has another.
#![deny(unsafe_op_in_unsafe_fn)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use strata_netlink::Generic;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
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
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..1000 {
        let reply = on.request(16, 3).text(2, "nlctrl").nest(0x2001, |nest| nest.u32(1, 2)).ask();
        assert_eq!(reply.unwrap().attributes.text(2), Some("nlctrl"));
        on.request(16, 3).dump(|message| assert!(message.attributes.count() > 0)).unwrap();
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
}
