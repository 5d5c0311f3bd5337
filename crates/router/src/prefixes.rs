//! The first segments of a site that another site serves.

use fingerpost_path::Prefix;

use crate::site::SiteId;
use crate::table::{Entry, Key, Table};

/// What serves a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// This site.
    Site(SiteId),
    /// Nothing for now: 503.
    Held,
}

/// Prefixes to destinations.
///
/// A prefix that holds an upper-case letter is also found by its ASCII-folded form, unless the site
/// is case-sensitive; an exact entry wins over a folded one.
#[derive(Clone, Debug)]
pub(crate) struct PrefixMap {
    table: Table,
    folds: bool,
    len: usize,
}

const HELD: u32 = u32::MAX;

impl PrefixMap {
    pub(crate) fn new(seed: u64, expected: usize, case_sensitive: bool) -> Self {
        Self { table: Table::new(seed, expected), folds: !case_sensitive, len: 0 }
    }

    /// The destination of `segment`, with the prefix that names it.
    pub(crate) fn find(&self, segment: &[u8]) -> Option<(&str, Destination)> {
        if segment.len() > Prefix::MAX_LEN || segment.is_empty() {
            return None;
        }
        let mut found = self.table.find(segment);
        if found.is_none() && self.folds && segment.iter().any(u8::is_ascii_uppercase) {
            found = self.table.find(&segment.to_ascii_lowercase());
        }
        Self::named(found)
    }

    /// As [`find`](Self::find) for a segment without an upper-case letter.
    pub(crate) fn find_folded(&self, segment: &[u8]) -> Option<(&str, Destination)> {
        if segment.is_empty() { None } else { Self::named(self.table.find(segment)) }
    }

    fn named(found: Option<Entry<'_>>) -> Option<(&str, Destination)> {
        let entry = found?;
        Some((std::str::from_utf8(entry.text).ok()?, decode(entry.value)))
    }

    /// Adds, replaces, or with `None` removes one prefix.
    pub(crate) fn set(&mut self, prefix: &Prefix, destination: Option<Destination>) {
        let text = prefix.as_bytes();
        let known = self.table.find(text).is_some_and(|entry| entry.key == Key::Exact);
        let folded = self.folds && text.iter().any(u8::is_ascii_uppercase);
        match destination {
            Some(destination) => {
                let value = encode(destination);
                self.table.insert(Key::Exact, text, value);
                if folded {
                    self.table.insert(Key::Folded, text, value);
                }
                self.len += usize::from(!known);
            }
            None if known => {
                self.table.remove(Key::Exact, text);
                if folded {
                    self.table.remove(Key::Folded, text);
                }
                self.len -= 1;
            }
            None => {}
        }
    }

    /// The same entries, read with or without case.
    pub(crate) fn with_case_sensitive(&self, seed: u64, case_sensitive: bool) -> Self {
        let mut map = Self::new(seed, self.len, case_sensitive);
        for (text, destination) in self.iter() {
            if let Ok(prefix) = Prefix::parse(text) {
                map.set(&prefix, Some(destination));
            }
        }
        map
    }

    /// Whether a prefix is also found under other cases.
    pub(crate) fn is_case_sensitive(&self) -> bool {
        !self.folds
    }

    /// The number of prefixes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Every prefix with its destination, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Destination)> {
        self.table
            .iter()
            .filter(|entry| entry.key == Key::Exact)
            .filter_map(|entry| Some((std::str::from_utf8(entry.text).ok()?, decode(entry.value))))
    }

    /// How many shards this map has in common with `other`, and how many it has.
    pub(crate) fn shared_shards(&self, other: &Self) -> (usize, usize) {
        self.table.shared_shards(&other.table)
    }
}

fn encode(destination: Destination) -> u32 {
    match destination {
        Destination::Site(SiteId(site)) => site,
        Destination::Held => HELD,
    }
}

fn decode(value: u32) -> Destination {
    if value == HELD { Destination::Held } else { Destination::Site(SiteId(value)) }
}
