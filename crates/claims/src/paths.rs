//! The map from first segments to the hosts that serve them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use fingerpost_authority::{Host, WrittenHostError};
use fingerpost_path::{Prefix, PrefixError};

/// Which other host serves each first segment of a hostname; every entry is checked.
///
/// Entries are in the byte order of their prefixes, and equality is equality of entries. No target is the
/// host that the map is of. A target is held once, however many entries
/// name it. Cloning copies a pointer.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PathMap(Arc<[(Prefix, Arc<Host>)]>);

impl PathMap {
    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Prefix, &Host)> + ExactSizeIterator {
        self.0.iter().map(|(prefix, target)| (prefix, &**target))
    }

    /// The target of a prefix. Takes logarithmic time.
    #[must_use]
    pub fn get(&self, prefix: &str) -> Option<&Host> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(prefix)).ok()?;
        self.0.get(at).map(|(_, target)| &**target)
    }

    /// Checks entries as they were written, each on its own.
    ///
    /// What is not valid comes back beside the map, in the byte order of the prefixes. A prefix that is
    /// written twice is in neither map: two readers of such a text need not agree.
    ///
    /// ```
    /// use fingerpost_authority::Host;
    /// use fingerpost_claims::PathMap;
    ///
    /// let host = Host::parse("tickets.example")?;
    /// let written = [("paulca", Some("next.tickets.example")), ("a/b", Some("next.tickets.example"))];
    /// let (map, refused) = PathMap::check(&host, written);
    /// assert_eq!(map.get("paulca"), Some(&Host::parse("next.tickets.example")?));
    /// assert_eq!(refused[0].fault.code().as_str(), "prefix_invalid");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Complexity
    /// Sorts: n log n in the number of entries.
    pub fn check<P: AsRef<str>, T: AsRef<str>>(
        host: &Host,
        written: impl IntoIterator<Item = (P, Option<T>)>,
    ) -> (Self, Vec<RefusedEntry>) {
        let mut lines: Vec<_> = written.into_iter().collect();
        lines.sort_by(|(one, _), (other, _)| one.as_ref().cmp(other.as_ref()));
        let mut targets = Targets::new(host);
        let (mut map, mut refused) = (Vec::with_capacity(lines.len()), Vec::new());
        for same in lines.chunk_by(|(one, _), (other, _)| one.as_ref() == other.as_ref()) {
            let Some((prefix, target)) = same.first() else { continue };
            let (prefix, target) = (prefix.as_ref(), target.as_ref().map(AsRef::as_ref));
            let checked = match same.len() {
                1 => targets.check(prefix, target),
                _ => Err(EntryFault::PrefixTwice),
            };
            match checked {
                Ok(entry) => map.push(entry),
                Err(fault) => {
                    let (prefix, target) = (prefix.into(), target.map(Box::from));
                    refused.push(RefusedEntry { prefix, target, fault });
                }
            }
        }
        (Self(map.into()), refused)
    }
}

impl fmt::Debug for PathMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

type Checked = Result<(Prefix, Arc<Host>), EntryFault>;

/// Checks targets, each text once.
struct Targets<'a> {
    own: &'a Host,
    known: BTreeMap<Box<str>, Arc<Host>>,
    /// What the entry before named; most maps name one target only.
    last: Option<(Box<str>, Arc<Host>)>,
}

impl<'a> Targets<'a> {
    const fn new(own: &'a Host) -> Self {
        Self { own, known: BTreeMap::new(), last: None }
    }

    fn check(&mut self, prefix: &str, target: Option<&str>) -> Checked {
        let prefix = Prefix::parse(prefix).map_err(EntryFault::Prefix)?;
        let target = target.ok_or(EntryFault::TargetNotText)?;
        if let Some((_, host)) = self.last.as_ref().filter(|(text, _)| **text == *target) {
            return Ok((prefix, Arc::clone(host)));
        }
        let host = match self.known.get(target) {
            Some(known) => Arc::clone(known),
            None => self.learn(target)?,
        };
        self.last = Some((target.into(), Arc::clone(&host)));
        Ok((prefix, host))
    }

    fn learn(&mut self, target: &str) -> Result<Arc<Host>, EntryFault> {
        let host = Host::from_written(target).map_err(EntryFault::Target)?;
        if host == *self.own {
            return Err(EntryFault::TargetIsHost);
        }
        let host = Arc::new(host);
        self.known.insert(target.into(), Arc::clone(&host));
        Ok(host)
    }
}

/// An entry that is none, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedEntry {
    /// The prefix as it was written.
    pub prefix: Box<str>,
    /// The target as it was written; `None` if it was no string.
    pub target: Option<Box<str>>,
    /// What is wrong.
    pub fault: EntryFault,
}

/// What is wrong with an entry, whatever routes there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// The prefix is none.
    #[error("the prefix is invalid")]
    Prefix(#[source] PrefixError),
    /// The prefix is written more than once.
    #[error("the prefix is written twice")]
    PrefixTwice,
    /// The target is no host.
    #[error("the target is no host")]
    Target(#[source] WrittenHostError),
    /// The target is the host that the map is of.
    #[error("the target is the claim's own host")]
    TargetIsHost,
    /// The target is no string.
    #[error("the target is not a string")]
    TargetNotText,
}

impl EntryFault {
    /// The code that people and programs are told.
    #[must_use]
    pub const fn code(&self) -> crate::Code {
        use crate::Code;
        match self {
            Self::Prefix(_) => Code::PrefixInvalid,
            Self::PrefixTwice => Code::PrefixDuplicate,
            Self::Target(_) | Self::TargetNotText => Code::TargetInvalid,
            Self::TargetIsHost => Code::TargetIsHost,
        }
    }
}
