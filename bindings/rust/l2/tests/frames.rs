//! Frames, sockets and rings over the wire of veth/mod.rs.
#[path = "../../xdp/tests/veth/mod.rs"]
mod veth;

use std::convert::TryFrom;
use std::fs::read_dir;
use std::time::Duration;

use strata_base::errno::{EBADMSG, EINVAL, EMSGSIZE, ENODEV, EOPNOTSUPP};
use strata_l2::*;
use veth::*;

const NOT: Option<Duration> = Some(Duration::ZERO);

fn only_ours() -> RawOptions {
    RawOptions { ethertype: Some(TYPE), ..RawOptions::default() }
}

fn numbered(number: u32, tags: Tags) -> Vec<u8> {
    let frame = Frame {
        destination: MacAddress(B),
        source: MacAddress(A),
        tags,
        ethertype: Some(TYPE),
        payload: &number.to_be_bytes(),
    };
    frame.build(DEFAULT_MTU).unwrap()
}

fn number_in(received: &Received<'_>) -> (u32, Option<VlanTag>) {
    let frame = Frame::parse(received.bytes).unwrap();
    assert_eq!((frame.destination, frame.source), (MacAddress(B), MacAddress(A)));
    let number = u32::from_be_bytes(<[u8; 4]>::try_from(&frame.payload[..4]).unwrap());
    (number, frame.tags.first().copied())
}

#[test]
fn tags_are_put_in_and_taken_out() {
    let plain = numbered(7, Tags::default());
    let tag = VlanTag { tpid: 0x88a8, vlan_id: 4094, priority: 5, drop_eligible: true };
    let mut memory = [vec![0; 4], plain.clone()].concat();
    push_tag(&mut memory, tag).unwrap();
    assert_eq!(outer_tag(&memory), Some(tag));
    assert_eq!(memory, numbered_with(&[tag], &plain));
    assert_eq!(pop_tag(&mut memory), plain);
    assert_eq!(outer_tag(&plain), None);
    assert_eq!(pop_tag(&mut plain.clone()), plain);
    assert_eq!(push_tag(&mut memory, VlanTag::new(4095, 0)).unwrap_err().errno(), EINVAL);
    assert_eq!(push_tag(&mut [0; 9], tag).unwrap_err().errno(), EINVAL);
    let two = Tags::try_from(&[tag, VlanTag::new(10, 7)][..]).unwrap();
    let bytes = numbered(1, two);
    assert_eq!(Frame::parse(&bytes).unwrap().tags, two);
    assert!(Tags::try_from(&[tag; 5][..]).unwrap_err().to_string().contains("5 tags"));
}

/// The frame with the tags behind its addresses.
fn numbered_with(tags: &[VlanTag], plain: &[u8]) -> Vec<u8> {
    let mut bytes = plain[..12].to_vec();
    for tag in tags {
        bytes.extend(tag.tpid.to_be_bytes());
        let tci = u16::from(tag.priority) << 13 | u16::from(tag.drop_eligible) << 12 | tag.vlan_id;
        bytes.extend(tci.to_be_bytes());
    }
    bytes.extend(&plain[12..]);
    bytes
}

#[test]
fn frames_that_cannot_be_are_refused() {
    assert_eq!(Frame::parse(&[0; 13]).unwrap_err().errno(), EBADMSG);
    let large = vec![0; 1501];
    let frame = Frame {
        destination: MacAddress(B),
        source: MacAddress(A),
        tags: Tags::default(),
        ethertype: Some(TYPE),
        payload: &large,
    };
    assert_eq!(frame.build(DEFAULT_MTU).unwrap_err().errno(), EMSGSIZE);
    let small = Frame { payload: &large[..10], ..frame };
    assert_eq!(small.build_into(DEFAULT_MTU, &mut [0; 40]).unwrap_err().errno(), EMSGSIZE);
    let odd = Frame { ethertype: Some(0x0500), payload: &[], ..frame };
    assert_eq!(odd.build(DEFAULT_MTU).unwrap_err().errno(), EINVAL);
    let by_length = Frame { ethertype: None, payload: &large[..100], ..frame };
    let bytes = by_length.build(DEFAULT_MTU).unwrap();
    assert_eq!(Frame::parse(&bytes).unwrap(), by_length);
}

#[test]
fn sockets_send_and_receive_many() {
    let veth = Veth::new();
    veth.enter_b();
    let mut receiver = RawSocket::open("vethB", &only_ours()).unwrap();
    veth.enter_a();
    let mut sender = RawSocket::open("vethA", &RawOptions::default()).unwrap();
    assert_eq!((sender.mac(), sender.mtu()), (MacAddress(A), 1500));
    let mut memory = [0; 2048];
    assert_eq!(receiver.receive(&mut memory, NOT).unwrap(), None);
    let tag = VlanTag { tpid: 0x8100, vlan_id: 10, priority: 7, drop_eligible: true };
    sender.send(&numbered(99, tag.into())).unwrap();
    let first = receiver.receive(&mut memory, Some(SOON)).unwrap().expect("a frame");
    assert_eq!(number_in(&first), (99, Some(tag)));
    assert!(!first.is_cut());

    let frames: Vec<_> = (0..200).map(|each| numbered(each, tag.into())).collect();
    let mut slots = Slots::new(64, 1600);
    let (mut sent, mut next) = (0, 0);
    while next < 200 {
        sent += sender.send_batch(&frames[sent..]).unwrap();
        for received in receiver.receive_batch(&mut slots, Some(SOON)).unwrap() {
            assert_eq!(number_in(&received), (next, Some(tag)));
            next += 1;
        }
    }
    assert_eq!(receiver.receive_batch(&mut slots, NOT).unwrap().len(), 0);
    assert_eq!(receiver.statistics().unwrap(), DeviceStatistics { received: 201, dropped: 0 });
    assert_eq!(sender.send(&[0; 1600]).unwrap_err().errno(), EMSGSIZE);
    assert_eq!(RawSocket::open("none0", &RawOptions::default()).unwrap_err().errno(), ENODEV);
}

#[test]
fn rings_lend_frames() {
    let veth = Veth::new();
    for kind in [RingKind::blocks(), RingKind::frames()] {
        veth.enter_b();
        let mut ring = Ring::open("vethB", &RingOptions { kind, socket: only_ours() }).unwrap();
        veth.enter_a();
        let sending = match kind {
            RingKind::Blocks { size, count, timeout_ms, .. } => {
                RingKind::Blocks { size, count, timeout_ms, send_slots: 64 }
            }
            frames => frames,
        };
        let mut sender =
            Ring::open("vethA", &RingOptions { kind: sending, ..RingOptions::default() }).unwrap();
        assert_eq!(ring.receive(NOT).unwrap().len(), 0);
        let tag = VlanTag::new(20, 3);
        let mut next = 0;
        for _ in 0..50 {
            let frames: Vec<_> = (next..next + 40).map(|each| numbered(each, tag.into())).collect();
            let mut sent = 0;
            while sent < frames.len() {
                sent += sender.send(&frames[sent..]).unwrap();
            }
            let until = next + 40;
            while next < until {
                for received in ring.receive(Some(SOON)).unwrap() {
                    assert_eq!(number_in(&received), (next, Some(tag)), "{kind:?}");
                    next += 1;
                }
            }
        }
        assert_eq!(ring.statistics().unwrap().dropped, 0);
    }
    let blocks = RingOptions::default();
    let mut silent = Ring::open("vethA", &blocks).unwrap();
    assert_eq!(silent.send(&[numbered(1, Tags::default())]).unwrap_err().errno(), EOPNOTSUPP);
}

#[test]
fn nothing_leaks() {
    let veth = Veth::new();
    veth.enter_a();
    let descriptors = || read_dir("/proc/self/fd").unwrap().count();
    let cycle = || {
        let socket = RawSocket::open("vethA", &RawOptions::default()).unwrap();
        let ring = Ring::open("vethA", &RingOptions::default()).unwrap();
        let line = Channel::open(&ChannelOptions {
            interface: "vethA".into(),
            ..ChannelOptions::default()
        })
        .unwrap();
        assert!(Ring::open("none0", &RingOptions::default()).is_err());
        drop((ring, line, socket));
    };
    cycle();
    let before = descriptors();
    for _ in 0..50 {
        cycle();
    }
    assert_eq!(descriptors(), before);
}
