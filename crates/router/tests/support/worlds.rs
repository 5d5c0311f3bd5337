//! Routers that are small and full of conflicts of interest, with the model of each.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use std::collections::{BTreeMap, BTreeSet};

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::{Families, Prefix, Rules};
use fingerpost_router::{
    Ambiguity, Fallback, Lookup, Match, Owner, PathPattern, Refused, RouteOptions, Router,
    RouterBuilder, SiteOptions, UnknownHost,
};
use proptest::prelude::*;

use super::model::{Answer, Layer, Model, Pattern, Route, Site, Tier};
use super::slow::{self, Family, Slow};

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

const ALIASES: &[&str] = &["alias.test", "x.a.test"];

fn patterns() -> Vec<Pattern> {
    let exact = ["a.test", "b.test", "x.a.test", "new.test", "y.x.a.test"];
    exact
        .into_iter()
        .map(|host| Pattern::Exact(host.into()))
        .chain(["a.test", "test", "x.a.test"].map(|suffix| Pattern::One(suffix.into())))
        .chain(["a.test", "test", "x.a.test"].map(|suffix| Pattern::Deep(suffix.into())))
        .chain([Pattern::Any])
        .collect()
}

fn layer() -> impl Strategy<Value = Layer> {
    let exact =
        prop::sample::select(vec!["a.test", "a.test", "a.test", "new.test", "new.test", "b.test"]);
    prop_oneof![
        6 => exact.prop_map(|host| Layer::Site(Pattern::Exact(host.into()))),
        4 => prop::sample::select(patterns()).prop_map(Layer::Site),
        2 => Just(Layer::Shared),
        2 => Just(Layer::EveryHost),
    ]
}

fn path() -> impl Strategy<Value = String> {
    const SEGMENTS: &[&str] = &[
        "a",
        "a",
        "a",
        "b",
        "admin",
        "admin",
        "Admin",
        "bob",
        "paulca",
        "paulca",
        "x.json",
        "index.php",
        "{{a}}",
        "caf%C3%A9",
        "{p}",
        "{p}",
        "{p}",
        "{p}",
        "a%2Fb",
        "health",
        "PAULCA.json",
    ];
    const ENDS: &[&str] = &["", "", "", "/", "/{*rest}", "/{*rest}", "/{*rest}"];
    (prop::collection::vec(prop::sample::select(SEGMENTS), 0..3), prop::sample::select(ENDS))
        .prop_map(|(segments, end)| {
            let mut params = ["{p}", "{q}", "{r}"].into_iter();
            let named = segments.iter().map(|segment| match *segment {
                "{p}" => params.next().unwrap_or("c"),
                literal => literal,
            });
            let path: String = named.flat_map(|segment| ["/", segment]).collect();
            let path = path + end;
            if path.is_empty() { "/".into() } else { path }
        })
}

/// Everything but the requests.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) seed: u64,
}

fn family_sets() -> impl Strategy<Value = Vec<Family>> {
    let preset = prop::sample::select(slow::PRESETS.to_vec()).prop_map(|(_, set)| set.to_vec());
    let any = prop::sample::subsequence(slow::FAMILIES.to_vec(), 0..=4);
    prop_oneof![2 => preset, 1 => any, 2 => Just(slow::FAMILIES.to_vec())]
}

fn options() -> impl Strategy<Value = Site> {
    let rare = || prop::bool::weighted(0.35);
    (family_sets(), rare(), rare(), rare(), prop::bool::weighted(0.8)).prop_map(
        |(set, case_sensitive, refuse_ambiguous, refuse_ambiguous_paths, fallback)| Site {
            slow: Slow::new(&set),
            case_sensitive,
            refuse_ambiguous,
            refuse_ambiguous_paths,
            fallback,
            map: None,
        },
    )
}

/// A prefix, and its target unless it is held.
type Entry = (Vec<u8>, Option<String>);

fn entry() -> impl Strategy<Value = Entry> {
    const PREFIXES: &[&str] =
        &["paulca", "paulca", "Paulca", "PAULCA", "bob", "a", "x", "admin", "john.doe", "café"];
    let target = prop::sample::select(vec![
        "new.test", "new.test", "new.test", "b.test", "b.test", "x.a.test",
    ]);
    (prop::sample::select(PREFIXES), prop::option::weighted(0.85, target))
        .prop_map(|(prefix, target)| (prefix.as_bytes().to_vec(), target.map(Into::into)))
}

/// Hosts that usually have a route for everything.
const ROOTS: &[&str] = &["a.test", "new.test"];

/// Worlds; of two routes with one pattern the first is kept, and what no builder accepts is left out.
pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let route = (layer(), path(), prop::bool::weighted(0.35), any::<bool>());
    let routes = prop::collection::vec(route, 1..9);
    let sites = prop::collection::vec((prop::sample::select(patterns()), options()), 0..3);
    let first = prop::option::weighted(0.8, options());
    let maps = prop::collection::vec(
        (prop::sample::select(vec!["a.test", "a.test", "a.test", "b.test", "new.test"]), entry()),
        0..8,
    );
    let aliases =
        prop::collection::vec((prop::sample::select(ALIASES), prop::sample::select(HOSTS)), 0..2);
    let roots = prop::collection::vec(prop::bool::weighted(0.7), ROOTS.len());
    let reject = prop::bool::weighted(0.3);
    (routes, sites, first, maps, aliases, roots, (reject, 0..3_u64)).prop_map(
        |(routes, sites, first, maps, aliases, roots, (reject_unknown, seed))| {
            let mut model = Model { reject_unknown, ..Model::default() };
            let roots = (100..).zip(ROOTS).zip(roots).filter(|(_, there)| *there);
            model.routes.extend(roots.map(|((id, host), _)| Route {
                id,
                layer: Layer::Site(Pattern::Exact((*host).into())),
                path: "/{*rest}".into(),
                guarded: false,
                forwards: true,
            }));
            for (id, (layer, path, guarded, forwards)) in (0..).zip(routes) {
                let route = Route { id, layer, path, guarded, forwards };
                let shape = |route: &Route| PathPattern::parse(&route.path).ok();
                let taken = model
                    .routes
                    .iter()
                    .any(|held| held.layer == route.layer && shape(held) == shape(&route));
                if !taken && shape(&route).is_some() {
                    model.routes.push(route);
                }
            }
            let first = first.map(|site| (Pattern::Exact("a.test".into()), site));
            for (pattern, site) in first.into_iter().chain(sites) {
                if model.sites.iter().all(|(known, _)| *known != pattern) {
                    model.sites.push((pattern, site));
                }
            }
            add_aliases(&mut model, &aliases);
            add_maps(&mut model, maps);
            World { model, seed }
        },
    )
}

fn add_aliases(model: &mut Model, aliases: &[(&str, &str)]) {
    for &(alias, primary) in aliases {
        let exact = |host: &str| model.patterns().contains(&Pattern::Exact(host.into()));
        if exact(primary) && !exact(alias) && !model.aliases.contains_key(alias) {
            model.aliases.insert(alias.into(), primary.into());
        }
    }
}

fn add_maps(model: &mut Model, maps: Vec<(&str, Entry)>) {
    let exact = |model: &Model, host: &str| model.patterns().contains(&Pattern::Exact(host.into()));
    for (host, (prefix, target)) in maps {
        let own = Pattern::Exact(host.into());
        let guards = model.routes.iter().any(|route| {
            let first = PathPattern::parse(&route.path).ok();
            let first = first.as_ref().and_then(PathPattern::first_literal);
            let first = first.is_some_and(|first| first.eq_ignore_ascii_case(&prefix));
            route.guarded && route.layer == Layer::Site(own.clone()) && first
        });
        let served = target.as_ref().is_none_or(|target| target != host && exact(model, target));
        if guards || !served || !exact(model, host) {
            continue;
        }
        if !model.sites.iter().any(|(pattern, _)| *pattern == own) {
            model.sites.push((own.clone(), Site::default()));
        }
        if let Some((_, site)) = model.sites.iter_mut().find(|(pattern, _)| *pattern == own) {
            site.map.get_or_insert_with(BTreeMap::new).entry(prefix).or_insert(target);
        }
    }
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
    Alias(String, String),
    Prefix(String, Vec<u8>, Option<String>),
}

/// The calls that make `world`, in a fixed order.
pub(crate) fn calls(world: &World) -> Vec<Call> {
    let model = &world.model;
    let routes = model.routes.iter().cloned().map(Call::Route);
    let sites = model.sites.iter().map(|(pattern, site)| Call::Site(pattern.clone(), site.clone()));
    let aliases =
        model.aliases.iter().map(|(alias, primary)| Call::Alias(alias.clone(), primary.clone()));
    let prefixes = model.sites.iter().flat_map(|(pattern, site)| {
        let host = if let Pattern::Exact(host) = pattern { host.clone() } else { String::new() };
        let entries = site.map.iter().flatten();
        entries
            .map(move |(prefix, target)| Call::Prefix(host.clone(), prefix.clone(), target.clone()))
    });
    routes.chain(sites).chain(aliases).chain(prefixes).collect()
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
            Call::Alias(alias, primary) => {
                builder.alias(host(alias), host(primary));
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

/// Requests for the hosts and segments of [`worlds`].
pub(crate) fn asks() -> impl Strategy<Value = Ask> {
    const TOKENS: &[&[u8]] = &[
        b"/",
        b"/",
        b"/a",
        b"/a",
        b"/b",
        b"/admin",
        b"/admin",
        b"/paulca",
        b"/paulca",
        b"/bob",
        b"/health",
        b"/x",
        b"//",
        b"/.",
        b"/..",
        b"/..",
        b"/../",
        b"/%2e%2e",
        b"%2f",
        b"%2F",
        b"\\",
        b"%5c",
        b";",
        b";v",
        b"/..;/",
        b"A",
        b"/ADMIN",
        b"/Admin",
        b"/PAULCA",
        b".json",
        b"/x.json",
        b".php",
        b"/index.php",
        b"/%61",
        b"/%61dmin",
        b"/%2561dmin",
        b"/caf%C3%A9",
        b"/caf\xc3\xa9",
        b"/{a}",
        b"/a%2fb",
        b"%20",
        b"/zz",
        b"/john.doe",
        b"/_next/data/b",
        b"%zz",
        b"#",
    ];
    const PLAIN: &[&[u8]] = &[
        b"/", b"/a", b"/b", b"/admin", b"/paulca", b"/bob", b"/x", b"/health", b"/zz", b"/x.json",
    ];
    let text = prop_oneof![
        3 => prop::collection::vec(prop::sample::select(TOKENS), 1..5),
        1 => prop::collection::vec(prop::sample::select(PLAIN), 1..5),
    ];
    const NAMED: &[&str] = &["a.test", "a.test", "a.test", "b.test", "new.test", "alias.test"];
    let host = prop_oneof![
        8 => prop::sample::select(NAMED).prop_map(Some),
        3 => prop::sample::select(HOSTS).prop_map(Some),
        1 => Just(None),
    ];
    const STARTS: &[&[u8]] =
        &[b"", b"", b"", b"/paulca", b"/Paulca", b"/bob/..", b"//", b"/admin", b"/%70aulca", b"/a"];
    (host, prop::sample::select(STARTS), text).prop_map(|(name, start, text)| {
        let path = [start, &text.concat()].concat();
        let path = if path.starts_with(b"/") { path } else { [b"/", path.as_slice()].concat() };
        Ask { host: name.map(host_of), path }
    })
}

fn host_of(text: &str) -> Host {
    host(text)
}

/// The ids of the routes that a request for `host` may ever be given: R7.
pub(crate) fn within_reach(model: &Model, name: Option<&str>) -> BTreeSet<u32> {
    let mut layers = vec![Layer::Shared, Layer::EveryHost];
    if let Some((pattern, _)) = name.and_then(|name| model.resolve(name)) {
        let targets =
            model.options(&pattern).map.into_iter().flatten().filter_map(|(_, target)| target);
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

/// Calls that contradict each other, and the world's, more often than not.
pub(crate) fn trouble() -> impl Strategy<Value = Vec<Call>> {
    let route =
        (layer(), path(), 200..300_u32).prop_filter_map("a pattern", |(layer, path, id)| {
            PathPattern::parse(&path).is_ok().then_some(Call::Route(Route {
                id,
                layer,
                path,
                guarded: true,
                forwards: true,
            }))
        });
    let site = (prop::sample::select(patterns()), options())
        .prop_map(|(pattern, site)| Call::Site(pattern, site));
    let host = || prop::sample::select(HOSTS).prop_map(String::from);
    let alias = (host(), host()).prop_map(|(alias, primary)| Call::Alias(alias, primary));
    let entry = (host(), entry(), prop::option::weighted(0.9, host()))
        .prop_map(|(host, (prefix, _), target)| Call::Prefix(host, prefix, target));
    let call = prop_oneof![3 => route, 1 => site, 2 => alias, 3 => entry];
    prop::collection::vec(call, 0..5)
}
