//! Host, prefix and path in one look-up, against a bare hash map and matchit.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fingerpost_authority::Host;
use fingerpost_benches::corpora::{Numbers, host, ordinary_paths, prefix, router};
use fingerpost_benches::peers::{HostsAndMatchit, Segments};
use fingerpost_router::Lookup;

/// Hosts with a catch-all each: what a host costs.
fn hosts(c: &mut Criterion) {
    let mut group = c.benchmark_group("hosts");
    for count in [10, 10_000, 1_000_000] {
        let router = router(count.max(2), 0, &[]);
        let mut numbers = Numbers(3);
        let asked: Vec<Host> =
            (0..4096).map(|_| Host::parse(host(numbers.below(count))).unwrap()).collect();
        let paths = ordinary_paths(4096, 10);
        let mut at = 0;
        group.bench_function(BenchmarkId::new("fingerpost", count), |b| {
            b.iter(|| {
                at = (at + 1) % 4096;
                let lookup =
                    Lookup { host: Some(&asked[at]), path: paths[at].as_bytes(), query: None };
                black_box(router.lookup(&lookup).unwrap().map(|found| *found.value()))
            })
        });
        let peer = HostsAndMatchit::new((0..count).map(host), &["/{*rest}".to_owned()]);
        group.bench_function(BenchmarkId::new("hash+matchit", count), |b| {
            b.iter(|| {
                at = (at + 1) % 4096;
                black_box(peer.lookup(asked[at].as_str(), &paths[at]))
            })
        });
    }
    group.finish();
}

/// One host with a prefix map: hits and misses alike.
fn prefixes(c: &mut Criterion) {
    let mut group = c.benchmark_group("prefixes");
    for count in [10, 10_000, 1_000_000] {
        let router = router(10, count, &[]);
        let asked = Host::parse(host(0)).unwrap();
        let paths = ordinary_paths(4096, count);
        let mut at = 0;
        group.bench_function(BenchmarkId::new("fingerpost", count), |b| {
            b.iter(|| {
                at = (at + 1) % 4096;
                let lookup = Lookup { host: Some(&asked), path: paths[at].as_bytes(), query: None };
                black_box(router.lookup(&lookup).unwrap().map(|found| *found.value()))
            })
        });
        let peer = HostsAndMatchit::new((0..10).map(host), &["/{*rest}".to_owned()]);
        let map = Segments::new((0..count).map(prefix));
        group.bench_function(BenchmarkId::new("hash+segment+matchit", count), |b| {
            b.iter(|| {
                at = (at + 1) % 4096;
                let hit = map.lookup(&paths[at]);
                black_box((hit, peer.lookup(asked.as_str(), &paths[at])))
            })
        });
        group.bench_function(BenchmarkId::new("bare segment hash", count), |b| {
            b.iter(|| {
                at = (at + 1) % 4096;
                black_box(map.lookup(&paths[at]))
            })
        });
    }
    group.finish();
}

/// The whole table: hosts, a map of 10k prefixes and 50 path routes on its host.
fn ordinary(c: &mut Criterion) {
    let mut group = c.benchmark_group("ordinary");
    let routes: Vec<String> = fingerpost_benches::corpora::path_routes(50);
    let paths = fingerpost_benches::corpora::matching_paths(50);
    let asked = Host::parse(host(0)).unwrap();
    for count in [10, 10_000] {
        let router = router(count, 10_000, &routes);
        let mut at = 0;
        group.bench_function(BenchmarkId::new("fingerpost", count), |b| {
            b.iter(|| {
                at = (at + 1) % paths.len();
                let lookup = Lookup { host: Some(&asked), path: paths[at].as_bytes(), query: None };
                black_box(router.lookup(&lookup).unwrap().map(|found| *found.value()))
            })
        });
        let peer = HostsAndMatchit::new((0..count).map(host), &routes);
        group.bench_function(BenchmarkId::new("hash+matchit", count), |b| {
            b.iter(|| {
                at = (at + 1) % paths.len();
                black_box(peer.lookup(asked.as_str(), &paths[at]))
            })
        });
    }
    group.finish();
}

criterion_group!(benches, hosts, prefixes, ordinary);
criterion_main!(benches);
