//! The digests of every host in every section.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::digest::{RowDigest, SectionHostDigest};
use crate::encoder::Encoder;
use crate::fingerprint::Fingerprint;
use crate::key::Key;
use crate::section::Section;

/// The digests of every host in every section, with the fingerprint of them all.
///
/// A *host* is whatever the rows of a section are grouped by; for fleets, which have no host, their name.
///
/// # Invariants
///
/// F4: after any adding and removing, this equals what adding the rows that are left gives
/// (`tests/digests.rs`).
///
/// # Cost
///
/// [`add`](Self::add), [`remove`](Self::remove) and [`merge`](Self::merge) take time logarithmic in the
/// number of hosts and hash twice, about 200 bytes; [`fingerprint`](Self::fingerprint) is one hash. Many
/// rows of one host are best summed in a [`SectionHostDigest`], an addition each, and merged at once.
#[derive(Clone, Debug)]
pub struct Digests {
    key: Key,
    hosts: BTreeMap<Section, BTreeMap<Box<str>, SectionHostDigest>>,
    total: SectionHostDigest,
}

impl Digests {
    /// Starts without rows.
    #[must_use]
    pub const fn new(key: Key) -> Self {
        Self { key, hosts: BTreeMap::new(), total: SectionHostDigest::EMPTY }
    }

    /// The key that rows are digested with.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// Adds a row of `host`.
    pub fn add(&mut self, section: Section, host: &str, row: RowDigest) {
        let mut change = SectionHostDigest::EMPTY;
        change.add(row);
        self.merge(section, host, change);
    }

    /// Takes out a row of `host` that was added.
    pub fn remove(&mut self, section: Section, host: &str, row: RowDigest) {
        let mut change = SectionHostDigest::EMPTY;
        change.remove(row);
        self.merge(section, host, change);
    }

    /// Does all that was done to `changes` to the digest of `host`.
    pub fn merge(&mut self, section: Section, host: &str, changes: SectionHostDigest) {
        if changes.is_empty() {
            return;
        }
        let hosts = self.hosts.entry(section).or_default();
        let before = hosts.get(host).copied().unwrap_or_default();
        let mut after = before;
        after.merge(changes);
        if after.is_empty() {
            hosts.remove(host);
        } else if let Some(digest) = hosts.get_mut(host) {
            *digest = after;
        } else {
            hosts.insert(host.into(), after);
        }
        if !before.is_empty() {
            self.total.merge(before.leaf(&self.key, section, host).negated());
        }
        if !after.is_empty() {
            self.total.merge(after.leaf(&self.key, section, host));
        }
    }

    /// The digest of everything.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut encoder = Encoder::new();
        encoder.number(self.total.count()).bytes(&self.total.sum());
        Fingerprint(*blake3::keyed_hash(&self.key.whole, encoder.as_bytes()).as_bytes())
    }

    /// The digest of `host`, [`EMPTY`](SectionHostDigest::EMPTY) when it has no rows.
    #[must_use]
    pub fn get(&self, section: Section, host: &str) -> SectionHostDigest {
        let host = self.hosts.get(&section).and_then(|hosts| hosts.get(host));
        host.copied().unwrap_or_default()
    }

    /// All hosts that have rows, in the order of sections and, within one, of bytes.
    pub fn iter(&self) -> impl Iterator<Item = (Section, &str, SectionHostDigest)> {
        self.hosts.iter().flat_map(|(&section, hosts)| {
            hosts.iter().map(move |(host, &digest)| (section, &**host, digest))
        })
    }

    /// How many rows a section has.
    ///
    /// # Complexity
    ///
    /// Linear in the number of its hosts.
    #[must_use]
    pub fn rows(&self, section: Section) -> u64 {
        let hosts = self.hosts.get(&section).into_iter().flatten();
        hosts.fold(0, |rows, (_, digest)| rows.wrapping_add(digest.count()))
    }

    /// The hosts whose rows are not the same here and in `other`, in order, each once a section.
    ///
    /// Under another key all hosts differ.
    ///
    /// # Complexity
    ///
    /// Linear in the number of hosts of both.
    #[must_use]
    pub fn changed_hosts<'a>(&'a self, other: &'a Self) -> Vec<(Section, &'a str)> {
        let (mut ours, mut theirs) = (self.iter().peekable(), other.iter().peekable());
        let mut changed = Vec::new();
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (None, None) => return changed,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(our), Some(their)) => (our.0, our.1).cmp(&(their.0, their.1)),
            };
            let our = ours.next_if(|_| order.is_le());
            let their = theirs.next_if(|_| order.is_ge());
            let same = our.map(|(.., digest)| digest) == their.map(|(.., digest)| digest);
            if let Some((section, host, _)) = our.or(their).filter(|_| !same) {
                changed.push((section, host));
            }
        }
    }
}
