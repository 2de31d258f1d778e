use std::fmt;
use std::str::FromStr;

use crate::binding::{c_string, checked};
use crate::error::{Error, Result};
use crate::ffi;

/// A MAC address.
///
/// ```
/// use strata_base::MacAddress;
///
/// let address: MacAddress = "02:00:00:00:00:0a".parse()?;
/// assert_eq!(address, MacAddress([2, 0, 0, 0, 0, 10]));
/// assert_eq!(address.to_string(), "02:00:00:00:00:0a");
/// assert!("02:00".parse::<MacAddress>().is_err());
/// # Ok::<(), strata_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All stations.
    pub const BROADCAST: MacAddress = MacAddress([0xff; 6]);
}

impl FromStr for MacAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<MacAddress> {
        let text = c_string(text)?;
        let mut bytes = [0; 6];
        // SAFETY: a C string, and room for six bytes.
        checked(unsafe { ffi::strata_mac_parse(text.as_ptr(), bytes.as_mut_ptr()) })?;
        Ok(MacAddress(bytes))
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(to, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}
