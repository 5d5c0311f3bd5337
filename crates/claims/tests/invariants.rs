//! K1 to K5, C2, and the slow model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

#[path = "support/model.rs"]
mod model;
#[path = "support/world.rs"]
mod world;

use std::collections::{BTreeMap, BTreeSet};

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{
    Claim, ClaimReport, Name, Outcome, Report, RowState, Rows, Source, Verdict, reconcile,
};
use fingerpost_path::Rules;
use fingerpost_router::{Alias, Owner, PathPattern, RouteOptions, Router, SiteOptions};
use model::Model;
use proptest::collection::vec;
use proptest::prelude::*;
use world::{Choices, World};

/// A world, and the rows that another one left behind.
fn two_worlds(bytes: &[u8]) -> (World, Rows) {
    let mut choices = Choices::new(bytes);
    let world = World::random(&mut choices);
    let mut before = world.clone();
    // The past is like the present but for some of it: rows are withdrawn, held, and come back.
    let other = World::random(&mut choices);
    match choices.pick(5) {
        0 => before.routes = other.routes,
        1 => before.stored = other.stored,
        2 => before = other,
        3 => {
            before.stored = other.stored;
            for (_, route) in &mut before.routes {
                route.site.reserved.clear();
                route.site.guarded.clear();
            }
        }
        _ => before.routes.iter_mut().for_each(|(_, route)| route.unready = false),
    }
    let past = reconcile(&before.facts(), &before.claims(), &Rows::default());
    (world, past.rows)
}

fn pass(world: &World, previous: &Rows) -> Outcome {
    reconcile(&world.facts(), &world.claims(), previous)
}

fn config() -> ProptestConfig {
    // Failures are kept as rows of a table, and not in a file.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100_000) }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn k1_order_of_inputs_is_irrelevant(bytes in bytes(), turns in any::<[usize; 6]>()) {
        let (world, previous) = two_worlds(&bytes);
        let mut turned = world.clone();
        turn(&mut turned.routes, turns[0]);
        turn(&mut turned.patterns, turns[1]);
        turn(&mut turned.elsewhere, turns[2]);
        turn(&mut turned.grants, turns[3]);
        turn(&mut turned.config, turns[4]);
        turn(&mut turned.stored, turns[5]);
        prop_assert_eq!(pass(&world, &previous), pass(&turned, &previous));
    }

    #[test]
    fn k2_a_second_pass_changes_nothing(bytes in bytes()) {
        let (world, previous) = two_worlds(&bytes);
        let first = pass(&world, &previous);
        let second = pass(&world, &first.rows);
        prop_assert_eq!(&first.rows, &second.rows);
        prop_assert_eq!(&first.report, &second.report);
        prop_assert!(second.withdrawn.is_empty());
    }

    #[test]
    fn k3_no_row_without_a_claim_that_passed_every_gate(bytes in bytes()) {
        let (world, previous) = two_worlds(&bytes);
        let (rows, model) = (pass(&world, &previous).rows, Model::new(&world));
        let got: BTreeMap<_, _> = rows
            .path_rows()
            .map(|(host, prefix, row)| {
                ((host.clone(), prefix.to_string()), (row.state, row.to.target.clone()))
            })
            .collect();
        prop_assert_eq!(got, model.rows(&previous));
        let owned: Vec<_> =
            model.effective().into_iter().filter(|(claim, source)| model.owns_host(claim, *source)).collect();
        for (host, _, row) in rows.path_rows() {
            let behind = owned.iter().any(|(claim, _)| {
                claim.host() == host && *claim.account() == row.to.account
            });
            prop_assert!(behind || row.state == RowState::Held && model.unreadable.contains(host));
        }
        let aliases: BTreeMap<_, _> = owned
            .iter()
            .filter_map(|(claim, _)| Some((claim.host(), &model.resolved(claim)?.0)))
            .filter(|(host, primary)| host != primary)
            .collect();
        let got: BTreeMap<_, _> = rows.aliases.iter().map(|(host, row)| (host, &row.primary)).collect();
        prop_assert_eq!(got, aliases);
        let wide = owned.iter().filter(|(claim, source)| {
            claim.reach().is_wide()
                && model.resolved(claim).is_some()
                && model.owns_names(claim, *source)
        });
        let wide: BTreeMap<_, _> = wide.map(|(claim, _)| (claim.host(), claim.account())).collect();
        let wide: Vec<_> = wide.into_iter().take(world.limits.max_wildcards).collect();
        let got: Vec<_> = rows.wildcards.iter().map(|(host, row)| (host, &row.account)).collect();
        prop_assert_eq!(got, wide);
        for (host, row) in &rows.wildcards {
            let pattern = HostPattern::Wildcard(host.clone());
            prop_assert!(row.catchall.is_none() || world.patterns.iter().all(|(of, _)| *of != pattern));
        }
    }

    #[test]
    fn k4_every_claim_and_entry_is_in_the_report_once(bytes in bytes()) {
        let (world, previous) = two_worlds(&bytes);
        let Outcome { rows, report, .. } = pass(&world, &previous);
        let (claims, strays) = written(&world);
        prop_assert_eq!(report.strays().map(str::to_owned).collect::<BTreeSet<_>>(), strays);
        let reported: Vec<_> = report.claims().map(|claim| (claim.host.clone(), claim.source)).collect();
        prop_assert_eq!(&reported, &claims.keys().cloned().collect::<Vec<_>>());
        for claim in report.claims() {
            let entries = &claims[&(claim.host.clone(), claim.source)];
            check_entries(claim, entries.as_ref(), &rows)?;
        }
    }

    #[test]
    fn k5_rows_always_build_a_router(bytes in bytes()) {
        let (world, previous) = two_worlds(&bytes);
        let rows = pass(&world, &previous).rows;
        if let Err(conflicts) = router(&world, &rows) {
            prop_assert!(false, "{conflicts}");
        }
    }

    #[test]
    fn c2_limits_hold(bytes in bytes()) {
        let (world, previous) = two_worlds(&bytes);
        let rows = pass(&world, &previous).rows;
        prop_assert!(rows.wildcards.len() <= world.limits.max_wildcards);
        for paths in rows.paths.values() {
            prop_assert!(!paths.is_empty() && paths.len() <= world.limits.max_paths_per_claim);
        }
    }

    #[test]
    fn a_view_tells_nothing_of_others(bytes in bytes()) {
        let (mut world, previous) = two_worlds(&bytes);
        // One host with routes of two accounts on two boxes: there each has a right to know.
        world.elsewhere.retain(|(host, _)| world.routes.iter().all(|(local, _)| local != host));
        let report = pass(&world, &previous).report;
        let account = world::name("a");
        let seen = report.view_for(&account);
        for claim in seen.claims() {
            prop_assert_eq!(claim.account.as_ref(), Some(&account));
            let told = matches!(&claim.verdict, Verdict::Refused { detail: Some(_), .. });
            prop_assert!(!told);
        }
        // Whatever becomes of the routes of others: missing, theirs, not ready, elsewhere.
        let mut without = world.clone();
        let own = |of: &Option<Name>| of.as_ref() == Some(&account);
        without.routes.retain(|(_, route)| own(&route.account));
        let blind = pass(&without, &previous).report.view_for(&account);
        // Whose a host is, everybody may know of their own.
        if standing(&seen) == standing(&blind) {
            prop_assert_eq!(targets(&seen), targets(&blind));
        }
    }

    #[test]
    fn a_difference_leads_from_one_to_the_other(bytes in bytes()) {
        let (world, previous) = two_worlds(&bytes);
        let rows = pass(&world, &previous).rows;
        let diff = previous.diff(&rows);
        let mut next = previous.clone();
        next.apply(&diff);
        prop_assert_eq!(&next, &rows);
        prop_assert_eq!(diff.is_empty(), previous == rows);
        prop_assert!(rows.diff(&rows).is_empty());
    }
}

/// The worlds are worth something: every code and every kind of row comes up in them often.
#[test]
fn worlds_reach_everything() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let bytes = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        });
        let (world, previous) = two_worlds(&bytes.take(160).collect::<Vec<_>>());
        let Outcome { rows, report, withdrawn, .. } = pass(&world, &previous);
        let mut count = |what, times: usize| *seen.entry(what).or_default() += times;
        for claim in report.claims() {
            count("replaced", usize::from(claim.verdict == Verdict::Replaced));
            for code in claim.verdict.code().into_iter().chain(claim.wildcard) {
                count(code.as_str(), 1);
            }
            for entry in &claim.entries {
                count(entry.code.as_str(), 1);
            }
        }
        for (_, _, row) in rows.path_rows() {
            count(row.state.as_str(), 1);
        }
        count("alias", rows.aliases.len());
        count("catchall", rows.wildcards.values().filter(|row| row.catchall.is_some()).count());
        count("wildcards over the limit", report.wildcards_over_limit().count());
        count("withdrawn", withdrawn.len());
    }
    let codes = fingerpost_claims::Code::ALL.map(fingerpost_claims::Code::as_str);
    let kinds = [
        "replaced",
        "routed",
        "held",
        "alias",
        "catchall",
        "withdrawn",
        "wildcards over the limit",
    ];
    for what in codes.into_iter().chain(kinds).filter(|what| *what != "target_unavailable") {
        assert!(seen.get(what).is_some_and(|times| *times >= 20), "{what}: {seen:#?}");
    }
}

fn turn<T>(list: &mut [T], by: usize) {
    if !list.is_empty() {
        let len = list.len();
        list.rotate_left(by % len);
        if by.is_multiple_of(2) {
            list.reverse();
        }
    }
}

type Entries = BTreeMap<(Host, Source), Option<BTreeSet<String>>>;

/// The claims that were written, with their prefixes; `None` for one that does not parse.
fn written(world: &World) -> (Entries, BTreeSet<String>) {
    let prefixes = |claim: &Claim| {
        let refused = claim.refused().iter().map(|entry| entry.prefix.to_string());
        claim.paths().iter().map(|(prefix, _)| prefix.to_string()).chain(refused).collect()
    };
    let (mut claims, mut strays) = (Entries::new(), BTreeSet::new());
    for claim in &world.config {
        claims.insert((claim.host().clone(), Source::Config), Some(prefixes(claim)));
    }
    for (key, body) in &world.stored {
        match Host::parse(key) {
            Ok(host) if host.as_str() == key => {
                let claim = Claim::parse(&host, body).ok();
                if !claim.as_ref().is_some_and(Claim::is_deleted) {
                    claims.insert((host, Source::Stored), claim.as_ref().map(prefixes));
                }
            }
            _ => {
                strays.insert(key.clone());
            }
        }
    }
    (claims, strays)
}

fn check_entries(
    claim: &ClaimReport,
    written: Option<&BTreeSet<String>>,
    rows: &Rows,
) -> Result<(), TestCaseError> {
    if claim.verdict == Verdict::Replaced || written.is_none() {
        prop_assert_eq!(claim.entry_count(), 0);
        return Ok(());
    }
    prop_assert_eq!(Some(claim.entry_count()), written.map(BTreeSet::len));
    let listed: BTreeSet<_> = claim.entries.iter().map(|entry| entry.prefix.to_string()).collect();
    prop_assert_eq!(listed.len(), claim.entries.len());
    for prefix in written.into_iter().flatten() {
        let row = rows.path(&claim.host, prefix).filter(|_| claim.verdict == Verdict::Standing);
        let entry = claim.entries.iter().find(|entry| *entry.prefix == **prefix);
        let routed = row.is_some_and(|row| row.state == RowState::Routed);
        prop_assert_eq!(routed, entry.is_none(), "{}", prefix);
        prop_assert_eq!(row.is_some() && !routed, entry.is_some_and(|entry| entry.held));
    }
    Ok(())
}

fn standing(report: &Report) -> Vec<(&Host, Source)> {
    let standing = report.claims().filter(|claim| claim.verdict == Verdict::Standing);
    standing.map(|claim| (&claim.host, claim.source)).collect()
}

/// What a tenant sees of entries whose claims stand, without what is routed.
fn targets(report: &Report) -> BTreeMap<(Host, String), &'static str> {
    let standing = report.claims().filter(|claim| claim.verdict == Verdict::Standing);
    let entries = standing.flat_map(|claim| claim.entries.iter().map(move |entry| (claim, entry)));
    entries
        .map(|(claim, entry)| ((claim.host.clone(), entry.prefix.to_string()), entry.code.as_str()))
        .collect()
}

/// As the proxy builds one.
fn router(world: &World, rows: &Rows) -> Result<Router<()>, fingerpost_router::Conflicts> {
    let mut builder = Router::builder(7);
    let mut site = |pattern: HostPattern, guarded: &[Box<[u8]>]| {
        builder.site(pattern.clone(), SiteOptions::with_rules(Rules::default()));
        let owner = Owner::Host(pattern);
        let all = PathPattern::parse("/{*rest}").unwrap();
        builder.route(owner.clone(), all, RouteOptions::forwarding(), ());
        for segment in guarded {
            let path = format!("/{}", std::str::from_utf8(segment).unwrap());
            let path = PathPattern::parse(&path).unwrap();
            builder.route(owner.clone(), path, RouteOptions::forwarding().with_guarded(true), ());
        }
    };
    for (host, route) in &world.routes {
        site(HostPattern::Exact(host.clone()), &route.site.guarded);
    }
    for pattern in world.patterns.iter().map(|(pattern, _)| pattern).collect::<BTreeSet<_>>() {
        site(pattern.clone(), &[]);
    }
    for (host, row) in &rows.aliases {
        let alias = Alias { primary: row.primary.clone(), own_map: row.own_map };
        builder.alias(host.clone(), alias);
    }
    for (host, row) in &rows.wildcards {
        if let Some(primary) = &row.catchall {
            builder.catchall(host.clone(), primary.clone());
        }
    }
    for (host, prefix, row) in rows.path_rows() {
        let routed = row.state == RowState::Routed;
        let target = routed.then(|| row.to.target.clone().expect("a routed row has a target"));
        builder.prefix(host.clone(), prefix.clone(), target);
    }
    builder.build()
}
