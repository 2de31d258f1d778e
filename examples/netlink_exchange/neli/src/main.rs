//! The exchange with strata_echo by neli: the command line, and the measuring.

mod connection;
mod exchange;
mod failure;
mod family;

use std::time::Instant;

use connection::Connection;
use exchange::{ask_controller, demonstrate, echo, id_of};
use failure::{usage, Result};

const USAGE: &str = "client [--family NAME | --controller] demo | once | time N";
const TIMES_MAX: usize = 1_000_000;

struct Target {
    family: String,
    controller: bool, // measure "nlctrl" itself, which is there without the module
}

impl Target {
    fn resolve(&self, connection: &mut Connection) -> Result<u16> {
        id_of(&ask_controller(connection, &self.family)?)
    }

    fn exchange(&self, connection: &mut Connection, family: u16) -> Result<()> {
        if self.controller {
            return ask_controller(connection, &self.family).map(|_| ());
        }
        echo(connection, family, "hello")
    }

    fn run_once(&self) -> Result<()> {
        let mut connection = Connection::open()?;
        let family = self.resolve(&mut connection)?;
        self.exchange(&mut connection, family)
    }

    fn measure(&self, times: usize) -> Result<()> {
        let (mut whole, mut exchange) = (Vec::with_capacity(times), Vec::with_capacity(times));
        let mut connection = Connection::open()?;
        let family = self.resolve(&mut connection)?;
        for _ in 0..times {
            let start = Instant::now(); // CLOCK_MONOTONIC
            self.run_once()?;
            whole.push(start.elapsed().as_nanos());
            let start = Instant::now();
            self.exchange(&mut connection, family)?;
            exchange.push(start.elapsed().as_nanos());
        }
        println!("{{\"whole_ns\":{},\"exchange_ns\":{}}}", summary(whole), summary(exchange));
        Ok(())
    }
}

fn summary(mut values_ns: Vec<u128>) -> String {
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
    let target = Target { family: family.to_string(), controller };
    match verb {
        ["demo"] if !controller => demonstrate(family),
        ["once"] => target.run_once(),
        ["time", times] => target.measure(parse_times(times)?),
        _ => Err(usage(format!("cannot do '{}'; usage: {USAGE}", verb.join(" ")))),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Err(failure) = run(&words) {
        eprintln!("client: {}", failure.sentence);
        std::process::exit(failure.code);
    }
}
