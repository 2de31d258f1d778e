//! What every test over the wire runs in, made by it and removed with it:
//!
//!     namespace strata-rust-ANY-N-a           namespace strata-rust-ANY-N-b
//!     vethA 02:00:00:00:00:0a  <===========>  vethB 02:00:00:00:00:0b
//!           10.77.0.1/30                            10.77.0.2/30
//!
//! Needs root. Veth has one queue and copy mode only.
#![allow(dead_code)] // each test file uses a part

use std::fs::File;
use std::os::raw::c_int;
use std::os::unix::io::AsRawFd;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// Long enough on a machine that is busy with other things.
pub const SOON: std::time::Duration = std::time::Duration::from_secs(5);

pub const A: [u8; 6] = [2, 0, 0, 0, 0, 10];
pub const B: [u8; 6] = [2, 0, 0, 0, 0, 11];
pub const TYPE: u16 = 0x88b5;
pub const OTHER_TYPE: u16 = 0x88b6;

extern "C" {
    fn setns(fd: c_int, kind: c_int) -> c_int;
}

pub struct Veth {
    a: String,
    b: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Veth {
    pub fn new() -> Veth {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A process's number comes again: one that was ended may have left its namespace behind.
        let any = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let name = |side| format!("strata-rust-{any}-{number}-{side}");
        let made = Veth { a: name("a"), b: name("b") };
        let (a, b) = (&made.a, &made.b);
        run(&format!("ip netns add {a}"));
        run(&format!("ip netns add {b}"));
        run(&format!(
            "ip -n {a} link add vethA address 02:00:00:00:00:0a type veth \
             peer name vethB address 02:00:00:00:00:0b netns {b}"
        ));
        for (side, interface, address) in
            [(a, "vethA", "10.77.0.1/30"), (b, "vethB", "10.77.0.2/30")]
        {
            // No neighbour discovery of its own between the test's frames.
            run(&format!("ip netns exec {side} sysctl -qw net.ipv6.conf.all.disable_ipv6=1"));
            run(&format!("ip -n {side} address add {address} dev {interface}"));
            run(&format!("ip -n {side} link set {interface} up"));
        }
        made
    }

    /// What this thread opens from now on is in the namespace of vethA.
    pub fn enter_a(&self) {
        enter(&self.a);
    }

    pub fn enter_b(&self) {
        enter(&self.b);
    }

    /// A program in the namespace of vethA, to be given its arguments; ends after a minute.
    pub fn command_a(&self, program: &str) -> Command {
        command(&self.a, program)
    }

    pub fn command_b(&self, program: &str) -> Command {
        command(&self.b, program)
    }

    pub fn set_mtu(&self, mtu: u32) {
        run(&format!("ip -n {} link set vethA mtu {mtu}", self.a));
        run(&format!("ip -n {} link set vethB mtu {mtu}", self.b));
    }
}

impl Drop for Veth {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

fn enter(namespace: &str) {
    let opened = File::open(format!("/run/netns/{namespace}")).expect("the namespace is there");
    // SAFETY: takes two integers, and moves this thread.
    let moved = unsafe { setns(opened.as_raw_fd(), 0) };
    assert_eq!(moved, 0, "setns: {}", std::io::Error::last_os_error());
}

fn command(namespace: &str, program: &str) -> Command {
    let mut made = Command::new("timeout");
    made.args(["60", "ip", "netns", "exec", namespace, program]);
    made
}

fn run(line: &str) {
    let mut words = line.split_whitespace();
    let mut command = Command::new("timeout");
    command.arg("10").args(words.by_ref());
    succeeded(line, &command.output().expect("timeout(1) is there"));
}

/// What it printed.
pub fn succeeded(what: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {}: {said} (these tests need root)", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An Ethernet frame from A to B, with tags of (TPID, TCI), whose payload begins with `number`.
pub fn frame(number: u32, tags: &[(u16, u16)], ethertype: u16, payload: usize) -> Vec<u8> {
    let mut bytes = [B, A].concat();
    for (tpid, tci) in tags {
        bytes.extend(tpid.to_be_bytes());
        bytes.extend(tci.to_be_bytes());
    }
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend((4..payload).map(|i| (i as u32).wrapping_mul(7).wrapping_add(number) as u8));
    bytes
}
