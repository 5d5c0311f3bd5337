//! What a pass tells people about every claim.

mod summary;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fingerpost_authority::Host;

use crate::{Code, Name, NotOwned, Source, Warning};

/// What a pass says of every claim and every entry, each of them once (K4).
///
/// Entries that are routed are counted, and are in the rows; every other one is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub(crate) claims: BTreeMap<(Host, Source), Arc<ClaimReport>>,
    pub(crate) wildcards_over: BTreeSet<Host>,
    pub(crate) strays: BTreeSet<String>,
}

impl Report {
    /// The claims in the order of their hosts.
    pub fn claims(&self) -> impl Iterator<Item = &ClaimReport> {
        self.claims.values().map(Arc::as_ref)
    }

    /// The claims of one host: one, or one of the configuration and one that is stored.
    pub fn of_host(&self, host: &Host) -> impl Iterator<Item = &ClaimReport> {
        let key = |source| (host.clone(), source);
        self.claims
            .range(key(Source::Config)..=key(Source::Stored))
            .map(|(_, claim)| claim.as_ref())
    }

    /// Hosts whose wildcard is past the limit, in order.
    pub fn wildcards_over_limit(&self) -> impl Iterator<Item = &Host> {
        self.wildcards_over.iter()
    }

    /// Keys of the store that are no canonical host. Their code is [`Code::ClaimInvalid`].
    pub fn strays(&self) -> impl Iterator<Item = &str> {
        self.strays.iter().map(String::as_str)
    }

    /// How many entries of each host are refused, by code: what the metric of unresolved entries counts.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(&Host, Code), usize> {
        let mut counts = BTreeMap::new();
        for claim in self.claims.values() {
            for entry in &claim.entries {
                *counts.entry((&claim.host, entry.code)).or_default() += 1;
            }
        }
        counts
    }
}

/// What a pass says of one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimReport {
    /// Its host.
    pub host: Host,
    /// Where it was written.
    pub source: Source,
    /// Whose it is; `None` if it does not parse.
    pub account: Option<Name>,
    /// The app of that account; `None` if it does not parse.
    pub app: Option<Name>,
    /// Whether it has any effect.
    pub verdict: Verdict,
    /// Why `*.host` is not claimed, or not routed, though it is wanted. The limit is told apart:
    /// [`Report::wildcards_over_limit`].
    pub wildcard: Option<Code>,
    /// How many entries are routed.
    pub routed: usize,
    /// The other entries, in the byte order of their prefixes.
    pub entries: Vec<EntryReport>,
    /// What has effect, and may not do what was meant.
    pub warnings: Vec<Warning>,
}

impl ClaimReport {
    /// How many entries the claim has.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.routed + self.entries.len()
    }
}

/// Whether a claim has any effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete: it stands, gives way, or is refused")]
pub enum Verdict {
    /// It has none.
    Refused {
        /// Why.
        code: Code,
        /// Why, for operators only.
        detail: Option<NotOwned>,
    },
    /// It is of the configuration, and a stored one took its place. Its entries are not judged.
    Replaced,
    /// It has effect.
    Standing,
}

impl Verdict {
    /// The code of a refusal.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Replaced | Self::Standing => None,
        }
    }
}

/// What a pass says of an entry that is not routed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryReport {
    /// The prefix as it was written.
    pub prefix: Box<str>,
    /// The target as it was written; `None` if it was no string.
    pub target: Option<Box<str>>,
    /// Why it is not routed.
    pub code: Code,
    /// Whether its requests get 503. Otherwise they go to the origin.
    pub held: bool,
    /// Whether the target belongs to the account of the claim.
    pub(crate) own_target: bool,
}

/// An entry that requests went by, and that is still wanted, but routes no longer: an alert.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "built by a pass only")]
pub struct Withdrawn {
    /// The host.
    pub host: Host,
    /// The prefix.
    pub prefix: fingerpost_path::Prefix,
    /// Why.
    pub code: Code,
    /// Whether its requests get 503 now. Otherwise they go to the origin.
    pub held: bool,
}
