//! Readings of ordinary, odd and hostile paths; the last must stay under a millisecond.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use fingerpost_authority::{Host, HostPattern};
use fingerpost_benches::corpora::{ODD_PATHS, hostile_paths, ordinary_paths};
use fingerpost_path::{Prefix, Preset, Rules};
use fingerpost_router::{Lookup, Owner, PathPattern, RouteOptions, Router, SiteOptions};

fn ordinary(c: &mut Criterion) {
    let paths = ordinary_paths(1024, 100);
    let rules = Rules::default();
    let mut at = 0;
    c.bench_function("spellings/ordinary", |b| {
        b.iter(|| {
            at = (at + 1) % 1024;
            black_box(rules.ordinary(paths[at].as_bytes(), None).map(<[u8]>::len))
        })
    });
}

fn odd(c: &mut Criterion) {
    let mut group = c.benchmark_group("spellings/odd");
    for preset in [Preset::Rails, Preset::Any] {
        let rules = Rules::new(preset.families());
        for path in ODD_PATHS {
            group.bench_function(BenchmarkId::new(preset.name(), path), |b| {
                b.iter(|| {
                    black_box(rules.spellings(path.as_bytes(), None).map(|s| s.iter().count()))
                })
            });
        }
    }
    group.finish();
}

/// A site with everything that makes a look-up slow: a map, guards, every family, refusals.
fn slowest_site(guarded: bool) -> (Host, Router<u32>) {
    let parse = |text: &str| Host::parse(text).unwrap();
    let (host, target) = (parse("a.example"), parse("b.example"));
    let mut builder = Router::builder(1);
    for (host, routes) in [(&host, ["/admin/{*rest}", "/{*rest}"]), (&target, ["/a/b", "/{*all}"])]
    {
        let pattern = HostPattern::Exact(host.clone());
        let mut options = SiteOptions::with_rules(Rules::default());
        options.ambiguous_paths = fingerpost_router::Ambiguity::Refuse;
        builder.site(pattern.clone(), options);
        for (n, route) in (0..).zip(routes) {
            let route = PathPattern::parse(route).unwrap();
            let options = RouteOptions::forwarding().with_guarded(guarded && n == 0);
            builder.route(Owner::Host(pattern.clone()), route, options, n);
        }
    }
    builder.prefix(host.clone(), Prefix::parse("account7").unwrap(), Some(target));
    (host, builder.build().unwrap())
}

fn hostile(c: &mut Criterion) {
    let mut group = c.benchmark_group("hostile");
    for guarded in [false, true] {
        let (host, router) = slowest_site(guarded);
        let other = Host::parse("b.example").unwrap();
        for (host, site) in [(&host, "mapped"), (&other, "unmapped")] {
            let site = format!("{site}{}", if guarded { ", guarded" } else { "" });
            for (name, path) in hostile_paths() {
                group.bench_function(BenchmarkId::new(&site, name), |b| {
                    b.iter(|| {
                        let lookup =
                            Lookup { host: Some(host), path: path.as_bytes(), query: None };
                        black_box(router.lookup(&lookup).is_ok())
                    })
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, ordinary, odd, hostile);
criterion_main!(benches);
