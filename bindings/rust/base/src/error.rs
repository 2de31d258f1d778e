use std::{fmt, io};

use crate::errno::{ENODEV, ENXIO};

/// What could not be done: an errno, and the library's sentence about what was tried with which
/// value, why it failed and what to do.
///
/// It converts to [`std::io::Error`], so `?` works in functions that return [`std::io::Result`].
/// That keeps the sentence, and so has no `raw_os_error()`; by `get_ref()` this error, with its
/// `errno()`, can be had.
///
/// ```
/// use strata_base::MacAddress;
///
/// let error = "02:00".parse::<MacAddress>().unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
/// assert!(error.to_string().contains("02:00"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub(crate) errno: i32,
    pub(crate) sentence: String,
}

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The errno, above 0: 16 (`EBUSY`), 19 (`ENODEV`), 22 (`EINVAL`) and so on.
    pub fn errno(&self) -> i32 {
        self.errno
    }

    /// The errno as the standard library sorts it; an interface that is not there is `NotFound`.
    pub fn kind(&self) -> io::ErrorKind {
        match self.errno {
            ENXIO | ENODEV => io::ErrorKind::NotFound,
            other => io::Error::from_raw_os_error(other).kind(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}
