//! Routers that are small and full of conflicts of interest, with the model of each.

#![allow(dead_code, reason = "shared: no test uses all of it")]

use fingerpost_router::PathPattern;
use proptest::prelude::*;

use super::built::{
    Ask, Call, HOSTS, World, add_alias, add_alias_prefix, add_catchall, add_prefix, host,
};
use super::model::{Layer, Model, Pattern, Route, Site};
use super::slow::{self, Family, Slow};

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
    let own = prop::collection::vec((prop::sample::select(ALIASES), entry()), 0..3);
    let catchall = prop::option::weighted(
        0.3,
        (prop::sample::select(vec!["a.test", "test", "x.a.test"]), prop::sample::select(HOSTS)),
    );
    let roots = prop::collection::vec(prop::bool::weighted(0.7), ROOTS.len());
    let reject = prop::bool::weighted(0.3);
    (routes, sites, first, maps, (aliases, own, catchall), roots, (reject, 0..3_u64)).prop_map(
        |(routes, sites, first, maps, (aliases, own, catchall), roots, (reject_unknown, seed))| {
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
            for (alias, primary) in aliases {
                add_alias(&mut model, alias, primary);
            }
            for (of, (prefix, target)) in maps {
                add_prefix(&mut model, of, &prefix, target.as_deref());
            }
            for (alias, (prefix, target)) in own {
                add_alias_prefix(&mut model, alias, &prefix, target.as_deref());
            }
            if let Some((of, primary)) = catchall {
                add_catchall(&mut model, of, primary);
            }
            World { model, seed }
        },
    )
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
    let name = prop_oneof![
        8 => prop::sample::select(NAMED).prop_map(Some),
        3 => prop::sample::select(HOSTS).prop_map(Some),
        1 => Just(None),
    ];
    const STARTS: &[&[u8]] =
        &[b"", b"", b"", b"/paulca", b"/Paulca", b"/bob/..", b"//", b"/admin", b"/%70aulca", b"/a"];
    (name, prop::sample::select(STARTS), text).prop_map(|(name, start, text)| {
        let path = [start, &text.concat()].concat();
        let path = if path.starts_with(b"/") { path } else { [b"/", path.as_slice()].concat() };
        Ask { host: name.map(host), path }
    })
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
    let name = || prop::sample::select(HOSTS).prop_map(String::from);
    let alias = (name(), name(), any::<bool>())
        .prop_map(|(alias, primary, own_map)| Call::Alias(alias, primary, own_map));
    let catchall = (name(), name()).prop_map(|(host, primary)| Call::Catchall(host, primary));
    let entry = (name(), entry(), prop::option::weighted(0.9, name()))
        .prop_map(|(host, (prefix, _), target)| Call::Prefix(host, prefix, target));
    let call = prop_oneof![3 => route, 1 => site, 2 => alias, 1 => catchall, 3 => entry];
    prop::collection::vec(call, 0..5)
}
