//! What passes over a million entries cost; run in release, by hand.

use std::time::Instant;

use fingerpost_authority::Host;
use fingerpost_claims::{
    Claim, ClaimSet, Facts, Limits, LocalRoute, Name, PathMap, Reach, Reconciler, Rows,
};

#[test]
#[ignore = "it prints figures and compares nothing"]
#[expect(clippy::disallowed_methods, reason = "a measurement reads a clock")]
fn a_million_entries_of_100_hosts() {
    let name = |text| Name::parse(text).unwrap();
    let route = |app| LocalRoute {
        account: Some(name("a")),
        app: Some(name(app)),
        ..LocalRoute::default()
    };
    let mut facts = Facts::new(Limits::default());
    facts.add_route(Host::parse("next.example").unwrap(), route("go"));
    let mut claims = ClaimSet::new();
    let body = |of: &Host, skip: usize| {
        let mut claim = Claim::attach(of.clone(), name("a"), name("web"), Reach::default());
        let entries =
            (0..10_000).skip(skip).map(|n| (format!("account-{n}"), Some("next.example")));
        claim.set_paths(PathMap::check(of, entries).0, None, &Limits::default()).unwrap();
        claim.to_json("id")
    };
    let started = Instant::now();
    for n in 0..100 {
        let of = Host::parse(format!("h{n}.example")).unwrap();
        facts.add_route(of.clone(), route("web"));
        claims.set(of.as_str(), Some(&body(&of, 0)));
    }
    println!("written and parsed: {:?}", started.elapsed());
    let started = Instant::now();
    let (mut reconciler, _) = Reconciler::new(facts, claims, &Rows::default());
    println!("full pass: {:?}", started.elapsed());
    let of = Host::parse("h7.example").unwrap();
    let body = body(&of, 1);
    for _ in 0..8 {
        let started = Instant::now();
        let claim = Claim::parse(&of, &body).unwrap();
        let parsed = started.elapsed();
        let pass = reconciler.update([("h7.example", Some(&*body))]);
        let (all, rows) = (started.elapsed() - parsed, pass.diff.paths.len());
        println!(
            "one flip: {all:?}, {parsed:?} of them to parse {} entries; {rows} rows",
            claim.entry_count()
        );
    }
}
