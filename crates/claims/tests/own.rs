//! Two accounts that fight over one hostname, in every pair of ways and in every order.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{
    Claim, ClaimSet, Code, Facts, Limits, LocalRoute, Name, NotOwned, PathMap, Reach, Reconciler,
    Rows, Verdict, Wanted, reconcile,
};

/// The name that is fought over, and the one above it.
const PRIZE: &str = "x.pages.example";
const ABOVE: &str = "pages.example";

/// How an account may have come to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A route has the host.
    Route,
    /// A claim in the configuration.
    ConfigClaim,
    /// A stored claim: an alias of the account's app.
    StoredClaim,
    /// A route has `*.pages.example`.
    WildcardRoute,
    /// A catch-all claim of the name above, in the configuration.
    ConfigWildcard,
    /// A stored catch-all claim of the name above.
    StoredWildcard,
    /// A route has `**.example`.
    DeepRoute,
    /// A route on another box has the host.
    Elsewhere,
}

use Way::{
    ConfigClaim, ConfigWildcard, DeepRoute, Elsewhere, Route, StoredClaim, StoredWildcard,
    WildcardRoute,
};

/// Who serves the name when a store holds both, whatever the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Winner {
    First,
    Second,
    /// Neither of the two.
    Nobody,
    /// They cannot both be: one key of the store, or the configuration is refused.
    Never,
}

#[rustfmt::skip]
static PAIRS: &[(Way, Way, Winner)] = &[
    (Route, Route, Winner::Never),
    (Route, ConfigClaim, Winner::First),
    (Route, StoredClaim, Winner::First),
    (Route, WildcardRoute, Winner::First),
    (Route, ConfigWildcard, Winner::First),
    (Route, StoredWildcard, Winner::First),
    (Route, DeepRoute, Winner::First),
    (Route, Elsewhere, Winner::First),
    (ConfigClaim, ConfigClaim, Winner::Never),
    (ConfigClaim, StoredClaim, Winner::First),
    (ConfigClaim, WildcardRoute, Winner::First),
    (ConfigClaim, ConfigWildcard, Winner::First),
    (ConfigClaim, StoredWildcard, Winner::First),
    (ConfigClaim, DeepRoute, Winner::First),
    (ConfigClaim, Elsewhere, Winner::Nobody),
    (StoredClaim, StoredClaim, Winner::Never),
    (StoredClaim, WildcardRoute, Winner::Second),
    (StoredClaim, ConfigWildcard, Winner::Second),
    (StoredClaim, StoredWildcard, Winner::Nobody),
    (StoredClaim, DeepRoute, Winner::Second),
    (StoredClaim, Elsewhere, Winner::Nobody),
    (WildcardRoute, WildcardRoute, Winner::Never),
    (WildcardRoute, ConfigWildcard, Winner::First),
    (WildcardRoute, StoredWildcard, Winner::First),
    (WildcardRoute, DeepRoute, Winner::First),
    (WildcardRoute, Elsewhere, Winner::First),
    (ConfigWildcard, ConfigWildcard, Winner::Never),
    (ConfigWildcard, StoredWildcard, Winner::First),
    (ConfigWildcard, DeepRoute, Winner::First),
    (ConfigWildcard, Elsewhere, Winner::First),
    (StoredWildcard, StoredWildcard, Winner::Never),
    (StoredWildcard, DeepRoute, Winner::Second),
    (StoredWildcard, Elsewhere, Winner::First),
    (DeepRoute, DeepRoute, Winner::Never),
    (DeepRoute, Elsewhere, Winner::First),
    (Elsewhere, Elsewhere, Winner::Never),
];

const ALL: [Way; 8] = [
    Route,
    ConfigClaim,
    StoredClaim,
    WildcardRoute,
    ConfigWildcard,
    StoredWildcard,
    DeepRoute,
    Elsewhere,
];

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// The host of an account's app, and the one that it moves a prefix to.
fn homes(account: &str) -> [Host; 2] {
    ["app", "next"].map(|app| host(&format!("{app}.{account}.test")))
}

fn route(account: &str, app: &str) -> LocalRoute {
    let (account, app) = (Some(name(account)), Some(name(app)));
    LocalRoute { account, app, ..LocalRoute::default() }
}

/// Both accounts have an app, and the operator's leave to claim whatever they like.
fn start() -> Facts {
    let mut facts = Facts::new(Limits::default());
    for account in ["first", "second"] {
        let [app, next] = homes(account);
        let primary = LocalRoute { primary: true, ..route(account, "web") };
        facts.add_route(app, primary);
        facts.add_route(next, route(account, "next"));
        for pattern in [ABOVE, "*.pages.example"] {
            facts.allow(name(account), HostPattern::from_written(pattern).unwrap());
        }
    }
    facts
}

fn claim(way: Way, account: &str) -> Claim {
    let wide = matches!(way, ConfigWildcard | StoredWildcard);
    let reach = Reach { wildcard: wide, catchall: wide };
    let of = host(if wide { ABOVE } else { PRIZE });
    let (map, refused) = PathMap::check(&of, [("one", Some(homes(account)[1].as_str()))]);
    assert_eq!(refused, []);
    let mut claim = Claim::attach(of, name(account), name("web"), reach);
    claim.set_paths(map, None, &Limits::default()).unwrap();
    claim
}

/// Adds what an account has; says whether a stored claim passes the door.
fn add(way: Way, account: &str, facts: &mut Facts, claims: &mut ClaimSet, door: bool) -> bool {
    let of = Some(name(account));
    match way {
        Route => facts.add_route(host(PRIZE), route(account, "web")),
        Elsewhere => facts.add_elsewhere(host(PRIZE), of),
        WildcardRoute => facts.add_pattern(HostPattern::Wildcard(host(ABOVE)), of),
        DeepRoute => facts.add_pattern(HostPattern::DeepWildcard(host("example")), of),
        ConfigClaim | ConfigWildcard => facts.add_config_claim(claim(way, account)),
        StoredClaim | StoredWildcard => {
            let claim = claim(way, account);
            if door && facts.may_claim(claims, &Wanted::of(&claim)).is_err() {
                return false;
            }
            claims.insert(claim.host().clone(), Ok(claim));
        }
    }
    true
}

/// Whose application answers for the name, as the router would resolve it.
fn server(facts: &Facts, claims: &ClaimSet, ways: [(Way, &str); 2]) -> Option<String> {
    let outcome = reconcile(facts, claims, &Rows::default());
    let of_route = |at: &Host| facts.route(at).and_then(|route| route.account.clone());
    let alias = outcome.rows.aliases.get(&host(PRIZE)).map(|row| row.primary.clone());
    let catchall = outcome.rows.wildcards.get(&host(ABOVE)).and_then(|row| row.catchall.clone());
    let of_way = |wanted| ways.iter().find(|(way, _)| *way == wanted).map(|(_, of)| name(of));
    let server = of_route(&host(PRIZE))
        .or_else(|| of_route(&alias?))
        .or_else(|| of_way(WildcardRoute))
        .or_else(|| of_route(&catchall?))
        .or_else(|| of_way(DeepRoute));
    // Whoever serves the name decides where its prefixes go, and nobody else.
    for (of, _, row) in outcome.rows.path_rows().filter(|(of, ..)| **of == host(PRIZE)) {
        assert_eq!(Some(&row.to.account), server.as_ref(), "{of}");
        assert_eq!(row.to.target, Some(homes(row.to.account.as_str())[1].clone()));
    }
    server.map(|server| server.to_string())
}

#[test]
fn every_pair_is_in_the_table() {
    for (at, first) in ALL.into_iter().enumerate() {
        for second in ALL.into_iter().skip(at) {
            let rows = PAIRS.iter().filter(|row| (row.0, row.1) == (first, second)).count();
            assert_eq!(rows, 1, "{first:?}, {second:?}");
        }
    }
}

#[test]
fn nobody_serves_what_is_another_accounts() {
    for &(first, second, winner) in PAIRS {
        let expected = match winner {
            Winner::First => Some("first"),
            Winner::Second => Some("second"),
            Winner::Nobody => None,
            Winner::Never => continue,
        };
        let ways = [(first, "first"), (second, "second")];
        for order in [[0, 1], [1, 0]] {
            let (mut facts, mut claims) = (start(), ClaimSet::new());
            for at in order {
                let (way, account) = ways[at];
                add(way, account, &mut facts, &mut claims, false);
            }
            let got = server(&facts, &claims, ways);
            assert_eq!(got.as_deref(), expected, "{first:?}, {second:?}, {order:?}");
        }
    }
}

/// Through the door the first of two stored claims wins, and the operator's word always.
#[test]
fn the_door_keeps_out_who_would_lose() {
    let stored = |way| matches!(way, StoredClaim | StoredWildcard);
    for &(first, second, winner) in PAIRS {
        let ways = [(first, "first"), (second, "second")];
        for order in [[0, 1], [1, 0]] {
            let (mut facts, mut claims) = (start(), ClaimSet::new());
            let [earlier, later] = order.map(|at| ways[at]);
            assert!(add(earlier.0, earlier.1, &mut facts, &mut claims, true));
            if !stored(later.0) {
                continue;
            }
            let wins = match winner {
                // One key: the store's compare-and-swap decides.
                Winner::Never => continue,
                Winner::Nobody => false,
                Winner::First => later.1 == "first",
                Winner::Second => later.1 == "second",
            };
            // A wildcard beside an exact route or claim of the operator's stands for other names.
            let beside =
                later.0 == StoredWildcard && matches!(earlier.0, Route | ConfigClaim | Elsewhere);
            let passed = add(later.0, later.1, &mut facts, &mut claims, true);
            assert_eq!(passed, wins || beside, "{first:?}, {second:?}, {order:?}");
            if stored(earlier.0) {
                let got = server(&facts, &claims, ways);
                assert_eq!(got.as_deref(), Some(earlier.1), "{first:?}, {second:?}, {order:?}");
            }
        }
    }
}

/// Deleting gives the name free, and re-attaching takes it from nobody.
#[test]
fn delete_and_attach_again() {
    for (way, rival) in [
        (StoredClaim, StoredWildcard),
        (StoredWildcard, StoredClaim),
        (StoredClaim, StoredClaim),
        (StoredWildcard, StoredWildcard),
    ] {
        let (mut facts, mut claims) = (start(), ClaimSet::new());
        let ways = [(way, "first"), (rival, "second")];
        assert!(add(way, "first", &mut facts, &mut claims, true));
        let mut first = claim(way, "first");
        first.set_paths(first.paths().clone(), Some(u64::MAX), &Limits::default()).unwrap();
        claims.insert(first.host().clone(), Ok(first.tombstone()));
        assert_eq!(server(&facts, &claims, ways), None, "{way:?}");
        assert!(add(rival, "second", &mut facts, &mut claims, true), "{way:?}, {rival:?}");
        assert_eq!(server(&facts, &claims, ways).as_deref(), Some("second"));
        if first.host() == claim(rival, "second").host() {
            // One key: the tombstone is built over, and does not tie the new owner down.
            let again = first.tombstone().reattach(name("second"), name("web"), Reach::default());
            assert_eq!(again.sequence(), None);
        } else {
            let again = Wanted::of(&first);
            assert!(facts.may_claim(&claims, &again).is_err(), "{way:?}, {rival:?}");
        }
    }
}

struct May {
    what: &'static str,
    host: &'static str,
    reach: Reach,
    grants: &'static [&'static str],
    patterns: &'static [(&'static str, Option<&'static str>)],
    want: Result<(), NotOwned>,
}

const NARROW: Reach = Reach { wildcard: false, catchall: false };
const WIDE: Reach = Reach { wildcard: true, catchall: false };
const CATCHALL: Reach = Reach { wildcard: false, catchall: true };

#[test]
fn who_may_claim() {
    let by_route =
        |text| Err(NotOwned::CoveredByRoute { pattern: HostPattern::from_written(text).unwrap() });
    let no = Err(NotOwned::NotAllowed);
    #[rustfmt::skip]
    let cases = [
        May { what: "nothing is allowed", host: PRIZE, reach: NARROW, grants: &[], patterns: &[], want: no.clone() },
        May { what: "a pattern", host: PRIZE, reach: NARROW, grants: &["*.pages.example"], patterns: &[], want: Ok(()) },
        May { what: "not the apex", host: ABOVE, reach: NARROW, grants: &["*.pages.example"], patterns: &[], want: no.clone() },
        May { what: "not two labels", host: "y.x.pages.example", reach: NARROW, grants: &["*.pages.example"], patterns: &[], want: no.clone() },
        May { what: "the host itself", host: ABOVE, reach: NARROW, grants: &[ABOVE], patterns: &[], want: Ok(()) },
        May { what: "the host is not the names under it", host: ABOVE, reach: WIDE, grants: &[ABOVE], patterns: &[], want: no.clone() },
        May { what: "nor to be routed", host: ABOVE, reach: CATCHALL, grants: &[ABOVE], patterns: &[], want: no.clone() },
        May { what: "both", host: ABOVE, reach: WIDE, grants: &[ABOVE, "*.pages.example"], patterns: &[], want: Ok(()) },
        May { what: "deep", host: PRIZE, reach: WIDE, grants: &["**.example"], patterns: &[], want: Ok(()) },
        May { what: "deep is below", host: "example", reach: NARROW, grants: &["**.example"], patterns: &[], want: no.clone() },
        May { what: "all", host: PRIZE, reach: WIDE, grants: &["*"], patterns: &[], want: Ok(()) },
        May { what: "own wildcard route", host: PRIZE, reach: NARROW, grants: &[], patterns: &[("*.pages.example", Some("first"))], want: Ok(()) },
        May { what: "own wildcard route, of another too", host: PRIZE, reach: NARROW, grants: &[], patterns: &[("*.pages.example", Some("first")), ("*.pages.example", Some("second"))], want: no.clone() },
        May { what: "covered by another", host: PRIZE, reach: NARROW, grants: &["*"], patterns: &[("**.example", Some("second"))], want: by_route("**.example") },
        May { what: "covered by nobody's", host: PRIZE, reach: WIDE, grants: &["*"], patterns: &[("*", None), ("*.pages.example", None)], want: Ok(()) },
        May { what: "nobody's is not own", host: PRIZE, reach: NARROW, grants: &[], patterns: &[("*", None)], want: no.clone() },
        May { what: "names covered by another", host: ABOVE, reach: WIDE, grants: &["*"], patterns: &[("**.pages.example", Some("second"))], want: by_route("**.pages.example") },
        May { what: "the host is not", host: ABOVE, reach: NARROW, grants: &["*"], patterns: &[("**.pages.example", Some("second"))], want: Ok(()) },
        May { what: "own route", host: "app.first.test", reach: WIDE, grants: &[], patterns: &[], want: Ok(()) },
        May { what: "own route, names of another", host: "app.first.test", reach: WIDE, grants: &[], patterns: &[("*.app.first.test", Some("second"))], want: by_route("*.app.first.test") },
        May { what: "route of another", host: "app.second.test", reach: NARROW, grants: &["*"], patterns: &[], want: Err(NotOwned::RouteOfAnother) },
        May { what: "route of nobody", host: "nobody.test", reach: NARROW, grants: &["*"], patterns: &[], want: Err(NotOwned::RouteOfAnother) },
        May { what: "no names under an address", host: "192.0.2.1", reach: WIDE, grants: &["*"], patterns: &[], want: Err(NotOwned::NoNames) },
    ];
    for case in cases {
        let mut facts = Facts::new(Limits::default());
        facts.add_route(homes("first")[0].clone(), route("first", "web"));
        facts.add_route(homes("second")[0].clone(), route("second", "web"));
        facts.add_route(host("nobody.test"), LocalRoute::default());
        for grant in case.grants {
            facts.allow(name("first"), HostPattern::from_written(grant).unwrap());
        }
        for (pattern, of) in case.patterns {
            facts.add_pattern(HostPattern::from_written(pattern).unwrap(), of.map(name));
        }
        let (of, account) = (host(case.host), name("first"));
        let wanted = Wanted { host: &of, account: &account, reach: case.reach };
        assert_eq!(facts.may_claim(&ClaimSet::new(), &wanted), case.want, "{}", case.what);
        // The pass judges as the door does.
        let claim = Claim::attach(of.clone(), account.clone(), name("web"), case.reach);
        let mut claims = ClaimSet::new();
        claims.insert(of.clone(), Ok(claim));
        let outcome = reconcile(&facts, &claims, &Rows::default());
        let report = outcome.report.of_host(&of).next().unwrap();
        let refused = match &report.verdict {
            Verdict::Refused { code: Code::HostNotOwned, .. } => true,
            _ => report.wildcard == Some(Code::HostNotOwned),
        };
        assert_eq!(refused, case.want.is_err(), "{}", case.what);
    }
}

/// The migration of one customer of a wildcard, and its way back.
#[test]
fn an_exact_claim_under_ones_own_wildcard_moves_one_host() {
    let mut facts = start();
    facts.add_route(host(ABOVE), route("first", "web"));
    let (mut reconciler, _) = Reconciler::new(facts, ClaimSet::new(), &Rows::default());
    let wide = Claim::attach(
        host(ABOVE),
        name("first"),
        name("web"),
        Reach { wildcard: true, catchall: true },
    );
    let exact = Claim::attach(host(PRIZE), name("first"), name("next"), Reach::default());
    let (wide, exact) = (wide.to_json("1"), exact.to_json("2"));
    reconciler.update([(ABOVE, Some(&*wide)), (PRIZE, Some(&*exact))]);
    let rows = reconciler.rows();
    assert_eq!(rows.wildcards[&host(ABOVE)].catchall, Some(host(ABOVE)));
    assert_eq!(rows.aliases[&host(PRIZE)].primary, homes("first")[1]);
    assert!(!rows.aliases[&host(PRIZE)].own_map);
    let pass = reconciler.update([(PRIZE, None)]);
    assert_eq!(pass.diff.aliases, [(host(PRIZE), None)]);
    assert!(reconciler.rows().aliases.is_empty());
    assert_eq!(reconciler.rows().wildcards.len(), 1);
}
