//! What ends the program: a sentence that says what is wrong and what to do, and an exit code.

use std::io::ErrorKind;

use strata_netlink::Error;

pub struct Failure {
    pub code: i32,
    pub sentence: String,
}

pub type Result<T> = std::result::Result<T, Failure>;

pub fn wrong(sentence: impl Into<String>) -> Failure {
    Failure { code: 1, sentence: sentence.into() }
}

pub fn usage(sentence: impl Into<String>) -> Failure {
    Failure { code: 2, sentence: sentence.into() }
}

/// The library's sentence; 3 when there is no such family.
impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = if error.kind() == ErrorKind::NotFound { 3 } else { 1 };
        Failure { code, sentence: error.to_string() }
    }
}
