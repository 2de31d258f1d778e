//! The flags of a tool's command line: `-name VALUE`, or `-name` alone.

use std::fmt::Display;
use std::str::FromStr;

pub struct Flags {
    words: Vec<String>,
}

impl Flags {
    pub fn of_process() -> Flags {
        Flags { words: std::env::args().skip(1).collect() }
    }

    /// Whether it was given; takes it away.
    pub fn is_set(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() != before
    }

    pub fn optional<Value: FromStr>(&mut self, name: &str) -> Result<Option<Value>, String>
    where
        Value::Err: Display,
    {
        let place = match self.words.iter().position(|word| word == name) {
            Some(place) if place + 1 < self.words.len() => place,
            Some(_) => return Err(format!("{name} needs a value")),
            None => return Ok(None),
        };
        let value = self.words.remove(place + 1);
        self.words.remove(place);
        value.parse().map(Some).map_err(|error| format!("{name} {value}: {error}"))
    }

    pub fn required<Value: FromStr>(&mut self, name: &str) -> Result<Value, String>
    where
        Value::Err: Display,
    {
        self.optional(name)?.ok_or_else(|| format!("{name} is missing"))
    }

    /// After all flags were taken.
    pub fn end(self) -> Result<(), String> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(format!("'{word}' is unknown, or given twice")),
        }
    }
}
