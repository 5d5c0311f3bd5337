//! From one version of a router to the next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Prefix;

use crate::Router;
use crate::builder::{check_prefix, destination, owns_map, primary_of};
use crate::conflict::{Conflict, Conflicts, Moved};
use crate::hosts::Hosts;
use crate::prefixes::{Destination, PrefixMap};
use crate::site::{Site, SiteId};

/// A host that resolves to the site of another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct Alias {
    /// The exact host whose site it resolves to; no alias itself.
    pub primary: Host,
    /// Whether it has a prefix map of its own, and shares the routes only. Otherwise it shares the map too.
    pub own_map: bool,
}

/// A change of one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete: the three states of a prefix")]
pub enum PathChange {
    /// Serve it from the site of this host.
    Serve(Host),
    /// Answer 503 for it.
    Hold,
    /// Give it back to the origin.
    Remove,
}

/// Changes of what is not a route: aliases, catch-alls, prefixes.
///
/// The order of calls on different hosts or prefixes never matters; of two about the same one the last counts.
/// What comes out is the router that would be built from scratch.
#[derive(Debug)]
pub struct Update<'r, T> {
    router: &'r Router<T>,
    aliases: BTreeMap<Host, Option<Alias>>,
    catchalls: BTreeMap<Host, Option<Host>>,
    paths: BTreeMap<Host, BTreeMap<Prefix, PathChange>>,
}

impl<T> Router<T> {
    /// Begins a next version.
    #[must_use]
    pub fn update(&self) -> Update<'_, T> {
        Update {
            router: self,
            aliases: BTreeMap::new(),
            catchalls: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    /// This router with some prefixes of `host` changed.
    ///
    /// # Errors
    /// As [`Update::build`]; also where `host` is not known and prefixes are only removed.
    ///
    /// # Complexity
    /// As [`Update::build`].
    pub fn with_paths(
        &self,
        host: &Host,
        changes: &[(Prefix, PathChange)],
    ) -> Result<Self, Conflicts>
    where
        T: Clone,
    {
        if self.hosts.exact(host).is_none() {
            return Err(Conflicts::new(vec![Conflict::PrefixWithoutHost { host: host.clone() }]));
        }
        let mut update = self.update();
        for (prefix, change) in changes {
            update.path(host.clone(), prefix.clone(), change.clone());
        }
        update.build()
    }
}

impl<T> Update<'_, T> {
    /// Makes `host` an alias, or no host at all.
    pub fn alias(&mut self, host: Host, alias: Option<Alias>) -> &mut Self {
        self.aliases.insert(host, alias);
        self
    }

    /// Makes `*.host` resolve to the site of an exact host, or to none.
    pub fn catchall(&mut self, host: Host, primary: Option<Host>) -> &mut Self {
        self.catchalls.insert(host, primary);
        self
    }

    /// Changes one prefix of `host`.
    pub fn path(&mut self, host: Host, prefix: Prefix, change: PathChange) -> &mut Self {
        self.paths.entry(host).or_default().insert(prefix, change);
        self
    }

    /// The next version.
    ///
    /// What is removed and was not there is no conflict: the map of an alias goes with the alias.
    ///
    /// # Errors
    /// [`Conflicts`] lists every change that cannot be; nothing is changed then.
    ///
    /// # Complexity
    /// Copies the list of sites, a chunk of up to 256 sites for each host with a change (which clones a value for
    /// each site of one route), and for each change the shard of about 1,000 prefixes or hosts that holds it.
    /// An alias with a map of its own that gets another primary has its whole map looked through.
    pub fn build(self) -> Result<Router<T>, Conflicts>
    where
        T: Clone,
    {
        let Self { router, aliases, catchalls, mut paths } = self;
        let mut work = Work { next: router.clone(), found: Vec::new() };
        let mut moved = BTreeSet::new();
        for (host, alias) in aliases {
            if work.alias(&host, alias) {
                moved.insert(host);
            }
        }
        for (host, primary) in catchalls {
            work.catchall(host, primary);
        }
        for host in &moved {
            paths.entry(host.clone()).or_default();
        }
        for (host, changes) in paths {
            work.paths(&host, &changes, moved.contains(&host));
        }
        if work.found.is_empty() { Ok(work.next) } else { Err(Conflicts::new(work.found)) }
    }
}

struct Work<T> {
    next: Router<T>,
    found: Vec<Conflict>,
}

impl<T: Clone> Work<T> {
    fn hosts(&mut self) -> &mut Hosts {
        Arc::make_mut(&mut self.next.hosts)
    }

    /// Says whether a map of its own has to be looked through, since other routes stand under it now.
    fn alias(&mut self, host: &Host, alias: Option<Alias>) -> bool {
        let exact = HostPattern::Exact(host.clone());
        let known = self.next.hosts.exact(host);
        if let Some(id) = known
            && self.next.site(id).and_then(Site::host) == Some(host)
        {
            if alias.is_some() {
                self.found.push(Conflict::AliasIsRoute { host: host.clone() });
            }
            return false;
        }
        let mapped = known.filter(|id| id.0 >= self.next.own);
        let Some(Alias { primary, own_map }) = alias else {
            self.free(mapped);
            if known.is_some() {
                self.hosts().remove(&exact);
            }
            return false;
        };
        let Some(id) = primary_of(&self.next.hosts, |id| self.next.site(id), &primary) else {
            self.found.push(Conflict::AliasWithoutPrimary { host: host.clone(), primary });
            return false;
        };
        if !own_map {
            self.free(mapped);
            if known != Some(id) {
                self.hosts().insert(&exact, id);
            }
            return false;
        }
        let Some(mut site) = self.next.site(id).map(Site::without_map) else { return false };
        let Some(mapped) = mapped else {
            let place = self.place();
            self.next.sites.set(place, site);
            self.hosts().insert(&exact, place);
            return false;
        };
        let Some(before) = self.next.site(mapped) else { return false };
        if Arc::ptr_eq(&before.identity, &site.identity) {
            return false;
        }
        let case_sensitive = site.options().rules.case_sensitive();
        site.prefixes = before.prefixes.as_ref().map(|map| {
            if map.is_case_sensitive() == case_sensitive {
                return Arc::clone(map);
            }
            Arc::new(map.with_case_sensitive(self.next.seed, case_sensitive))
        });
        self.next.sites.set(mapped, site);
        true
    }

    fn catchall(&mut self, host: Host, primary: Option<Host>) {
        let known = self.next.hosts.wildcard(&host);
        let pattern = HostPattern::Wildcard(host.clone());
        if known
            .and_then(|id| self.next.site(id))
            .is_some_and(|site| site.identity.pattern == pattern)
        {
            if primary.is_some() {
                self.found.push(Conflict::CatchallIsRoute { host });
            }
            return;
        }
        let Some(primary) = primary else {
            if known.is_some() {
                self.hosts().remove(&pattern);
            }
            return;
        };
        match primary_of(&self.next.hosts, |id| self.next.site(id), &primary) {
            Some(id) if known == Some(id) => {}
            Some(id) => self.hosts().insert(&pattern, id),
            None => self.found.push(Conflict::AliasWithoutPrimary { host, primary }),
        }
    }

    /// Changes the map of one host; `all` looks through what stays, too.
    fn paths(&mut self, host: &Host, changes: &BTreeMap<Prefix, PathChange>, all: bool) {
        let known = self.next.hosts.exact(host).and_then(|id| Some((id, self.next.site(id)?)));
        let (id, site) = match known {
            Some((id, site)) if owns_map(host, site, id, self.next.own) => (id, site),
            known => {
                if changes.values().any(|change| *change != PathChange::Remove) {
                    let host = host.clone();
                    self.found.push(match known {
                        Some(_) => Conflict::PrefixOfAlias { host },
                        None => Conflict::PrefixWithoutHost { host },
                    });
                }
                return;
            }
        };
        let mut map = site.prefixes.as_ref().map_or_else(
            || {
                let case_sensitive = site.options().rules.case_sensitive();
                PrefixMap::new(self.next.seed, changes.len(), case_sensitive)
            },
            |map| PrefixMap::clone(map),
        );
        let owner = |id| self.next.site(id).and_then(Site::host);
        let mut found = Vec::new();
        for (prefix, change) in changes {
            let destination = match change {
                PathChange::Serve(target) => {
                    destination(&self.next.hosts, owner, site, prefix, target)
                        .and_then(|served| check_prefix(site, prefix).map(|()| Some(served)))
                }
                PathChange::Hold => check_prefix(site, prefix).map(|()| Some(Destination::Held)),
                PathChange::Remove => Ok(None),
            };
            match destination {
                Ok(destination) => map.set(prefix, destination),
                Err(conflict) => found.push(*conflict),
            }
        }
        if all {
            found.extend(look_through(site, &map, owner));
        }
        self.found.append(&mut found);
        let mut site = site.clone();
        site.prefixes = (map.len() > 0).then(|| Arc::new(map));
        self.next.sites.set(id, site);
    }

    /// A place for the site of an alias.
    fn place(&mut self) -> SiteId {
        if !self.next.free.is_empty()
            && let Some(place) = Arc::make_mut(&mut self.next.free).pop()
        {
            return place;
        }
        SiteId(u32::try_from(self.next.sites.len()).unwrap_or(u32::MAX))
    }

    /// Gives up the place of an alias that had a map of its own. Nothing else names it: an alias is no target.
    fn free(&mut self, place: Option<SiteId>) {
        let Some(place) = place else { return };
        if let Some(site) = self.next.site(place).map(Site::without_map) {
            self.next.sites.set(place, site);
        }
        Arc::make_mut(&mut self.next.free).push(place);
    }
}

/// What of a map can't stand on a site.
fn look_through<'r, T>(
    site: &Site<T>,
    map: &PrefixMap,
    owner: impl Fn(SiteId) -> Option<&'r Host>,
) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (text, destination) in map.iter() {
        let Ok(prefix) = Prefix::parse(text) else { continue };
        if let Err(conflict) = check_prefix(site, &prefix) {
            found.push(*conflict);
        }
        if let Destination::Site(id) = destination
            && let Some(target) = owner(id).filter(|target| site.host() == Some(*target))
        {
            let (host, target) = (target.clone(), target.clone());
            found.push(Conflict::TargetIsSelf(Moved { host, prefix, target }));
        }
    }
    found
}
