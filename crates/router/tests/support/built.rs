//! Routers built as a model says, and their answers in its words.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use std::collections::{BTreeMap, BTreeSet};

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::{Families, Prefix, Rules};
use fingerpost_router::{
    Alias, Ambiguity, Fallback, Lookup, Match, Owner, PathPattern, Refused, RouteOptions, Router,
    RouterBuilder, SiteOptions, UnknownHost,
};

use super::model::{Answer, Layer, Model, Pattern, Route, Site, Tier};
use super::slow::Family;

/// Hosts that requests name.
pub(crate) const HOSTS: &[&str] = &[
    "a.test",
    "b.test",
    "x.a.test",
    "y.x.a.test",
    "z.y.x.a.test",
    "new.test",
    "alias.test",
    "test",
    "10.0.0.1",
];

/// Everything but the requests.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) seed: u64,
}

pub(crate) fn host(text: &str) -> Host {
    Host::parse(text).expect("a host of the table")
}

pub(crate) fn host_pattern(pattern: &Pattern) -> HostPattern {
    match pattern {
        Pattern::Exact(name) => HostPattern::Exact(host(name)),
        Pattern::One(suffix) => HostPattern::Wildcard(host(suffix)),
        Pattern::Deep(suffix) => HostPattern::DeepWildcard(host(suffix)),
        Pattern::Any => HostPattern::Any,
    }
}

pub(crate) fn rules(site: &Site) -> Rules {
    let families = site.slow.families.iter().fold(Families::BASE, |all, family| {
        all | match family {
            Family::Merge => Families::MERGE,
            Family::Dots => Families::DOTS,
            Family::Cut => Families::CUT,
            Family::Params => Families::PARAMS,
            Family::Bslash => Families::BSLASH,
            Family::Auth => Families::AUTH,
            Family::Double => Families::DOUBLE,
            Family::Frontc => Families::FRONTC,
            Family::Nextdata => Families::NEXTDATA,
        }
    });
    Rules::new(families).with_case_sensitive(site.case_sensitive)
}

fn site_options(site: &Site) -> SiteOptions {
    let ambiguity = |refuse| if refuse { Ambiguity::Refuse } else { Ambiguity::Select };
    let mut options = SiteOptions::with_rules(rules(site));
    options.ambiguous = ambiguity(site.refuse_ambiguous);
    options.ambiguous_paths = ambiguity(site.refuse_ambiguous_paths);
    options.fallback = if site.fallback { Fallback::Shared } else { Fallback::None };
    options
}

/// One call of a builder.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Route(Route),
    Site(Pattern, Site),
    Alias(String, String, bool),
    Catchall(String, String),
    Prefix(String, Vec<u8>, Option<String>),
}

/// The calls that make `world`, in a fixed order.
pub(crate) fn calls(world: &World) -> Vec<Call> {
    let model = &world.model;
    let routes = model.routes.iter().cloned().map(Call::Route);
    let sites = model.sites.iter().map(|(pattern, site)| Call::Site(pattern.clone(), site.clone()));
    let aliases = model.aliases.iter().map(|(alias, primary)| {
        Call::Alias(alias.clone(), primary.clone(), model.alias_maps.contains_key(alias))
    });
    let catchalls =
        model.catchalls.iter().map(|(host, primary)| Call::Catchall(host.clone(), primary.clone()));
    let own = model.alias_maps.iter().flat_map(|(alias, map)| {
        map.iter()
            .map(|(prefix, target)| Call::Prefix(alias.clone(), prefix.clone(), target.clone()))
    });
    let prefixes = model.sites.iter().flat_map(|(pattern, site)| {
        let host = if let Pattern::Exact(host) = pattern { host.clone() } else { String::new() };
        let entries = site.map.iter().flatten();
        entries
            .map(move |(prefix, target)| Call::Prefix(host.clone(), prefix.clone(), target.clone()))
    });
    routes.chain(sites).chain(aliases).chain(catchalls).chain(prefixes).chain(own).collect()
}

pub(crate) fn prefix(text: &[u8]) -> Prefix {
    Prefix::parse(std::str::from_utf8(text).expect("UTF-8")).expect("a prefix of the table")
}

/// A builder that heard `calls`.
pub(crate) fn builder(world: &World, calls: &[Call]) -> RouterBuilder<u32> {
    let mut builder = Router::builder(world.seed);
    builder.unknown_host(if world.model.reject_unknown {
        UnknownHost::Reject
    } else {
        UnknownHost::Shared
    });
    for call in calls {
        match call {
            Call::Route(route) => {
                let owner = match &route.layer {
                    Layer::Site(pattern) => Owner::Host(host_pattern(pattern)),
                    Layer::Shared => Owner::Shared,
                    Layer::EveryHost => Owner::EveryHost,
                };
                let options = if route.forwards {
                    RouteOptions::forwarding()
                } else {
                    RouteOptions::answering()
                };
                let pattern = PathPattern::parse(&route.path).expect("a checked pattern");
                builder.route(owner, pattern, options.with_guarded(route.guarded), route.id);
            }
            Call::Site(pattern, site) => {
                builder.site(host_pattern(pattern), site_options(site));
            }
            Call::Alias(alias, primary, own_map) => {
                builder.alias(host(alias), Alias { primary: host(primary), own_map: *own_map });
            }
            Call::Catchall(of, primary) => {
                builder.catchall(host(of), host(primary));
            }
            Call::Prefix(of, text, target) => {
                builder.prefix(host(of), prefix(text), target.as_deref().map(host));
            }
        }
    }
    builder
}

pub(crate) fn build(world: &World) -> Router<u32> {
    builder(world, &calls(world)).build().expect("a world without conflicts")
}

/// What a look-up answered, in the words of the model.
pub(crate) fn answer(outcome: &Result<Option<Match<'_, '_, u32>>, Refused>) -> Answer {
    match outcome {
        Err(refused) => Answer::Refused(refused.status()),
        Ok(None) => Answer::Nothing,
        Ok(Some(found)) => Answer::Found {
            id: *found.value(),
            tier: match found.tier() {
                fingerpost_router::Tier::Exact => Tier::Exact,
                fingerpost_router::Tier::Wildcard => Tier::Wildcard,
                fingerpost_router::Tier::DeepWildcard => Tier::DeepWildcard,
                fingerpost_router::Tier::Any => Tier::Any,
                fingerpost_router::Tier::Shared => Tier::Shared,
                _ => Tier::EveryHost,
            },
            prefix: found.prefix().map(Into::into),
            params: found.params().map(|(name, value)| (name.into(), value.into_owned())).collect(),
        },
    }
}

/// A request: a host or none, and a path.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) host: Option<Host>,
    pub(crate) path: Vec<u8>,
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let host = self.host.as_ref().map_or("(no host)", Host::as_str);
        write!(f, "{host} {}", self.path.escape_ascii())
    }
}

impl Ask {
    pub(crate) fn lookup(&self) -> Lookup<'_> {
        Lookup { host: self.host.as_ref(), path: &self.path, query: None }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.host.as_ref().map(Host::as_str)
    }
}

/// The ids of the routes that a request for `host` may ever be given: R7.
pub(crate) fn within_reach(model: &Model, name: Option<&str>) -> BTreeSet<u32> {
    let mut layers = vec![Layer::Shared, Layer::EveryHost];
    if let Some((name, (pattern, _))) = name.and_then(|name| Some((name, model.resolve(name)?))) {
        let map = model.site_for(name, &pattern).map;
        let targets = map.into_iter().flatten().filter_map(|(_, target)| target);
        layers.extend(targets.map(|target| Layer::Site(Pattern::Exact(target))));
        layers.push(Layer::Site(pattern));
    }
    model
        .routes
        .iter()
        .filter(|route| layers.contains(&route.layer))
        .map(|route| route.id)
        .collect()
}

fn is_exact(model: &Model, host: &str) -> bool {
    model.patterns().contains(&Pattern::Exact(host.into()))
}

/// Adds an alias, if a builder would accept it.
pub(crate) fn add_alias(model: &mut Model, alias: &str, primary: &str) {
    if is_exact(model, primary) && !is_exact(model, alias) && !model.aliases.contains_key(alias) {
        model.aliases.insert(alias.into(), primary.into());
    }
}

/// Makes `*.of` resolve to a primary, if a builder would accept it.
pub(crate) fn add_catchall(model: &mut Model, of: &str, primary: &str) {
    let taken = model.patterns().contains(&Pattern::One(of.into()));
    if is_exact(model, primary) && !taken && !model.catchalls.contains_key(of) {
        model.catchalls.insert(of.into(), primary.into());
    }
}

/// Adds a prefix to the own map of an alias, if a builder would accept it and there is none.
pub(crate) fn add_alias_prefix(
    model: &mut Model,
    alias: &str,
    prefix: &[u8],
    target: Option<&str>,
) {
    let Some(primary) = model.aliases.get(alias).cloned() else { return };
    if accepts(model, &primary, prefix, target) {
        let map = model.alias_maps.entry(alias.into()).or_default();
        map.entry(prefix.to_vec()).or_insert_with(|| target.map(Into::into));
    }
}

/// Adds a prefix of `of`, if a builder would accept it and there is none.
pub(crate) fn add_prefix(model: &mut Model, of: &str, prefix: &[u8], target: Option<&str>) {
    if !accepts(model, of, prefix, target) {
        return;
    }
    let own = Pattern::Exact(of.into());
    if !model.sites.iter().any(|(pattern, _)| *pattern == own) {
        model.sites.push((own.clone(), Site::default()));
    }
    if let Some((_, site)) = model.sites.iter_mut().find(|(pattern, _)| *pattern == own) {
        let map = site.map.get_or_insert_with(BTreeMap::new);
        map.entry(prefix.to_vec()).or_insert_with(|| target.map(Into::into));
    }
}

/// Whether the site of an exact host can give a prefix away.
fn accepts(model: &Model, of: &str, prefix: &[u8], target: Option<&str>) -> bool {
    let own = Pattern::Exact(of.into());
    let site = model.sites.iter().find(|(pattern, _)| *pattern == own);
    let rules = site.map_or_else(|| rules(&Site::default()), |(_, site)| rules(site));
    let name = std::str::from_utf8(prefix).ok().and_then(|text| Prefix::parse(text).ok());
    let guards = model.routes.iter().any(|route| {
        let pattern = PathPattern::parse(&route.path).ok();
        let reserves = pattern.zip(name.as_ref()).is_some_and(|(p, name)| p.reserves(name, &rules));
        route.guarded && route.layer == Layer::Site(own.clone()) && reserves
    });
    let served = target.is_none_or(|target| target != of && is_exact(model, target));
    !guards && served && is_exact(model, of)
}
