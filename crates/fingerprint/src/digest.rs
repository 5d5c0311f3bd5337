//! The digest of a row, summed over the rows of a host.

use std::fmt;

use crate::encoder::Encoder;
use crate::key::Key;
use crate::section::Section;

/// The digest of one row: keyed BLAKE3 of its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowDigest([u8; 32]);

impl RowDigest {
    /// Digests a row.
    ///
    /// # Complexity
    ///
    /// Linear in the length of the encoding. Allocates nothing.
    #[must_use]
    pub fn of(key: &Key, row: &Encoder) -> Self {
        Self(*blake3::keyed_hash(&key.row, row.as_bytes()).as_bytes())
    }

    /// The digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RowDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowDigest({})", blake3::Hash::from_bytes(self.0))
    }
}

/// How many rows a host has in a section, with the sum of their digests modulo 2^256.
///
/// Both wrap around, so that these are a group: adding and removing may come in any order, and a set of
/// changes can be summed first and added at once. Equal means the same rows, in whatever order.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SectionHostDigest {
    count: u64,
    sum: Sum,
}

impl SectionHostDigest {
    /// No rows.
    pub const EMPTY: Self = Self { count: 0, sum: Sum { high: 0, low: 0 } };

    /// Restores a digest from what [`count`](Self::count) and [`sum`](Self::sum) gave.
    #[must_use]
    pub const fn from_parts(count: u64, sum: [u8; 32]) -> Self {
        Self { count, sum: Sum::from_bytes(sum) }
    }

    /// Adds a row.
    pub fn add(&mut self, row: RowDigest) {
        self.merge(Self { count: 1, sum: Sum::from_bytes(row.0) });
    }

    /// Takes out a row that was added, or will be.
    pub fn remove(&mut self, row: RowDigest) {
        let sum = Sum::from_bytes(row.0).negated();
        self.merge(Self { count: 1_u64.wrapping_neg(), sum });
    }

    /// Does all that was done to `changes` to this digest.
    pub fn merge(&mut self, changes: Self) {
        self.count = self.count.wrapping_add(changes.count);
        self.sum = self.sum.plus(changes.sum);
    }

    /// How many rows there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The sum of their digests, the lowest byte first.
    #[must_use]
    pub const fn sum(&self) -> [u8; 32] {
        self.sum.to_bytes()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// Hashes it with the section and the host that it is of.
    pub(crate) fn leaf(&self, key: &Key, section: Section, host: &str) -> Self {
        let mut encoder = Encoder::row(section, host);
        encoder.number(self.count).bytes(&self.sum());
        let hash = *blake3::keyed_hash(&key.host, encoder.as_bytes()).as_bytes();
        Self::from_parts(1, hash)
    }

    /// What, merged, takes back this.
    pub(crate) fn negated(self) -> Self {
        Self { count: self.count.wrapping_neg(), sum: self.sum.negated() }
    }
}

impl fmt::Debug for SectionHostDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SectionHostDigest({} x {:032x}{:032x})", self.count, self.sum.high, self.sum.low)
    }
}

/// A number modulo 2^256.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Sum {
    high: u128,
    low: u128,
}

impl Sum {
    const fn from_bytes(bytes: [u8; 32]) -> Self {
        let (mut low, mut high) = ([0; 16], [0; 16]);
        let (low_bytes, high_bytes) = bytes.split_at(16);
        low.copy_from_slice(low_bytes);
        high.copy_from_slice(high_bytes);
        Self { high: u128::from_le_bytes(high), low: u128::from_le_bytes(low) }
    }

    const fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let (low, high) = bytes.split_at_mut(16);
        low.copy_from_slice(&self.low.to_le_bytes());
        high.copy_from_slice(&self.high.to_le_bytes());
        bytes
    }

    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.wrapping_add(other.high).wrapping_add(u128::from(carry));
        Self { high, low }
    }

    /// Two's complement.
    fn negated(self) -> Self {
        Self { high: !self.high, low: !self.low }.plus(Self { high: 0, low: 1 })
    }
}
