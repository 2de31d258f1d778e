//! strata.h, as far as all crates need it, by hand.

use std::os::raw::{c_char, c_int};

extern "C" {
    pub fn strata_last_error() -> *const c_char;
    pub fn strata_version() -> *const c_char;
    pub fn strata_mac_parse(text: *const c_char, mac: *mut u8) -> c_int;
}
