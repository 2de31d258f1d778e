//! What is dropped is closed, in whatever order, and nothing is left. Over the veth of
//! veth/mod.rs. The descriptors that it counts are the process's: one test at a time.
mod veth;

use std::fs::read_dir;
use std::process::Command;
use std::thread;

use strata_xdp::*;
use veth::*;

fn descriptors() -> usize {
    read_dir("/proc/self/fd").unwrap().count()
}

fn memory_maps() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("[anon_inode") || line.contains("socket:")).count()
}

/// The elements of `of` in the order of the number `order`, below `of.len()` factorial.
fn drop_in_order(mut of: Vec<Option<Box<dyn std::any::Any>>>, mut order: usize) {
    let mut left: Vec<usize> = (0..of.len()).collect();
    while !left.is_empty() {
        let place = order % left.len();
        order /= left.len();
        of[left.remove(place)] = None;
    }
}

#[test]
fn everything_closes_in_any_order_and_leaves_nothing() {
    let veth = Veth::new();
    veth.enter_b();
    let before = (descriptors(), memory_maps());
    let orders = 120;
    for order in 0..orders {
        let umem = Umem::new(&UmemOptions { frame_count: 8, ..UmemOptions::default() }).unwrap();
        let (socket, rings) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
        let (second, more) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
        let program = Program::attach("vethB", AttachMode::Automatic).unwrap();
        let route = program.route(&Filter::default(), &socket).unwrap();
        let Rings { mut fill, completion, rx, tx } = rings;
        fill.fill(&mut umem.take(4));
        let frame = umem.take(1);
        assert!(descriptors() > before.0 && memory_maps() > before.1);
        // 9 things in some of their 362880 orders, spread.
        let all: Vec<Option<Box<dyn std::any::Any>>> = vec![
            Some(Box::new(umem)),
            Some(Box::new((socket, completion))),
            Some(Box::new(rx)),
            Some(Box::new(tx)),
            Some(Box::new(fill)),
            Some(Box::new(program)),
            Some(Box::new(route)),
            Some(Box::new((second, more))),
            Some(Box::new(frame)),
        ];
        drop_in_order(all, order * (362_880 / orders) + order);
    }
    assert_eq!((descriptors(), memory_maps()), before);

    for _ in 0..60 {
        drop(Port::open("vethB", 0, &PortOptions::default()).unwrap());
    }
    assert_eq!((descriptors(), memory_maps()), before);
    // And no program: it would be named here.
    let shown = Command::new("ip").args(["link", "show", "vethB"]).output().unwrap();
    let shown = succeeded("ip link", &shown);
    assert!(!shown.contains("xdp"), "{shown}");

    // The rest of a socket works while, and after, others are opened and closed in other threads.
    let umem = Umem::new(&UmemOptions { frame_count: 64, ..UmemOptions::default() }).unwrap();
    let (_, mut kept) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let opened = Socket::open(&umem, "vethB", 0, &SocketOptions::default());
                    let (_, mut rings) = opened.unwrap();
                    let mut frames = umem.take(1);
                    rings.fill.fill(&mut frames);
                    rings.completion.complete(&mut frames, 64);
                }
            });
        }
    });
    assert_eq!(umem.free_count(), 4, "each of 60 rounds filled one");
    assert_eq!(kept.fill.fill(&mut umem.take(4)), 4);
    drop(kept);
    assert_eq!((descriptors(), memory_maps()), before);
}
