//! What ends the program: a sentence that says what is wrong and what to do, and an exit code.

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

pub fn no_family(name: &str) -> Failure {
    let sentence = format!(
        "no generic-netlink family '{name}'; load its module (insmod kernel/strata_echo.ko) or \
         name another with --family"
    );
    Failure { code: 3, sentence }
}
