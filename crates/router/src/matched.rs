//! What a look-up found.

use std::borrow::Cow;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Spelling;
use percent_encoding::percent_decode;

use crate::Tier;
use crate::layer::{Route, RouteOptions};
use crate::pattern::{PathPattern, Segment};
use crate::site::Identity;

/// A route that a request selected, and why.
#[derive(Debug)]
pub struct Match<'r, 'q, T> {
    pub(crate) route: &'r Route<T>,
    pub(crate) tier: Tier,
    pub(crate) site: Option<SiteRef<'r>>,
    pub(crate) hit: Option<Hit<'r>>,
    /// The form of the path that decided.
    pub(crate) path: Cow<'q, [u8]>,
    pub(crate) encoded: bool,
}

/// A site as those outside the router see it.
#[derive(Clone, Copy, Debug)]
pub struct SiteRef<'r> {
    pub(crate) identity: &'r Identity,
    pub(crate) tier: Tier,
    pub(crate) mapped: bool,
}

/// A prefix that a request named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit<'r> {
    pub(crate) prefix: &'r str,
    pub(crate) spelling: Spelling,
    pub(crate) target: Option<&'r Host>,
}

impl<'r, T> Match<'r, '_, T> {
    /// The route's value.
    #[must_use]
    pub fn value(&self) -> &'r T {
        &self.route.value
    }

    /// The route's pattern.
    #[must_use]
    pub fn pattern(&self) -> &'r PathPattern {
        &self.route.pattern
    }

    /// What the router was told about the route.
    #[must_use]
    pub fn options(&self) -> RouteOptions {
        self.route.options
    }

    /// Where the route came from: the requested host's tier for a route of its site or of its map.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The site that the host resolved to (for an alias, its primary's).
    #[must_use]
    pub fn site(&self) -> Option<SiteRef<'r>> {
        self.site
    }

    /// Tells whether the host's site has a prefix map.
    #[must_use]
    pub fn mapped(&self) -> bool {
        self.site.is_some_and(|site| site.mapped)
    }

    /// The prefix that selected the route, as the map spells it.
    #[must_use]
    pub fn prefix(&self) -> Option<&'r str> {
        self.hit.map(|hit| hit.prefix)
    }

    /// The host whose site the prefix selected.
    #[must_use]
    pub fn target(&self) -> Option<&'r Host> {
        self.hit.and_then(|hit| hit.target)
    }

    /// The reading of the path that selected the route.
    #[must_use]
    pub fn spelling(&self) -> Spelling {
        self.hit.map_or(Spelling::Normalised, |hit| hit.spelling)
    }

    /// The pattern's parameters, in order, percent-decoded once.
    ///
    /// A catch-all's value has no leading slash, and is empty where the pattern answered its bare
    /// prefix.
    pub fn params(&self) -> impl Iterator<Item = (&'r str, Cow<'_, [u8]>)> {
        let mut rest = Some(self.path.get(1..).unwrap_or_default());
        self.route.pattern.segments().iter().filter_map(move |segment| {
            let path = rest.unwrap_or_default();
            let value = match segment {
                Segment::CatchAll(_) => std::mem::take(&mut rest).unwrap_or_default(),
                _ => {
                    let end = memchr::memchr(b'/', path);
                    rest = end.and_then(|end| path.get(end + 1..));
                    path.get(..end.unwrap_or(path.len())).unwrap_or_default()
                }
            };
            let value = if self.encoded { percent_decode(value).into() } else { value.into() };
            Some((segment.name()?, value))
        })
    }
}

impl<T> Clone for Match<'_, '_, T> {
    fn clone(&self) -> Self {
        Self { path: self.path.clone(), ..*self }
    }
}

impl<'r> SiteRef<'r> {
    /// The pattern that owns the site.
    #[must_use]
    pub fn pattern(&self) -> &'r HostPattern {
        &self.identity.pattern
    }

    /// The pattern as text.
    #[must_use]
    pub fn name(&self) -> &'r str {
        &self.identity.name
    }

    /// The tier by which the host resolved to it.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Tells whether the site has a prefix map.
    #[must_use]
    pub fn mapped(&self) -> bool {
        self.mapped
    }
}

/// Why a request is answered without a route, other than that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The path breaks a rule of a host with a prefix map, or of one with guarded routes: 400.
    #[error("{0}")]
    Path(#[from] fingerpost_path::PathRefused),
    /// The readings of the first segment name different destinations: 400.
    #[error("the first segment can be read in ways that name different destinations")]
    AmbiguousPrefix,
    /// The spellings of the path select different routes: 400.
    #[error("the path can be read in ways that select different routes")]
    AmbiguousPath,
    /// The spellings of the path select different routes, one of them guarded: 400.
    #[error("the path can be read in ways that select different routes, one of them guarded")]
    Guarded,
    /// A route of every host would forward a request that names a prefix: 400.
    #[error("a route of every host would forward a request that names a moved prefix")]
    EveryHostForwards,
    /// No site serves the host, and unknown hosts are rejected: 421.
    #[error("no site serves this host")]
    UnknownHost,
    /// The prefix is held until its target is back: 503.
    #[error("the prefix is held until its target is back")]
    Held,
}

impl Refused {
    /// The HTTP status that answers the request.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Path(_)
            | Self::AmbiguousPrefix
            | Self::AmbiguousPath
            | Self::Guarded
            | Self::EveryHostForwards => 400,
            Self::UnknownHost => 421,
            Self::Held => 503,
        }
    }
}
