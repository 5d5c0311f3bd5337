//! Changes of rows, against a model that keeps them in memory.

#[path = "support/rows.rs"]
mod rows;

use std::sync::Arc;

use fingerpost_claims::{PathRows, Rows, WildcardRow};
use fingerpost_fingerprint::Section;
use fingerpost_registry::{Diff, Registry, Tables, Usage};
use proptest::prelude::*;
use proptest::sample::select;

use self::rows::{fleet, host, keyed, name, open, path_row, prefix, route, sample, site};

/// A few rows of tables that share hosts.
fn tables() -> impl Strategy<Value = Tables> {
    let hosts = || select(&["a.example", "b.example", "c.example"][..]);
    let fleets = prop::collection::btree_map(hosts(), 1..3_u32, 0..3);
    let routes = prop::collection::vec((prop::option::of(hosts()), any::<bool>()), 0..3);
    let sites = prop::collection::vec((hosts(), any::<bool>()), 0..3);
    let wildcards = prop::collection::btree_map(hosts(), any::<bool>(), 0..3);
    let segments = select(&["a", "b", "ab", "B"][..]);
    let paths = prop::collection::vec((hosts(), segments, hosts()), 0..6);
    (fleets, routes, sites, wildcards, paths, prop::option::of(0..3_u64)).prop_map(
        |(fleets, routes, sites, wildcards, paths, serial)| {
            let mut tables = Tables { serial, ..Tables::default() };
            tables.local.fleets = keyed(fleets.into_iter().map(|(name, idle)| {
                let mut row = fleet(name);
                row.max_idle = idle;
                row
            }));
            tables.local.routes = keyed(routes.into_iter().map(|(host, checked)| {
                let mut row = route(host, "/");
                row.dns_status = checked.then(|| "ok".to_owned());
                row
            }));
            tables.local.sites = keyed(sites.into_iter().map(|(host, case_sensitive)| {
                let mut row = site(host);
                row.case_sensitive = case_sensitive;
                row
            }));
            let wildcards = wildcards.into_iter().map(|(at, catchall)| {
                let catchall = catchall.then(|| host("a.example"));
                (host(at), WildcardRow { account: name("a"), app: name("b"), catchall })
            });
            tables.rows.wildcards = wildcards.collect();
            for (at, segment, target) in paths {
                let rows = tables.rows.paths.entry(host(at)).or_default();
                Arc::make_mut(rows).insert(prefix(segment), path_row(target));
            }
            tables
        },
    )
}

/// What a fingerprint is of: everything but when something was last checked, and the serial.
fn content(tables: &Tables) -> Tables {
    let mut tables = Tables { serial: None, ..tables.clone() };
    for route in tables.local.routes.values_mut() {
        (route.dns_status, route.cert_expires_at) = (None, None);
    }
    tables
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// After any changes the rows are those of the model, the digests are those of the rows, and the
    /// fingerprint depends on the rows alone.
    #[test]
    fn f4_incremental_equals_from_scratch(states in prop::collection::vec(tables(), 1..5)) {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("registry.db");
        let (mut registry, mut now) = open(&path);
        let mut fingerprints = vec![(content(&now), registry.fingerprint())];
        for next in states {
            let diff = Diff::between(&now, &next);
            let applied = registry.apply(&diff)?;
            let mut next = next;
            next.serial = next.serial.or(now.serial);
            prop_assert_eq!(&registry.tables()?, &next);
            prop_assert_eq!(registry.audit()?, []);
            prop_assert_eq!(registry.serial(), next.serial);
            let same = content(&now) == content(&next);
            prop_assert_eq!(applied.hosts.is_empty(), same);
            for (known, fingerprint) in &fingerprints {
                prop_assert_eq!(*known == content(&next), *fingerprint == registry.fingerprint());
            }
            fingerprints.push((content(&next), registry.fingerprint()));
            // A diff says what is to be there: twice is once.
            let again = registry.apply(&diff)?;
            prop_assert_eq!((again.written, again.removed, again.hosts), (0, 0, vec![]));
            now = next;
        }
        let before = registry.fingerprint();
        drop(registry);
        let (registry, tables) = open(&path);
        prop_assert_eq!((registry.fingerprint(), tables), (before, now));
    }
}

/// Of a million rows, a flip writes one, and the digest of its host.
#[test]
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn one_flip_among_a_million_rows_writes_one_row() {
    const HOSTS: usize = 100;
    const PREFIXES: usize = 10_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.db");
    let (mut registry, empty) = open(&path);
    let to = path_row("next.example");
    let paths = |_| (0..PREFIXES).map(|at| (prefix(&format!("account-{at}")), to.clone()));
    let rows = |at| (host(&format!("h{at}.example")), Arc::new(paths(at).collect::<PathRows>()));
    let all = Rows { paths: (0..HOSTS).map(rows).collect(), ..Rows::default() };
    let all = Tables { rows: all, ..Tables::default() };

    let clock = std::time::Instant::now();
    let applied = registry.apply(&Diff::between(&empty, &all)).unwrap();
    println!("a million rows applied in {:?}", clock.elapsed());
    assert_eq!(applied.written, 1_000_000);
    assert_eq!(applied.hosts.len(), HOSTS);
    assert_eq!(registry.digests().rows(Section::RoutePaths), 1_000_000);

    let mut times = Vec::new();
    for flip in 0..101_u64 {
        let at = host(&format!("h{}.example", flip % 100));
        let segment = prefix(&format!("account-{}", flip * 97));
        let row = Some(path_row(&format!("flip-{flip}.example")));
        let mut diff = Diff { serial: Some(flip), ..Diff::default() };
        diff.rows.paths.push((at.clone(), segment, row));
        let (before, written) = (registry.fingerprint(), registry.rows_written());
        let clock = std::time::Instant::now();
        let applied = registry.apply(&diff).unwrap();
        times.push(clock.elapsed());
        // The row, the digest of its host, the serial.
        assert_eq!(registry.rows_written() - written, 3);
        assert_eq!((applied.written, applied.removed, applied.unchanged), (1, 0, 0));
        assert_eq!(applied.hosts, [(Section::RoutePaths, at.to_string())]);
        assert_ne!(registry.fingerprint(), before);
    }
    times.sort_unstable();
    println!("a flip: p50 {:?}, p99 {:?}, worst {:?}", times[50], times[99], times[100]);

    let clock = std::time::Instant::now();
    assert_eq!(registry.audit().unwrap(), []);
    println!("audit in {:?}", clock.elapsed());
    let before = registry.fingerprint();
    drop(registry);
    let clock = std::time::Instant::now();
    let (registry, tables) = open(&path);
    println!("opened and read in {:?}", clock.elapsed());
    assert_eq!(registry.fingerprint(), before);
    assert_eq!(tables.rows.path_rows().count(), 1_000_000);
}

/// Where nothing changes, nothing is written: not even a page of the log.
#[test]
fn no_change_does_not_touch_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.db");
    let (mut registry, empty) = open(&path);
    let diff = Diff::between(&empty, &sample());
    registry.apply(&diff).unwrap();
    let log = || std::fs::read(path.with_extension("db-wal")).unwrap();
    let (before, written) = (log(), registry.rows_written());
    let again = registry.apply(&diff).unwrap();
    assert_eq!((again.written, again.removed, again.hosts), (0, 0, vec![]));
    assert_eq!(again.unchanged, 14);
    assert_eq!(registry.apply(&Diff::default()).unwrap().unchanged, 0);
    assert_eq!(registry.rows_written(), written);
    assert!(log() == before);
    // A serial alone is something.
    let serial = Diff { serial: Some(8), ..Diff::default() };
    registry.apply(&serial).unwrap();
    assert_eq!((registry.serial(), registry.rows_written()), (Some(8), written + 1));
}

/// What a diff removes and puts at once is there.
#[test]
fn removals_come_first() {
    let directory = tempfile::tempdir().unwrap();
    let (mut registry, _) = open(&directory.path().join("registry.db"));
    let mut diff = Diff::default();
    diff.fleets.put.push(fleet("go"));
    diff.fleets.remove.push("go".to_owned());
    let applied = registry.apply(&diff).unwrap();
    assert_eq!((applied.written, applied.unchanged), (1, 1));
    assert_eq!(registry.tables().unwrap().local.fleets, keyed([fleet("go")]));
}

#[test]
fn usage_adds_up_and_is_no_part_of_the_fingerprint() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("registry.db");
    let (mut registry, _) = open(&path);
    let before = registry.fingerprint();
    let one = |period, account: Option<&str>, requests| Usage {
        period,
        route: "go".to_owned(),
        account: account.map(name),
        app: None,
        requests,
        bytes_in: 10 * requests,
        bytes_out: 100 * requests,
    };
    registry.add_usage(&[one(60, None, 1), one(0, Some("a"), 2), one(0, Some("a"), 3)]).unwrap();
    registry.add_usage(&[one(0, Some("a"), 4), one(0, Some("b"), 1)]).unwrap();
    registry.add_usage(&[]).unwrap();
    let all = [one(0, Some("a"), 9), one(0, Some("b"), 1), one(60, None, 1)];
    assert_eq!(registry.usage(0..u64::MAX).unwrap(), all);
    assert_eq!(registry.usage(0..60).unwrap(), all[..2]);
    assert_eq!(registry.usage(1..60).unwrap(), []);
    assert_eq!(registry.fingerprint(), before);
    drop(registry);
    let (mut registry, _): (Registry, _) = open(&path);
    assert_eq!(registry.usage(60..61).unwrap(), all[2..]);
}
