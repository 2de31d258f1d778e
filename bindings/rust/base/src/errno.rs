//! The errno numbers that strata's crates and their tests name: those of most of Linux's machines,
//! x86, Arm and RISC-V among them.
#![allow(missing_docs)]

pub const ENOENT: i32 = 2;
pub const ENXIO: i32 = 6;
pub const EBUSY: i32 = 16;
pub const EEXIST: i32 = 17;
pub const ENODEV: i32 = 19;
pub const EINVAL: i32 = 22;
pub const EBADMSG: i32 = 74;
pub const EMSGSIZE: i32 = 90;
pub const EOPNOTSUPP: i32 = 95;
pub const ECONNRESET: i32 = 104;
pub const ETIMEDOUT: i32 = 110;
