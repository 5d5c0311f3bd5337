//! What cannot be together in one router.

use std::fmt;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Prefix;

use crate::pattern::PathPattern;

/// What a route belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: the three layers of a look-up")]
pub enum Owner {
    /// The site of a host pattern.
    Host(HostPattern),
    /// The layer under every site.
    Shared,
    /// The layer above every site.
    EveryHost,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(pattern) => pattern.fmt(f),
            Self::Shared => f.write_str("shared routes"),
            Self::EveryHost => f.write_str("every-host routes"),
        }
    }
}

/// One conflict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Two routes of one owner have the same pattern.
    #[error("{owner}: {first} and {second} match the same paths")]
    DuplicateRoute {
        /// Whose routes they are.
        owner: Owner,
        /// The one pattern.
        first: PathPattern,
        /// The other.
        second: PathPattern,
    },
    /// The options of one site were given twice, and differ.
    #[error("{pattern}: two different sets of site options")]
    SiteOptions {
        /// The site.
        pattern: HostPattern,
    },
    /// An alias is itself a host with routes.
    #[error("{host} has routes of its own, so it cannot be an alias")]
    AliasIsRoute {
        /// The alias.
        host: Host,
    },
    /// An alias has two primaries.
    #[error("{host} is an alias of two different hosts")]
    AliasTwice {
        /// The alias.
        host: Host,
    },
    /// The primary of an alias has no routes.
    #[error("{host} is an alias of {primary}, which has no routes")]
    AliasWithoutPrimary {
        /// The alias.
        host: Host,
        /// Its primary.
        primary: Host,
    },
    /// `*.host` is itself a pattern with routes.
    #[error("*.{host} has routes of its own, so it cannot be routed to a site")]
    CatchallIsRoute {
        /// The host under which the names are.
        host: Host,
    },
    /// `*.host` has two primaries.
    #[error("*.{host} is routed to two different hosts")]
    CatchallTwice {
        /// The host under which the names are.
        host: Host,
    },
    /// A prefix for an alias that shares the map of its primary.
    #[error("{host} is an alias without a prefix map of its own")]
    PrefixOfAlias {
        /// The alias.
        host: Host,
    },
    /// A prefix map for a host that has no routes.
    #[error("{host} has a prefix map, but no routes")]
    PrefixWithoutHost {
        /// The host.
        host: Host,
    },
    /// One prefix with two destinations.
    #[error("{host}: prefix {prefix} has two destinations")]
    DuplicatePrefix {
        /// The host.
        host: Host,
        /// The prefix.
        prefix: Prefix,
    },
    /// A prefix that no host may give away.
    #[error("{prefix} is reserved")]
    PrefixReserved {
        /// The prefix.
        prefix: Prefix,
    },
    /// A prefix that is the first segment of a guarded route.
    #[error("{prefix} is the first segment of the guarded route {pattern}")]
    PrefixGuarded {
        /// The prefix.
        prefix: Prefix,
        /// The guarded route's pattern.
        pattern: PathPattern,
    },
    /// The target has no routes.
    #[error("{0}: the target has no routes")]
    TargetUnknown(Moved),
    /// The target is an alias.
    #[error("{0}: the target is an alias")]
    TargetIsAlias(Moved),
    /// The target is the host that the prefix is moved away from.
    #[error("{0}: the target is the host itself")]
    TargetIsSelf(Moved),
}

/// One entry of a prefix map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the three parts of an entry")]
pub struct Moved {
    /// The host whose map it is.
    pub host: Host,
    /// The prefix.
    pub prefix: Prefix,
    /// Where it was to go.
    pub target: Host,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} -> {}", self.host, self.prefix, self.target)
    }
}

/// Every conflict of one build, each once, in a fixed order; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(Vec<Conflict>);

impl Conflicts {
    pub(crate) fn new(mut conflicts: Vec<Conflict>) -> Self {
        conflicts.sort_by_cached_key(ToString::to_string);
        conflicts.dedup();
        Self(conflicts)
    }

    /// The conflicts.
    pub fn iter(&self) -> impl Iterator<Item = &Conflict> {
        self.0.iter()
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, conflict) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            conflict.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
