//! What one host pattern owns.

use std::sync::Arc;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Rules;

use crate::layer::Layer;
use crate::prefixes::PrefixMap;

/// The place of a site in a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SiteId(pub(crate) u32);

/// How a site reads its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiteOptions {
    /// The readings of a path (what runs behind the origin).
    pub rules: Rules,
    /// What happens when the readings of a first segment name different destinations.
    pub ambiguous: Ambiguity,
    /// What happens when the spellings of a path select different routes.
    pub ambiguous_paths: Ambiguity,
    /// Where a request goes that none of the site's own routes matches.
    pub fallback: Fallback,
}

impl SiteOptions {
    /// The defaults with these rules.
    #[must_use]
    pub fn with_rules(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }
}

/// What happens when readings disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: disagreement is resolved or refused")]
pub enum Ambiguity {
    /// The most normalised reading that selects something decides.
    #[default]
    Select,
    /// The request is refused with 400.
    Refuse,
}

/// Where a path miss goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: there is one layer under a site")]
pub enum Fallback {
    /// To the shared routes.
    #[default]
    Shared,
    /// Nowhere: 404.
    None,
}

/// A host pattern's routes and its prefix map; small, since look-ups on many hosts are bound by how much
/// memory they touch.
#[derive(Clone, Debug)]
pub(crate) struct Site<T> {
    pub(crate) layer: Layer<T>,
    pub(crate) prefixes: Option<Arc<PrefixMap>>,
    pub(crate) identity: Arc<Identity>,
    /// A copy of what every look-up asks of the options.
    pub(crate) fallback: Fallback,
}

/// What a site is called and how it reads.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) pattern: HostPattern,
    /// The pattern as text, for those who name the site.
    pub(crate) name: Box<str>,
    pub(crate) options: SiteOptions,
}

impl<T> Site<T> {
    pub(crate) fn new(pattern: HostPattern, options: SiteOptions, layer: Layer<T>) -> Self {
        Self {
            fallback: options.fallback,
            layer,
            prefixes: None,
            identity: Arc::new(Identity { name: pattern.to_string().into(), pattern, options }),
        }
    }

    pub(crate) fn options(&self) -> &SiteOptions {
        &self.identity.options
    }

    /// The host of an exact site.
    pub(crate) fn host(&self) -> Option<&Host> {
        match &self.identity.pattern {
            HostPattern::Exact(host) => Some(host),
            _ => None,
        }
    }
}

impl<T: Clone> Site<T> {
    /// The same routes, with no map yet.
    pub(crate) fn without_map(&self) -> Self {
        Self { prefixes: None, ..self.clone() }
    }
}
