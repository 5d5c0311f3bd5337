//! From a host to the site that owns it.

use fingerpost_authority::{Host, HostKind, HostPattern};

use crate::site::SiteId;
use crate::table::{Key, Table};

/// Where a route, or a site, was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// The host itself.
    Exact,
    /// `*.suffix`: exactly one label.
    Wildcard,
    /// `**.suffix`: one or more labels.
    DeepWildcard,
    /// `*`: any host.
    Any,
    /// The layer under every site.
    Shared,
    /// The layer above every site.
    EveryHost,
}

impl Tier {
    /// The name that `explain` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Wildcard => "wildcard",
            Self::DeepWildcard => "deep-wildcard",
            Self::Any => "any",
            Self::Shared => "shared",
            Self::EveryHost => "every-host",
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Host patterns to sites.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    exact: Table,
    wildcard: Table,
    deep: Table,
    any: Option<SiteId>,
}

impl Hosts {
    pub(crate) fn new(seed: u64, expected: usize) -> Self {
        Self {
            exact: Table::new(seed, expected),
            wildcard: Table::new(seed, 0),
            deep: Table::new(seed, 0),
            any: None,
        }
    }

    pub(crate) fn insert(&mut self, pattern: &HostPattern, SiteId(site): SiteId) {
        let (table, host) = match pattern {
            HostPattern::Exact(host) => (&mut self.exact, host),
            HostPattern::Wildcard(suffix) => (&mut self.wildcard, suffix),
            HostPattern::DeepWildcard(suffix) => (&mut self.deep, suffix),
            _ => {
                self.any = Some(SiteId(site));
                return;
            }
        };
        table.insert(Key::Exact, host.as_bytes(), site);
    }

    /// Forgets an exact pattern or a wildcard; there is no other that ever ends.
    pub(crate) fn remove(&mut self, pattern: &HostPattern) {
        match pattern {
            HostPattern::Exact(host) => self.exact.remove(Key::Exact, host.as_bytes()),
            HostPattern::Wildcard(suffix) => self.wildcard.remove(Key::Exact, suffix.as_bytes()),
            _ => {}
        }
    }

    /// The site of `*.suffix`.
    pub(crate) fn wildcard(&self, suffix: &Host) -> Option<SiteId> {
        self.wildcard.find(suffix.as_bytes()).map(|entry| SiteId(entry.value))
    }

    /// The site of an exact host or alias.
    pub(crate) fn exact(&self, host: &Host) -> Option<SiteId> {
        self.exact.find(host.as_bytes()).map(|entry| SiteId(entry.value))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exact.len() + self.wildcard.len() + self.deep.len() == 0 && self.any.is_none()
    }

    /// The site that a host resolves to: the first tier that has one.
    ///
    /// # Complexity
    /// One probe for an exact host; for others one more for `*.suffix`, and one for each label where
    /// there are `**.suffix` patterns.
    pub(crate) fn resolve(&self, host: &Host) -> Option<(SiteId, Tier)> {
        if let Some(site) = self.exact(host) {
            return Some((site, Tier::Exact));
        }
        if host.kind() == HostKind::Name && self.wildcard.len() + self.deep.len() > 0 {
            let mut suffix = after_label(host.as_bytes());
            if let Some(entry) = suffix.and_then(|suffix| self.wildcard.find(suffix)) {
                return Some((SiteId(entry.value), Tier::Wildcard));
            }
            while self.deep.len() > 0
                && let Some(labels) = suffix
            {
                if let Some(entry) = self.deep.find(labels) {
                    return Some((SiteId(entry.value), Tier::DeepWildcard));
                }
                suffix = after_label(labels);
            }
        }
        self.any.map(|site| (site, Tier::Any))
    }
}

/// The name without its first label.
fn after_label(name: &[u8]) -> Option<&[u8]> {
    name.get(memchr::memchr(b'.', name)? + 1..)
}
