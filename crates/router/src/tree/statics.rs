//! The literal children of one node.

use hashbrown::HashTable;

/// Literal segments to nodes: a list while there are few, a hash table from then on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statics {
    children: Vec<Child>,
    index: Option<Box<HashTable<u32>>>,
}

#[derive(Clone, Debug)]
struct Child {
    head: Head,
    node: u32,
    /// What follows the first eight bytes.
    tail: Box<[u8]>,
}

/// The first eight bytes of a segment as one number, and its length: most literals are no longer, so
/// that comparing them is comparing two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    bytes: u64,
    len: u32,
}

/// A segment that was cut off the front of a path.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'a> {
    pub(crate) segment: &'a [u8],
    pub(crate) head: Head,
    /// What follows the slash; `None` where there is none.
    pub(crate) rest: Option<&'a [u8]>,
}

impl Head {
    pub(crate) fn of(segment: &[u8]) -> Self {
        let bytes = segment.first_chunk().map_or_else(|| padded(segment), as_number);
        Self { bytes, len: u32::try_from(segment.len()).unwrap_or(u32::MAX) }
    }
}

impl<'a> Cut<'a> {
    /// Cuts the first segment off `path`, which begins after a slash.
    #[inline]
    pub(crate) fn from(path: &'a [u8]) -> Self {
        let whole = path.first_chunk();
        let first = whole.map_or_else(|| padded(path), as_number);
        match slash(first) {
            Some(end) => {
                let bytes = first & !(u64::MAX << (8 * end));
                let len = u32::try_from(end).unwrap_or(u32::MAX);
                Self::at(path, Some(end), |_| Head { bytes, len })
            }
            None if whole.is_none() => {
                let len = u32::try_from(path.len()).unwrap_or(u32::MAX);
                Self::at(path, None, |_| Head { bytes: first, len })
            }
            None => {
                let more = path.get(8..).unwrap_or_default();
                let end = memchr::memchr(b'/', more).map(|end| end + 8);
                Self::at(path, end, |segment| {
                    let len = u32::try_from(segment.len()).unwrap_or(u32::MAX);
                    Head { bytes: first, len }
                })
            }
        }
    }

    #[inline]
    fn at(path: &'a [u8], end: Option<usize>, head: impl FnOnce(&[u8]) -> Head) -> Self {
        let segment = end.and_then(|end| path.get(..end)).unwrap_or(path);
        let rest = end.and_then(|end| path.get(end + 1..));
        Self { segment, head: head(segment), rest }
    }
}

fn as_number(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// Fewer than eight bytes, and zeros behind them, without copying byte by byte.
fn padded(segment: &[u8]) -> u64 {
    let wide = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    match (segment, segment.first_chunk(), segment.last_chunk()) {
        // The two halves overlap in bytes that are the same.
        (_, Some(first), Some(last)) => wide(first) | wide(last) << (8 * (segment.len() - 4)),
        (&[one, two, three], ..) => wide(&[one, two, three, 0]),
        (&[one, two], ..) => wide(&[one, two, 0, 0]),
        (&[one], ..) => u64::from(one),
        _ => 0,
    }
}

/// The position of the first slash among eight bytes.
fn slash(bytes: u64) -> Option<usize> {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let other = bytes ^ u64::from_le_bytes([b'/'; 8]);
    // The high bit of a byte is set where the byte of `other` is zero, and only there.
    let zero = !(((other & LOW) + LOW) | other | LOW);
    (zero != 0).then(|| usize::try_from(zero.trailing_zeros() / 8).unwrap_or(0))
}

/// Up to this many children a list is faster than hashing.
const LIST: usize = 6;

impl Statics {
    pub(crate) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    pub(crate) fn find(&self, segment: &[u8], head: Head) -> Option<u32> {
        let child = match &self.index {
            None => self.children.iter().find(|child| child.is(segment, head)),
            Some(index) => index
                .find(hash(head), |&at| self.at(at).is_some_and(|child| child.is(segment, head)))
                .and_then(|&at| self.at(at)),
        };
        child.map(|child| child.node)
    }

    /// Adds a child that is not there yet.
    pub(crate) fn insert(&mut self, segment: &[u8], node: u32) {
        let tail = segment.get(8..).unwrap_or_default().into();
        self.children.push(Child { head: Head::of(segment), node, tail });
        if self.children.len() > LIST {
            let mut index = self.index.take().unwrap_or_default();
            let hash_of = |at: &u32| self.at(*at).map_or(0, |child| hash(child.head));
            for at in index.len()..self.children.len() {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                index.insert_unique(hash_of(&at), at, hash_of);
            }
            self.index = Some(index);
        }
    }

    fn at(&self, at: u32) -> Option<&Child> {
        self.children.get(usize::try_from(at).ok()?)
    }
}

impl Child {
    fn is(&self, segment: &[u8], head: Head) -> bool {
        self.head == head
            && (self.tail.is_empty() || segment.get(8..).is_some_and(|tail| *tail == *self.tail))
    }
}

/// Literals are the operator's own, so their hash needs no secret: a multiplication by an odd number, its high
/// half folded onto the low one.
fn hash(head: Head) -> u64 {
    let mixed =
        (head.bytes ^ u64::from(head.len).rotate_left(56)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_ends_at_the_first_slash_wherever_it_stands() {
        for path in
            ["", "/", "a", "a/", "abcdefg/h", "abcdefgh/i", "abcdefghi/", "/abcdefgh", "\u{af}/x"]
        {
            let cut = Cut::from(path.as_bytes());
            let (segment, rest) = match path.split_once('/') {
                Some((segment, rest)) => (segment, Some(rest.as_bytes())),
                None => (path, None),
            };
            assert_eq!((cut.segment, cut.rest), (segment.as_bytes(), rest), "{path}");
            assert_eq!(cut.head, Head::of(segment.as_bytes()), "{path}");
        }
    }

    #[test]
    fn long_segments_with_one_head_are_told_apart() {
        let mut statics = Statics::default();
        let names =
            ["same-head", "same-head-1", "same-head-2", "same-hea", "a", "b", "c", "d", "e"];
        for (node, name) in (0..).zip(names) {
            statics.insert(name.as_bytes(), node);
        }
        for (node, name) in (0..).zip(names) {
            let name = name.as_bytes();
            assert_eq!(statics.find(name, Head::of(name)), Some(node));
        }
        assert_eq!(statics.find(b"same-head-3", Head::of(b"same-head-3")), None);
    }
}
