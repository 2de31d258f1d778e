use std::{fmt, io};

/// What could not be done: an errno; the library's sentence about what was tried, why it failed and
/// what to do; and of what the kernel refused, its own words and the place.
///
/// It converts to [`std::io::Error`], so `?` works in functions that return [`std::io::Result`].
///
/// ```
/// use strata_netlink::Generic;
///
/// let error = Generic::open()?.resolve("no_such").unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// assert!(error.to_string().contains("a module may have to be loaded"));
/// # Ok::<(), strata_netlink::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub(crate) base: strata_base::Error,
    pub(crate) reason: String,
    pub(crate) offset: Option<usize>,
}

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The errno, above 0: 2 (`ENOENT`), 22 (`EINVAL`) and so on.
    pub fn errno(&self) -> i32 {
        self.base.errno()
    }

    /// The errno as the standard library sorts it.
    pub fn kind(&self) -> io::ErrorKind {
        self.base.kind()
    }

    /// Why, in the kernel's words (extended ACK) where it has any; may be empty.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Where in the request, in bytes from its beginning, the kernel saw what is wrong.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl From<strata_base::Error> for Error {
    fn from(base: strata_base::Error) -> Error {
        Error { base, reason: String::new(), offset: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(to)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}
