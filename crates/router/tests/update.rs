//! A next version of a router is the one that would be built from scratch.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a world that cannot be built fails the test"
)]

use std::collections::BTreeMap;

use fingerpost_authority::HostPattern;
use fingerpost_router::{
    Alias, Conflict, Lookup, Owner, PathChange, PathPattern, RouteOptions, Router,
};
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

use built::{Call, HOSTS, World, answer, builder, calls, host, prefix};
use model::Pattern;
use tally::prove;
use worlds::{asks, worlds};

#[derive(Clone, Debug)]
enum Op {
    Alias(&'static str, Option<(&'static str, bool)>),
    Catchall(&'static str, Option<&'static str>),
    /// A held prefix has no target; the outer `None` removes.
    Path(&'static str, &'static str, Option<Option<&'static str>>),
}

fn ops() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let primary = || prop::sample::select(vec!["a.test", "a.test", "b.test", "new.test"]);
    let alias = || prop::sample::select(vec!["alias.test", "alias.test", "x.a.test", "b.test"]);
    let to = prop::option::weighted(0.8, (primary(), prop::bool::weighted(0.7)));
    let of = prop::sample::select(vec!["a.test", "test", "x.a.test"]);
    let host = prop_oneof![2 => alias(), 2 => Just("a.test"), 1 => prop::sample::select(HOSTS)];
    let name = prop::sample::select(vec!["paulca", "Paulca", "bob", "a", "admin", "x"]);
    let target = prop::sample::select(vec!["new.test", "new.test", "a.test", "b.test"]);
    let change = prop::option::weighted(0.8, prop::option::weighted(0.9, target));
    let op = prop_oneof![
        3 => (alias(), to).prop_map(|(host, to)| Op::Alias(host, to)),
        1 => (of, prop::option::weighted(0.7, primary())).prop_map(|(h, to)| Op::Catchall(h, to)),
        4 => (host, name, change).prop_map(|(host, name, to)| Op::Path(host, name, to)),
    ];
    prop::collection::vec(prop::collection::vec(op, 1..5), 1..4)
}

/// What the world is after `batch`, and calls that no builder accepts: aliases first, since a path belongs to
/// what its host is then.
fn after(world: &World, batch: &[Op]) -> (World, Vec<Call>) {
    let (mut world, mut bad) = (world.clone(), Vec::new());
    let model = &mut world.model;
    let last = last_of_each(batch);
    for op in last.iter().filter(|op| !matches!(op, Op::Path(..))) {
        match *op {
            Op::Alias(name, to) => {
                // A host with routes is none, and removing what it is not changes nothing.
                let route = model.patterns().contains(&Pattern::Exact((*name).into()));
                if to.is_none() && route {
                    continue;
                }
                model.aliases.remove(*name);
                match to {
                    Some((primary, true)) => {
                        model.aliases.insert((*name).into(), (*primary).into());
                        model.alias_maps.entry((*name).into()).or_default();
                    }
                    Some((primary, false)) => {
                        model.aliases.insert((*name).into(), (*primary).into());
                        model.alias_maps.remove(*name);
                    }
                    None => drop(model.alias_maps.remove(*name)),
                }
            }
            Op::Catchall(of, to) => {
                model.catchalls.remove(*of);
                if let Some(primary) = to {
                    model.catchalls.insert((*of).into(), (*primary).into());
                }
            }
            Op::Path(..) => {}
        }
    }
    for op in &last {
        let Op::Path(name, text, to) = op else { continue };
        let own = Pattern::Exact((*name).into());
        let map = if let Some(map) = model.alias_maps.get_mut(*name) {
            map
        } else {
            if !model.patterns().contains(&own) {
                if let Some(to) = to {
                    let text = text.as_bytes().to_vec();
                    bad.push(Call::Prefix((*name).into(), text, to.map(Into::into)));
                }
                continue;
            }
            if model.sites.iter().all(|(pattern, _)| *pattern != own) {
                model.sites.push((own.clone(), model::Site::default()));
            }
            let found = model.sites.iter_mut().find(|(pattern, _)| *pattern == own);
            found.unwrap().1.map.get_or_insert_default()
        };
        match to {
            Some(target) => drop(map.insert(text.as_bytes().to_vec(), target.map(Into::into))),
            None => drop(map.remove(text.as_bytes())),
        }
    }
    for (_, site) in &mut world.model.sites {
        site.map = site.map.take().filter(|map| !map.is_empty());
    }
    (world, bad)
}

/// Of two calls about the same thing the last counts.
fn last_of_each(batch: &[Op]) -> Vec<&Op> {
    let key = |op: &Op| match *op {
        Op::Alias(host, _) => (0, host, ""),
        Op::Catchall(host, _) => (1, host, ""),
        Op::Path(host, prefix, _) => (2, host, prefix),
    };
    batch.iter().map(|op| (key(op), op)).collect::<BTreeMap<_, _>>().into_values().collect()
}

#[test]
fn an_update_is_building_from_scratch() {
    let case = (worlds(), ops(), prop::collection::vec(asks(), 4));
    let kinds = [("built", 500), ("refused", 200), ("own map", 100), ("catchall", 100)];
    prove(case, &kinds, |(world, batches, asks), tally| {
        let mut world = world.clone();
        let mut router = builder(&world, &calls(&world)).build().unwrap();
        for batch in batches {
            let mut update = router.update();
            for op in batch {
                match op {
                    Op::Alias(name, to) => {
                        let alias = to.map(|(to, own_map)| Alias { primary: host(to), own_map });
                        update.alias(host(name), alias);
                    }
                    Op::Catchall(of, to) => drop(update.catchall(host(of), to.map(host))),
                    Op::Path(name, text, to) => {
                        let change = match to {
                            Some(Some(target)) => PathChange::Serve(host(target)),
                            Some(None) => PathChange::Hold,
                            None => PathChange::Remove,
                        };
                        update.path(host(name), prefix(text.as_bytes()), change);
                    }
                }
            }
            let (wanted, bad) = after(&world, batch);
            let scratch = builder(&wanted, &[calls(&wanted), bad].concat()).build();
            let updated = update.build();
            prop_assert_eq!(
                updated.as_ref().map(drop).is_ok(),
                scratch.as_ref().map(drop).is_ok(),
                "{:?} {:?}",
                updated.err(),
                scratch.err()
            );
            let (Ok(next), Ok(scratch)) = (updated, scratch) else {
                tally.count("refused", true);
                continue;
            };
            tally.count("built", true);
            tally.count("own map", !wanted.model.alias_maps.is_empty());
            tally.count("catchall", !wanted.model.catchalls.is_empty());
            (router, world) = (next, wanted);
            prop_assert_eq!(router.site_count(), scratch.site_count());
            prop_assert_eq!(router.routes().count(), scratch.routes().count());
            for name in HOSTS {
                let name = host(name);
                prop_assert_eq!(router.prefixes(&name), scratch.prefixes(&name));
                let site = |router: &Router<u32>| {
                    router.resolve_host(&name).map(|site| (site.name().to_owned(), site.tier()))
                };
                prop_assert_eq!(site(&router), site(&scratch));
            }
            for ask in asks {
                let (one, other) = (router.lookup(&ask.lookup()), scratch.lookup(&ask.lookup()));
                prop_assert_eq!(answer(&one), answer(&other), "{:?}", ask);
            }
        }
        Ok(())
    });
}

fn two_sites() -> Router<u32> {
    let mut builder = Router::builder(3);
    for (name, value) in [("a.test", 1), ("new.test", 2)] {
        let owner = Owner::Host(HostPattern::Exact(host(name)));
        let all = PathPattern::parse("/{*rest}").unwrap();
        builder.route(owner, all, RouteOptions::forwarding(), value);
    }
    builder.build().unwrap()
}

fn ask(router: &Router<u32>, name: &str, path: &str) -> Option<u32> {
    let name = host(name);
    let lookup = Lookup { host: Some(&name), path: path.as_bytes(), query: None };
    router.lookup(&lookup).unwrap().map(|found| *found.value())
}

#[test]
fn an_alias_with_a_map_of_its_own_shares_the_routes_only() {
    let mut update = two_sites();
    let own = Alias { primary: host("a.test"), own_map: true };
    let mut next = update.update();
    next.alias(host("alias.test"), Some(own)).path(
        host("alias.test"),
        prefix(b"paulca"),
        PathChange::Serve(host("new.test")),
    );
    update = next.build().unwrap();
    assert_eq!(ask(&update, "alias.test", "/paulca"), Some(2));
    assert_eq!(ask(&update, "alias.test", "/bob"), Some(1));
    assert_eq!(ask(&update, "a.test", "/paulca"), Some(1));
    let kept = update.resolve_host(&host("alias.test")).unwrap();
    assert_eq!(kept.name(), "a.test");

    // Its place is given to the next one, without its map.
    let mut next = update.update();
    next.alias(host("alias.test"), None);
    let without = next.build().unwrap();
    assert_eq!(ask(&without, "alias.test", "/paulca"), None);
    let mut next = without.update();
    next.alias(host("x.test"), Some(Alias { primary: host("a.test"), own_map: true }));
    let other = next.build().unwrap();
    assert_eq!(ask(&other, "x.test", "/paulca"), Some(1));
    assert_eq!(ask(&update, "alias.test", "/paulca"), Some(2), "a version never changes");
}

#[test]
fn what_cannot_be_is_told_and_changes_nothing() {
    let router = two_sites();
    let mut update = router.update();
    update
        .alias(host("a.test"), Some(Alias { primary: host("new.test"), own_map: false }))
        .alias(host("x.test"), Some(Alias { primary: host("gone.test"), own_map: true }))
        .alias(host("y.test"), Some(Alias { primary: host("a.test"), own_map: false }))
        .path(host("y.test"), prefix(b"p"), PathChange::Hold)
        .path(host("z.test"), prefix(b"p"), PathChange::Hold)
        .path(host("z.test"), prefix(b"q"), PathChange::Remove)
        .path(host("a.test"), prefix(b"p"), PathChange::Serve(host("y.test")));
    let conflicts = update.build().unwrap_err();
    let found: Vec<_> = conflicts.iter().collect();
    assert!(
        matches!(
            *found,
            [
                Conflict::AliasIsRoute { .. },
                Conflict::TargetIsAlias(_),
                Conflict::AliasWithoutPrimary { .. },
                Conflict::PrefixOfAlias { .. },
                Conflict::PrefixWithoutHost { .. },
            ]
        ),
        "{found:?}"
    );
    assert_eq!(ask(&router, "a.test", "/p"), Some(1));
}

#[test]
fn a_change_among_many_aliases_copies_one_shard() {
    let mut update = two_sites();
    let mut next = update.update();
    for n in 0..20_000 {
        let alias = Alias { primary: host("a.test"), own_map: false };
        next.alias(host(&format!("h{n}.test")), Some(alias));
    }
    update = next.build().unwrap();
    assert_eq!(ask(&update, "h19999.test", "/"), Some(1));
    let mut next = update.update();
    next.alias(host("h7.test"), None);
    let fewer = next.build().unwrap();
    assert_eq!((ask(&fewer, "h7.test", "/"), ask(&fewer, "h8.test", "/")), (None, Some(1)));
}
