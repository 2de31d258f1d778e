//! The queue that a tool of the examples is about, and how it is opened.

use strata_xdp::{CopyMode, PortOptions, Result, Rings, Socket, SocketOptions, Umem};

use crate::flags::Flags;

pub struct Endpoint {
    pub interface: String,
    pub queue: u32,
    pub through_daemon: bool,
    need_wakeup: bool,
    zerocopy: bool,
    frame_size: Option<u32>,
}

impl Endpoint {
    /// Takes its flags away: `-d`, `-q`, `-f`, `-w`, `-z`, `--through-daemon`.
    pub fn read(flags: &mut Flags) -> std::result::Result<Endpoint, String> {
        Ok(Endpoint {
            interface: flags.required("-d")?,
            queue: flags.required("-q")?,
            through_daemon: flags.is_set("--through-daemon"),
            need_wakeup: flags.is_set("-w"),
            zerocopy: flags.is_set("-z"),
            frame_size: flags.optional("-f")?,
        })
    }

    /// To be completed by the sizes of rings.
    pub fn socket_options(&self) -> SocketOptions {
        SocketOptions {
            mode: if self.zerocopy { CopyMode::ZeroCopy } else { CopyMode::Copy },
            need_wakeup: self.need_wakeup,
            ..SocketOptions::default()
        }
    }

    /// With frames of the size that was asked for.
    pub fn port_options(&self, socket: SocketOptions) -> PortOptions {
        let mut options = PortOptions { socket, ..PortOptions::default() };
        options.memory.frame_size = self.frame_size.unwrap_or(options.memory.frame_size);
        options
    }

    /// By this process, then without a program, or by the daemon.
    pub fn open(&self, options: &PortOptions) -> Result<(Socket, Rings)> {
        if self.through_daemon {
            return Socket::open_through_daemon(None, &self.interface, self.queue, options);
        }
        let umem = Umem::new(&options.memory)?;
        Socket::open(&umem, &self.interface, self.queue, &options.socket)
    }
}
