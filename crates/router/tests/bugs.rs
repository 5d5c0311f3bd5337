//! Bugs that other proxies had in naming a host and a route, each asked as raw requests.
//!
//! `data/bugs.jsonl` says where each was seen; a row's id is the bug's. What the pure crates don't decide is
//! listed with the place that does.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a row that cannot be read fails the test"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use fingerpost_authority::{
    Authority, Head, Host, HostFields, HostPattern, HttpVersion, Selected, Target,
    TransferEncoding, select,
};
use fingerpost_path::Prefix;
use fingerpost_router::{CachedRouter, Lookup, Owner, PathPattern, RouteOptions, Router};
use serde_json::Value;

const TOPICS: &[&str] =
    &["host-parsing", "wildcards", "path-matching", "path-normalisation", "route-cache"];

/// `front` has the prefix `alpha` moved to `new`; `legacy` is what it was moved away from.
const ROUTES: &[(&str, &str, &str)] = &[
    ("front.example.com", "/{*rest}", "legacy"),
    ("new.example.com", "/{*rest}", "new"),
    ("a.example.com", "/{*rest}", "a"),
    ("b.example.com", "/{*rest}", "b"),
    ("c.example.com", "/{*rest}", "c"),
    ("api.example.com", "/{*rest}", "api"),
    ("private.example.com", "/{*rest}", "private"),
    ("admin.example.com", "/{*rest}", "admin"),
    ("amqp_node1.example.com", "/{*rest}", "amqp"),
    ("bücher.example", "/{*rest}", "idn"),
    ("[2001:db8::1]", "/{*rest}", "v6"),
    ("*.wild.example.com", "/{*rest}", "W"),
    ("*.x.wild.example.com", "/{*rest}", "WX"),
    ("mount.example.com", "/{*rest}", "S"),
    ("mount.example.com", "/admin/{*path}", "A"),
    ("*.mount.example.com", "/{*rest}", "S"),
    ("*.mount.example.com", "/admin/{*path}", "A"),
    ("tree.example.com", "/path/foo", "F"),
    ("tree.example.com", "/path/{*rest}", "W"),
    ("tree.example.com", "/u/{id}", "I"),
    ("tree.example.com", "/{*rest}", "S"),
    ("shared", "/{*rest}", "shared"),
    ("shared", "/admin/{*path}", "shared admin"),
];

fn world(routes: &[(&str, &str, &'static str)]) -> Router<&'static str> {
    let mut builder = Router::builder(1);
    for &(name, path, value) in routes {
        let owner = match name {
            "shared" => Owner::Shared,
            name => Owner::Host(HostPattern::from_written(name).unwrap()),
        };
        builder.route(owner, PathPattern::parse(path).unwrap(), RouteOptions::forwarding(), value);
    }
    let host = |text: &str| Host::parse(text).unwrap();
    builder.prefix(
        host("front.example.com"),
        Prefix::parse("alpha").unwrap(),
        Some(host("new.example.com")),
    );
    builder.build().unwrap()
}

/// A raw request head: a request line, then fields; for HTTP/2 `:authority` is a field.
struct Request {
    version: HttpVersion,
    method: Vec<u8>,
    target: Vec<u8>,
    authority: Option<Vec<u8>>,
    hosts: Vec<Vec<u8>>,
}

impl Request {
    /// `None` where no server would take the line for a request line.
    fn parse(raw: &[u8]) -> Option<Self> {
        let mut lines = raw.split(|&byte| byte == b'\n').map(<[u8]>::to_vec);
        let line = lines.next()?;
        let start = line.iter().position(|&byte| byte == b' ')?;
        let end = line.iter().rposition(|&byte| byte == b' ').filter(|&end| end > start)?;
        let version = match &line[end + 1..] {
            b"HTTP/1.0" => HttpVersion::Http10,
            b"HTTP/1.1" => HttpVersion::Http11,
            b"HTTP/2" => HttpVersion::Http2,
            other => panic!("{}", other.escape_ascii()),
        };
        let mut request = Self {
            version,
            method: line[..start].to_vec(),
            target: line[start + 1..end].to_vec(),
            authority: None,
            hosts: Vec::new(),
        };
        for line in lines {
            if let Some(value) = line.strip_prefix(b"Host: ") {
                request.hosts.push(value.to_vec());
            } else if let Some(value) = line.strip_prefix(b":authority: ") {
                request.authority = Some(value.to_vec());
            }
        }
        Some(request)
    }

    fn head(&self) -> Head<'_> {
        Head {
            version: self.version,
            method: &self.method,
            target: Target::parse(&self.target),
            authority: self.authority.as_deref(),
            scheme: None,
            websocket: false,
            hosts: HostFields::from_values(self.hosts.iter().map(Vec::as_slice)),
            transfer_encoding: TransferEncoding::None,
            tls_names: None,
        }
    }
}

/// What routing alone answers: a route's value, or a status; with `close` where the connection ends.
fn answer(router: &Router<&'static str>, raw: &[u8]) -> String {
    let Some(request) = Request::parse(raw) else { return "400".to_owned() };
    let head = request.head();
    let host = match select(&head) {
        Err(rejected) if rejected.close() => return format!("{} close", rejected.status()),
        Err(rejected) => return rejected.status().to_string(),
        Ok(Selected::Asterisk) => return "own 200".to_owned(),
        Ok(Selected::NoHost) => None,
        Ok(Selected::Host(host)) => Some(host),
    };
    let Some(path) = head.target.path() else { return "400".to_owned() };
    match router.lookup(&Lookup { host: host.as_ref(), path, query: head.target.query() }) {
        Err(refused) => refused.status().to_string(),
        Ok(None) => "404".to_owned(),
        Ok(Some(found)) => (*found.value()).to_owned(),
    }
}

/// Id of the bug, the request, what it gets.
type Row = (&'static str, &'static [u8], &'static str);

/// A request of `front`, where `alpha` is moved.
macro_rules! front {
    ($id:literal: $($path:literal => $want:literal),* $(,)?) => {
        &[$(($id, concat!("GET ", $path, " HTTP/1.1\nHost: front.example.com").as_bytes(), $want)),*]
    };
}

const HOSTS: &[Row] = &[
    ("host-missing-http11", b"GET /alpha HTTP/1.1\nConnection: close", "400 close"),
    ("host-missing-http10", b"GET /x HTTP/1.0", "shared"),
    ("host-missing-http10", b"GET /alpha HTTP/1.0", "shared"),
    ("host-missing-http10", b"GET /x HTTP/1.0\nHost: a.example.com", "a"),
    ("absolute-form-vs-host", b"GET http://a.example.com/x HTTP/1.1\nHost: b.example.com", "a"),
    ("absolute-form-vs-host", b"GET http://a.example.com/x HTTP/1.1", "400 close"),
    (
        "authority-form-without-connect",
        b"GET private.example.com HTTP/1.1\nHost: front.example.com",
        "400",
    ),
    (
        "authority-form-without-connect",
        b"CONNECT private.example.com:443 HTTP/1.1\nHost: front.example.com",
        "405",
    ),
    ("host-port-suffix", b"GET /x HTTP/1.1\nHost: api.example.com:8443", "api"),
    ("host-port-suffix", b"GET /x HTTP/1.1\nHost: api.example.com:443", "api"),
    ("host-port-suffix", b"GET /x HTTP/1.1\nHost: api.example.com:80", "api"),
    ("host-port-suffix", b"GET /x HTTP/1.1\nHost: api.example.com:", "api"),
    ("host-port-suffix", b"GET /x HTTP/1.1\nHost: api.example.com:65536", "400 close"),
    ("host-port-suffix", b"GET /x HTTP/1.1\nHost: api.example.com:8o", "400 close"),
    ("host-ipv6-brackets-lost", b"GET /x HTTP/1.1\nHost: [2001:db8::1]:8080", "v6"),
    ("host-ipv6-brackets-lost", b"GET /x HTTP/1.1\nHost: [2001:DB8:0::1]", "v6"),
    ("host-ipv6-brackets-lost", b"GET /x HTTP/1.1\nHost: 2001:db8::1", "400 close"),
    ("h2-no-authority-host-only", b"GET /x HTTP/2\nHost: a.example.com", "a"),
    ("h2-no-authority-host-only", b"GET /x HTTP/2", "400"),
    ("host-idn-config", b"GET /x HTTP/1.1\nHost: xn--bcher-kva.example", "idn"),
    ("host-idn-config", b"GET /x HTTP/1.1\nHost: b\xc3\xbccher.example", "400 close"),
    (
        "host-duplicate-headers",
        b"GET / HTTP/1.1\nHost: a.example.com\nHost: b.example.com",
        "400 close",
    ),
    (
        "host-duplicate-headers",
        b"GET / HTTP/1.1\nHost: a.example.com\nHost: a.example.com",
        "400 close",
    ),
    ("host-duplicate-headers", b"GET / HTTP/1.1\nHost: a.example.com, b.example.com", "400 close"),
    (
        "host-duplicate-headers",
        b"GET / HTTP/1.0\nHost: a.example.com\nHost: a.example.com",
        "400 close",
    ),
    ("host-uppercase-lookup", b"GET /x HTTP/1.1\nHost: API.Example.COM", "api"),
    ("host-uppercase-lookup", b"GET /x HTTP/2\n:authority: API.example.com", "api"),
    ("host-trailing-dot", b"GET /x HTTP/1.1\nHost: api.example.com.", "api"),
    ("host-trailing-dot", b"GET /x HTTP/1.1\nHost: api.example.com.:443", "api"),
    ("host-trailing-dot", b"GET /x HTTP/1.1\nHost: api.example.com..", "400 close"),
    ("host-trailing-dot", b"GET /x HTTP/1.1\nHost: .", "400 close"),
    (
        "h2-authority-host-mismatch",
        b"GET /x HTTP/2\n:authority: a.example.com\nHost: b.example.com",
        "400",
    ),
    (
        "h2-authority-host-mismatch",
        b"GET /x HTTP/2\n:authority: A.example.com\nHost: a.example.com:443",
        "a",
    ),
    (
        "h2-authority-host-mismatch",
        b"GET /x HTTP/2\n:authority: a.example.com:8443\nHost: a.example.com",
        "400",
    ),
    ("host-underscore", b"GET / HTTP/1.1\nHost: amqp_node1.example.com", "amqp"),
    ("host-trailing-dot-gate-vs-router", b"GET / HTTP/1.1\nHost: admin.example.com.", "admin"),
];

const WILDCARDS: &[Row] = &[
    ("wildcard-apex", b"GET / HTTP/1.1\nHost: wild.example.com", "shared"),
    ("wildcard-apex", b"GET / HTTP/1.1\nHost: .wild.example.com", "400 close"),
    ("wildcard-depth", b"GET / HTTP/1.1\nHost: a.wild.example.com", "W"),
    ("wildcard-depth", b"GET / HTTP/1.1\nHost: a.b.wild.example.com", "shared"),
    ("wildcard-tie-determinism", b"GET / HTTP/1.1\nHost: y.x.wild.example.com", "WX"),
    ("wildcard-tie-determinism", b"GET / HTTP/1.1\nHost: x.wild.example.com", "W"),
];

const MATCHING: &[Row] = &[
    ("options-asterisk", b"OPTIONS * HTTP/1.1\nHost: front.example.com", "own 200"),
    ("options-asterisk", b"GET * HTTP/1.1\nHost: front.example.com", "400"),
    ("options-asterisk", b"OPTIONS * HTTP/2\n:authority: front.example.com", "own 200"),
    (
        "absolute-form-matcher-sees-full-uri",
        b"GET http://front.example.com/alpha/admin HTTP/1.1\nHost: front.example.com",
        "new",
    ),
    (
        "absolute-form-matcher-sees-full-uri",
        b"GET http://front.example.com/bravo/alpha HTTP/1.1\nHost: front.example.com",
        "legacy",
    ),
    ("catchall-does-not-match-bare", b"GET / HTTP/1.1\nHost: mount.example.com", "S"),
    ("catchall-does-not-match-bare", b"GET /admin HTTP/1.1\nHost: mount.example.com", "A"),
    ("catchall-does-not-match-bare", b"GET /admin/ HTTP/1.1\nHost: mount.example.com", "A"),
    ("catchall-does-not-match-bare", b"GET /admin/x HTTP/1.1\nHost: mount.example.com", "A"),
    ("catchall-does-not-match-bare", b"GET // HTTP/1.1\nHost: mount.example.com", "S"),
    ("catchall-does-not-match-bare", b"GET /admin HTTP/1.1\nHost: x.mount.example.com", "A"),
    ("catchall-does-not-match-bare", b"GET /administrator HTTP/1.1\nHost: mount.example.com", "S"),
    ("catchall-does-not-match-bare", b"GET / HTTP/1.1\nHost: unknown.test", "shared"),
    ("catchall-does-not-match-bare", b"GET /admin/ HTTP/1.1\nHost: unknown.test", "shared admin"),
    (
        "absolute-form-empty-path",
        b"GET http://front.example.com HTTP/1.1\nHost: front.example.com",
        "legacy",
    ),
    (
        "absolute-form-empty-path",
        b"GET http://front.example.com?q=1 HTTP/1.1\nHost: front.example.com",
        "legacy",
    ),
    (
        "absolute-form-empty-path",
        b"OPTIONS http://front.example.com HTTP/1.1\nHost: front.example.com",
        "legacy",
    ),
    ("catchall-no-backtrack", b"GET /path/foo HTTP/1.1\nHost: tree.example.com", "F"),
    // not W as in the report: an explicit path also answers with its trailing slash, and is more specific
    ("catchall-no-backtrack", b"GET /path/foo/ HTTP/1.1\nHost: tree.example.com", "F"),
    ("catchall-no-backtrack", b"GET /path/foo/bar HTTP/1.1\nHost: tree.example.com", "W"),
    ("catchall-no-backtrack", b"GET /u/1 HTTP/1.1\nHost: tree.example.com", "I"),
    ("catchall-no-backtrack", b"GET /u/1/x HTTP/1.1\nHost: tree.example.com", "S"),
];

const SPELLINGS: &[&[Row]] = &[
    front!("path-encoded-dot-segments":
        "/bravo/%2e%2e/alpha" => "new", "/bravo/.%2E/alpha" => "new", "/%2e/alpha" => "new",
        "/bravo/%2e%2e/bravo" => "legacy"),
    front!("path-encoded-separators":
        "/alpha%2fevent" => "new", "/alpha%2Fevent" => "new", "/bravo%2f..%2falpha" => "new", "/alpha%3fx" => "new",
        "/alpha%23x" => "new", "/alpha%3bx" => "new", "/bravo%2falpha" => "legacy"),
    front!("path-backslash":
        "/\\alpha" => "new", "/bravo\\..\\alpha" => "new", "/%5calpha" => "new", "/bravo%5c..%5calpha" => "new",
        "/bravo\\alpha" => "legacy"),
    front!("path-semicolon-params":
        "/alpha;x=1/event" => "new", "/;/alpha" => "new", "/bravo/..;/alpha" => "new", "/alpha;jsessionid=1" => "new",
        "/bravo;alpha" => "legacy"),
    front!("path-malformed-escape":
        "/%zz/../alpha" => "400", "/%6/alpha" => "400", "/%61lpha%" => "400", "/%" => "400", "/%25" => "legacy"),
    front!("path-fragment-in-target":
        "/alpha#/x" => "400", "/bravo#/../alpha" => "400", "/#alpha" => "400", "/bravo%23" => "legacy"),
    &[("path-fragment-in-target", b"GET /alpha#x HTTP/2\n:authority: front.example.com", "400")],
    // bytes stay bytes: an overlong form is no letter, and is cut where it stands
    front!("path-overlong-utf8":
        "/%c1%a1lpha" => "legacy", "/bravo/%c0%ae%c0%ae/alpha" => "legacy", "/alpha%c0%afx" => "new"),
    &[("path-overlong-utf8", b"GET /\xc1\xa1lpha HTTP/1.1\nHost: front.example.com", "legacy")],
    front!("path-case-fold-lookup":
        "/ALPHA" => "new", "/Alpha/event" => "new", "/alpha%20" => "new", "/alph%C3%A1" => "legacy",
        "/alphabet" => "legacy"),
    front!("path-percent-encoded-letter":
        "/%61lpha" => "new", "/alph%61/event" => "new", "/%41lpha" => "new", "/a%6cpha" => "new", "/a%6Cpha" => "new",
        "/%62lpha" => "legacy"),
    front!("path-raw-space-or-forbidden-char":
        "/alpha x" => "400", "/bravo \x00/../alpha" => "400", "/<alpha>" => "legacy", "/alpha>" => "new"),
    &[(
        "path-raw-space-or-forbidden-char",
        b"GET\t/alpha HTTP/1.1\nHost: front.example.com",
        "400",
    )],
];

#[test]
fn requests_get_what_the_cases_ask_for() {
    let router = world(ROUTES);
    let tables = [HOSTS, WILDCARDS, MATCHING];
    for (id, raw, want) in tables.iter().chain(SPELLINGS).copied().flatten() {
        assert_eq!(answer(&router, raw), *want, "{id}: {}", raw.escape_ascii());
    }
}

#[test]
fn uri_too_long_is_linear_and_hits_nothing() {
    let router = world(ROUTES);
    let get = |path: String| {
        answer(&router, format!("GET {path} HTTP/1.1\nHost: front.example.com").as_bytes())
    };
    assert_eq!(get(format!("/{}", "a".repeat(65_535))), "legacy");
    assert_eq!(get(format!("/{}", "a".repeat(8 << 10))), "legacy");
    assert_eq!(get(format!("/alpha{}", "a".repeat(8 << 10))), "legacy");
    assert_eq!(get(format!("/alpha/{}", "a".repeat(8 << 10))), "new");
    assert_eq!(get(format!("/{}alpha", "../".repeat(10_000))), "400");
    assert_eq!(get(format!("/{}alpha", "%2e".repeat(30_000))), "400");
}

#[test]
fn wildcard_ties_are_decided_alike_in_every_order() {
    let mut routes: Vec<(String, &str, &'static str)> =
        (0..500).map(|n| (format!("h{n}.example.com"), "/{*rest}", "host")).collect();
    routes.push(("*.a.example.com".into(), "/{*rest}", "near"));
    routes.push(("*.example.com".into(), "/{*rest}", "far"));
    routes.push(("**.example.com".into(), "/{*rest}", "deep"));
    let host = Host::parse("x.a.example.com").unwrap();
    for turn in 0..100 {
        routes.rotate_left(37);
        routes.swap(turn, 250);
        let mut builder = Router::builder(u64::try_from(turn).unwrap());
        for (name, path, value) in &routes {
            let owner = Owner::Host(HostPattern::from_written(name).unwrap());
            builder.route(
                owner,
                PathPattern::parse(path).unwrap(),
                RouteOptions::forwarding(),
                *value,
            );
        }
        let router = builder.build().unwrap();
        let lookup = Lookup { host: Some(&host), path: b"/", query: None };
        assert_eq!(router.lookup(&lookup).unwrap().unwrap().value(), &"near", "turn {turn}");
    }
}

#[test]
fn a_host_survives_parse_and_display() {
    for text in ["[2001:db8::1]:8080", "[2001:DB8:0:0::1]", "A.example.com.:80"] {
        let host = Authority::parse(text.as_bytes()).unwrap().into_host();
        assert_eq!(
            Authority::parse(host.to_string().as_bytes()).unwrap().into_host(),
            host,
            "{text}"
        );
    }
}

#[test]
fn one_cache_keeps_hosts_and_snapshots_apart() {
    let two = [
        ("a.example.com", "/x", "a"),
        ("b.example.com", "/x", "b"),
        ("front.example.com", "/{*rest}", "legacy"),
    ];
    let mut two = two.to_vec();
    two.push(("new.example.com", "/{*rest}", "new"));
    let active = Arc::new(world(&two));
    let inactive = {
        let mut builder = Router::builder(1);
        builder.route(
            Owner::Shared,
            PathPattern::parse("/x").unwrap(),
            RouteOptions::forwarding(),
            "shared",
        );
        Arc::new(builder.build().unwrap())
    };
    let (a, b) = (Host::parse("a.example.com").unwrap(), Host::parse("b.example.com").unwrap());
    let mut cached = CachedRouter::new(Arc::clone(&active), 1);
    for (router, wants) in
        [(&active, ["a", "b"]), (&inactive, ["shared"; 2]), (&active, ["a", "b"])]
    {
        cached.set_router(router);
        for _ in 0..2 {
            for (host, want) in [(&a, wants[0]), (&b, wants[1])] {
                let lookup = Lookup { host: Some(host), path: b"/x", query: None };
                assert_eq!(cached.lookup(&lookup).unwrap().unwrap().value(), &want, "{host}");
            }
        }
    }
}

/// Cases that have a test of another shape here, or that the pure crates don't decide.
const ELSEWHERE: &[(&str, &str)] = &[
    ("uri-too-long", "uri_too_long_is_linear_and_hits_nothing; 414: the proxy's wire tests"),
    (
        "path-override-headers",
        "the proxy drops such fields before it forwards: its forwarding tests",
    ),
    (
        "path-raw-sliced-by-decoded-length",
        "P1, what is forwarded: the proxy's wire tests; here nothing hands out a slice to forward",
    ),
    (
        "routecache-key-without-host",
        "one_cache_keeps_hosts_and_snapshots_apart; R3 in tests/swap.rs",
    ),
    (
        "per-connection-authority-reuse",
        "the proxy selects for each request: its wire tests; select takes no state",
    ),
    (
        "routecache-hash-only-compare",
        "r3_forged_fnv_collisions_are_two_requests, r3_shifted_boundaries_are_two_requests in tests/swap.rs",
    ),
    (
        "routecache-stale-after-change",
        "r3_a_flip_and_its_reverse_are_seen_by_the_next_lookup in tests/swap.rs",
    ),
];

#[test]
fn every_case_of_our_topics_is_decided() {
    let cases = include_str!("data/bugs.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ours = cases.filter(|case| TOPICS.contains(&case["topic"].as_str().unwrap()));
    let ours: BTreeSet<String> = ours.map(|case| case["id"].as_str().unwrap().to_owned()).collect();
    let rows = [HOSTS, WILDCARDS, MATCHING];
    let rows = rows.iter().chain(SPELLINGS).copied().flatten().map(|(id, ..)| (*id).to_owned());
    let decided: BTreeSet<String> =
        rows.chain(ELSEWHERE.iter().map(|(id, _)| (*id).to_owned())).collect();
    assert_eq!(ours, decided);
    assert_eq!(ours.len(), 39);
}
