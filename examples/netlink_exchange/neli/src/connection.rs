//! A connection to generic netlink: requests go out, and each reply is checked before it is
//! believed.

use std::ffi::c_void;
use std::io::{self, Cursor};
use std::mem::{size_of, size_of_val, zeroed};
use std::os::unix::io::AsRawFd;

use neli::consts::genl::{Cmd, NlAttrType};
use neli::consts::nl::{NlmF, NlmFFlags, Nlmsg};
use neli::consts::socket::NlFamily;
use neli::err::{NlError, Nlmsgerr};
use neli::genl::{Genlmsghdr, Nlattr};
use neli::nl::{NlPayload, Nlmsghdr};
use neli::socket::NlSocketHandle;
use neli::types::{Buffer, GenlBuffer};
use neli::FromBytesWithInput;

use crate::failure::{wrong, Result};
use crate::family::{Extended, VERSION};

const HEADER: usize = 16; // bytes of a struct nlmsghdr

/// What came in for a request.
pub enum Reply<C, A> {
    Message(Genlmsghdr<C, A>),
    Done,
    Ack,
    Refused(Refusal),
}

/// NLMSG_ERROR with its extended ACK.
pub struct Refusal {
    pub errno: i32,
    pub text: Option<String>,
    pub offset: Option<u32>,
}

pub struct Connection {
    handle: NlSocketHandle,
    sequence: u32,
}

impl Connection {
    pub fn open() -> Result<Self> {
        let handle = NlSocketHandle::new(NlFamily::Generic)
            .map_err(|why| wrong(format!("cannot open a netlink socket: {why}")))?;
        let made = Connection { handle, sequence: 0 };
        made.talk_to_the_kernel_only()?;
        Ok(made)
    }

    /// neli does not say who sent a message. Connected, the socket gets none that another process
    /// addresses to it; and connecting binds it too.
    fn talk_to_the_kernel_only(&self) -> Result<()> {
        // SAFETY: all fields of a sockaddr_nl may be zero.
        let mut kernel: libc::sockaddr_nl = unsafe { zeroed() };
        kernel.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        let size = size_of_val(&kernel) as libc::socklen_t;
        // SAFETY: the kernel reads `size` bytes of `kernel`, which outlives the call.
        let done = unsafe {
            libc::connect(self.handle.as_raw_fd(), std::ptr::addr_of!(kernel).cast(), size)
        };
        check(done, "connect to the kernel")
    }

    pub fn ask_for_extended_acks(&self) -> Result<()> {
        self.set_option(libc::SOL_NETLINK, libc::NETLINK_EXT_ACK, &1i32, "NETLINK_EXT_ACK")
    }

    pub fn wait_at_most(&self, seconds: i64) -> Result<()> {
        let patience = libc::timeval { tv_sec: seconds, tv_usec: 0 };
        self.set_option(libc::SOL_SOCKET, libc::SO_RCVTIMEO, &patience, "SO_RCVTIMEO")
    }

    pub fn join(&self, group: u32) -> Result<()> {
        self.handle
            .add_mcast_membership(&[group])
            .map_err(|why| wrong(format!("cannot join the multicast group {group}: {why}")))
    }

    fn set_option<T>(&self, level: i32, option: i32, value: &T, name: &str) -> Result<()> {
        let (place, size) = ((value as *const T).cast::<c_void>(), size_of::<T>());
        // SAFETY: the kernel reads `size` bytes of `value`, which outlives the call.
        let done =
            unsafe { libc::setsockopt(self.handle.as_raw_fd(), level, option, place, size as u32) };
        check(done, &format!("set {name}"))
    }

    /// Sends a request, with at most one attribute, a text.
    pub fn request<C, A>(
        &mut self,
        family: u16,
        flags: &[NlmF],
        command: C,
        text: Option<(A, &str)>,
    ) -> Result<()>
    where
        C: Cmd + std::fmt::Debug,
        A: NlAttrType + std::fmt::Debug,
    {
        let mut attributes = GenlBuffer::new();
        if let Some((attribute, text)) = text {
            let made = Nlattr::new(false, false, attribute, text)
                .map_err(|why| wrong(format!("cannot put '{text}' into a message: {why}")))?;
            attributes.push(made);
        }
        let mut all = NlmFFlags::new(&[NlmF::Request]);
        flags.iter().for_each(|flag| all.set(flag));
        self.sequence += 1;
        let payload = NlPayload::Payload(Genlmsghdr::new(command, VERSION, attributes));
        let message = Nlmsghdr::new(None, family, all, Some(self.sequence), None, payload);
        self.handle.send(message).map_err(|why| wrong(format!("cannot send to the kernel: {why}")))
    }

    /// The next message, which is to answer the last request, and be of that family or an error.
    /// On a socket that only listens, where no request was, that is an event: its number is 0.
    pub fn receive<C, A>(&mut self, family: u16) -> Result<Reply<C, A>>
    where
        C: Cmd,
        A: NlAttrType,
        Genlmsghdr<C, A>: for<'a> FromBytesWithInput<'a, Input = usize>,
    {
        let message: Nlmsghdr<u16, Buffer> = match self.handle.recv() {
            Ok(Some(message)) => message,
            Ok(None) => return Err(wrong("heard nothing in the time given; who should send it?")),
            Err(NlError::Nlmsgerr(error)) => return self.refusal(&error).map(Reply::Refused),
            Err(why) => return Err(wrong(format!("cannot receive from the kernel: {why}"))),
        };
        self.check_sequence(message.nl_seq)?;
        match message.nl_payload {
            NlPayload::Ack(_) => Ok(Reply::Ack),
            NlPayload::Empty if message.nl_type == u16::from(Nlmsg::Done) => Ok(Reply::Done),
            NlPayload::Payload(bytes) if message.nl_type == family => {
                let payload = bytes.as_ref();
                Genlmsghdr::from_bytes_with_input(&mut Cursor::new(payload), payload.len())
                    .map(Reply::Message)
                    .map_err(|why| wrong(format!("a message that is cut ({why}); report it")))
            }
            _ => Err(wrong(format!(
                "received type {} instead of {family}; is the family another one?",
                message.nl_type
            ))),
        }
    }

    fn check_sequence(&self, sequence: u32) -> Result<()> {
        if sequence == self.sequence {
            return Ok(());
        }
        Err(wrong(format!(
            "a reply to request {sequence} instead of {}; one socket has one user",
            self.sequence
        )))
    }

    /// The request stands, whole, before the extended ACK.
    fn refusal(&self, error: &Nlmsgerr<u16, Buffer>) -> Result<Refusal> {
        self.check_sequence(error.nlmsg.nl_seq)?;
        let rest = error.nlmsg.nl_payload.as_ref();
        let request = (error.nlmsg.nl_len as usize).saturating_sub(HEADER);
        let extended = rest.get((request + 3) & !3..).unwrap_or(&[]);
        let cut = |why| wrong(format!("an extended ACK that is cut ({why}); report it"));
        let attributes = GenlBuffer::<Extended, Buffer>::from_bytes_with_input(
            &mut Cursor::new(extended),
            extended.len(),
        )
        .map_err(cut)?;
        let handle = attributes.get_attr_handle();
        Ok(Refusal {
            errno: error.error,
            text: handle.get_attr_payload_as_with_len(Extended::Msg).ok(),
            offset: handle.get_attr_payload_as(Extended::Offset).ok(),
        })
    }
}

fn check(result: i32, what: &str) -> Result<()> {
    if result >= 0 {
        return Ok(());
    }
    let why = io::Error::last_os_error();
    Err(wrong(format!("cannot {what}: {why}; is the kernel older than 4.12, or seccomp strict?")))
}
