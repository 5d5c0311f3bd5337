//! R1, R2, R4, R7 and R8 against a naive model.

#![expect(clippy::indexing_slicing, reason = "a world that cannot be built fails the test")]

use proptest::prelude::*;

#[path = "support/built.rs"]
mod built;
#[path = "support/model.rs"]
mod model;
#[path = "../../path/tests/support/slow.rs"]
mod slow;
#[path = "../../path/tests/support/tally.rs"]
mod tally;
#[path = "support/worlds.rs"]
mod worlds;

use built::{Ask, World, answer, build, builder, calls, host_pattern, within_reach};
use fingerpost_authority::HostPattern;
use fingerpost_path::PathRefused;
use fingerpost_router::{Refused, Router, Tier};
use model::{Layer, Pattern};
use tally::{Tally, prove};
use worlds::{asks, trouble, worlds};

/// Counts what kind of answer a case got.
fn classify(router: &Router<u32>, ask: &Ask, tally: &Tally) {
    tally.count(
        match router.lookup(&ask.lookup()) {
            Err(Refused::Path(_)) => "path",
            Err(Refused::AmbiguousPrefix) => "ambiguous prefix",
            Err(Refused::AmbiguousPath) => "ambiguous path",
            Err(Refused::Guarded) => "guarded",
            Err(Refused::EveryHostForwards) => "every-host forwards",
            Err(Refused::UnknownHost) => "unknown host",
            Err(Refused::Held) => "held",
            Err(_) => "refused otherwise",
            Ok(None) => "nothing",
            Ok(Some(found)) => match (found.prefix(), found.tier()) {
                (Some(_), _) => "prefix",
                (None, Tier::EveryHost) => "every-host",
                (None, Tier::Shared) => "shared",
                (None, Tier::Exact) => "exact",
                (None, _) => "wildcards",
            },
        },
        true,
    );
}

const KINDS: &[(&str, u32)] = &[
    ("path", 10),
    ("ambiguous prefix", 1),
    ("ambiguous path", 2),
    ("guarded", 25),
    ("every-host forwards", 1),
    ("unknown host", 30),
    ("held", 10),
    ("nothing", 200),
    ("prefix", 15),
    ("every-host", 20),
    ("shared", 20),
    ("exact", 200),
    ("wildcards", 10),
];

#[test]
fn r1_a_lookup_is_the_naive_models() {
    let kinds = [KINDS, &[("one answer", 950)]].concat();
    prove((worlds(), asks()), &kinds, |(world, ask), tally| {
        let router = build(world);
        classify(&router, ask, tally);
        let want = world.model.lookup(ask.name(), &ask.path);
        tally.count("one answer", want.len() == 1);
        let outcome = router.lookup(&ask.lookup());
        let got = answer(&outcome);
        if matches!(outcome, Err(Refused::Path(PathRefused::Budget))) {
            // the model has no budget; what is refused for it is odd
            prop_assert!(!slow::Slow::new(&[]).ordinary(&ask.path));
            return Ok(());
        }
        prop_assert!(
            want.contains(&got),
            "got {got:?} ({:?}), want {want:?}",
            outcome.as_ref().err()
        );
        let site =
            world.model.resolve(ask.name().unwrap_or_default()).filter(|_| ask.host.is_some());
        let resolved = ask.host.as_ref().and_then(|host| router.resolve_host(host));
        let pattern: Option<HostPattern> = site.map(|(pattern, _)| host_pattern(&pattern));
        prop_assert_eq!(resolved.map(|site| site.pattern().clone()), pattern);
        Ok(())
    });
}

#[test]
fn r2_the_order_of_building_is_irrelevant() {
    let case = (worlds(), trouble(), prop::bool::weighted(0.3), prop::collection::vec(asks(), 3))
        .prop_flat_map(|(world, trouble, troubled, asks)| {
            let mut all = calls(&world);
            if troubled {
                all.extend(trouble);
            }
            (Just(world), Just(all.clone()), Just(all).prop_shuffle(), Just(asks))
        });
    prove(case, &[("built", 650), ("conflicts", 100)], |(world, calls, shuffled, asks), tally| {
        let (one, other) = (builder(world, calls).build(), builder(world, shuffled).build());
        match (one, other) {
            (Ok(one), Ok(other)) => {
                tally.count("built", true);
                for ask in asks {
                    let (one, other) = (one.lookup(&ask.lookup()), other.lookup(&ask.lookup()));
                    prop_assert_eq!(answer(&one), answer(&other), "{:?}", ask);
                }
            }
            (Err(one), Err(other)) => {
                tally.count("conflicts", true);
                prop_assert_eq!(one.to_string(), other.to_string());
            }
            (one, other) => prop_assert!(false, "{one:?} and {other:?}"),
        }
        Ok(())
    });
}

#[test]
fn r4_a_prefix_takes_one_hop_at_most() {
    prove((worlds(), asks()), &[("hop", 15), ("target has a map", 1)], |(world, ask), tally| {
        let router = build(world);
        let Ok(Some(found)) = router.lookup(&ask.lookup()) else { return Ok(()) };
        let Some(prefix) = found.prefix() else { return Ok(()) };
        tally.count("hop", true);
        let name = ask.name().expect("a host");
        let (pattern, _) = world.model.resolve(name).expect("a site");
        let map = world.model.site_for(name, &pattern).map.expect("a map");
        let target = map[prefix.as_bytes()].clone().expect("no held");
        let target = Pattern::Exact(target);
        tally.count("target has a map", world.model.options(&target).map.is_some());
        let route =
            world.model.routes.iter().find(|route| route.id == *found.value()).expect("a route");
        prop_assert_eq!(&route.layer, &Layer::Site(target));
        Ok(())
    });
}

#[test]
fn r7_a_lookup_stays_within_the_hosts_reach() {
    prove((worlds(), asks()), &[("found", 400), ("out of reach", 300)], |(world, ask), tally| {
        let router = build(world);
        let reach = within_reach(&world.model, ask.name());
        tally.count("out of reach", reach.len() < world.model.routes.len());
        if let Ok(Some(found)) = router.lookup(&ask.lookup()) {
            tally.count("found", true);
            prop_assert!(reach.contains(found.value()), "{}", found.value());
        }
        Ok(())
    });
}

#[test]
fn r8_explaining_is_looking_up() {
    prove((worlds(), asks()), KINDS, |(world, ask), tally| {
        let router = build(world);
        classify(&router, ask, tally);
        let explained = router.explain(&ask.lookup());
        let looked_up = router.lookup(&ask.lookup());
        prop_assert_eq!(answer(explained.outcome()), answer(&looked_up));
        prop_assert_eq!(explained.outcome().as_ref().err(), looked_up.as_ref().err());
        let site = ask.host.as_ref().and_then(|host| router.resolve_host(host));
        prop_assert_eq!(explained.site().map(|site| site.name()), site.map(|site| site.name()));
        prop_assert!(!explained.reasons().is_empty());
        if let (Ok(Some(one)), Ok(Some(other))) = (explained.outcome(), looked_up) {
            prop_assert_eq!((one.spelling(), one.target()), (other.spelling(), other.target()));
        }
        Ok(())
    });
}

/// What the models found, kept as rows: routes of `a.test` (or `shared`, `every-host`), guarded ones marked
/// by `!`; a path; the pattern that answers, or the status.
const FOUND: &[(&[&str], &str, &str)] = &[
    // `/` stands at the root of a tree that then took `/{*rest}` for its only pattern
    (&["!a.test /", "a.test /{*rest}"], "/", "/"),
    (&["a.test /", "a.test /{*rest}"], "/x", "/{*rest}"),
    // patterns and paths were loosened by different rules
    (&["!every-host /Admin", "a.test /{*rest}"], "/Admin", "/Admin"),
    (&["!every-host /Admin", "a.test /{*rest}"], "/admin.json", "400"),
    (&["!shared /{*rest}", "a.test /robots.txt"], "/robots.txt", "/robots.txt"),
    (&["!shared /{*rest}", "a.test /robots.txt"], "/robots", "/{*rest}"),
    (&["!shared /api/v1.0/x", "a.test /y"], "/api/v1.0/x", "/api/v1.0/x"),
    // an ordinary path is a guarded literal to a backend that cuts its segments
    (&["!a.test /wp.login", "a.test /{*rest}"], "/wp", "400"),
    (&["!a.test /wp.login", "a.test /{*rest}"], "/wp.login", "/wp.login"),
    (&["!a.test /wp.login", "a.test /{*rest}"], "/wpx", "/{*rest}"),
    // two guards that such a backend can't tell apart are no way around each other
    (&["!a.test /r.json", "!a.test /r.csv", "a.test /{*rest}"], "/r.csv", "/r.csv"),
    (&["!a.test /r.json", "!a.test /r.csv", "a.test /{*rest}"], "/r.json", "/r.json"),
    (&["!a.test /r.json", "!a.test /r.csv", "a.test /{*rest}"], "/r.xml", "400"),
];

#[test]
fn what_the_models_found_stays_found() {
    for case_sensitive in [false, true] {
        for &(routes, path, want) in FOUND {
            let mut model = model::Model::default();
            for (id, route) in (0..).zip(routes) {
                let (guarded, route) =
                    route.strip_prefix('!').map_or((false, *route), |route| (true, route));
                let (layer, path) = route.split_once(' ').unwrap();
                let layer = match layer {
                    "shared" => Layer::Shared,
                    "every-host" => Layer::EveryHost,
                    host => Layer::Site(Pattern::Exact(host.into())),
                };
                model.routes.push(model::Route {
                    id,
                    layer,
                    path: path.into(),
                    guarded,
                    forwards: true,
                });
            }
            let site = model::Site { case_sensitive, ..model::Site::default() };
            model.sites.push((Pattern::Exact("a.test".into()), site));
            let router = build(&World { model, seed: 1 });
            let ask = Ask { host: Some(built::host("a.test")), path: path.into() };
            let got = match router.lookup(&ask.lookup()) {
                Ok(found) => {
                    found.map_or_else(|| "404".to_owned(), |found| found.pattern().to_string())
                }
                Err(refused) => refused.status().to_string(),
            };
            assert_eq!(got, want, "{routes:?} {path}, case-sensitive: {case_sensitive}");
        }
    }
}

#[test]
fn the_cleaned_form_of_the_path_wins_over_odder_readings() {
    let mut world = World { model: model::Model::default(), seed: 1 };
    for (id, name) in (0..).zip(["a.test", "new.test", "b.test"]) {
        let layer = Layer::Site(Pattern::Exact(name.into()));
        world.model.routes.push(model::Route {
            id,
            layer,
            path: "/{*rest}".into(),
            guarded: false,
            forwards: true,
        });
    }
    let map = [("admin", "new.test"), ("paulca", "b.test")];
    let map = map.map(|(prefix, target)| (prefix.into(), Some(target.into())));
    let site = model::Site { map: Some(map.into()), ..model::Site::default() };
    world.model.sites.push((Pattern::Exact("a.test".into()), site));
    let router = build(&world);
    for (path, prefix, spelling) in [
        ("/admin/index.php/paulca", "admin", "normalised"),
        ("/%61dmin/index.php/paulca", "admin", "normalised"),
        ("/paulca/../admin", "admin", "normalised"),
        ("//admin/paulca", "admin", "normalised"),
        ("/admin.json", "admin", "cut"),
        ("/x/..;/paulca", "paulca", "dots"),
        ("/paulca/../x", "paulca", "received"),
        ("/%70aulca/../x", "paulca", "decoded"),
    ] {
        let ask = Ask { host: Some(built::host("a.test")), path: path.into() };
        let found = router.lookup(&ask.lookup()).unwrap().unwrap();
        assert_eq!((found.prefix(), found.spelling().name()), (Some(prefix), spelling), "{path}");
    }
}
