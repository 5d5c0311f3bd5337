//! What the door says of a claim.

use fingerpost_claims::{Claim, EntryFault, PathMap, RefusedEntry, Source};
use serde::{Serialize, Serializer};

use crate::problem::words;

/// A claim as the door shows it.
#[derive(Serialize)]
pub(super) struct ClaimBody<'a> {
    host: &'a str,
    account: &'a str,
    app: &'a str,
    wildcard: bool,
    catchall: bool,
    #[serde(serialize_with = "entries")]
    paths: &'a PathMap,
    sequence: Option<u64>,
    source: &'static str,
    /// Entries that came another way than through the door, and are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    invalid: Vec<InvalidEntry<'a>>,
}

impl<'a> ClaimBody<'a> {
    pub(super) fn new(claim: &'a Claim, source: Source) -> Self {
        Self {
            host: claim.host().as_str(),
            account: claim.account().as_str(),
            app: claim.app().as_str(),
            wildcard: claim.reach().wildcard,
            catchall: claim.reach().catchall,
            paths: claim.paths(),
            sequence: claim.sequence(),
            source: source_word(source),
            invalid: claim.refused().iter().map(InvalidEntry::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct InvalidEntry<'a> {
    prefix: &'a str,
    target: Option<&'a str>,
    code: &'static str,
    detail: String,
}

impl<'a> InvalidEntry<'a> {
    fn new(entry: &'a RefusedEntry) -> Self {
        let fault: &EntryFault = &entry.fault;
        Self {
            prefix: &entry.prefix,
            target: entry.target.as_deref(),
            code: fault.code().as_str(),
            detail: words(fault),
        }
    }
}

/// A claim in a list, without its map.
#[derive(Serialize)]
pub(super) struct ClaimLine {
    pub(super) host: String,
    pub(super) account: String,
    pub(super) app: String,
    pub(super) wildcard: bool,
    pub(super) catchall: bool,
    pub(super) entries: usize,
    pub(super) sequence: Option<u64>,
    pub(super) source: &'static str,
}

impl ClaimLine {
    pub(super) fn new(claim: &Claim, source: Source) -> Self {
        Self {
            host: claim.host().to_string(),
            account: claim.account().to_string(),
            app: claim.app().to_string(),
            wildcard: claim.reach().wildcard,
            catchall: claim.reach().catchall,
            entries: claim.entry_count(),
            sequence: claim.sequence(),
            source: source_word(source),
        }
    }
}

pub(crate) const fn source_word(source: Source) -> &'static str {
    match source {
        Source::Config => "config",
        Source::Stored => "stored",
    }
}

fn entries<S: Serializer>(map: &PathMap, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(prefix, target)| (prefix.as_str(), target.as_str())))
}
