//! Fields written so that no two sequences of fields give the same bytes.

use crate::section::Section;

/// Writes fields one after another, each with its kind and its length in front.
///
/// # Grammar
///
/// ```text
/// encoding = *field
/// field    = %x00                   ; absent
///          / %x01 / %x02            ; false, true
///          / %x03 varint            ; a number
///          / %x04 varint *OCTET     ; bytes, behind how many they are
///          / %x05 varint *OCTET     ; UTF-8, behind how many bytes it is
///          / %x06 varint            ; a list: its elements are the next so many fields
/// varint   = *(%x80-FF) %x00-7F     ; LEB128: seven bits an octet, lowest first, the shortest form
/// ```
///
/// # Invariants
///
/// F1: two different sequences of fields have different encodings, and none is a beginning of one of
/// the others with as many fields (`tests/framing.rs`). A field that is absent differs from an empty one, text from the
/// same bytes, and `"ab", "c"` from `"a", "bc"`: joining with a separator or concatenating would let whoever
/// chooses one field write the next.
///
/// ```
/// use fingerpost_fingerprint::Encoder;
///
/// let mut one = Encoder::new();
/// one.text("ab").text("c").absent();
/// let mut other = Encoder::new();
/// other.text("a").text("bc").absent();
/// assert_ne!(one.as_bytes(), other.as_bytes());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// Starts an encoding without fields.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// Starts the encoding of a row, with its section and its host as the first fields.
    #[must_use]
    pub fn row(section: Section, host: &str) -> Self {
        let mut encoder = Self::new();
        encoder.start_row(section, host);
        encoder
    }

    /// Drops all fields and starts a row, keeping the allocation.
    pub fn start_row(&mut self, section: Section, host: &str) -> &mut Self {
        self.bytes.clear();
        self.number(section.marker()).text(host)
    }

    /// Writes that a field has no value.
    pub fn absent(&mut self) -> &mut Self {
        self.bytes.push(ABSENT);
        self
    }

    /// Writes a truth value.
    pub fn flag(&mut self, value: bool) -> &mut Self {
        self.bytes.push(if value { TRUE } else { FALSE });
        self
    }

    /// Writes a number.
    pub fn number(&mut self, value: u64) -> &mut Self {
        self.bytes.push(NUMBER);
        self.varint(value)
    }

    /// Writes bytes.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.framed(BYTES, value)
    }

    /// Writes text.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.framed(TEXT, value.as_bytes())
    }

    /// Announces a list: the next `len` fields are its elements.
    pub fn list(&mut self, len: usize) -> &mut Self {
        self.bytes.push(LIST);
        self.length(len)
    }

    /// The encoding so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoding.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn framed(&mut self, tag: u8, value: &[u8]) -> &mut Self {
        self.bytes.push(tag);
        self.length(value.len());
        self.bytes.extend_from_slice(value);
        self
    }

    fn length(&mut self, len: usize) -> &mut Self {
        self.varint(u64::try_from(len).expect("no platform has lengths over 64 bits"))
    }

    fn varint(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.bytes.push(low_bits(value) | 0x80);
            value >>= 7;
        }
        self.bytes.push(low_bits(value));
        self
    }
}

/// The lowest seven bits.
fn low_bits(value: u64) -> u8 {
    let [lowest, ..] = value.to_le_bytes();
    lowest & 0x7f
}

const ABSENT: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const NUMBER: u8 = 3;
const BYTES: u8 = 4;
const TEXT: u8 = 5;
const LIST: u8 = 6;
