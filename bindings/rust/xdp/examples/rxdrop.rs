//! Receives frames by AF_XDP, drops them, and says how many a second that were, and how many the
//! kernel lost.

#[path = "endpoint/mod.rs"]
mod endpoint;
#[path = "flags/mod.rs"]
mod flags;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use endpoint::Endpoint;
use flags::Flags;
use strata_xdp::{
    AttachMode, FillRing, Filter, Frame, PortOptions, Program, Rings, RxRing, SocketOptions,
    Statistics,
};

const USAGE: &str = "rxdrop -d IFACE -q QUEUE -c COUNT [-t SECONDS] [-p UDP_PORT] [-f BYTES]
         [-w] [-z] [--through-daemon]
  ends after COUNT frames, after SECONDS, or when nothing came for 2 s after the first
  -p  only UDP to this port; otherwise every frame
  -f  size of the UMEM's frames (4096)
  -w  let the kernel sleep until it is woken (need-wakeup)
  -z  zero-copy mode
  --through-daemon  by the strata daemon, without privileges";

const BATCH: usize = 64;
const INTERVAL: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(2);

struct Options {
    endpoint: Endpoint,
    count: u64,
    limit: Option<Duration>,
    udp_port: Option<u16>,
}

impl Options {
    fn read(mut flags: Flags) -> Result<Options, String> {
        let seconds: Option<f64> = flags.optional("-t")?;
        let options = Options {
            endpoint: Endpoint::read(&mut flags)?,
            count: flags.required("-c")?,
            limit: match seconds {
                Some(seconds) if (0.0..1e9).contains(&seconds) => {
                    Some(Duration::from_secs_f64(seconds))
                }
                Some(seconds) => return Err(format!("-t {seconds}: no such time")),
                None => None,
            },
            udp_port: flags.optional("-p")?,
        };
        flags.end()?;
        Ok(options)
    }
}

/// The rates of whole intervals; of the whole time when that is shorter than one.
struct Meter {
    begin: Instant,
    interval: Instant,
    in_interval: u64,
    last: Instant,
    total: u64,
    rates: Option<(f64, f64)>,
}

impl Meter {
    /// With the first frames.
    fn new(now: Instant) -> Meter {
        Meter { begin: now, interval: now, in_interval: 0, last: now, total: 0, rates: None }
    }

    fn count(&mut self, frames: usize, now: Instant) {
        // A silence counts to the interval of the frame behind it, and at the end to none.
        if frames == 0 {
            return;
        }
        self.total += frames as u64;
        self.in_interval += frames as u64;
        self.last = now;
        let passed = now - self.interval;
        if passed >= INTERVAL {
            let rate = self.in_interval as f64 / passed.as_secs_f64();
            let (most, least) = self.rates.unwrap_or((rate, rate));
            self.rates = Some((most.max(rate), least.min(rate)));
            self.interval = now;
            self.in_interval = 0;
        }
    }

    fn is_silent(&self, now: Instant) -> bool {
        self.total != 0 && now - self.last >= SILENCE
    }

    /// The most and the least.
    fn rates(&self) -> (f64, f64) {
        let seconds = (self.last - self.begin).as_secs_f64();
        let rate = if seconds > 0.0 { self.total as f64 / seconds } else { 0.0 };
        self.rates.unwrap_or((rate, rate))
    }
}

fn receive(options: &Options, fill: &mut FillRing, rx: &mut RxRing) -> strata_xdp::Result<Meter> {
    let mut frames: Vec<Frame> = Vec::with_capacity(BATCH);
    let begin = Instant::now();
    let mut meter = Meter::new(begin);
    while meter.total < options.count {
        let most = (options.count - meter.total).min(BATCH as u64) as usize;
        let received = rx.receive(&mut frames, most);
        let now = Instant::now();
        if meter.total == 0 && received != 0 {
            meter = Meter::new(now);
        }
        meter.count(received, now);
        fill.fill(&mut frames);
        fill.wake_if_needed()?;
        if meter.is_silent(now) || options.limit.map_or(false, |limit| now - begin >= limit) {
            break;
        }
        if received == 0 {
            rx.wait(Some(Duration::from_millis(50)))?;
        }
    }
    Ok(meter)
}

fn print(meter: &Meter, counted: &Statistics) {
    let (most, least) = meter.rates();
    println!("[rxdrop] max: {most:.0} (pps) min: {least:.0} (pps)");
    println!(
        "[rxdrop] received: {} (pkts) kernel: dropped {}, receive ring full {}, fill ring empty {}",
        meter.total, counted.dropped, counted.receive_ring_full, counted.fill_ring_empty
    );
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let endpoint = &options.endpoint;
    let filter = Filter { udp_port: options.udp_port, ..Filter::default() };
    let socket_options = SocketOptions { transmit_size: 0, ..endpoint.socket_options() };
    let port_options = PortOptions { filter, ..endpoint.port_options(socket_options) };
    let (socket, rings) = endpoint.open(&port_options)?;
    let Rings { mut fill, rx, .. } = rings;
    let mut rx = rx.expect("it receives");
    // Before the first frame can come, but from a daemon's program.
    let room = fill.room(socket.umem().frame_count());
    fill.fill(&mut socket.umem().take(room));
    fill.wake_if_needed()?;
    let own = if endpoint.through_daemon {
        None
    } else {
        let program = Program::attach(&endpoint.interface, AttachMode::Automatic)?;
        let route = program.route(&port_options.filter, &socket)?;
        Some((program, route))
    };
    let program = match &own {
        None => "the daemon's",
        Some((program, _)) if program.is_native() => "native",
        Some(_) => "generic",
    };
    eprintln!(
        "[rxdrop] listens on queue {} of {}: {}, {program} program",
        endpoint.queue,
        endpoint.interface,
        if socket.is_zerocopy() { "zero-copy" } else { "copy" },
    );
    let meter = receive(options, &mut fill, &mut rx)?;
    print(&meter, &socket.statistics()?);
    Ok(())
}

fn main() -> ExitCode {
    let options = match Options::read(Flags::of_process()) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("rxdrop: {problem}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rxdrop: {error}");
            ExitCode::FAILURE
        }
    }
}
