//! The exchange with strata_echo by strata's own library: the command line, and the measuring.
#![no_main]

mod exchange;
mod failure;
mod family;

use std::os::raw::{c_char, c_int};
use std::time::Instant;

use strata_netlink::Generic;

use exchange::{demonstrate, echo, open_plain};
use failure::{usage, wrong, Result};

const USAGE: &str = "client [--family NAME | --controller] demo | once | time N";
const TIMES_MAX: usize = 1_000_000;

struct Target<'a> {
    family: &'a str,
    controller: bool, // measure "nlctrl" itself, which is there without the module
}

impl Target<'_> {
    fn exchange(&self, on: &mut Generic, family: u16) -> Result<()> {
        if !self.controller {
            return echo(on, family, "hello");
        }
        if on.resolve(self.family)? != family {
            return Err(wrong("the family has another number now"));
        }
        Ok(())
    }

    fn run_once(&self) -> Result<()> {
        let mut on = open_plain()?;
        let family = on.resolve(self.family)?;
        self.exchange(&mut on, family)
    }

    /// The whole, and the exchange alone, in turns.
    fn measure(&self, times: usize) -> Result<()> {
        let (mut whole, mut alone) = (Vec::with_capacity(times), Vec::with_capacity(times));
        let mut on = open_plain()?;
        let family = on.resolve(self.family)?;
        for _ in 0..times {
            let start = Instant::now(); // CLOCK_MONOTONIC
            self.run_once()?;
            whole.push(start.elapsed().as_nanos() as u64);
            let start = Instant::now();
            self.exchange(&mut on, family)?;
            alone.push(start.elapsed().as_nanos() as u64);
        }
        println!("{{\"whole_ns\":{},\"exchange_ns\":{}}}", summary(whole), summary(alone));
        Ok(())
    }
}

fn summary(mut values_ns: Vec<u64>) -> String {
    values_ns.sort_unstable();
    // Of the sorted values, the one that this many percent are not above.
    let percentile = |percent| values_ns[(values_ns.len() * percent + 99) / 100 - 1];
    format!("{{\"median\":{},\"p99\":{}}}", percentile(50), percentile(99))
}

fn parse_times(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(times) if (1..=TIMES_MAX).contains(&times) => Ok(times),
        _ => Err(usage(format!(
            "cannot measure '{text}' times; give a number from 1 to {TIMES_MAX}"
        ))),
    }
}

fn run(words: &[&str]) -> Result<()> {
    let (family, controller, verb) = match words {
        ["--family", name, rest @ ..] => (*name, false, rest),
        ["--controller", rest @ ..] => ("nlctrl", true, rest),
        rest => (family::NAME, false, rest),
    };
    let target = Target { family, controller };
    match verb {
        ["demo"] if !controller => demonstrate(family),
        ["once"] => target.run_once(),
        ["time", times] => target.measure(parse_times(times)?),
        _ => Err(usage(format!("cannot do '{}'; usage: {USAGE}", verb.join(" ")))),
    }
}

/// C's main instead of Rust's, whose runtime makes 19 system calls before and after it: it prepares
/// for descriptors that are closed, for a stack that overflows, and for a pipe that nobody reads.
/// What it is given, std::env has too.
#[no_mangle]
pub extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => 0,
        Err(failure) => {
            eprintln!("client: {}", failure.sentence);
            failure.code
        }
    }
}
