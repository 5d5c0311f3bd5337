//! From routes, aliases and prefixes to a router, or to every conflict among them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::{Prefix, Rules};

use crate::conflict::{Conflict, Conflicts, Moved, Owner};
use crate::hosts::Hosts;
use crate::layer::{Layer, Route, RouteOptions};
use crate::pattern::PathPattern;
use crate::prefixes::{Destination, PrefixMap};
use crate::router::{Router, UnknownHost};
use crate::site::{Site, SiteId, SiteOptions};
use crate::update::Alias;

/// Collects what a [`Router`] is made of; the order of calls never matters (R2).
///
/// ```
/// use fingerpost_authority::{Host, HostPattern};
/// use fingerpost_path::Prefix;
/// use fingerpost_router::{Lookup, Owner, PathPattern, RouteOptions, Router};
///
/// let (old, new) = (Host::parse("tickets.example")?, Host::parse("next.example")?);
/// let all = PathPattern::parse("/{*rest}")?;
/// let mut builder = Router::builder(7);
/// for (host, app) in [(&old, "classic"), (&new, "go")] {
///     let owner = Owner::Host(HostPattern::Exact(host.clone()));
///     builder.route(owner, all.clone(), RouteOptions::forwarding(), app);
/// }
/// builder.prefix(old.clone(), Prefix::parse("paulca")?, Some(new));
/// let router = builder.build()?;
///
/// let ask = |path: &'static [u8]| Lookup { host: Some(&old), path, query: None };
/// assert_eq!(router.lookup(&ask(b"/paulca/x"))?.unwrap().value(), &"go");
/// assert_eq!(router.lookup(&ask(b"/others/x"))?.unwrap().value(), &"classic");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RouterBuilder<T> {
    seed: u64,
    unknown_host: UnknownHost,
    sites: BTreeMap<HostPattern, Draft<T>>,
    shared: Vec<Route<T>>,
    every: Vec<Route<T>>,
    aliases: Vec<(Host, Alias)>,
    catchalls: Vec<(Host, Host)>,
    prefixes: Vec<(Host, Prefix, Option<Host>)>,
    conflicts: Vec<Conflict>,
}

#[derive(Debug)]
struct Draft<T> {
    options: Option<SiteOptions>,
    routes: Vec<Route<T>>,
}

impl<T> RouterBuilder<T> {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            unknown_host: UnknownHost::default(),
            sites: BTreeMap::new(),
            shared: Vec::new(),
            every: Vec::new(),
            aliases: Vec::new(),
            catchalls: Vec::new(),
            prefixes: Vec::new(),
            conflicts: Vec::new(),
        }
    }

    /// Says what a host that no site serves gets.
    pub fn unknown_host(&mut self, unknown_host: UnknownHost) -> &mut Self {
        self.unknown_host = unknown_host;
        self
    }

    /// Says how the site of `pattern` reads its requests, and makes the site if it has no routes.
    pub fn site(&mut self, pattern: HostPattern, options: SiteOptions) -> &mut Self {
        let draft = self.draft(pattern.clone());
        match &draft.options {
            Some(known) if *known != options => {
                self.conflicts.push(Conflict::SiteOptions { pattern });
            }
            _ => draft.options = Some(options),
        }
        self
    }

    /// Adds a route.
    pub fn route(
        &mut self,
        owner: Owner,
        pattern: PathPattern,
        options: RouteOptions,
        value: T,
    ) -> &mut Self {
        let route = Route { pattern: Arc::new(pattern), options, value };
        match owner {
            Owner::Host(pattern) => self.draft(pattern).routes.push(route),
            Owner::Shared => self.shared.push(route),
            Owner::EveryHost => self.every.push(route),
        }
        self
    }

    /// Makes `host` resolve to the site of another exact host.
    pub fn alias(&mut self, host: Host, alias: Alias) -> &mut Self {
        self.aliases.push((host, alias));
        self
    }

    /// Makes `*.host` resolve to the site of the exact host `primary`, map included.
    pub fn catchall(&mut self, host: Host, primary: Host) -> &mut Self {
        self.catchalls.push((host, primary));
        self
    }

    /// Moves the first segment `prefix` of `host` to the site of `target`, or holds it. An alias needs a map
    /// of its own for that.
    pub fn prefix(&mut self, host: Host, prefix: Prefix, target: Option<Host>) -> &mut Self {
        self.prefixes.push((host, prefix, target));
        self
    }

    fn draft(&mut self, pattern: HostPattern) -> &mut Draft<T> {
        self.sites.entry(pattern).or_insert_with(|| Draft { options: None, routes: Vec::new() })
    }

    /// Builds the router.
    ///
    /// # Errors
    /// [`Conflicts`] lists every conflict, in a fixed order.
    ///
    /// # Complexity
    /// Linear in routes and prefixes but for sorting; about 0.1 us a prefix.
    pub fn build(self) -> Result<Router<T>, Conflicts>
    where
        T: Clone,
    {
        let mut conflicts = self.conflicts;
        let guards = [&self.shared, &self.every]
            .into_iter()
            .chain(self.sites.values().map(|draft| &draft.routes))
            .flatten()
            .any(|route| route.options.guarded);
        let mut layer = |owner: Owner, routes, rules: &Rules| {
            Layer::build(routes, rules, guards).map_or_else(
                |same| {
                    conflicts.extend(same.into_iter().map(|(first, second)| {
                        Conflict::DuplicateRoute { owner: owner.clone(), first, second }
                    }));
                    None
                },
                Some,
            )
        };
        let shared = layer(Owner::Shared, self.shared, &Rules::default());
        let every = layer(Owner::EveryHost, self.every, &Rules::default());
        let mut hosts = Hosts::new(self.seed, self.sites.len());
        let mut sites = Vec::with_capacity(self.sites.len());
        for (id, (pattern, draft)) in (0..).zip(self.sites) {
            let options = draft.options.unwrap_or_default();
            let layer = layer(Owner::Host(pattern.clone()), draft.routes, &options.rules);
            hosts.insert(&pattern, SiteId(id));
            let Some(layer) = layer else { continue };
            sites.push(Site::new(pattern, options, layer));
        }
        let (Some(shared), Some(every), true) = (shared, every, conflicts.is_empty()) else {
            return Err(Conflicts::new(conflicts));
        };
        let own = u32::try_from(sites.len()).unwrap_or(u32::MAX);
        add_aliases(&mut hosts, &mut sites, self.aliases, &mut conflicts);
        add_catchalls(&mut hosts, &sites, self.catchalls, &mut conflicts);
        add_prefixes(self.seed, &hosts, &mut sites, self.prefixes, own, &mut conflicts);
        if !conflicts.is_empty() {
            return Err(Conflicts::new(conflicts));
        }
        Ok(Router {
            hosts: Arc::new(hosts),
            sites: sites.into_iter().collect(),
            own,
            free: Arc::default(),
            shared: Arc::new(shared),
            every: Arc::new(every),
            unknown_host: self.unknown_host,
            seed: self.seed,
        })
    }
}

/// Each alias shares the site of its primary, or gets one with the same routes and another map.
fn add_aliases<T: Clone>(
    hosts: &mut Hosts,
    sites: &mut Vec<Site<T>>,
    mut aliases: Vec<(Host, Alias)>,
    found: &mut Vec<Conflict>,
) {
    aliases.sort();
    aliases.dedup();
    let mut resolved: BTreeMap<Host, (SiteId, bool)> = BTreeMap::new();
    for (host, Alias { primary, own_map }) in aliases {
        let Some(site) = primary_of(hosts, |id| nth(sites, id), &primary) else {
            found.push(Conflict::AliasWithoutPrimary { host, primary });
            continue;
        };
        if hosts.exact(&host).is_some() {
            found.push(Conflict::AliasIsRoute { host });
            continue;
        }
        match resolved.entry(host) {
            Entry::Occupied(taken) => {
                found.push(Conflict::AliasTwice { host: taken.key().clone() });
            }
            Entry::Vacant(free) => {
                free.insert((site, own_map));
            }
        }
    }
    for (host, (mut id, own_map)) in resolved {
        if own_map {
            let Some(site) = nth(sites, id).map(Site::without_map) else { continue };
            id = SiteId(u32::try_from(sites.len()).unwrap_or(u32::MAX));
            sites.push(site);
        }
        hosts.insert(&HostPattern::Exact(host), id);
    }
}

fn add_catchalls<T>(
    hosts: &mut Hosts,
    sites: &[Site<T>],
    mut catchalls: Vec<(Host, Host)>,
    found: &mut Vec<Conflict>,
) {
    catchalls.sort();
    catchalls.dedup();
    let mut resolved: BTreeMap<Host, SiteId> = BTreeMap::new();
    for (host, primary) in catchalls {
        let Some(site) = primary_of(hosts, |id| nth(sites, id), &primary) else {
            found.push(Conflict::AliasWithoutPrimary { host, primary });
            continue;
        };
        if hosts.wildcard(&host).is_some() {
            found.push(Conflict::CatchallIsRoute { host });
            continue;
        }
        match resolved.entry(host) {
            Entry::Occupied(taken) => {
                found.push(Conflict::CatchallTwice { host: taken.key().clone() });
            }
            Entry::Vacant(free) => {
                free.insert(site);
            }
        }
    }
    for (host, site) in resolved {
        hosts.insert(&HostPattern::Wildcard(host), site);
    }
}

/// The site of a primary: an exact host that is no alias.
pub(crate) fn primary_of<'r, T: 'r>(
    hosts: &Hosts,
    site: impl Fn(SiteId) -> Option<&'r Site<T>>,
    primary: &Host,
) -> Option<SiteId> {
    let id = hosts.exact(primary)?;
    (site(id)?.host() == Some(primary)).then_some(id)
}

/// Whether the site that an exact host resolves to, and so its map, is the host's own.
pub(crate) fn owns_map<T>(host: &Host, site: &Site<T>, id: SiteId, own: u32) -> bool {
    // Past the sites with routes of their own each belongs to one alias.
    id.0 >= own || site.host() == Some(host)
}

fn add_prefixes<T>(
    seed: u64,
    hosts: &Hosts,
    sites: &mut [Site<T>],
    mut prefixes: Vec<(Host, Prefix, Option<Host>)>,
    own: u32,
    found: &mut Vec<Conflict>,
) {
    // Of two destinations the one that is held against the other is the same in any order.
    prefixes.sort();
    let mut maps: BTreeMap<SiteId, BTreeMap<Prefix, Destination>> = BTreeMap::new();
    for (host, prefix, target) in prefixes {
        let checked = hosts
            .exact(&host)
            .and_then(|id| Some((id, nth(sites, id)?)))
            .ok_or_else(|| Box::new(Conflict::PrefixWithoutHost { host: host.clone() }))
            .and_then(|(id, site)| {
                if !owns_map(&host, site, id, own) {
                    return Err(Box::new(Conflict::PrefixOfAlias { host: host.clone() }));
                }
                let destination = match &target {
                    None => Destination::Held,
                    Some(target) => {
                        let owner = |id| nth(sites, id).and_then(Site::host);
                        destination(hosts, owner, site, &prefix, target)?
                    }
                };
                check_prefix(site, &prefix)?;
                Ok((id, destination))
            });
        match checked {
            Err(conflict) => found.push(*conflict),
            Ok((id, destination)) => match maps.entry(id).or_default().entry(prefix) {
                Entry::Occupied(taken) if *taken.get() != destination => {
                    let prefix = taken.key().clone();
                    found.push(Conflict::DuplicatePrefix { host, prefix });
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(free) => {
                    free.insert(destination);
                }
            },
        }
    }
    for (id, entries) in maps {
        let Some(site) = usize::try_from(id.0).ok().and_then(|at| sites.get_mut(at)) else {
            continue;
        };
        let case_sensitive = site.options().rules.case_sensitive();
        let mut map = PrefixMap::new(seed, entries.len(), case_sensitive);
        for (prefix, destination) in &entries {
            map.set(prefix, Some(*destination));
        }
        site.prefixes = Some(Arc::new(map));
    }
}

fn nth<T>(sites: &[Site<T>], SiteId(id): SiteId) -> Option<&Site<T>> {
    sites.get(usize::try_from(id).ok()?)
}

/// The site of a target: an exact host that is no alias and not the site itself.
pub(crate) fn destination<'r, T>(
    hosts: &Hosts,
    owner: impl Fn(SiteId) -> Option<&'r Host>,
    site: &Site<T>,
    prefix: &Prefix,
    target: &Host,
) -> Result<Destination, Box<Conflict>> {
    let entry = || {
        let host = site.host().unwrap_or(target).clone();
        Moved { host, prefix: prefix.clone(), target: target.clone() }
    };
    let id = hosts.exact(target).ok_or_else(|| Box::new(Conflict::TargetUnknown(entry())))?;
    if owner(id) != Some(target) {
        return Err(Box::new(Conflict::TargetIsAlias(entry())));
    }
    if site.host() == Some(target) {
        return Err(Box::new(Conflict::TargetIsSelf(entry())));
    }
    Ok(Destination::Site(id))
}

/// Some first segments can never be given away.
pub(crate) fn check_prefix<T>(site: &Site<T>, prefix: &Prefix) -> Result<(), Box<Conflict>> {
    let text = prefix.as_bytes();
    if text.eq_ignore_ascii_case(b".well-known") {
        return Err(Box::new(Conflict::PrefixReserved { prefix: prefix.clone() }));
    }
    let guarded = site.layer.routes().iter().find(|route| {
        route.options.guarded && route.pattern.reserves(prefix, &site.options().rules)
    });
    match guarded {
        Some(route) => {
            let pattern = PathPattern::clone(&route.pattern);
            Err(Box::new(Conflict::PrefixGuarded { prefix: prefix.clone(), pattern }))
        }
        None => Ok(()),
    }
}
