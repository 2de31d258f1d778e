//! That nothing is allocated for a frame, once all is set up. Over the veth of veth/mod.rs; alone
//! in its process, since it counts what all threads allocate.
#![deny(unsafe_op_in_unsafe_fn)]
mod veth;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use strata_xdp::*;
use veth::*;

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

const BATCH: usize = 64;
const FRAMES: usize = 5000;

/// Sends and receives FRAMES frames by `step`, which returns how many came; after the first batches
/// without an allocation.
fn count(what: &str, mut step: impl FnMut() -> usize) {
    let mut come = 0;
    let mut before = 0;
    let until = Instant::now() + SOON;
    while come < FRAMES {
        if come < 4 * BATCH {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        assert!(Instant::now() < until, "{what}: {come} frames came");
        come += step();
    }
    let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
    println!("{what}: {made} allocations for {come} frames");
    assert_eq!(made, 0, "{what}");
}

#[test]
fn frames_cost_no_allocation() {
    let veth = Veth::new();
    let filter = Filter { ethertype: Some(TYPE), ..Filter::default() };
    let bytes = frame(1, &[], TYPE, 60);
    through_rings(&veth, &filter, &bytes);
    through_ports(&veth, filter, &bytes);
}

fn through_rings(veth: &Veth, filter: &Filter, bytes: &[u8]) {
    veth.enter_b();
    let to = Umem::new(&UmemOptions::default()).unwrap();
    let (socket, rings) = Socket::open(&to, "vethB", 0, &SocketOptions::default()).unwrap();
    let program = Program::attach("vethB", AttachMode::Automatic).unwrap();
    let _route = program.route(filter, &socket).unwrap();
    let (mut fill, mut rx) = (rings.fill, rings.rx.unwrap());
    veth.enter_a();
    let from = Umem::new(&UmemOptions::default()).unwrap();
    let (_, rings) = Socket::open(&from, "vethA", 0, &SocketOptions::default()).unwrap();
    let (mut tx, mut completion) = (rings.tx.unwrap(), rings.completion);
    fill.fill(&mut to.take(2048));
    let mut free = from.take(BATCH);
    let mut received = Vec::with_capacity(BATCH);
    count("rings", || {
        for frame in &mut free {
            frame.set_range(0..0).unwrap();
            from.write(frame, bytes).unwrap();
        }
        tx.transmit(&mut free).unwrap();
        tx.wake_if_needed().unwrap();
        completion.complete(&mut free, BATCH);
        rx.wait(Some(Duration::from_millis(1))).unwrap();
        let came = rx.receive(&mut received, BATCH);
        assert!(received.iter().all(|frame| to.bytes(frame) == bytes));
        fill.fill(&mut received);
        fill.wake_if_needed().unwrap();
        came
    });
}

fn through_ports(veth: &Veth, filter: Filter, bytes: &[u8]) {
    veth.enter_b();
    let options = PortOptions { filter, ..PortOptions::default() };
    let mut b = Port::open("vethB", 0, &options).unwrap();
    veth.enter_a();
    let mut a = Port::open("vethA", 0, &PortOptions::default()).unwrap();
    let batch = [bytes; BATCH];
    count("ports", || {
        a.send(&batch).unwrap();
        let frames = b.receive(Some(Duration::from_millis(1))).unwrap();
        frames.filter(|frame| *frame == bytes).count()
    });
}
