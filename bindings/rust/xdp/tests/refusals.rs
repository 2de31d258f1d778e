//! What cannot be: each time an errno, and a sentence that names the value. Over veth/mod.rs.
mod veth;

use std::error::Error as _;
use std::io;
use std::path::Path;

use strata_base::errno::{EBUSY, EEXIST, EINVAL, ENODEV, ENOENT, EOPNOTSUPP};
use strata_xdp::*;
use veth::*;

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T>, errno: i32, words: &[&str]) {
    let error = outcome.expect_err("it should be refused");
    println!("{} {error}", error.errno());
    assert_eq!(error.errno(), errno, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "no '{word}' in: {error}");
    }
}

#[test]
fn bad_sizes_of_memory_are_refused() {
    let with = |change: fn(&mut UmemOptions)| {
        let mut options = UmemOptions::default();
        change(&mut options);
        Umem::new(&options)
    };
    refused(with(|o| o.frame_count = 0), EINVAL, &["at least 1"]);
    refused(with(|o| o.frame_size = 1024), EINVAL, &["1024", "2048"]);
    refused(with(|o| o.frame_size = 3000), EINVAL, &["3000", "unaligned"]);
    refused(with(|o| o.frame_size = 8192), EINVAL, &["8192", "4096"]);
    refused(with(|o| o.headroom = 3840), EINVAL, &["3840"]);
}

#[test]
fn frames_keep_to_their_chunk() {
    let umem = Umem::new(&UmemOptions { frame_count: 4, ..UmemOptions::default() }).unwrap();
    let mut frame = umem.take_one().unwrap();
    refused(frame.set_len(4097), EINVAL, &["4097", "4096"]);
    refused(frame.set_len(usize::MAX), EINVAL, &["4096"]);
    refused(frame.set_range(5..4097), EINVAL, &["4097"]);
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 6..5;
    refused(frame.set_range(backwards), EINVAL, &["6 to 5"]);
    refused(umem.write(&mut frame, &[0; 5000]), EINVAL, &["5000"]);
    assert_eq!((frame.len(), umem.bytes(&frame).len()), (0, 0));
    frame.set_range(4096..4096).unwrap();
    frame.set_range(0..4096).unwrap();
    umem.bytes_mut(&mut frame).fill(1);
    let others = umem.take(4);
    assert_eq!((others.len(), umem.free_count()), (3, 0));
    assert!(umem.take_one().is_none());
    umem.give_back(others.into_iter().chain([frame]));
    let mut last = umem.take(4);
    assert!(last.iter_mut().all(|frame| frame.set_len(4096).is_ok()));
    let ones: Vec<_> = last.iter().filter(|each| umem.bytes(each)[0] == 1).collect();
    assert_eq!(ones.len(), 1, "the others' chunks are as they were");
}

#[test]
fn bad_sockets_are_refused() {
    let veth = Veth::new();
    veth.enter_a();
    let umem = Umem::new(&UmemOptions { frame_count: 64, ..UmemOptions::default() }).unwrap();
    let usual = SocketOptions::default();
    let open = |name, queue, options: &SocketOptions| Socket::open(&umem, name, queue, options);
    let odd = SocketOptions { receive_size: 100, ..usual.clone() };
    refused(open("vethA", 0, &odd), EINVAL, &["100 (receive)", "powers of two"]);
    let neither = SocketOptions { receive_size: 0, transmit_size: 0, ..usual.clone() };
    refused(open("vethA", 0, &neither), EINVAL, &["0 (receive)"]);
    refused(open("none0", 0, &usual), ENODEV, &["none0"]);
    let absent = open("none0", 0, &usual).unwrap_err();
    assert_eq!(absent.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(std::io::Error::from(absent).kind(), std::io::ErrorKind::NotFound);
    refused(open("veth\0A", 0, &usual), EINVAL, &["NUL"]);
    refused(open("vethA", 9, &usual), EINVAL, &["queue 9"]);
    let zerocopy = SocketOptions { mode: CopyMode::ZeroCopy, ..usual.clone() };
    refused(open("vethA", 0, &zerocopy), EOPNOTSUPP, &["copy mode"]);

    let _first = open("vethA", 0, &usual).unwrap();
    let stranger = Umem::new(&UmemOptions::default()).unwrap();
    let at_once = SocketOptions { busy_limit_ms: 0, ..usual };
    let error = Socket::open(&stranger, "vethA", 0, &at_once).unwrap_err();
    assert!(error.source().is_none());
    assert_eq!(io::Error::from(error.clone()).to_string(), error.to_string());
    refused::<()>(Err(error), EBUSY, &["queue 0 of 'vethA'"]);
}

#[test]
fn without_a_daemon_there_is_no_socket() {
    let nowhere = Path::new("/nowhere/broker.sock");
    let usual = PortOptions::default();
    let socket =
        |daemon, name, options| Socket::open_through_daemon(Some(daemon), name, 0, options);
    let says = ["/nowhere/broker.sock", "check that it runs"];
    refused(socket(nowhere, "vethA", &usual), ENOENT, &says);
    refused(Port::open_through_daemon(Some(nowhere), "vethA", 0, &usual), ENOENT, &says);
    refused(socket(Path::new("/now\0here"), "vethA", &usual), EINVAL, &["NUL"]);
    refused(socket(nowhere, "veth\0A", &usual), EINVAL, &["NUL"]);
    let memory = UmemOptions { huge_pages: true, ..UmemOptions::default() };
    let options = PortOptions { memory, ..PortOptions::default() };
    refused(socket(nowhere, "vethA", &options), EOPNOTSUPP, &["huge pages"]);
}

#[test]
fn bad_routes_are_refused() {
    let veth = Veth::new();
    veth.enter_b();
    refused(Program::attach("none0", AttachMode::Automatic), ENODEV, &["none0"]);
    let umem = Umem::new(&UmemOptions { frame_count: 64, ..UmemOptions::default() }).unwrap();
    let (one, _one) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
    let (other, _other) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
    let program = Program::attach("vethB", AttachMode::Generic).unwrap();
    assert!(!program.is_native());
    refused(Program::attach("vethB", AttachMode::Native), EBUSY, &["generic"]);
    let filter = Filter { udp_port: Some(7), ..Filter::default() };
    let route = program.route(&filter, &one).unwrap();
    refused(program.route(&filter, &other), EEXIST, &["receives them"]);
    drop(route);
    let _route = program.route(&filter, &other).unwrap();
    veth.enter_a();
    let of_a = Program::attach("vethA", AttachMode::Automatic).unwrap();
    let _ = of_a;
    let mut port = Port::open("vethA", 0, &PortOptions::default()).unwrap();
    refused(port.send(&[[]]), EINVAL, &["0 bytes"]);
    refused(port.send(&[vec![0; 4097]]), EINVAL, &["4097", "multi-buffer"]);
}
