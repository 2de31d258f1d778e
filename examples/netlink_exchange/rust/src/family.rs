//! What kernel/uapi/strata_echo.h says.

pub const NAME: &str = "strata_echo";
pub const GROUP_EVENTS: &str = "events";

pub mod command {
    pub const ECHO_MSG: u8 = 1;
    pub const REPLY_WITH_NLMSG_ERR: u8 = 2;
    pub const NOTIFY: u8 = 5;
}

pub mod attribute {
    pub const MSG: u16 = 1;
    pub const INDEX: u16 = 2;
    pub const SEQUENCE: u16 = 7;
}
