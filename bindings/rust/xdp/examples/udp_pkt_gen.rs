//! Sends UDP packets of 60 bytes by AF_XDP as fast as it can, and says how fast that was. The
//! payload of each begins with its number, from 0 on: 8 bytes, big-endian.

#[path = "endpoint/mod.rs"]
mod endpoint;
#[path = "flags/mod.rs"]
mod flags;

use std::error::Error;
use std::net::SocketAddrV4;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use endpoint::Endpoint;
use flags::Flags;
use strata_xdp::{CompletionRing, Frame, MacAddress, Rings, SocketOptions, TxRing};

const USAGE: &str = "udp_pkt_gen -d IFACE -q QUEUE -c COUNT -dmac MAC -smac MAC \
                     -dip IP:PORT -sip IP:PORT [-f BYTES] [-w] [-z] [--through-daemon]
  -f  size of the UMEM's frames (4096)
  -w  let the kernel sleep until it is woken (need-wakeup)
  -z  zero-copy mode
  --through-daemon  by the strata daemon, without privileges";

const BATCH: usize = 64;
const PACKET: usize = 60;
const UDP: usize = 14 + 20;
const PAYLOAD: usize = UDP + 8;

/// How long the kernel may send nothing before that is an error.
const PATIENCE: Duration = Duration::from_secs(2);

struct Options {
    endpoint: Endpoint,
    count: u64,
    destination: (MacAddress, SocketAddrV4),
    source: (MacAddress, SocketAddrV4),
}

impl Options {
    fn read(mut flags: Flags) -> Result<Options, String> {
        let options = Options {
            endpoint: Endpoint::read(&mut flags)?,
            count: flags.required("-c")?,
            destination: (flags.required("-dmac")?, flags.required("-dip")?),
            source: (flags.required("-smac")?, flags.required("-sip")?),
        };
        flags.end()?;
        Ok(options)
    }
}

/// The sum of 16-bit words that the checksums of IP and UDP are the complement of (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)))
        .sum()
}

fn checksum(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// All packets are alike but for their numbers and UDP checksums.
struct Template {
    bytes: [u8; PACKET],
    udp_sum: u32,
}

impl Template {
    fn new(options: &Options) -> Template {
        let mut bytes = [0; PACKET];
        let (destination, source) = (&options.destination, &options.source);
        bytes[..6].copy_from_slice(&destination.0 .0);
        bytes[6..12].copy_from_slice(&source.0 .0);
        bytes[12..14].copy_from_slice(&0x0800u16.to_be_bytes());

        let ip = &mut bytes[14..UDP];
        ip[0] = 0x45; // version 4, 5 words of header
        ip[2..4].copy_from_slice(&((PACKET - 14) as u16).to_be_bytes());
        ip[6] = 0x40; // do not fragment
        ip[8] = 64; // time to live
        ip[9] = 17; // UDP
        ip[12..16].copy_from_slice(&source.1.ip().octets());
        ip[16..20].copy_from_slice(&destination.1.ip().octets());
        let header = checksum(sum(ip));
        ip[10..12].copy_from_slice(&header.to_be_bytes());
        let addresses = sum(&ip[12..20]);

        let length = (PACKET - UDP) as u16;
        let udp = &mut bytes[UDP..];
        udp[..2].copy_from_slice(&source.1.port().to_be_bytes());
        udp[2..4].copy_from_slice(&destination.1.port().to_be_bytes());
        udp[4..6].copy_from_slice(&length.to_be_bytes());
        // With the pseudo header.
        let udp_sum = sum(udp) + addresses + 17 + u32::from(length);
        Template { bytes, udp_sum }
    }

    /// Turns the template, which `packet` is a copy of, into packet `number`.
    fn number(&self, packet: &mut [u8], number: u64) {
        let number = number.to_be_bytes();
        packet[PAYLOAD..PAYLOAD + 8].copy_from_slice(&number);
        // 0 would say that there is no checksum.
        let udp = match checksum(self.udp_sum + sum(&number)) {
            0 => 0xffff,
            other => other,
        };
        packet[UDP + 6..UDP + 8].copy_from_slice(&udp.to_be_bytes());
    }
}

struct Generator {
    template: Template,
    tx: TxRing,
    completion: CompletionRing,
    /// Each has the template in it.
    free: Vec<Frame>,
    batch: Vec<Frame>,
}

impl Generator {
    fn open(options: &Options) -> strata_xdp::Result<Generator> {
        let endpoint = &options.endpoint;
        let socket = SocketOptions { receive_size: 0, ..endpoint.socket_options() };
        let (socket, rings) = endpoint.open(&endpoint.port_options(socket))?;
        let umem = socket.umem();
        let Rings { completion, tx, .. } = rings;
        let tx = tx.expect("it sends");
        let template = Template::new(options);
        let mut free = umem.take(umem.frame_count());
        for frame in &mut free {
            umem.write(frame, &template.bytes)?;
        }
        Ok(Generator { template, tx, completion, free, batch: Vec::with_capacity(BATCH) })
    }

    /// Returns how many were sent: fewer when the kernel sends no more.
    fn send(&mut self, count: u64) -> strata_xdp::Result<u64> {
        let (mut next, mut sent) = (0, 0);
        let mut last = Instant::now();
        while sent < count {
            while next < count && self.batch.len() < BATCH {
                let mut frame = match self.free.pop() {
                    Some(frame) => frame,
                    None => break,
                };
                frame.set_len(PACKET)?;
                self.template.number(self.tx.umem().bytes_mut(&mut frame), next);
                self.batch.push(frame);
                next += 1;
            }
            self.tx.transmit(&mut self.batch)?;
            self.tx.wake_if_needed()?;
            let done = self.completion.complete(&mut self.free, BATCH);
            sent += done as u64;
            if done != 0 {
                last = Instant::now();
            } else if last.elapsed() > PATIENCE {
                break;
            }
        }
        Ok(sent)
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut generator = Generator::open(options)?;
    let begin = Instant::now();
    let sent = generator.send(options.count)?;
    let seconds = begin.elapsed().as_secs_f64();
    let rate = sent as f64 / seconds.max(1e-9);
    println!("[udp_pkt_gen] {sent} (pkts) {seconds:.6} (s) {rate:.0} (pps)");
    if sent < options.count {
        return Err(format!("{} of {} were not sent", options.count - sent, options.count).into());
    }
    Ok(())
}

fn main() -> ExitCode {
    let options = match Options::read(Flags::of_process()) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("udp_pkt_gen: {problem}\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("udp_pkt_gen: {error}");
            ExitCode::FAILURE
        }
    }
}
