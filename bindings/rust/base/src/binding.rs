//! How the crates call the C library. For them alone: it may change with each version.

use std::ffi::{CStr, CString, OsStr};
use std::mem::{size_of, MaybeUninit};
use std::os::raw::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use crate::errno::EINVAL;
use crate::error::{Error, Result};
use crate::ffi;

/// Handles of the library's.
#[macro_export]
macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name {
            bytes: [u8; 0],
            // Neither Send, Sync nor Unpin by itself.
            marker: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
        }
    )*};
}

/// `tried`: what, why not, and what to do, as the library says it.
pub fn invalid(tried: String) -> Error {
    Error { errno: EINVAL, sentence: format!("cannot {tried}") }
}

/// The error of the call that just returned `code`, in this thread.
pub fn error_of(code: c_int) -> Error {
    // SAFETY: never NULL, NUL-terminated, and valid until this thread's next failed call; it is
    // copied before.
    let said = unsafe { CStr::from_ptr(ffi::strata_last_error()) };
    Error { errno: -code, sentence: said.to_string_lossy().into_owned() }
}

/// The value of a call that returns one from 0 on, or a negative errno.
pub fn checked(code: c_int) -> Result<c_int> {
    if code < 0 {
        return Err(error_of(code));
    }
    Ok(code)
}

/// A text for C; an error when there is a NUL in it.
pub fn c_string<Text: AsRef<OsStr> + ?Sized>(text: &Text) -> Result<CString> {
    let text = text.as_ref();
    CString::new(text.as_bytes()).map_err(|_| {
        invalid(format!("use the name {text:?}: it has a NUL within; give one without"))
    })
}

/// As poll(2) takes it: -1 for ever, rounded up so that it never waits too short.
pub fn milliseconds(timeout: Option<Duration>) -> c_int {
    match timeout {
        None => -1,
        Some(limit) => {
            let up = (limit.as_nanos() + 999_999) / 1_000_000;
            c_int::try_from(up).unwrap_or(c_int::MAX)
        }
    }
}

/// struct iovec
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Iovec {
    /// Where the bytes begin.
    pub base: *mut c_void,
    /// How many there are.
    pub length: usize,
}

impl Iovec {
    /// No bytes.
    pub const NONE: Iovec = Iovec { base: std::ptr::null_mut(), length: 0 };

    /// For what only reads it.
    pub fn of(bytes: &[u8]) -> Iovec {
        Iovec { base: bytes.as_ptr() as *mut _, length: bytes.len() }
    }
}

/// Structures that begin with their size, and the library's function that sets them up.
///
/// # Safety
/// `Self` is `repr(C)`, begins with the `usize` that `size_mut` names, and has no invalid values.
pub unsafe trait Grows: Copy {
    /// Sets the size and all defaults.
    const SET_DEFAULTS: unsafe extern "C" fn(*mut Self);
    /// The member that has the size.
    fn size_mut(&mut self) -> &mut usize;
}

/// `grows!(Options, its_defaults_function)`: what begins with its size.
#[macro_export]
macro_rules! grows {
    ($name:ident, $function:ident) => {
        // SAFETY: see the declarations above; integers and pointers have no invalid values.
        unsafe impl $crate::binding::Grows for $name {
            const SET_DEFAULTS: unsafe extern "C" fn(*mut Self) = $function;
            fn size_mut(&mut self) -> &mut usize {
                &mut self.size
            }
        }
    };
}

/// The library's defaults. A library newer than these declarations writes a longer structure than
/// ours, which its _defaults function cannot know: it gets room for that.
pub fn defaults<Options: Grows>() -> Options {
    #[repr(C)]
    struct Roomy<Options> {
        known: Options,
        newer: [u64; 64],
    }
    let mut roomy = MaybeUninit::<Roomy<Options>>::zeroed();
    // SAFETY: the memory is larger than the structure; the function writes only to it, and zeros
    // are valid where it does not write.
    let mut known = unsafe {
        (Options::SET_DEFAULTS)(roomy.as_mut_ptr().cast::<Options>());
        std::ptr::addr_of!((*roomy.as_ptr()).known).read()
    };
    *known.size_mut() = size_of::<Options>();
    known
}

/// The size that the library's header has, and its defaults: for tests that ours are the same,
/// field for field.
pub fn stated<Options: Grows>() -> (usize, Options) {
    let mut roomy = MaybeUninit::<[Options; 8]>::zeroed();
    // SAFETY: room for 8 of them; zeros are valid.
    let mut first = unsafe {
        (Options::SET_DEFAULTS)(roomy.as_mut_ptr().cast::<Options>());
        roomy.assume_init()[0]
    };
    (*first.size_mut(), first)
}
