//! What kernel/uapi/strata_echo.h says, as neli wants it.

use neli::consts::genl::{Cmd, NlAttrType};
use neli::neli_enum;

pub const NAME: &str = "strata_echo";
pub const VERSION: u8 = 1;
pub const GROUP_EVENTS: &str = "events";
pub const DUMP_COUNT: u32 = 3;

#[neli_enum(serialized_type = "u8")]
pub enum Command {
    EchoMsg = 1,
    ReplyWithNlmsgErr = 2,
    Notify = 5,
    Event = 7,
}

impl Cmd for Command {}

#[neli_enum(serialized_type = "u16")]
pub enum Attribute {
    Msg = 1,
    Index = 2,
    Sequence = 7,
}

impl NlAttrType for Attribute {}

/// The attributes of an extended ACK (linux/netlink.h), which neli 0.6 does not know.
#[neli_enum(serialized_type = "u16")]
pub enum Extended {
    Msg = 1,
    Offset = 2,
}

impl NlAttrType for Extended {}
