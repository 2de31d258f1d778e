//! UMEM, sockets and rings, over the veth of veth/mod.rs.
mod veth;

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use strata_xdp::*;
use veth::*;

struct Receiver {
    fill: FillRing,
    rx: RxRing,
    spare: Vec<Frame>,
    _route: Route,
    socket: Socket,
}

impl Receiver {
    /// On vethB, of this thread's namespace.
    fn open(umem: &Umem, filter: &Filter, options: &SocketOptions) -> Receiver {
        let (socket, rings) = Socket::open(umem, "vethB", 0, options).unwrap();
        let program = Program::attach("vethB", AttachMode::Automatic).unwrap();
        let route = program.route(filter, &socket).unwrap();
        let mut fill = rings.fill;
        let mut spare = umem.take(umem.free_count() / 2);
        fill.fill(&mut spare);
        fill.wake_if_needed().unwrap();
        Receiver { fill, rx: rings.rx.unwrap(), spare, _route: route, socket }
    }

    /// `count` frames, or fewer when they do not come soon.
    fn receive(&mut self, count: usize) -> Vec<Vec<u8>> {
        let until = Instant::now() + SOON;
        let mut copies = Vec::new();
        let mut frames = Vec::with_capacity(64);
        while copies.len() < count && Instant::now() < until {
            if self.rx.receive(&mut frames, 64) == 0 {
                self.rx.wait(Some(Duration::from_millis(100))).unwrap();
                continue;
            }
            copies.extend(frames.iter().map(|frame| self.rx.umem().bytes(frame).to_vec()));
            self.spare.append(&mut frames);
            self.fill.fill(&mut self.spare);
            self.fill.wake_if_needed().unwrap();
        }
        copies
    }
}

struct Sender {
    tx: TxRing,
    completion: CompletionRing,
    free: Vec<Frame>,
    in_flight: usize,
}

impl Sender {
    fn open(umem: &Umem, options: &SocketOptions) -> Sender {
        let options = SocketOptions { receive_size: 0, ..options.clone() };
        let (_, rings) = Socket::open(umem, "vethA", 0, &options).unwrap();
        let free = umem.take(umem.free_count());
        Sender { tx: rings.tx.unwrap(), completion: rings.completion, free, in_flight: 0 }
    }

    fn send(&mut self, all: &[Vec<u8>]) {
        let mut batch = Vec::new();
        let until = Instant::now() + SOON;
        let mut left = all.iter().peekable();
        while left.peek().is_some() || !batch.is_empty() || self.in_flight != 0 {
            assert!(Instant::now() < until, "{} frames are not sent", self.in_flight);
            while batch.len() < 64 && !self.free.is_empty() && left.peek().is_some() {
                let mut frame = self.free.pop().unwrap();
                let bytes = left.next().unwrap();
                self.tx.umem().write(&mut frame, bytes).unwrap();
                batch.push(frame);
            }
            self.in_flight += self.tx.transmit(&mut batch).unwrap();
            self.tx.wake_if_needed().unwrap();
            self.in_flight -= self.completion.complete(&mut self.free, usize::MAX);
        }
    }
}

fn small(frame_count: u32) -> Umem {
    Umem::new(&UmemOptions { frame_count, ..UmemOptions::default() }).unwrap()
}

fn only(ethertype: u16) -> Filter {
    Filter { ethertype: Some(ethertype), ..Filter::default() }
}

/// One thread each; far more frames than chunks, so that each is used many times.
fn frames_arrive(memory: &UmemOptions, options: &SocketOptions) {
    let veth = Veth::new();
    let sent: Vec<_> = (0..3000)
        .map(|number| {
            let tci = (number * 31) as u16;
            let tags = [(0x88a8, tci), (0x8100, !tci)];
            frame(number, &tags[..number as usize % 3], TYPE, 46 + number as usize % 1400)
        })
        .collect();
    veth.enter_b();
    let mut receiver = Receiver::open(&Umem::new(memory).unwrap(), &only(TYPE), options);
    let got = thread::scope(|scope| {
        let receiving = scope.spawn(|| receiver.receive(sent.len()));
        scope.spawn(|| {
            veth.enter_a();
            Sender::open(&small(256), options).send(&sent);
        });
        receiving.join().unwrap()
    });
    let counted = receiver.socket.statistics().unwrap();
    assert_eq!((counted.dropped, counted.receive_ring_full), (0, 0));
    assert_eq!(got.len(), sent.len());
    assert!(got == sent, "not what was sent, or not in its order");
}

#[test]
fn frames_arrive_whole_in_order_with_their_vlan_tags() {
    let memory = UmemOptions { frame_count: 8192, ..UmemOptions::default() };
    let options = SocketOptions { receive_size: 4096, fill_size: 4096, ..SocketOptions::default() };
    frames_arrive(&memory, &options);
    frames_arrive(&memory, &SocketOptions { need_wakeup: false, ..options });
}

#[test]
fn small_and_unaligned_frames_arrive_too() {
    let options = SocketOptions { receive_size: 4096, fill_size: 4096, ..SocketOptions::default() };
    let memory = UmemOptions { frame_count: 8192, ..UmemOptions::default() };
    frames_arrive(&UmemOptions { frame_size: 2048, headroom: 64, ..memory.clone() }, &options);
    let unaligned = UmemOptions { frame_size: 3000, headroom: 64, unaligned: true, ..memory };
    frames_arrive(&unaligned, &options);
}

#[test]
fn two_sockets_on_one_umem_share_its_frames() {
    let veth = Veth::new();
    veth.enter_b();
    let umem = small(512);
    let options = SocketOptions::default();
    let mut one = Receiver::open(&umem, &only(TYPE), &options);
    let mut other = Receiver::open(&umem, &only(OTHER_TYPE), &options);
    veth.enter_a();
    let mut sender = Sender::open(&small(64), &options);
    // No more than the frames that wait for them.
    for number in 0..150 {
        sender.send(&[frame(number, &[], TYPE, 60), frame(number, &[], OTHER_TYPE, 60)]);
    }
    let numbers = |type_of| (0..150).map(|n| frame(n, &[], type_of, 60)).collect::<Vec<_>>();
    thread::scope(|scope| {
        scope.spawn(|| assert!(one.receive(150) == numbers(TYPE)));
        scope.spawn(|| assert!(other.receive(150) == numbers(OTHER_TYPE)));
    });
    // The queue's fill ring is the second's still.
    drop(one);
    sender.send(&[frame(1, &[], OTHER_TYPE, 60)]);
    assert_eq!(other.receive(1), [frame(1, &[], OTHER_TYPE, 60)]);
}

/// What arrives is sent back where it is, without a copy, with a tag put in front.
#[test]
fn received_frames_can_be_sent_on_with_another_header() {
    let veth = Veth::new();
    veth.enter_b();
    let umem = small(128);
    let (socket, rings) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
    let program = Program::attach("vethB", AttachMode::Automatic).unwrap();
    let _route = program.route(&only(TYPE), &socket).unwrap();
    let Rings { mut fill, mut completion, rx, tx } = rings;
    let (mut rx, mut tx) = (rx.unwrap(), tx.unwrap());
    let mut frames = umem.take(64);
    fill.fill(&mut frames);
    assert!(frames.is_empty());

    veth.enter_a();
    let mut port = Port::open("vethA", 0, &PortOptions::default()).unwrap();
    assert_eq!(port.send(&[frame(5, &[], TYPE, 100)]).unwrap(), 1);
    assert!(rx.wait(Some(SOON)).unwrap());
    assert_eq!(rx.receive(&mut frames, 8), 1);

    let received = frames[0].range();
    frames[0].set_range(received.start - 4..received.end).unwrap();
    let bytes = umem.bytes_mut(&mut frames[0]);
    bytes.copy_within(4..16, 0);
    bytes[12..16].copy_from_slice(&[0x81, 0, 0x60, 9]);
    assert_eq!(tx.transmit(&mut frames).unwrap(), 1);
    tx.wake_if_needed().unwrap();
    let back = port.receive(Some(SOON)).unwrap().next().map(<[u8]>::to_vec);
    assert_eq!(back, Some(frame(5, &[(0x8100, 0x6009)], TYPE, 100)));

    let until = Instant::now() + SOON;
    while completion.complete(&mut frames, 8) == 0 {
        assert!(Instant::now() < until);
        thread::yield_now();
    }
    assert_eq!((frames.len(), frames[0].len()), (1, 0));
}

/// Far more frames than the rings hold.
#[test]
fn no_frame_is_lost_on_its_way() {
    let veth = Veth::new();
    veth.enter_a();
    let umem = small(100);
    let options =
        SocketOptions { transmit_size: 16, completion_size: 16, ..SocketOptions::default() };
    let (_, rings) = Socket::open(&umem, "vethA", 0, &options).unwrap();
    let Rings { mut fill, mut completion, tx, .. } = rings;
    let mut tx = tx.unwrap();
    let mut frames = umem.take(1000);
    assert_eq!((frames.len(), umem.free_count(), tx.room(9999)), (100, 0, 16));
    for frame in &mut frames {
        umem.write(frame, &veth::frame(0, &[], TYPE, 60)).unwrap();
    }
    assert_eq!(tx.transmit(&mut frames).unwrap(), 16);
    assert_eq!((frames.len(), tx.room(9999)), (84, 0));
    assert_eq!(tx.transmit(&mut frames).unwrap(), 0);
    let mut done = Vec::new();
    let until = Instant::now() + SOON;
    while done.len() < 100 && Instant::now() < until {
        tx.wake_if_needed().unwrap();
        completion.complete(&mut done, 7);
        tx.transmit(&mut frames).unwrap();
    }
    let seen: HashSet<_> = done.iter().map(|frame| frame.descriptor().address).collect();
    assert_eq!((seen.len(), frames.len()), (100, 0));
    assert_eq!(completion.complete(&mut done, usize::MAX), 0);
    assert_eq!((fill.fill(&mut done), fill.room(9999)), (100, 1948));
    umem.give_back(done);
    assert_eq!(umem.free_count(), 0);
}

#[test]
fn what_the_kernel_would_lose_is_refused() {
    let veth = Veth::new();
    veth.enter_a();
    let (umem, stranger) = (small(8), small(8));
    let (_, rings) = Socket::open(&umem, "vethA", 0, &SocketOptions::default()).unwrap();
    let (mut fill, mut tx) = (rings.fill, rings.tx.unwrap());

    let mut frames = umem.take(2);
    let error = tx.transmit(&mut frames).unwrap_err();
    assert!(error.to_string().contains("covers no bytes"), "{error}");
    frames[0].set_len(60).unwrap();
    frames[1].set_len(60).unwrap();
    frames[1].set_continues(true);
    let error = tx.transmit(&mut frames).unwrap_err();
    assert!(error.to_string().contains("multi_buffer"), "{error}");
    assert_eq!(frames.len(), 2, "none is moved");

    let mut foreign = stranger.take(1);
    foreign[0].set_len(60).unwrap();
    frames[1].set_continues(false);
    frames.append(&mut foreign);
    type Attempt<'a> = Box<dyn FnOnce(&mut Vec<Frame>) -> usize + 'a>;
    let attempts: [Attempt<'_>; 4] = [
        Box::new(|frames| tx.transmit(frames).unwrap()),
        Box::new(|frames| fill.fill(frames)),
        Box::new(|frames| umem.bytes(&frames[2]).len()),
        Box::new(|frames| umem.bytes_mut(&mut frames[2]).len()),
    ];
    for attempt in attempts {
        let refused = std::panic::AssertUnwindSafe(|| attempt(&mut frames));
        assert!(std::panic::catch_unwind(refused).is_err());
        assert_eq!(frames.len(), 3, "none is moved");
    }
}
