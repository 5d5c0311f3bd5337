//! A slow model of what each claim gets.

use std::collections::{BTreeMap, BTreeSet};

use fingerpost_authority::{Host, HostKind, HostPattern};
use fingerpost_claims::{Claim, LocalRoute, Name, OnUnresolved, RowState, Rows, SiteFacts, Source};
use fingerpost_path::Prefix;

use crate::world::World;

/// The slow model: what claims get, by scanning everything for everything.
pub(crate) struct Model<'a> {
    pub(crate) world: &'a World,
    pub(crate) claims: Vec<Claim>,
    pub(crate) unreadable: BTreeSet<Host>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        let (mut claims, mut unreadable) = (Vec::new(), BTreeSet::new());
        for (key, body) in &world.stored {
            let Some(host) = Host::parse(key).ok().filter(|host| host.as_str() == key) else {
                continue;
            };
            match Claim::parse(&host, body) {
                Ok(claim) if claim.is_deleted() => {}
                Ok(claim) => claims.push(claim),
                Err(_) => {
                    unreadable.insert(host);
                }
            }
        }
        Self { world, claims, unreadable }
    }

    fn route(&self, host: &Host) -> Option<&LocalRoute> {
        self.world.routes.iter().find(|(known, _)| known == host).map(|(_, route)| route)
    }

    fn elsewhere(&self, host: &Host) -> Vec<Option<&Name>> {
        let found = self.world.elsewhere.iter().filter(|(known, _)| known == host);
        found.map(|(_, account)| account.as_ref()).collect()
    }

    fn has_route(&self, host: &Host, account: &Name) -> bool {
        let elsewhere = self.elsewhere(host);
        match self.route(host) {
            Some(route) => route.account.as_ref() == Some(account),
            None => !elsewhere.is_empty() && elsewhere.iter().all(|of| *of == Some(account)),
        }
    }

    fn routed(&self, host: &Host) -> bool {
        self.route(host).is_some() || !self.elsewhere(host).is_empty()
    }

    /// The accounts of route patterns that cover what `covers` says, by pattern.
    fn above(
        &self,
        covers: impl Fn(&HostPattern) -> bool,
    ) -> BTreeMap<&HostPattern, BTreeSet<Option<&Name>>> {
        let mut above: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (pattern, account) in &self.world.patterns {
            if covers(pattern) {
                above.entry(pattern).or_default().insert(account.as_ref());
            }
        }
        above
    }

    fn covers_names(pattern: &HostPattern, host: &Host) -> bool {
        // A name that no pattern of this test has itself.
        let under = Host::parse(format!("some-name.{host}")).unwrap();
        !matches!(pattern, HostPattern::Exact(_)) && pattern.matches(&under)
    }

    fn allowed(&self, claim: &Claim, covers: &dyn Fn(&HostPattern) -> bool) -> bool {
        let (account, above) = (claim.account(), self.above(covers));
        let granted = |(of, pattern): &(Name, HostPattern)| of == account && covers(pattern);
        let own = |of: &BTreeSet<Option<&Name>>| of.iter().all(|of| *of == Some(account));
        (self.world.grants.iter().any(granted) || above.values().any(own))
            && !above.values().flatten().flatten().any(|of| *of != account)
    }

    /// By what the operator has written alone.
    fn title_to_host(&self, claim: &Claim, source: Source) -> bool {
        let (host, account) = (claim.host(), claim.account());
        if self.has_route(host, account) {
            return true;
        }
        if self.routed(host) {
            return false;
        }
        source == Source::Config
            || self.allowed(claim, &|pattern| pattern.matches(host))
                && !self.world.config.iter().any(|config| {
                    config.account() != account
                        && (config.host() == host
                            || covers(config, host) && self.title(config, Source::Config))
                })
    }

    fn title_to_names(&self, claim: &Claim, source: Source) -> bool {
        let (host, account) = (claim.host(), claim.account());
        if host.kind() != HostKind::Name {
            return false;
        }
        let same = HostPattern::Wildcard(host.clone());
        if source == Source::Config {
            return !self
                .above(|pattern| *pattern == same)
                .values()
                .flatten()
                .flatten()
                .any(|of| *of != account);
        }
        let covers = |pattern: &HostPattern| Self::covers_names(pattern, host);
        let other = self.above(covers).values().flatten().flatten().any(|of| *of != account);
        !other && (self.has_route(host, account) || self.allowed(claim, &covers))
    }

    fn title(&self, claim: &Claim, source: Source) -> bool {
        self.title_to_host(claim, source) && self.title_to_names(claim, source)
    }

    pub(crate) fn owns_host(&self, claim: &Claim, source: Source) -> bool {
        self.title_to_host(claim, source)
            && (source == Source::Config
                || self.has_route(claim.host(), claim.account())
                || !self.claims.iter().any(|other| {
                    other.account() != claim.account()
                        && covers(other, claim.host())
                        && self.title(other, Source::Stored)
                }))
    }

    pub(crate) fn owns_names(&self, claim: &Claim, source: Source) -> bool {
        self.title_to_names(claim, source)
            && (source == Source::Config
                || !self.claims.iter().any(|other| {
                    other.account() != claim.account()
                        && covers(claim, other.host())
                        && !self.has_route(other.host(), other.account())
                        && self.title_to_host(other, Source::Stored)
                }))
    }

    /// The claims that are to be judged: those of the configuration give way.
    pub(crate) fn effective(&self) -> Vec<(&Claim, Source)> {
        let replaced = |claim: &&Claim| {
            let by = |stored: &Claim| {
                stored.host() == claim.host() && stored.account() == claim.account()
            };
            self.unreadable.contains(claim.host()) || self.claims.iter().any(by)
        };
        let config = self.world.config.iter().filter(|claim| !replaced(claim));
        let config = config.map(|claim| (claim, Source::Config));
        config.chain(self.claims.iter().map(|claim| (claim, Source::Stored))).collect()
    }

    /// The route that a claim that is owned resolves to.
    pub(crate) fn resolved(&self, claim: &Claim) -> Option<&(Host, LocalRoute)> {
        let of_app = |(_, route): &&(Host, LocalRoute)| {
            route.account.as_ref() == Some(claim.account())
                && route.app.as_ref() == Some(claim.app())
        };
        if self.routed(claim.host()) {
            return self.world.routes.iter().filter(of_app).find(|(host, _)| host == claim.host());
        }
        let all: Vec<_> = self.world.routes.iter().filter(of_app).collect();
        let marked: Vec<_> = all.iter().copied().filter(|(_, route)| route.primary).collect();
        match (marked.as_slice(), all.as_slice()) {
            ([one], _) | ([], [one]) => Some(one),
            _ => None,
        }
    }

    /// The rows of a pass, or rather their keys and states.
    pub(crate) fn rows(
        &self,
        previous: &Rows,
    ) -> BTreeMap<(Host, String), (RowState, Option<Host>)> {
        let mut rows = BTreeMap::new();
        for (claim, source) in self.effective() {
            if !self.owns_host(claim, source) {
                continue;
            }
            let Some((resolved, route)) = self.resolved(claim) else { continue };
            let whole = claim.paths().iter().map(|(prefix, to)| (prefix.to_string(), Some(to)));
            let refused = claim.refused().iter().map(|entry| (entry.prefix.to_string(), None));
            let mut entries: Vec<_> = whole.chain(refused).collect();
            entries.sort();
            entries.truncate(self.world.limits.max_paths_per_claim);
            for (prefix, target) in entries {
                let reserved = is_reserved(&route.site, &prefix);
                if Prefix::parse(&prefix).is_err() || reserved {
                    continue;
                }
                let served = target.filter(|target| {
                    *target != resolved
                        && self.route(target).is_some_and(|to| {
                            !to.unready && to.account.as_ref() == Some(claim.account())
                        })
                });
                let before = previous.path(claim.host(), &prefix);
                let held = match route.site.on_unresolved {
                    OnUnresolved::Origin => false,
                    OnUnresolved::Sticky => {
                        before.is_some_and(|row| row.to.account == *claim.account())
                    }
                    OnUnresolved::Refuse => true,
                };
                let state = if served.is_some() { RowState::Routed } else { RowState::Held };
                if served.is_some() || held {
                    rows.insert((claim.host().clone(), prefix), (state, target.cloned()));
                }
            }
        }
        for host in &self.unreadable {
            let Some(route) = self.route(host) else { continue };
            if route.site.on_unresolved == OnUnresolved::Origin {
                continue;
            }
            let mut left = self.world.limits.max_paths_per_claim;
            for (of, prefix, row) in previous.path_rows() {
                let reserved = is_reserved(&route.site, prefix.as_str());
                if of == host
                    && route.account.as_ref() == Some(&row.to.account)
                    && !reserved
                    && left > 0
                {
                    left -= 1;
                    let key = (host.clone(), prefix.to_string());
                    rows.insert(key, (RowState::Held, row.to.target.clone()));
                }
            }
        }
        rows
    }
}

/// Whether a claim covers a host by its wildcard: one label above it.
fn covers(claim: &Claim, host: &Host) -> bool {
    claim.reach().is_wide() && HostPattern::Wildcard(claim.host().clone()).matches(host)
}

fn is_reserved(site: &SiteFacts, prefix: &str) -> bool {
    let fold = prefix.to_ascii_lowercase();
    let same = |segment: &[u8]| segment.to_ascii_lowercase() == fold.as_bytes();
    fold == ".well-known"
        || site.reserved.iter().any(|reserved| same(reserved.as_bytes()))
        || site.guarded.iter().any(|guarded| same(guarded))
}
