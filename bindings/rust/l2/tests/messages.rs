//! Channels and hybrids over the wire of veth/mod.rs.
#[path = "../../xdp/tests/veth/mod.rs"]
mod veth;

use std::thread;
use std::time::Duration;

use strata_base::errno::{ECONNRESET, EMSGSIZE};
use strata_l2::*;
use veth::*;

fn line(interface: &str, acknowledged: bool) -> Channel {
    Channel::open(&ChannelOptions {
        interface: interface.into(),
        name: "line".into(),
        acknowledged,
        ..ChannelOptions::default()
    })
    .unwrap()
}

fn next_of(from: &mut Channel) -> Vec<u8> {
    from.receive(Some(SOON)).unwrap().expect("a message").bytes.to_vec()
}

#[test]
fn messages_of_any_size_go_from_end_to_end() {
    let veth = Veth::new();
    veth.enter_b();
    let mut other = line("vethB", false);
    veth.enter_a();
    let mut one = line("vethA", false);
    assert_eq!(other.receive(Some(Duration::ZERO)).unwrap(), None);
    let large = vec![7; 100_000];
    one.send(b"").unwrap();
    one.send(&large).unwrap();
    assert!(one.post(b"posted").unwrap());
    one.flush().unwrap();
    assert_eq!(next_of(&mut other), b"");
    assert_eq!(next_of(&mut other), large);
    assert_eq!(next_of(&mut other), b"posted");
    assert_eq!(one.send(&vec![0; 2 << 20]).unwrap_err().errno(), EMSGSIZE);
}

#[test]
fn an_acknowledged_peer_that_goes_is_told_of_once() {
    let veth = Veth::new();
    veth.enter_b();
    let mut other = line("vethB", true);
    veth.enter_a();
    let mut one = line("vethA", true);
    let echoing = thread::spawn(move || {
        let heard = next_of(&mut other);
        other.send(&heard).unwrap();
        other.finish(Some(SOON)).unwrap();
    });
    one.send(b"hello").unwrap();
    assert_eq!(next_of(&mut one), b"hello");
    one.finish(Some(SOON)).unwrap();
    echoing.join().unwrap();
    assert_eq!(one.receive(Some(2 * SOON)).unwrap_err().errno(), ECONNRESET);
    assert_eq!(one.receive(Some(Duration::ZERO)).unwrap(), None);
    assert!(!one.has_peer());
}

#[test]
fn hybrids_agree_by_tcp_and_send_tagged_frames() {
    let veth = Veth::new();
    veth.enter_b();
    let options = HybridOptions {
        tcp_port: 0,
        vlan_id: Some(42),
        priority: 6,
        timeout_ms: 10_000,
        ..HybridOptions::default()
    };
    let mut listener = HybridListener::listen("vethB", &options).unwrap();
    let port = listener.port();
    assert_ne!(port, 0);
    let accepting = thread::spawn(move || listener.accept().unwrap());
    veth.enter_a();
    let options = HybridOptions { tcp_port: port, ..options };
    let mut client = Hybrid::connect("vethA", "10.77.0.2", &options).unwrap();
    let mut server = accepting.join().unwrap();
    assert_eq!((client.peer(), server.peer()), (MacAddress(B), MacAddress(A)));
    assert_eq!(client.receive(Some(Duration::ZERO)).unwrap(), None);
    server.send(b"start the pump").unwrap();
    let message = client.receive(Some(SOON)).unwrap().expect("a message");
    assert_eq!((message.bytes, message.tag), (&b"start the pump"[..], Some((42, 6))));
    assert_eq!(client.send(&vec![0; client.max_payload() + 1]).unwrap_err().errno(), EMSGSIZE);
    drop(server);
    assert_eq!(client.receive(Some(2 * SOON)).unwrap_err().errno(), ECONNRESET);
}
