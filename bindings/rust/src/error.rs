use std::ffi::{CStr, CString, OsStr};
use std::os::raw::c_int;
use std::os::unix::ffi::OsStrExt;
use std::{fmt, io};

use crate::ffi;

/// The same on every Linux.
const EINVAL: i32 = 22;

/// What could not be done: an errno, and the library's sentence about what was tried with which
/// value, why it failed and what to do.
///
/// It converts to [`std::io::Error`], so `?` works in functions that return [`std::io::Result`].
///
/// ```
/// use strata_xdp::{Umem, UmemOptions};
///
/// let refused = Umem::new(&UmemOptions { frame_size: 1000, ..UmemOptions::default() });
/// let error = refused.unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
/// assert!(error.to_string().contains("1000"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    errno: i32,
    sentence: String,
}

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The errno, above 0: 16 (`EBUSY`), 19 (`ENODEV`), 22 (`EINVAL`) and so on.
    pub fn errno(&self) -> i32 {
        self.errno
    }

    /// The errno as the standard library sorts it.
    pub fn kind(&self) -> io::ErrorKind {
        io::Error::from_raw_os_error(self.errno).kind()
    }

    /// `tried`: what, why not, and what to do, as the library says it.
    pub(crate) fn invalid(tried: String) -> Error {
        Error { errno: EINVAL, sentence: format!("cannot {tried}") }
    }

    /// The error of the call that just returned `code`, in this thread.
    pub(crate) fn of(code: c_int) -> Error {
        // SAFETY: never NULL, NUL-terminated, and valid until this thread's next failed call; it is
        // copied before.
        let said = unsafe { CStr::from_ptr(ffi::strata_last_error()) };
        Error { errno: -code, sentence: said.to_string_lossy().into_owned() }
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

/// The value of a call that returns one from 0 on, or a negative errno.
pub(crate) fn checked(code: c_int) -> Result<c_int> {
    if code < 0 {
        return Err(Error::of(code));
    }
    Ok(code)
}

pub(crate) fn c_string<Text: AsRef<OsStr> + ?Sized>(text: &Text) -> Result<CString> {
    let text = text.as_ref();
    CString::new(text.as_bytes()).map_err(|_| {
        Error::invalid(format!("use the name {text:?}: it has a NUL within; give one without"))
    })
}
