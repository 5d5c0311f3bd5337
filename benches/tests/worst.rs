//! No path of up to 64 KiB costs more than a millisecond of matching, however hostile.

use std::time::{Duration, Instant};

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::{Prefix, Preset, Rules};
use fingerpost_router::{Ambiguity, Lookup, Owner, PathPattern, RouteOptions, Router, SiteOptions};

/// Pieces that are cheap to write and dear to read.
const PIECES: &[&str] = &[
    "a",
    "A",
    "/",
    "//",
    "/.",
    "/..",
    "/a/..",
    "/a/../",
    "%2e",
    "%2e%2e%2f",
    "%252e",
    "%25252e",
    "%2f",
    "%5c",
    "\\",
    ";",
    "/;",
    "..;/",
    "/a;b/..;/c",
    ".php",
    ".php/",
    "/x.php",
    "%2ephp/",
    "/_next/data/b",
    "%20",
    "%c3%a9",
    "~",
    "/a.b",
    "/A.b",
    "/%61.b",
    "//a;b\\c%5c",
    "/%2e%2e;x\\..%252f.php",
    "q=a&",
    "&q=%2571",
    "%ff",
    "/\\a",
    "/%41",
];

fn site(name: &str, guarded: bool, refuse: bool, mapped: bool) -> Router<u32> {
    let host = |text: &str| Host::parse(text).unwrap();
    let mut builder = Router::builder(1);
    let own = HostPattern::Exact(host(name));
    let mut options = SiteOptions::with_rules(Rules::new(Preset::Any.families()).with_query(["q"]));
    if refuse {
        options.ambiguous_paths = Ambiguity::Refuse;
    }
    builder.site(own.clone(), options);
    for (value, path) in
        (0..).zip(["/{*rest}", "/a/{id}/{*rest}", "/a/b/{c}/d", "/{p}/{q}/{r}/{s}/{*rest}"])
    {
        builder.route(
            Owner::Host(own.clone()),
            PathPattern::parse(path).unwrap(),
            RouteOptions::forwarding(),
            value,
        );
    }
    if guarded {
        let path = PathPattern::parse("/admin.panel/{*rest}").unwrap();
        builder.route(Owner::Host(own), path, RouteOptions::forwarding().with_guarded(true), 9);
    }
    let new = Owner::Host(HostPattern::Exact(host("new.test")));
    builder.route(new, PathPattern::parse("/{*rest}").unwrap(), RouteOptions::forwarding(), 7);
    if mapped {
        for n in 0..2_000 {
            builder.prefix(
                host(name),
                Prefix::parse(&format!("acct{n}")).unwrap(),
                Some(host("new.test")),
            );
        }
    }
    builder.build().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn measured(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[test]
#[ignore = "measures: cargo test --release -p fingerpost-benches --test worst -- --ignored"]
fn no_path_costs_more_than_a_millisecond() {
    let host = Host::parse("a.test").unwrap();
    let mut worst: Vec<(Duration, String)> = Vec::new();
    for guarded in [false, true] {
        for refuse in [false, true] {
            for mapped in [false, true] {
                let router = site("a.test", guarded, refuse, mapped);
                for size in [
                    64,
                    128,
                    192,
                    255,
                    256,
                    320,
                    512,
                    1 << 10,
                    2 << 10,
                    4 << 10,
                    5_400,
                    8 << 10,
                    16_000,
                    64 << 10,
                ] {
                    for one in PIECES {
                        for other in ["", "a", "/b", "%2e", ";x/", "//"] {
                            let piece = format!("{one}{other}");
                            let mut path = format!("/{}", piece.repeat(size / piece.len()));
                            path.truncate(size);
                            for query in [None, Some(path.as_bytes())] {
                                let lookup =
                                    Lookup { host: Some(&host), path: path.as_bytes(), query };
                                let cost = (0..4)
                                    .map(|_| {
                                        measured(|| {
                                            drop(std::hint::black_box(router.lookup(&lookup)))
                                        })
                                    })
                                    .min()
                                    .unwrap_or_default();
                                let kind = format!(
                                    "guarded {guarded}, refuse {refuse}, mapped {mapped}, query {}: {piece} x {size}",
                                    query.is_some()
                                );
                                worst.push((cost, kind));
                            }
                        }
                    }
                }
            }
        }
    }
    worst.sort();
    for (cost, kind) in worst.iter().rev().take(12) {
        println!("{cost:?} {kind}");
    }
    let (cost, kind) = worst.last().unwrap();
    assert!(*cost < Duration::from_millis(1), "{cost:?} {kind}");
}
