use std::fmt;
use std::iter::FusedIterator;

const HEADER: usize = 4;
const TYPE: u16 = 0x3fff;
const NESTED: u16 = 0x8000;
const BIG_ENDIAN: u16 = 0x4000;

/// Attributes one behind the other, as they were received: of a message, or in a nest. It is the
/// iterator over them, and may be copied to walk them again. It ends at the first that is
/// malformed.
///
/// ```
/// use strata_netlink::Attributes;
///
/// let bytes = [6, 0, 1, 0, b'h', b'i', 0, 0, 5, 0, 2, 0, 7, 0, 0, 0];
/// let attributes = Attributes::new(&bytes);
/// assert_eq!(attributes.text(1), Some("hi"));
/// assert_eq!(attributes.number(2), Some(7));
/// assert_eq!(attributes.find(3), None);
/// assert_eq!(attributes.count(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Attributes<'a> {
    rest: &'a [u8],
}

/// One attribute: a type, and a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    head: u16,
    value: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// Of any bytes; numbers are in the byte order of the machine.
    pub fn new(bytes: &'a [u8]) -> Attributes<'a> {
        Attributes { rest: bytes }
    }

    /// What is left to be walked.
    pub fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    /// The first of that type.
    pub fn find(mut self, kind: u16) -> Option<Attribute<'a>> {
        Iterator::find(&mut self, |each| each.kind() == kind)
    }

    /// See [`Attribute::number`].
    pub fn number(self, kind: u16) -> Option<u64> {
        self.find(kind)?.number()
    }

    /// See [`Attribute::text`].
    pub fn text(self, kind: u16) -> Option<&'a str> {
        self.find(kind)?.text()
    }

    /// What is in the first nest of that type; empty when there is none.
    pub fn nest(self, kind: u16) -> Attributes<'a> {
        self.find(kind).map_or(Attributes::new(&[]), |found| found.nest())
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let head = self.rest.get(..HEADER)?;
        let size = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = self.rest.get(HEADER..size)?;
        // The last one may have no padding.
        let padded = (size + 3) & !3;
        let head = u16::from_ne_bytes([head[2], head[3]]);
        self.rest = self.rest.get(padded..).unwrap_or_default();
        Some(Attribute { head, value })
    }
}

impl FusedIterator for Attributes<'_> {}

impl<'a> Attribute<'a> {
    /// Its type, without flags.
    pub fn kind(&self) -> u16 {
        self.head & TYPE
    }

    /// Its sender says that it is a nest; older families do not.
    pub fn is_nest(&self) -> bool {
        self.head & NESTED != 0
    }

    /// Its sender says that it is in network byte order, which [`Attribute::number`] heeds.
    pub fn is_big_endian(&self) -> bool {
        self.head & BIG_ENDIAN != 0
    }

    /// Its data, without the padding.
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// An unsigned number of one, two, four or eight bytes; `None` for other sizes.
    pub fn number(&self) -> Option<u64> {
        let mut bytes = [0; 8];
        let size = self.value.len();
        if !matches!(size, 1 | 2 | 4 | 8) {
            return None;
        }
        if self.is_big_endian() || cfg!(target_endian = "big") {
            bytes[8 - size..].copy_from_slice(self.value);
            return Some(u64::from_be_bytes(bytes));
        }
        bytes[..size].copy_from_slice(self.value);
        Some(u64::from_le_bytes(bytes))
    }

    /// Up to its NUL, or all of it where there is no NUL; `None` when it is not UTF-8.
    pub fn text(&self) -> Option<&'a str> {
        let end = self.value.iter().position(|byte| *byte == 0).unwrap_or(self.value.len());
        std::str::from_utf8(&self.value[..end]).ok()
    }

    /// The attributes that are its value.
    pub fn nest(&self) -> Attributes<'a> {
        Attributes::new(self.value)
    }
}

impl fmt::Debug for Attribute<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {:02x?}", self.kind(), self.value)
    }
}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_list().entries(*self).finish()
    }
}
