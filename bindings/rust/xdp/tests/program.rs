//! Programs, routes and ports, over the veth of veth/mod.rs.
mod veth;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use strata_xdp::*;
use veth::*;

fn open(interface: &str, filter: Filter) -> Port {
    Port::open(interface, 0, &PortOptions { filter, ..PortOptions::default() }).unwrap()
}

fn sender() -> Port {
    let socket = SocketOptions { receive_size: 0, ..SocketOptions::default() };
    Port::open("vethA", 0, &PortOptions { socket, ..PortOptions::default() }).unwrap()
}

fn send(port: &mut Port, frames: &[Vec<u8>]) {
    let until = Instant::now() + SOON;
    let mut sent = 0;
    while sent < frames.len() {
        assert!(Instant::now() < until, "{sent} frames were taken");
        sent += port.send(&frames[sent..]).unwrap();
    }
    port.flush(Some(SOON)).unwrap();
}

fn receive(port: &mut Port, count: usize) -> Vec<Vec<u8>> {
    let until = Instant::now() + SOON;
    let mut copies = Vec::new();
    while copies.len() < count && Instant::now() < until {
        let frames = port.receive(Some(Duration::from_millis(100))).unwrap();
        copies.extend(frames.map(<[u8]>::to_vec));
    }
    copies
}

#[test]
fn ports_bring_frames_in_batches_of_any_size() {
    let veth = Veth::new();
    veth.enter_b();
    let mut b = open("vethB", Filter { ethertype: Some(TYPE), ..Filter::default() });
    assert_eq!((b.is_native(), b.is_zerocopy()), (Some(true), false));
    veth.enter_a();
    let mut a = sender();
    assert_eq!(a.is_native(), None);
    let mut sent = Vec::new();
    for size in [1, 63, 64, 65, 500, 1] {
        let first = sent.len() as u32;
        sent.extend((first..first + size).map(|n| frame(n, &[(0x8100, 7)], TYPE, 50)));
        send(&mut a, &sent[first as usize..]);
    }
    assert!(receive(&mut b, sent.len()) == sent);
    assert_eq!(b.receive(Some(Duration::ZERO)).unwrap().len(), 0);
    assert_eq!(b.statistics().unwrap(), Statistics::default());
}

#[test]
fn filters_choose_by_each_field() {
    let veth = Veth::new();
    // UDP over IPv4 to port 7777, as far as a filter looks.
    let mut udp = frame(0, &[], 0x0800, 46);
    udp[14..42].fill(0);
    udp[14] = 0x45;
    udp[23] = 17;
    udp[36..38].copy_from_slice(&7777u16.to_be_bytes());
    let mut broadcast = frame(1, &[], OTHER_TYPE, 46);
    broadcast[..6].fill(0xff);
    let tagged = frame(2, &[(0x8100, 0xe00a)], OTHER_TYPE, 46);
    let typed = frame(3, &[(0x88a8, 1), (0x8100, 2)], TYPE, 46);
    let sent = [udp, broadcast, tagged, typed];
    let none = Filter::default;
    let filters = [
        Filter { udp_port: Some(7777), ..none() },
        Filter { destination: Some(MacAddress::BROADCAST), ..none() },
        Filter { vlan_id: Some(10), ..none() },
        Filter { ethertype: Some(TYPE), ..none() },
    ];
    for (filter, wanted) in filters.into_iter().zip(&sent) {
        veth.enter_b();
        let mut b = open("vethB", filter.clone());
        veth.enter_a();
        send(&mut sender(), &sent);
        let got = receive(&mut b, 1);
        assert_eq!(got, std::slice::from_ref(wanted), "{filter:?}");
        assert_eq!(b.receive(Some(Duration::from_millis(20))).unwrap().len(), 0, "{filter:?}");
    }
}

/// ARP and TCP, both ways, through the interface that frames come to a socket from.
#[test]
fn other_traffic_passes_beside_an_attached_program() {
    let veth = Veth::new();
    veth.enter_b();
    let mut b = open("vethB", Filter { ethertype: Some(TYPE), ..Filter::default() });
    let listener = TcpListener::bind("10.77.0.2:7000").unwrap();
    let echo = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = vec![0; 100_000];
        stream.read_exact(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    });
    veth.enter_a();
    let mut a = sender();
    let address = "10.77.0.2:7000".parse().unwrap();
    let mut stream = TcpStream::connect_timeout(&address, SOON).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let said: Vec<u8> = (0..100_000u32).map(|i| (i / 7) as u8).collect();
    stream.write_all(&said).unwrap();
    let beside: Vec<_> = (0..100).map(|number| frame(number, &[], TYPE, 60)).collect();
    send(&mut a, &beside);
    let mut heard = vec![0; said.len()];
    stream.read_exact(&mut heard).unwrap();
    echo.join().unwrap();
    assert!(heard == said);
    assert!(receive(&mut b, beside.len()) == beside);
}

#[test]
fn frames_come_only_as_long_as_the_route_lives() {
    let veth = Veth::new();
    veth.enter_b();
    let umem = Umem::new(&UmemOptions { frame_count: 64, ..UmemOptions::default() }).unwrap();
    let (socket, mut rings) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
    rings.fill.fill(&mut umem.take(32));
    let rx = rings.rx.as_mut().unwrap();
    let program = Program::attach("vethB", AttachMode::Generic).unwrap();
    let route = program.route(&Filter::default(), &socket).unwrap();
    veth.enter_a();
    let mut a = sender();
    let mut frames = Vec::new();
    send(&mut a, &[frame(1, &[], TYPE, 60)]);
    assert!(rx.wait(Some(SOON)).unwrap());
    assert_eq!(rx.receive(&mut frames, 64), 1);
    drop(route);
    send(&mut a, &[frame(2, &[], TYPE, 60)]);
    assert!(!rx.wait(Some(Duration::from_millis(50))).unwrap());
    let _again = program.route(&Filter::default(), &socket).unwrap();
    send(&mut a, &[frame(3, &[], TYPE, 60)]);
    assert!(rx.wait(Some(SOON)).unwrap());
    assert_eq!(rx.receive(&mut frames, 64), 1);
    assert_eq!(umem.bytes(&frames[1]), frame(3, &[], TYPE, 60));
}

#[test]
fn large_frames_come_in_several_chunks() {
    let veth = Veth::new();
    veth.set_mtu(9000);
    let socket = SocketOptions { multi_buffer: true, ..SocketOptions::default() };
    let filter = Filter { ethertype: Some(TYPE), ..Filter::default() };
    veth.enter_b();
    let options = PortOptions { filter, socket: socket.clone(), ..PortOptions::default() };
    let mut b = match Port::open("vethB", 0, &options) {
        Ok(port) => port,
        Err(error) => return eprintln!("SKIPPED: this kernel has no multi-buffer: {error}"),
    };
    // By the rings too: two chunks of one packet.
    veth.enter_a();
    let umem = Umem::new(&UmemOptions { frame_count: 4, ..UmemOptions::default() }).unwrap();
    let (_socket, rings) = Socket::open(&umem, "vethA", 0, &socket).unwrap();
    let mut tx = rings.tx.unwrap();
    let large = frame(9, &[], TYPE, 6000);
    let mut frames = umem.take(2);
    umem.write(&mut frames[0], &large[..4000]).unwrap();
    frames[0].set_continues(true);
    umem.write(&mut frames[1], &large[4000..]).unwrap();
    assert_eq!(tx.transmit(&mut frames).unwrap(), 2);
    while !tx.wake_if_needed().unwrap() {}
    let got = receive(&mut b, 1);
    assert!(got == [large], "{:?}", got.iter().map(Vec::len).collect::<Vec<_>>());
}

#[test]
fn the_kernel_counts_what_it_loses() {
    let veth = Veth::new();
    veth.enter_b();
    let umem = Umem::new(&UmemOptions { frame_count: 64, ..UmemOptions::default() }).unwrap();
    let options = SocketOptions { receive_size: 4, ..SocketOptions::default() };
    let (socket, mut rings) = Socket::open(&umem, "vethB", 0, &options).unwrap();
    let program = Program::attach("vethB", AttachMode::Automatic).unwrap();
    let filter = Filter { ethertype: Some(TYPE), ..Filter::default() };
    let _route = program.route(&filter, &socket).unwrap();
    veth.enter_a();
    let mut a = sender();
    let ten: Vec<_> = (0..10).map(|number| frame(number, &[], TYPE, 60)).collect();
    let wait_until = |enough: fn(&Statistics) -> bool| {
        let until = Instant::now() + SOON;
        while !enough(&socket.statistics().unwrap()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        socket.statistics().unwrap()
    };

    send(&mut a, &ten);
    let no_frames = wait_until(|counted| counted.fill_ring_empty >= 10);
    assert_eq!((no_frames.dropped, no_frames.fill_ring_empty), (10, 10), "{no_frames:?}");

    rings.fill.fill(&mut umem.take(32));
    send(&mut a, &ten);
    let no_place = wait_until(|counted| counted.receive_ring_full >= 6);
    assert_eq!((no_place.fill_ring_empty, no_place.receive_ring_full), (10, 6), "{no_place:?}");
    assert!([10, 16].contains(&no_place.dropped), "{no_place:?}");
    assert_eq!(rings.rx.as_mut().unwrap().receive(&mut Vec::new(), 64), 4);
}
