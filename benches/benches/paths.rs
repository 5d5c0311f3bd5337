//! Path routes alone, beside matchit, wayfind and path-tree.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fingerpost_authority::Host;
use fingerpost_benches::corpora::{host, matching_paths, path_routes, router};
use fingerpost_router::Lookup;

fn paths(c: &mut Criterion) {
    let mut group = c.benchmark_group("path routes");
    for count in [50, 10_000] {
        let routes = path_routes(count);
        let paths = matching_paths(count);
        let mut at = 0;
        let mut next = move || {
            at = (at + 1) % count;
            at
        };
        let ours = router(2, 0, &routes);
        let asked = Host::parse(host(0)).unwrap();
        group.bench_function(BenchmarkId::new("fingerpost with host", count), |b| {
            b.iter(|| {
                let path = paths[next()].as_bytes();
                let lookup = Lookup { host: Some(&asked), path, query: None };
                black_box(ours.lookup(&lookup).unwrap().map(|found| *found.value()))
            })
        });
        let mut tree = matchit::Router::new();
        let mut finder = wayfind::RouterBuilder::new();
        let mut other = path_tree::PathTree::new();
        for (n, route) in (0u32..).zip(&routes) {
            tree.insert(route.clone(), n).unwrap();
            finder.insert(&route.replace('{', "<").replace('}', ">"), n).unwrap();
            let _ = other.insert(&route.replace('{', ":").replace('}', ""), n);
        }
        let finder = finder.build();
        group.bench_function(BenchmarkId::new("matchit", count), |b| {
            b.iter(|| black_box(tree.at(&paths[next()]).map(|found| *found.value).ok()))
        });
        group.bench_function(BenchmarkId::new("wayfind", count), |b| {
            b.iter(|| black_box(finder.search(&paths[next()]).map(|found| *found.data())))
        });
        group.bench_function(BenchmarkId::new("path-tree", count), |b| {
            b.iter(|| black_box(other.find(&paths[next()]).map(|found| *found.0)))
        });
    }
    group.finish();
}

criterion_group!(benches, paths);
criterion_main!(benches);
