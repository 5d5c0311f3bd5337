//! What one host pattern owns.

use std::sync::Arc;

use fingerpost_authority::HostPattern;
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

/// A host pattern's routes and its prefix map.
#[derive(Debug)]
pub(crate) struct Site<T> {
    pub(crate) pattern: HostPattern,
    /// The pattern as text, for those who name the site.
    pub(crate) name: Arc<str>,
    pub(crate) options: Arc<SiteOptions>,
    pub(crate) layer: Arc<Layer<T>>,
    pub(crate) prefixes: Option<PrefixMap>,
}

impl<T> Clone for Site<T> {
    fn clone(&self) -> Self {
        Self {
            pattern: self.pattern.clone(),
            name: Arc::clone(&self.name),
            options: Arc::clone(&self.options),
            layer: Arc::clone(&self.layer),
            prefixes: self.prefixes.clone(),
        }
    }
}
