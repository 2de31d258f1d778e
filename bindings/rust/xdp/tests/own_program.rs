//! Memory, a program and its map that the caller brings, over the veth of veth/mod.rs. What a
//! loader does is done here by bpf(2), for which these crates have no use.
mod veth;

use std::mem::size_of_val;
use std::os::raw::{c_int, c_long, c_void};
use std::os::unix::io::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null_mut, slice_from_raw_parts_mut, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use strata_xdp::*;
use veth::*;

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn mmap(
        at: *mut c_void,
        size: usize,
        how: c_int,
        flags: c_int,
        fd: c_int,
        from: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, size: usize) -> c_int;
}

#[cfg(target_arch = "x86_64")]
const BPF: c_long = 321;
#[cfg(target_arch = "aarch64")]
const BPF: c_long = 280;
const READ_AND_WRITE: c_int = 3;
const PRIVATE_AND_ANONYMOUS: c_int = 0x22;
const MAP_CREATE: c_int = 0;
const PROG_LOAD: c_int = 5;
const XSKMAP: u32 = 17;
const XDP: u32 = 6;
const COUNT: usize = 64;
const SIZE: usize = COUNT * 4096;

/// bpf(2): a descriptor of what it makes.
fn bpf<Attributes>(what: c_int, of: &Attributes) -> OwnedFd {
    // SAFETY: the kernel reads `of`, and what it points to, during the call.
    let fd = unsafe { syscall(BPF, what, of as *const Attributes, size_of_val(of)) };
    assert!(fd >= 0, "bpf({what}): {}", std::io::Error::last_os_error());
    // SAFETY: nobody else has it.
    unsafe { OwnedFd::from_raw_fd(fd as c_int) }
}

/// An XSKMAP of eight.
fn map() -> OwnedFd {
    bpf(MAP_CREATE, &[XSKMAP, 4, 4, 8, 0])
}

/// bpf_insn
fn instruction(code: u8, registers: u8, value: i32) -> u64 {
    u64::from(code) | u64::from(registers) << 8 | (value as u32 as u64) << 32
}

/// Redirects every frame to the map's entry 5.
fn program(map: &OwnedFd) -> OwnedFd {
    let code = [
        instruction(0x18, 0x11, map.as_raw_fd()), // r1 = the map
        0,
        instruction(0xb7, 2, 5),  // r2 = 5
        instruction(0xb7, 3, 2),  // r3 = XDP_PASS
        instruction(0x85, 0, 51), // bpf_redirect_map(r1, r2, r3)
        instruction(0x95, 0, 0),  // return r0
    ];
    let license = b"GPL\0";
    #[repr(C)]
    struct Load {
        kind: u32,
        count: u32,
        code: u64,
        license: u64,
        log: [u64; 2],
        version_and_flags: u64,
    }
    bpf(
        PROG_LOAD,
        &Load {
            kind: XDP,
            count: code.len() as u32,
            code: code.as_ptr() as u64,
            license: license.as_ptr() as u64,
            log: [0; 2],
            version_and_flags: 0,
        },
    )
}

fn region(at: NonNull<u8>, size: usize) -> NonNull<[u8]> {
    NonNull::new(slice_from_raw_parts_mut(at.as_ptr(), size)).unwrap()
}

/// Pages of one's own, which tell when they are let go.
struct Pages {
    at: NonNull<u8>,
    released: Arc<AtomicUsize>,
}

// SAFETY: it is memory, of no thread.
unsafe impl Send for Pages {}

impl Pages {
    fn new(released: &Arc<AtomicUsize>) -> Pages {
        // SAFETY: new memory of nobody's.
        let at = unsafe { mmap(null_mut(), SIZE, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0) };
        Pages { at: NonNull::new(at.cast()).unwrap(), released: released.clone() }
    }

    fn region(&self) -> NonNull<[u8]> {
        region(self.at, SIZE)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.released.fetch_add(1, Ordering::Relaxed);
        // SAFETY: it was mapped, and is used no more.
        unsafe { munmap(self.at.as_ptr().cast(), SIZE) };
    }
}

fn options() -> UmemOptions {
    UmemOptions { frame_count: COUNT as u32, ..UmemOptions::default() }
}

#[test]
fn frames_come_by_the_callers_program_into_the_callers_memory() {
    let veth = Veth::new();
    veth.enter_b();
    let released = Arc::<AtomicUsize>::default();
    let pages = Pages::new(&released);
    let memory = pages.region();
    // SAFETY: the pages are there until they are dropped, and nobody else writes to them.
    let umem = unsafe { Umem::over(memory, pages, &options()) }.unwrap();
    let (socket, rings) = Socket::open(&umem, "vethB", 0, &SocketOptions::default()).unwrap();
    let map = map();
    let program = program(&map);
    socket.enter_in_map(map.as_fd(), Some(5)).unwrap();
    assert!(socket.enter_in_map(map.as_fd(), Some(8)).is_err(), "the map ends with 7");
    assert!(socket.enter_in_map(program.as_fd(), None).is_err(), "a program is no map");
    let own = OwnProgram::attach("vethB", program.as_fd(), AttachMode::Automatic).unwrap();
    assert_eq!(own.mode(), AttachMode::Native);
    let mut fill = rings.fill;
    fill.fill(&mut umem.take(8));

    veth.enter_a();
    let mut a = Port::open(
        "vethA",
        0,
        &PortOptions {
            socket: SocketOptions { receive_size: 0, ..SocketOptions::default() },
            ..PortOptions::default()
        },
    )
    .unwrap();
    let sent = frame(1, &[], TYPE, 50);
    assert_eq!(a.send(&[&sent[..]]).unwrap(), 1);
    assert!(socket.wait_readable(Some(SOON)).unwrap());
    let mut rx = rings.rx.unwrap();
    let mut came = Vec::new();
    assert_eq!(rx.receive(&mut came, 8), 1);
    assert!(umem.bytes(&came[0]) == sent);
    // SAFETY: a frame that this test holds: the kernel does not write to it.
    let bytes = unsafe { memory.as_ref() };
    assert!(bytes.windows(sent.len()).any(|each| each == sent), "it lies in the caller's pages");

    drop((umem, came, fill, rx, rings.tx, rings.completion));
    assert_eq!(released.load(Ordering::Relaxed), 0, "the socket uses it");
    drop(socket);
    assert_eq!(released.load(Ordering::Relaxed), 1);
}

#[test]
fn what_cannot_be_is_refused_and_the_memory_let_go() {
    let veth = Veth::new();
    veth.enter_b();
    let released = Arc::<AtomicUsize>::default();
    let over = |from: usize, size: usize| {
        let pages = Pages::new(&released);
        // SAFETY: within the pages.
        let at = unsafe { NonNull::new_unchecked(pages.at.as_ptr().add(from)) };
        // SAFETY: they are there until they are dropped.
        unsafe { Umem::over(region(at, size), pages, &options()) }.map(drop)
    };
    assert_eq!(over(0, SIZE), Ok(()));
    for (number, (from, size)) in [(8, SIZE - 8), (0, SIZE - 4096)].into_iter().enumerate() {
        assert!(over(from, size).is_err());
        assert_eq!(released.load(Ordering::Relaxed), number + 2);
    }
    let map = map();
    let program = program(&map);
    let attach = |interface, what: &OwnedFd, mode| {
        OwnProgram::attach(interface, what.as_fd(), mode).map(drop).is_err()
    };
    assert!(attach("vethZ", &program, AttachMode::Native));
    assert!(attach("vethB", &map, AttachMode::Generic), "a map is no program");
    assert!(attach("vethB", &program, AttachMode::Hardware), "a veth has no processor");
    assert!(!attach("vethB", &program, AttachMode::Generic));
    assert!(Program::attach("vethB", AttachMode::Hardware).is_err(), "for an own program only");
}
