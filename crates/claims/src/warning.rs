//! What has effect, and may not do what was meant.

use std::collections::BTreeMap;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Prefix;

use crate::{ClaimSet, Facts, PathMap, SiteFacts};

/// What has effect, and may not do what was meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A map on a site that does not say what runs behind it.
    #[error("the site has a prefix map and does not set legacy")]
    LegacyUnset,
    /// Two prefixes with different targets differ only by ASCII case.
    #[error("{prefix} and {other} differ only by case, and have different targets")]
    PrefixCase {
        /// The one that comes first.
        prefix: Prefix,
        /// The other.
        other: Prefix,
    },
    /// A prefix with a byte that account names on this site do not have.
    #[error("{prefix} holds a byte outside slug")]
    PrefixOutsideSlug {
        /// The prefix.
        prefix: Prefix,
    },
    /// The application behind the host is also reached through hosts that have not the same map.
    #[error("what is moved away still reaches its old application through {pattern}{}", and_more(*more))]
    FleetReachable {
        /// The first of their patterns.
        pattern: HostPattern,
        /// How many more there are.
        more: usize,
    },
}

fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

impl Warning {
    /// The stable text that programs compare.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::LegacyUnset => "legacy_unset",
            Self::PrefixCase { .. } => "prefix_case",
            Self::PrefixOutsideSlug { .. } => "prefix_outside_slug",
            Self::FleetReachable { .. } => "fleet_reachable",
        }
    }

    /// Looks at a map for the site that reads it.
    ///
    /// # Complexity
    /// Linear; n log n if some prefix has an upper-case letter.
    #[must_use]
    pub fn of_map(site: &SiteFacts, map: &PathMap) -> Vec<Self> {
        let mut warnings = Vec::new();
        if site.legacy_unset && !map.is_empty() {
            warnings.push(Self::LegacyUnset);
        }
        let upper = |prefix: &Prefix| prefix.as_bytes().iter().any(u8::is_ascii_uppercase);
        if map.iter().any(|(prefix, _)| upper(prefix)) {
            warnings.extend(case_clashes(map));
        }
        let outside =
            |prefix: &&Prefix| prefix.as_bytes().iter().any(|byte| !site.slug.contains(*byte));
        let outside = map.iter().map(|(prefix, _)| prefix).filter(outside);
        warnings.extend(outside.map(|prefix| Self::PrefixOutsideSlug { prefix: prefix.clone() }));
        warnings
    }
}

impl Warning {
    /// Looks for other ways to the application that a host's accounts are moved away from.
    ///
    /// No part of a pass: it depends on what other hosts have, and names them, which is for operators.
    ///
    /// # Complexity
    /// The number of fleets, and of patterns that share one with the host; where one has a map of its own, its size.
    #[must_use]
    pub fn of_fleets(facts: &Facts, claims: &ClaimSet, host: &Host) -> Option<Self> {
        let claim = |host: &Host| claims.live(host).or_else(|| facts.config_claim(host));
        let map = claim(host)?.paths();
        if map.is_empty() {
            return None;
        }
        let has_map = |pattern: &HostPattern| match pattern {
            HostPattern::Exact(other) => claim(other).is_some_and(|other| {
                map.iter()
                    .all(|(prefix, target)| other.paths().get(prefix.as_str()) == Some(target))
            }),
            _ => false,
        };
        let mut ways = facts.ways_around(host);
        ways.retain(|way| !has_map(way));
        let pattern = HostPattern::clone(ways.first()?);
        Some(Self::FleetReachable { pattern, more: ways.len() - 1 })
    }
}

/// One for each spelling after the first with another target than that.
fn case_clashes(map: &PathMap) -> Vec<Warning> {
    let mut first: BTreeMap<String, (&Prefix, &Host)> = BTreeMap::new();
    let mut clashes = Vec::new();
    for (other, to) in map.iter() {
        let folded = other.as_str().to_ascii_lowercase();
        let (prefix, known) = *first.entry(folded).or_insert((other, to));
        if known != to {
            let (prefix, other) = (prefix.clone(), other.clone());
            clashes.push(Warning::PrefixCase { prefix, other });
        }
    }
    clashes
}
