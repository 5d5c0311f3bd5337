//! Whether a cache of decisions pays: it does not for maps, it may for very large path trees.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fingerpost_authority::Host;
use fingerpost_benches::corpora::{
    Numbers, host, matching_paths, ordinary_paths, path_routes, router,
};
use fingerpost_router::{CachedRouter, Lookup};

fn cached(c: &mut Criterion) {
    let mut group = c.benchmark_group("cached");
    let asked = Host::parse(host(0)).unwrap();
    let mut numbers = Numbers(9);
    let map = Arc::new(router(10, 10_000, &[]));
    let tree = Arc::new(router(10, 0, &path_routes(10_000)));
    let keys = ordinary_paths(100_000, 10_000);
    let mixes: [(&str, &Arc<_>, Vec<String>); 4] = [
        ("1 hot key", &map, vec![keys[0].clone()]),
        ("1,000 keys Zipf", &map, (0..65_536).map(|_| keys[numbers.zipf(1000)].clone()).collect()),
        (
            "100k keys uniform",
            &map,
            (0..65_536).map(|_| keys[numbers.below(100_000)].clone()).collect(),
        ),
        ("10k path routes, 1 hot key", &tree, vec![matching_paths(10_000)[77].clone()]),
    ];
    for (name, router, paths) in mixes {
        let mut at = 0;
        let mut next = || {
            at = (at + 1) % paths.len();
            Lookup { host: Some(&asked), path: paths[at].as_bytes(), query: None }
        };
        group.bench_function(BenchmarkId::new("direct", name), |b| {
            b.iter(|| black_box(router.lookup(&next()).unwrap().map(|found| *found.value())))
        });
        let mut cached = CachedRouter::new(Arc::clone(router), 1024);
        group.bench_function(BenchmarkId::new("cached", name), |b| {
            b.iter(|| black_box(cached.lookup(&next()).unwrap().map(|found| *found.value())))
        });
    }
    group.finish();
}

criterion_group!(benches, cached);
criterion_main!(benches);
