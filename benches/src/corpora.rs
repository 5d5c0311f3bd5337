//! Hosts, prefixes, routes and paths, the same in every run.

use fingerpost_authority::{Host, HostPattern};
use fingerpost_path::Prefix;
use fingerpost_router::{Owner, PathPattern, RouteOptions, Router};

/// A small generator of the same numbers in every run (SplitMix64).
#[derive(Clone, Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number below `end`, small ones far more often (Zipf with exponent 1).
    pub fn zipf(&mut self, end: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((end as f64).powf(unit) as usize).min(end) - 1
    }
}

/// Host number `n`, about 26 bytes long.
pub fn host(n: usize) -> String {
    format!("tenant-{n}.apps.example.com")
}

/// Prefix number `n`, about 11 bytes long.
pub fn prefix(n: usize) -> String {
    format!("account{n}")
}

/// `count` paths of 24 to 40 bytes: first segments are the first `known` prefixes half of the time.
pub fn ordinary_paths(count: usize, known: usize) -> Vec<String> {
    let mut numbers = Numbers(1);
    (0..count)
        .map(|at| {
            let n = numbers.below(known.max(1));
            let first = if at % 2 == 0 { prefix(n) } else { format!("other{n}") };
            format!("/{first}/events/{}", 10_000 + numbers.below(90_000))
        })
        .collect()
}

/// Paths that have several spellings.
pub const ODD_PATHS: [&str; 8] = [
    "/account7/caf%C3%A9",
    "/Account7/events/42",
    "//account7/../account9/x",
    "/a/%2e%2e/account7",
    "/account7.json",
    "/account7;jsessionid=1/x",
    "/%61ccount7/events",
    "/index.php/account7",
];

/// The worst paths that we know of, of up to 64 KiB.
pub fn hostile_paths() -> Vec<(&'static str, String)> {
    let long = 64 * 1024 - 1;
    vec![
        ("ordinary 64K", format!("/{}", "a".repeat(long))),
        ("segments 64K", format!("/{}", "a/".repeat(long / 2))),
        ("slashes 64K", "/".repeat(long + 1)),
        ("dots 64K", format!("/{}", "../".repeat(long / 3))),
        ("escapes 64K", format!("/{}", "%2e".repeat(long / 3))),
        ("mixed 64K", format!("/{}", "%2e%2e/x;y\\.php//".repeat(long / 18))),
        ("mixed 250", format!("/{}", "%252e/;x\\y.php//".repeat(15))),
        ("double 1K", format!("/{}", "%25252f..;a/".repeat(85))),
        ("budget 256", format!("/{}", "//x/..;/%255c.php%252f%2561".repeat(9))),
    ]
}

/// A router of `hosts` hosts with a catch-all each; the first has `prefixes` prefixes, which the second
/// serves. The first also has `routes` as its own path routes.
pub fn router(hosts: usize, prefixes: usize, routes: &[String]) -> Router<u32> {
    let mut builder = Router::builder(42);
    let parse = |n: usize| Host::parse(host(n)).expect("a host");
    for (at, n) in (0..hosts).zip(0..) {
        let owner = Owner::Host(HostPattern::Exact(parse(at)));
        let all = PathPattern::parse("/{*rest}").expect("a pattern");
        builder.route(owner, all, RouteOptions::forwarding(), n);
    }
    for (n, route) in (0..).zip(routes) {
        let owner = Owner::Host(HostPattern::Exact(parse(0)));
        let pattern = PathPattern::parse(route).expect("a pattern");
        builder.route(owner, pattern, RouteOptions::forwarding(), n);
    }
    for n in 0..prefixes {
        let name = Prefix::parse(&prefix(n)).expect("a prefix");
        builder.prefix(parse(0), name, Some(parse(1)));
    }
    builder.build().expect("no conflicts")
}

/// `count` path routes of a REST application, every other one with parameters.
pub fn path_routes(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| match n % 4 {
            0 => format!("/api/v{}/res{n}", n % 3),
            1 => format!("/api/v{}/res{n}/{{id}}", n % 3),
            2 => format!("/res{n}/{{id}}/items/{{item}}"),
            _ => format!("/res{n}/list"),
        })
        .collect()
}

/// A path that each of [`path_routes`] matches.
pub fn matching_paths(count: usize) -> Vec<String> {
    path_routes(count)
        .iter()
        .map(|route| route.replace("{id}", "12345").replace("{item}", "item-9"))
        .collect()
}
