//! What strata's crates for Rust share: they find and link its C library by this one, and have
//! [`Error`] and [`MacAddress`] of it. To be used through strata-l2, strata-xdp
//! or strata-netlink.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_debug_implementations)]

pub mod binding;
pub mod errno;
mod error;
mod ffi;
mod mac;

use std::ffi::CStr;

pub use error::{Error, Result};
pub use mac::MacAddress;

/// Of the C library: "1.2.3".
pub fn version() -> &'static str {
    // SAFETY: never NULL, NUL-terminated, and there as long as the program.
    unsafe { CStr::from_ptr(ffi::strata_version()) }.to_str().unwrap_or_default()
}
