//! `daemon_echo IFACE COUNT`: sends that many frames of queue 0 back, by a port that the strata
//! daemon made for this process, which needs no privileges. Before that it opens and closes sockets
//! there, in both orders that sockets and memory can go.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use strata_xdp::{Port, PortOptions, Socket, UmemOptions};

fn close_in_any_order(interface: &str) -> strata_xdp::Result<()> {
    let memory = UmemOptions { frame_count: 256, ..UmemOptions::default() };
    let options = PortOptions { memory, ..PortOptions::default() };
    let (socket, rings) = Socket::open_through_daemon(None, interface, 0, &options)?;
    let umem = socket.umem().clone();
    drop((socket, rings));
    let mut frame = umem.take_one().expect("all are free");
    umem.write(&mut frame, &[1; 4096])?;
    umem.give_back([frame]);
    drop(umem);
    let (socket, rings) = Socket::open_through_daemon(None, interface, 0, &options)?;
    drop(socket);
    assert_eq!(rings.fill.umem().free_count(), 256);
    Ok(())
}

fn echo(interface: &str, count: usize) -> Result<(), Box<dyn Error>> {
    let mut port = Port::open_through_daemon(None, interface, 0, &PortOptions::default())?;
    eprintln!("listening");
    let mut back: Vec<Vec<u8>> = Vec::new();
    let mut sent = 0;
    while sent < count {
        let limit = if back.is_empty() { Duration::from_secs(20) } else { Duration::ZERO };
        back.extend(port.receive(Some(limit))?.map(|frame| frame.to_vec()));
        if back.is_empty() {
            return Err("nothing came".into());
        }
        let taken = port.send(&back)?;
        back.drain(..taken);
        sent += taken;
    }
    Ok(())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (interface, count) = match (words.next(), words.next()) {
        (Some(interface), Some(count)) => (interface, count.parse()?),
        _ => return Err("usage: daemon_echo IFACE COUNT".into()),
    };
    close_in_any_order(&interface)?;
    echo(&interface, count)
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("daemon_echo: {error}");
            ExitCode::FAILURE
        }
    }
}
