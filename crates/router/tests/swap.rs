//! R3 and R5: caches and handles never answer from another snapshot, nor for another request.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a world that cannot be built fails the test"
)]

use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::Arc;

use fingerpost_authority::HostPattern;
use fingerpost_router::{
    CachedRouter, Handle, Lookup, Owner, PathChange, PathPattern, RouteOptions, Router,
};
use fnv::FnvBuildHasher;
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

use built::{Ask, answer, build, host, prefix};
use tally::prove;
use worlds::{asks, worlds};

/// Every key collides.
#[derive(Default)]
struct Constant;

impl Hasher for Constant {
    fn finish(&self) -> u64 {
        7
    }

    fn write(&mut self, _: &[u8]) {}
}

/// FNV-1a that hears no lengths: host, path and query run into each other.
#[derive(Default)]
struct Unframed(fnv::FnvHasher);

impl Hasher for Unframed {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_usize(&mut self, _: usize) {}
}

#[derive(Clone, Debug)]
enum Op {
    Ask(usize),
    Swap(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![4 => (0..6_usize).prop_map(Op::Ask), 1 => (0..2_usize).prop_map(Op::Swap)];
    prop::collection::vec(op, 4..16)
}

fn run<H: BuildHasher>(
    routers: &[Arc<Router<u32>>],
    asks: &[Ask],
    ops: &[Op],
    mut cached: CachedRouter<u32, H>,
) -> Result<u32, TestCaseError> {
    let mut found = 0;
    for op in ops {
        match *op {
            Op::Swap(at) => cached.set_router(&routers[at]),
            Op::Ask(at) => {
                let lookup = asks[at].lookup();
                let router = Arc::clone(cached.router());
                let (one, other) = (cached.lookup(&lookup), router.lookup(&lookup));
                prop_assert_eq!(answer(&one), answer(&other), "{:?}", asks[at]);
                prop_assert_eq!(one.as_ref().err(), other.as_ref().err());
                if let (Ok(Some(one)), Ok(Some(other))) = (&one, &other) {
                    let site = |site: Option<fingerpost_router::SiteRef<'_>>| {
                        site.map(|site| site.name().to_owned())
                    };
                    prop_assert_eq!(site(one.site()), site(other.site()));
                    prop_assert_eq!(
                        (one.spelling(), one.target()),
                        (other.spelling(), other.target())
                    );
                }
                found += u32::from(matches!(one, Ok(Some(_))));
            }
        }
    }
    Ok(found)
}

#[test]
fn r3_cached_is_uncached_under_any_mix_of_lookups_and_swaps() {
    let case = (worlds(), worlds(), prop::collection::vec(asks(), 6), ops(), 1..4_usize);
    prove(case, &[("found", 600), ("swapped", 400)], |(one, other, asks, ops, slots), tally| {
        let routers = [Arc::new(build(one)), Arc::new(build(other))];
        tally.count("swapped", ops.iter().any(|op| matches!(op, Op::Swap(1))));
        let first = || Arc::clone(&routers[0]);
        let found = run(&routers, asks, ops, CachedRouter::new(first(), *slots))?;
        let constant = BuildHasherDefault::<Constant>::default();
        run(&routers, asks, ops, CachedRouter::with_hasher(first(), *slots, constant))?;
        let unframed = BuildHasherDefault::<Unframed>::default();
        run(&routers, asks, ops, CachedRouter::with_hasher(first(), *slots, unframed))?;
        tally.count("found", found > 0);
        Ok(())
    });
}

fn with_routes(routes: &[(&str, &str, u32)]) -> Arc<Router<u32>> {
    let mut builder = Router::builder(1);
    for &(name, path, value) in routes {
        let owner = Owner::Host(HostPattern::Exact(host(name)));
        builder.route(owner, PathPattern::parse(path).unwrap(), RouteOptions::forwarding(), value);
    }
    Arc::new(builder.build().unwrap())
}

/// The cache's FNV-1a of a request, on a machine with 64-bit lengths.
fn fnv_of(host: &str, path: &str) -> u64 {
    let mut hasher = FnvBuildHasher::default().build_hasher();
    for (length, text) in [(host.len(), host), (path.len(), path), (usize::MAX, "")] {
        hasher.write_usize(length);
        hasher.write(text.as_bytes());
    }
    hasher.finish()
}

/// Requests whose 64-bit FNV-1a hashes are equal: forged in seconds, by reducing the lattice of the
/// differences that the prime's powers cancel.
#[test]
fn r3_forged_fnv_collisions_are_two_requests() {
    for [(one_host, one_path), (other_host, other_path)] in [
        [("a.test", "/y_7_n485k39-mt"), ("a.test", "/b4bile-0e1-2_w")],
        [("a.test", "/ro-k1k5usdn32mz4-n"), ("a.test", "/raa__8zmvc-2ie3hli")],
        [("gvi7o1od495337.test", "/x"), ("hendb8ee8k9v40.test", "/x")],
        [("cz3bw2we29402l3oh7i3o8ll.test", "/"), ("nx3bo8vz5683p1o39f32wudm.test", "/")],
    ] {
        #[cfg(target_pointer_width = "64")]
        assert_eq!(
            fnv_of(one_host, one_path),
            fnv_of(other_host, other_path),
            "{one_host}{one_path}"
        );
        let router = with_routes(&[(one_host, one_path, 1), (other_host, other_path, 2)]);
        let mut cached = CachedRouter::new(router, 64);
        let (one, other) = (host(one_host), host(other_host));
        for _ in 0..3 {
            for (host, path, want) in [(&one, one_path, 1), (&other, other_path, 2)] {
                let lookup = Lookup { host: Some(host), path: path.as_bytes(), query: None };
                assert_eq!(cached.lookup(&lookup).unwrap().unwrap().value(), &want, "{host}{path}");
            }
        }
    }
}

/// The same bytes cut elsewhere into host, path and query are the same to a hash without lengths.
#[test]
fn r3_shifted_boundaries_are_two_requests() {
    let router = with_routes(&[
        ("a.test", "/x", 1),
        ("a.test", "/xq", 2),
        ("a.te", "/{*rest}", 3),
        ("a.test", "/", 4),
    ]);
    type Parts = (&'static str, &'static [u8], Option<&'static [u8]>);
    const PAIRS: [[Parts; 2]; 4] = [
        [("a.test", b"/x", Some(b"q")), ("a.test", b"/xq", None)],
        [("a.test", b"/x", Some(b"q")), ("a.test", b"/xq", Some(b""))],
        [("a.test", b"/x", None), ("a.te", b"st/x", None)],
        [("a.test", b"/", None), ("a.test", b"", Some(b"/"))],
    ];
    for pair in PAIRS {
        for slots in [1, 64] {
            let unframed = BuildHasherDefault::<Unframed>::default();
            let mut cached = CachedRouter::with_hasher(Arc::clone(&router), slots, unframed);
            for (name, path, query) in pair.into_iter().chain(pair) {
                let host = host(name);
                let lookup = Lookup { host: Some(&host), path, query };
                assert_eq!(
                    answer(&cached.lookup(&lookup)),
                    answer(&router.lookup(&lookup)),
                    "{name} {path:?} {query:?}"
                );
            }
        }
    }
}

#[test]
fn r3_a_flip_and_its_reverse_are_seen_by_the_next_lookup() {
    let old = with_routes(&[("a.test", "/{*rest}", 1), ("new.test", "/{*rest}", 2)]);
    let a = host("a.test");
    let flip = [(prefix(b"alpha"), PathChange::Serve(host("new.test")))];
    let new = Arc::new(old.with_paths(&a, &flip).unwrap());
    let back = Arc::new(new.with_paths(&a, &[(prefix(b"alpha"), PathChange::Remove)]).unwrap());
    let mut workers: Vec<_> = (0..4).map(|_| CachedRouter::new(Arc::clone(&old), 8)).collect();
    for (router, want) in [(&old, 1), (&new, 2), (&back, 1), (&new, 2)] {
        for worker in &mut workers {
            worker.set_router(router);
            for _ in 0..2 {
                let lookup = Lookup { host: Some(&a), path: b"/alpha", query: None };
                assert_eq!(worker.lookup(&lookup).unwrap().unwrap().value(), &want);
            }
        }
    }
}

#[test]
fn r5_a_request_keeps_its_snapshot() {
    let case = (worlds(), worlds(), asks(), ops());
    prove(case, &[("differ", 100)], |(one, other, ask, ops), tally| {
        let (first, second) = (build(one), build(other));
        let want = answer(&first.lookup(&ask.lookup()));
        let after = answer(&second.lookup(&ask.lookup()));
        let handle = Handle::new(first);
        let mut reader = handle.reader();
        let request = Arc::clone(reader.current());
        let mut swapped = false;
        let mut second = Some(second);
        for op in ops {
            if matches!(op, Op::Swap(1))
                && let Some(second) = second.take()
            {
                drop(handle.swap(second));
                swapped = true;
            }
            prop_assert_eq!(&answer(&request.lookup(&ask.lookup())), &want);
            let current = answer(&reader.current().lookup(&ask.lookup()));
            prop_assert_eq!(&current, if swapped { &after } else { &want });
        }
        tally.count("differ", swapped && want != after);
        Ok(())
    });
}

/// A flip is the same as building the router anew, and leaves every other shard where it is.
#[test]
fn with_paths_is_building_from_scratch() {
    let change = (
        prop::sample::select(vec!["paulca", "Paulca", "PAULCA", "bob", "a", "x", "zz"]),
        0..4_usize,
    );
    let case = (worlds(), prop::collection::vec(change, 1..6), prop::collection::vec(asks(), 4));
    prove(case, &[("changed", 200), ("last one removed", 5)], |(world, changes, asks), tally| {
        let (mut router, mut want) = (build(world), world.clone());
        let a = host("a.test");
        for (name, what) in changes {
            let change = match what {
                0 | 1 => PathChange::Serve(host(["new.test", "b.test"][*what])),
                2 => PathChange::Hold,
                _ => PathChange::Remove,
            };
            let Ok(next) = router.with_paths(&a, &[(prefix(name.as_bytes()), change.clone())])
            else {
                continue;
            };
            router = next;
            let own = want.model.resolve("a.test").map(|(pattern, _)| pattern).expect("a site");
            if !want.model.sites.iter().any(|(pattern, _)| *pattern == own) {
                want.model.sites.push((own.clone(), model::Site::default()));
            }
            let (_, site) =
                want.model.sites.iter_mut().find(|(pattern, _)| *pattern == own).expect("options");
            let map = site.map.get_or_insert_default();
            let target = match change {
                PathChange::Serve(target) => Some(Some(target.as_str().to_owned())),
                PathChange::Hold => Some(None),
                PathChange::Remove => None,
            };
            match target {
                Some(target) => drop(map.insert(name.as_bytes().to_vec(), target)),
                None => drop(map.remove(name.as_bytes())),
            }
            tally.count("changed", true);
            if map.is_empty() {
                site.map = None;
                tally.count("last one removed", true);
            }
            let scratch = build(&want);
            prop_assert_eq!(router.prefixes(&a), scratch.prefixes(&a));
            prop_assert_eq!(router.prefix_count(&a), scratch.prefix_count(&a));
            for ask in asks {
                prop_assert_eq!(
                    answer(&router.lookup(&ask.lookup())),
                    answer(&scratch.lookup(&ask.lookup())),
                    "{:?}",
                    ask
                );
            }
        }
        Ok(())
    });
}

#[test]
fn a_flip_among_many_copies_one_shard() {
    let mut builder = Router::builder(3);
    for (name, value) in [("a.test", 1), ("new.test", 2)] {
        let owner = Owner::Host(HostPattern::Exact(host(name)));
        builder.route(
            owner,
            PathPattern::parse("/{*rest}").unwrap(),
            RouteOptions::forwarding(),
            value,
        );
    }
    for n in 0..50_000 {
        builder.prefix(
            host("a.test"),
            prefix(format!("acct{n}").as_bytes()),
            Some(host("new.test")),
        );
    }
    let before = builder.build().unwrap();
    let a = host("a.test");
    for (name, change) in [
        ("fresh", PathChange::Serve(host("new.test"))),
        ("acct7", PathChange::Remove),
        ("acct8", PathChange::Hold),
    ] {
        let after = before.with_paths(&a, &[(prefix(name.as_bytes()), change)]).unwrap();
        let (same, all) = after.shared_shards(&before, &a).unwrap();
        assert!(all >= 32 && same == all - 1, "{name}: {same} of {all}");
        assert_eq!(before.prefix_count(&a), 50_000);
    }
}
