//! The body that replaces a map.

use std::borrow::Cow;
use std::collections::BTreeSet;

use fingerpost_authority::Host;

use super::{BodyError, Problem, Problems};
use crate::json::{self, Member};
use crate::{Limits, PathMap};

/// The body of a `PUT` of a map: `{"paths": {...}, "sequence": 7}`.
///
/// Its form is checked, its entries are not: [`check`](Self::check) does that.
///
/// ```
/// use fingerpost_authority::Host;
/// use fingerpost_claims::{Limits, RawPaths};
///
/// let limits = Limits::default();
/// let body = br#"{"paths": {"paulca": "next.tickets.example"}, "sequence": 7}"#;
/// let raw = RawPaths::parse(body, &limits)?;
/// assert_eq!(raw.sequence(), Some(7));
/// assert_eq!(raw.check(&Host::parse("tickets.example")?, &limits)?.len(), 1);
///
/// let bare = RawPaths::parse(br#"{"paulca": "next.tickets.example"}"#, &limits);
/// assert_eq!(bare.unwrap_err().code(), "bare_map");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPaths<'b> {
    /// The entries as they were written, up to one more than the limit.
    entries: Vec<(Cow<'b, str>, Option<Cow<'b, str>>)>,
    count: usize,
    sequence: Option<u64>,
}

impl<'b> RawPaths<'b> {
    /// Reads a body.
    ///
    /// # Errors
    /// [`BodyError`]: no JSON, no object, a bare map, no `paths`, an unknown or misspelled member, a key that
    /// is written twice (at any place that is read), a member of the wrong type.
    ///
    /// # Complexity
    /// Reads the body once; holds no more entries than the limit allows. Deep nesting costs no stack.
    pub fn parse(body: &'b [u8], limits: &Limits) -> Result<Self, BodyError> {
        let object = json::object(body, KNOWN.len() + 1)?;
        check_keys(&object.members)?;
        let member = |key: &str| object.members.iter().find(|member| member.key == key);
        let Some(paths) = member("paths") else {
            return Err(BodyError::Missing { pointer: "/paths".to_owned() });
        };
        let wrong = |key: &str, expected| {
            Err(BodyError::WrongType { pointer: json::pointer("", key), expected })
        };
        let sequence = match member("sequence").map(Member::number) {
            None => None,
            Some(Some(sequence)) => Some(sequence),
            Some(None) => return wrong("sequence", "a whole number below 2^64"),
        };
        let keep = limits.max_paths_per_claim.saturating_add(1);
        let Ok(entries) = json::object(paths.value.get().as_bytes(), keep) else {
            return wrong("paths", "an object");
        };
        if let Some(key) = twice(&entries.members) {
            return Err(BodyError::DuplicateKey { pointer: json::pointer("/paths", key) });
        }
        let written = |entry: Member<'b>| {
            let target = entry.text();
            (entry.key, target)
        };
        let count = entries.count;
        Ok(Self { entries: entries.members.into_iter().map(written).collect(), count, sequence })
    }

    /// The publisher's number of the map.
    #[must_use]
    pub const fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// Checks the entries, for the map of `host`.
    ///
    /// # Errors
    /// [`Problems`] lists every bad entry, or says that there are too many.
    pub fn check(&self, host: &Host, limits: &Limits) -> Result<PathMap, Problems> {
        let (count, limit) = (self.count, limits.max_paths_per_claim);
        if count > limit {
            return Err(Problems::new(vec![Problem::TooMany { count, limit }]));
        }
        let written = self.entries.iter().map(|(prefix, target)| (prefix, target.as_ref()));
        let (map, refused) = PathMap::check(host, written);
        if refused.is_empty() {
            return Ok(map);
        }
        let problem = |entry: crate::RefusedEntry| Problem::Entry {
            pointer: json::pointer("/paths", &entry.prefix),
            source: entry.fault,
        };
        Err(Problems::new(refused.into_iter().map(problem).collect()))
    }
}

const KNOWN: [&str; 2] = ["paths", "sequence"];

/// Among one member more than there are known keys, one is unknown or written twice.
fn check_keys(members: &[Member<'_>]) -> Result<(), BodyError> {
    if let Some(key) = twice(members) {
        return Err(BodyError::DuplicateKey { pointer: json::pointer("", key) });
    }
    let unknown = |member: &&Member<'_>| !KNOWN.contains(&&*member.key);
    let Some(first) = members.iter().find(unknown) else { return Ok(()) };
    if members.iter().all(|member| unknown(&member) && member.text().is_some()) {
        return Err(BodyError::BareMap);
    }
    Err(BodyError::UnknownMember { pointer: json::pointer("", &first.key) })
}

/// The first key that stands twice, by what it means.
pub(super) fn twice<'a>(members: &'a [Member<'_>]) -> Option<&'a str> {
    let keys = || members.iter().map(|member| &*member.key);
    let mut sorted: Vec<_> = keys().collect();
    sorted.sort_unstable();
    if sorted.is_sorted_by(|one, next| one < next) {
        return None;
    }
    let mut seen = BTreeSet::new();
    keys().find(|key| !seen.insert(*key))
}
