//! Failures of other control planes, as rows; the names are those of the collected cases.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{
    Change, Claim, ClaimSet, ClaimStore, Code, Collection, Commit, Committed, Facts, Limits,
    LocalRoute, MemoryStore, Name, PathMap, Reach, Reconciler, Rows, SetPathsError, Wanted,
    reconcile,
};

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn route(account: &str, app: &str) -> LocalRoute {
    let (account, app) = (Some(name(account)), Some(name(app)));
    LocalRoute { account, app, ..LocalRoute::default() }
}

fn claim(of: &str, paths: &[(&str, &str)]) -> Claim {
    let mut claim = Claim::attach(host(of), name("a"), name("web"), Reach::default());
    let (map, _) = PathMap::check(&host(of), paths.iter().map(|(p, t)| (*p, Some(*t))));
    claim.set_paths(map, None, &Limits::default()).unwrap();
    claim
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// caddy #4578: two writers read the same, and change different members.
#[test]
fn cp_lost_update_no_cas() {
    let store = MemoryStore::new();
    let create =
        Change::create(Collection::Claims, "a.example", claim("a.example", &[]).to_json("0"));
    block_on(store.commit(Commit::of(create))).unwrap();
    let read = || block_on(store.get(Collection::Claims, "a.example")).unwrap().unwrap();
    let parse = |body: &[u8]| Claim::parse(&host("a.example"), body).unwrap();
    let write = |version, claim: &Claim, id| {
        let body = claim.to_json(id);
        let change = Change::replace(Collection::Claims, "a.example", version, body);
        matches!(block_on(store.commit(Commit::of(change))).unwrap(), Committed::Stored { .. })
    };
    let (one, two) = (read(), read());
    let mut paths = parse(&one.body);
    let map = claim("a.example", &[("x", "n.example")]).paths().clone();
    paths.set_paths(map.clone(), None, &Limits::default()).unwrap();
    let mut reach = parse(&two.body);
    reach.set_reach(Reach { wildcard: true, catchall: false });
    assert!(write(two.version, &reach, "2"));
    assert!(!write(one.version, &paths, "1"), "the second writer is refused");
    let fresh = read();
    let mut paths = parse(&fresh.body);
    paths.set_paths(map, None, &Limits::default()).unwrap();
    assert!(write(fresh.version, &paths, "1"));
    let both = parse(&read().body);
    assert!(both.reach().wildcard && both.paths().len() == 1);
}

/// OFREP #83, envoy #8718: a publisher that is late does not undo a newer map.
#[test]
fn cp_etag_is_not_order() {
    let mut of = claim("a.example", &[]);
    let map = |to| claim("a.example", &[("x", to)]).paths().clone();
    let (one, two) = (map("one.example"), map("two.example"));
    let limits = Limits::default();
    of.set_paths(one.clone(), Some(1), &limits).unwrap();
    of.set_paths(two, Some(2), &limits).unwrap();
    let late = of.set_paths(one.clone(), Some(1), &limits);
    assert_eq!(late, Err(SetPathsError::SequenceStale { stored: 2, given: 1 }));
    // Equal content with a higher number is accepted.
    assert!(of.set_paths(one, Some(3), &limits).unwrap().advanced);
}

/// Olares PR #3671, contour #2019: one bad claim among ten thousand costs itself only.
#[test]
fn cp_one_bad_entry_rejects_all() {
    let mut facts = Facts::new(Limits { max_paths_per_claim: 10, max_wildcards: 10 });
    facts.add_route(host("next.example"), route("a", "go"));
    facts.add_route(host("front.example"), route("a", "web"));
    let good: Vec<_> = (0..10_000).map(|n| format!("h{n}.example")).collect();
    let mut claims = ClaimSet::new();
    for of in &good {
        facts.add_route(host(of), route("a", "web"));
        claims.set(of, Some(&claim(of, &[("x", "next.example")]).to_json("1")));
    }
    let served = |claims: &ClaimSet| {
        let rows = reconcile(&facts, claims, &Rows::default()).rows;
        good.iter().all(|of| rows.path(&host(of), "x").is_some())
    };
    let body = |paths: &str| {
        format!(r#"{{"host":"front.example","account":"a","app":"web","paths":{paths}}}"#)
    };
    let eleven: Vec<_> = (10..21).map(|n| format!(r#""{n}":"next.example""#)).collect();
    let bad = [
        ("BAD HOST".to_owned(), body("{}"), 0),
        ("front.example".to_owned(), body(r#"{"x":"missing.example"}"#), 0),
        ("front.example".to_owned(), body(r#"{"a/b":"next.example","..":"next.example"}"#), 0),
        ("front.example".to_owned(), body(&format!("{{{}}}", eleven.join(","))), 10),
        ("front.example".to_owned(), body(r#"{"x":"front.example"}"#), 0),
        // A target that has a map itself is served from its own routes: one hop.
        ("front.example".to_owned(), body(r#"{"x":"h0.example"}"#), 1),
        ("front.example".to_owned(), "{".to_owned(), 0),
        ("front.example".to_owned(), body("{}").replace("front", "h0"), 0),
    ];
    for (key, body, rows) in bad {
        let mut claims = claims.clone();
        claims.set(&key, Some(body.as_bytes()));
        assert!(served(&claims), "{body}");
        let outcome = reconcile(&facts, &claims, &Rows::default());
        let got = outcome.rows.paths.get(&host("front.example")).map_or(0, |rows| rows.len());
        assert_eq!(got, rows, "{body}");
    }
}

/// yarp PR #1725: whoever waits ends on the last version.
#[test]
fn cp_lost_notification() {
    const BUMPS: u64 = 20_000;
    let store = MemoryStore::new();
    let mut watch = store.watch();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..BUMPS {
                    block_on(store.commit(Commit::default().with_bump())).unwrap();
                }
            });
        }
        let mut seen = 0;
        while seen < 2 * BUMPS {
            block_on(watch.changed()).unwrap();
            seen = block_on(store.serial()).unwrap();
        }
    });
    let mut changed = watch.changed();
    let more = block_on(poll_fn(|context| Poll::Ready(changed.as_mut().poll(context))));
    // It may tell once more of what was seen already, and never less.
    drop(changed);
    if more.is_ready() {
        let mut changed = watch.changed();
        let more = block_on(poll_fn(|context| Poll::Ready(changed.as_mut().poll(context))));
        assert!(more.is_pending());
    }
}

/// ingress-nginx #20: one creator wins, by the normalised host; a wildcard takes no exact host along.
#[test]
fn tenancy_host_claim_collision() {
    let mut facts = Facts::new(Limits::default());
    for account in ["a", "b"] {
        facts.add_route(host(&format!("{account}.test")), route(account, "web"));
        facts.allow(name(account), HostPattern::from_written("shop.example.com").unwrap());
        facts.allow(name(account), HostPattern::from_written("example.com").unwrap());
        facts.allow(name(account), HostPattern::from_written("*.example.com").unwrap());
    }
    let same =
        ["shop.example.com", "Shop.example.com"].map(|text| Host::from_written(text).unwrap());
    assert_eq!(same[0], same[1]);
    let store = MemoryStore::new();
    let attach = |of: &Host, account, reach, claims: &mut ClaimSet| {
        let claim = Claim::attach(of.clone(), name(account), name("web"), reach);
        if facts.may_claim(claims, &Wanted::of(&claim)).is_err() {
            return "403";
        }
        let change = Change::create(Collection::Claims, of.as_str(), claim.to_json(account));
        match block_on(store.commit(Commit::of(change))).unwrap() {
            Committed::Conflict { .. } => "409",
            Committed::Stored { .. } => {
                claims.insert(of.clone(), Ok(claim));
                "201"
            }
        }
    };
    let mut claims = ClaimSet::new();
    let wide = Reach { wildcard: true, catchall: true };
    assert_eq!(attach(&same[0], "a", Reach::default(), &mut claims), "201");
    assert_eq!(attach(&same[1], "b", Reach::default(), &mut claims), "409");
    assert_eq!(attach(&host("example.com"), "b", wide, &mut claims), "403");
    assert_eq!(attach(&host("example.com"), "b", Reach::default(), &mut claims), "201");
    assert_eq!(attach(&host("other.example.com"), "b", Reach::default(), &mut claims), "201");
}

/// Kong #3289: what depended on a grant or a route goes with it, at the next pass.
#[test]
fn tenancy_revocation_not_applied() {
    let facts = |change: &str| {
        let mut facts = Facts::new(Limits::default());
        facts.add_route(host("web.example"), route("a", "web"));
        match change {
            "moved" => facts.add_route(host("new.example"), route("b", "go")),
            "unset" => facts.add_route(host("new.example"), LocalRoute::default()),
            "gone" => {}
            "unready" => {
                let route = LocalRoute { unready: true, ..route("a", "go") };
                facts.add_route(host("new.example"), route);
            }
            _ => facts.add_route(host("new.example"), route("a", "go")),
        }
        if change != "revoked" {
            facts.allow(name("a"), HostPattern::from_written("front.example").unwrap());
        }
        if change == "claimed" {
            let claim =
                Claim::attach(host("front.example"), name("b"), name("web"), Reach::default());
            facts.add_config_claim(claim);
        }
        facts
    };
    let mut claims = ClaimSet::new();
    claims.set(
        "front.example",
        Some(&claim("front.example", &[("alpha", "new.example")]).to_json("1")),
    );
    let (mut reconciler, _) = Reconciler::new(facts(""), claims, &Rows::default());
    let before = reconciler.rows().clone();
    assert_eq!((before.paths.len(), before.aliases.len()), (1, 1));
    for (change, code, aliases) in [
        ("moved", Code::TargetOtherAccount, 1),
        ("unset", Code::TargetOtherAccount, 1),
        ("gone", Code::TargetMissing, 1),
        ("unready", Code::TargetNotReady, 1),
        ("revoked", Code::HostNotOwned, 0),
        ("claimed", Code::HostNotOwned, 0),
    ] {
        let pass = reconciler.set_facts(facts(change));
        assert_eq!(pass.diff.paths.len(), 1, "{change}");
        assert!(reconciler.rows().paths.is_empty(), "{change}");
        assert_eq!(reconciler.rows().aliases.len(), aliases, "{change}");
        assert_eq!(pass.withdrawn.iter().map(|it| it.code).collect::<Vec<_>>(), [code], "{change}");
        reconciler.set_facts(facts(""));
        assert_eq!(reconciler.rows(), &before, "{change}");
    }
    // Detached.
    let pass = reconciler.update([("front.example", None)]);
    assert_eq!((pass.diff.paths.len(), pass.diff.aliases.len(), pass.withdrawn.len()), (1, 1, 0));
    assert_eq!(reconciler.rows(), &Rows::default());
}
