//! The immutable router.

use std::fmt;
use std::sync::Arc;

use fingerpost_authority::{Host, HostPattern};

use crate::builder::RouterBuilder;
use crate::decide::{Resolved, Silent};
use crate::hosts::Hosts;
use crate::layer::Layer;
use crate::matched::{Match, Refused, SiteRef};
use crate::pattern::PathPattern;
use crate::site::{Site, SiteId};
use crate::sites::Sites;
use crate::{RouteOptions, Tier};

/// Everything that routing needs of one moment, immutable; see the [crate documentation](crate).
///
/// Versions share what did not change: an [`update`](Self::update) copies the shards that it changes and
/// the list of sites. Values stand in the sites themselves and are cloned with them: make them small, such as
/// an `Arc` or a number.
pub struct Router<T> {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) sites: Sites<T>,
    /// How many sites have routes of their own; past them are those of aliases with a map of their own.
    pub(crate) own: u32,
    /// Places past [`own`](Self::own) that no alias has any more.
    pub(crate) free: Arc<Vec<SiteId>>,
    pub(crate) shared: Arc<Layer<T>>,
    pub(crate) every: Arc<Layer<T>>,
    pub(crate) unknown_host: UnknownHost,
    pub(crate) seed: u64,
}

/// What a look-up needs of a request.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the three things that routing reads")]
pub struct Lookup<'q> {
    /// The host that the request names, if it names one.
    pub host: Option<&'q Host>,
    /// The raw path of the request-target.
    pub path: &'q [u8],
    /// What follows the first `?`; read only where a site routes on query parameters.
    pub query: Option<&'q [u8]>,
}

/// What a host that no site serves gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "complete: such a host is served or rejected")]
pub enum UnknownHost {
    /// The shared routes.
    #[default]
    Shared,
    /// 421, unless a route of every host answers.
    Reject,
}

impl<T> Router<T> {
    /// Starts a router.
    ///
    /// `seed` keys the hash of hosts and prefixes, which tenants choose: take it from a random source.
    /// It never changes what a look-up answers.
    #[must_use]
    pub fn builder(seed: u64) -> RouterBuilder<T> {
        RouterBuilder::new(seed)
    }

    /// Finds the route of one request; `Ok(None)` is a 404.
    ///
    /// # Errors
    /// [`Refused`] carries the status of a request that must not be routed.
    ///
    /// # Complexity
    /// For an ordinary path: a probe or two for the host, one for the prefix, one walk over the
    /// path's segments; no allocation (R6). For any other path the work is bounded (`fingerpost_path`).
    pub fn lookup<'r, 'q>(
        &'r self,
        lookup: &Lookup<'q>,
    ) -> Result<Option<Match<'r, 'q, T>>, Refused> {
        self.decide(lookup, &mut Silent).into_match(lookup.path)
    }

    /// The site that serves a hostname, whatever the path.
    #[must_use]
    pub fn resolve_host(&self, host: &Host) -> Option<SiteRef<'_>> {
        self.resolve(host).map(Resolved::site_ref)
    }

    /// Tells whether routing looks at hosts at all.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The number of sites; aliases are none.
    #[must_use]
    pub fn site_count(&self) -> usize {
        self.own_sites().count()
    }

    /// The number of prefixes of the site of an exact host or alias.
    #[must_use]
    pub fn prefix_count(&self, host: &Host) -> usize {
        self.prefix_map(host).map_or(0, crate::prefixes::PrefixMap::len)
    }

    /// The prefixes of the site of an exact host or alias, sorted, each with its target; `None` stands
    /// for a held prefix.
    ///
    /// # Complexity
    /// Sorts the whole map: for listings, not for requests.
    #[must_use]
    pub fn prefixes(&self, host: &Host) -> Vec<(&str, Option<&Host>)> {
        let target = |destination| self.target(destination).and_then(Site::host);
        let entries = self.prefix_map(host).into_iter().flat_map(|map| map.iter());
        let mut out: Vec<_> =
            entries.map(|(prefix, destination)| (prefix, target(destination))).collect();
        out.sort_unstable();
        out
    }

    /// Every route with the host pattern that owns it, or the tier of a route without one.
    pub fn routes(&self) -> impl Iterator<Item = RouteRef<'_, T>> {
        let sites = self.own_sites().map(|site| (Ok(&site.identity.pattern), &site.layer));
        let others = [(Err(Tier::EveryHost), &*self.every), (Err(Tier::Shared), &*self.shared)];
        sites.chain(others).flat_map(|(owner, layer)| {
            layer.routes().iter().map(move |route| RouteRef {
                owner,
                pattern: &route.pattern,
                options: route.options,
                value: &route.value,
            })
        })
    }

    /// How many shards of `host`'s prefix map this router shares with `other`, and how many there are.
    #[must_use]
    pub fn shared_shards(&self, other: &Self, host: &Host) -> Option<(usize, usize)> {
        Some(self.prefix_map(host)?.shared_shards(other.prefix_map(host)?))
    }

    pub(crate) fn site(&self, id: SiteId) -> Option<&Site<T>> {
        self.sites.get(id)
    }

    fn own_sites(&self) -> impl Iterator<Item = &Site<T>> {
        self.sites.iter().take(usize::try_from(self.own).unwrap_or(usize::MAX))
    }

    fn prefix_map(&self, host: &Host) -> Option<&crate::prefixes::PrefixMap> {
        self.site(self.hosts.exact(host)?)?.prefixes.as_deref()
    }
}

/// One route, as a listing shows it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "read only, and made here only")]
pub struct RouteRef<'r, T> {
    /// The host pattern, or the tier of a shared route.
    pub owner: Result<&'r HostPattern, Tier>,
    /// The path.
    pub pattern: &'r PathPattern,
    /// What the router was told about it.
    pub options: RouteOptions,
    /// Its value.
    pub value: &'r T,
}

impl<T> Clone for Router<T> {
    fn clone(&self) -> Self {
        Self {
            hosts: Arc::clone(&self.hosts),
            sites: self.sites.clone(),
            free: Arc::clone(&self.free),
            shared: Arc::clone(&self.shared),
            every: Arc::clone(&self.every),
            ..*self
        }
    }
}

impl<T> fmt::Debug for Router<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("sites", &self.own)
            .field("shared", &self.shared.routes().len())
            .field("every_host", &self.every.routes().len())
            .finish_non_exhaustive()
    }
}
