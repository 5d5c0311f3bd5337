//! What a pass says, gate by gate, and what tenants see of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{
    Claim, ClaimSet, Code, EntryReport, Facts, Limits, LocalRoute, Name, OnUnresolved, Outcome,
    Reach, Reconciler, Report, RowState, Rows, SiteFacts, Source, Verdict, reconcile,
};
use fingerpost_path::Prefix;

const FRONT: &str = "tickets.example";

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn route(account: &str, app: &str) -> LocalRoute {
    let (account, app) = (Some(name(account)), Some(name(app)));
    LocalRoute { account, app, ..LocalRoute::default() }
}

/// Routes of every kind that a target can have.
fn facts(on_unresolved: OnUnresolved) -> Facts {
    let mut facts = Facts::new(Limits { max_paths_per_claim: 20, max_wildcards: 2 });
    let site = SiteFacts {
        reserved: vec![Prefix::parse("Signup").unwrap()],
        guarded: vec![b"admin"[..].into()],
        on_unresolved,
        ..SiteFacts::default()
    };
    facts.add_route(host(FRONT), LocalRoute { site, ..route("tickets", "classic") });
    facts.add_route(host("next.example"), route("tickets", "go"));
    let away = LocalRoute { home: Some(name("b")), ..route("tickets", "away") };
    facts.add_route(host("away.example"), away);
    facts.add_route(
        host("unready.example"),
        LocalRoute { unready: true, ..route("tickets", "go2") },
    );
    facts.add_route(host("theirs.example"), route("rival", "web"));
    let theirs = LocalRoute { unready: true, ..route("rival", "web2") };
    facts.add_route(host("theirs-unready.example"), theirs);
    facts.add_route(host("nobodys.example"), LocalRoute::default());
    facts.add_elsewhere(host("far.example"), Some(name("tickets")));
    facts.add_elsewhere(host("theirs-far.example"), Some(name("rival")));
    facts.allow(name("tickets"), HostPattern::from_written("alias.example").unwrap());
    facts
}

fn body(of: &str, account: &str, app: &str, paths: &str) -> String {
    format!(r#"{{"host":"{of}","account":"{account}","app":"{app}","paths":{paths}}}"#)
}

fn claims(bodies: &[(&str, String)]) -> ClaimSet {
    let mut claims = ClaimSet::new();
    for (key, body) in bodies {
        claims.set(key, Some(body.as_bytes()));
    }
    claims
}

fn one(paths: &str) -> ClaimSet {
    claims(&[(FRONT, body(FRONT, "tickets", "classic", paths))])
}

fn run(facts: &Facts, claims: &ClaimSet) -> Outcome {
    reconcile(facts, claims, &Rows::default())
}

fn entry<'a>(report: &'a Report, prefix: &str) -> Option<&'a EntryReport> {
    let claim = report.of_host(&host(FRONT)).next()?;
    claim.entries.iter().find(|entry| &*entry.prefix == prefix)
}

/// The codes are what programs compare: none is ever changed.
#[test]
fn golden_codes() {
    let codes = Code::ALL.map(Code::as_str);
    assert_eq!(
        codes,
        [
            "app_unroutable",
            "claim_invalid",
            "host_elsewhere",
            "host_not_owned",
            "over_limit",
            "prefix_duplicate",
            "prefix_invalid",
            "reserved",
            "target_elsewhere",
            "target_invalid",
            "target_is_host",
            "target_missing",
            "target_not_ready",
            "target_other_account",
            "target_unavailable",
            "wildcard_routed",
        ]
    );
    assert!(codes.is_sorted());
}

/// An entry, its code, what its tenant sees, and whether a site that refuses holds it.
#[rustfmt::skip]
static GATES: &[(&str, &str, &str, &str, bool)] = &[
    ("ok", r#""next.example""#, "", "", false),
    ("ok", r#""NEXT.example""#, "", "", false),
    ("away", r#""away.example""#, "", "", false),
    ("a/b", r#""next.example""#, "prefix_invalid", "prefix_invalid", false),
    ("..", r#""next.example""#, "prefix_invalid", "prefix_invalid", false),
    (".well-known", r#""next.example""#, "reserved", "reserved", false),
    (".Well-Known", r#""next.example""#, "reserved", "reserved", false),
    ("signup", r#""next.example""#, "reserved", "reserved", false),
    ("signups", r#""next.example""#, "", "", false),
    ("ADMIN", r#""next.example""#, "reserved", "reserved", false),
    ("admin2", r#""next.example""#, "", "", false),
    ("signup", r#""no host""#, "reserved", "reserved", false),
    ("x", r#""no host""#, "target_invalid", "target_invalid", true),
    ("x", "7", "target_invalid", "target_invalid", true),
    ("x", r#""next.example","x":"next.example""#, "prefix_duplicate", "prefix_duplicate", true),
    ("x", r#""tickets.example""#, "target_is_host", "target_is_host", true),
    ("x", r#""missing.example""#, "target_missing", "target_unavailable", true),
    ("x", r#""alias.example""#, "target_missing", "target_missing", true),
    ("x", r#""unready.example""#, "target_not_ready", "target_not_ready", true),
    ("x", r#""theirs.example""#, "target_other_account", "target_unavailable", true),
    ("x", r#""theirs-unready.example""#, "target_other_account", "target_unavailable", true),
    ("x", r#""nobodys.example""#, "target_other_account", "target_unavailable", true),
    ("x", r#""far.example""#, "target_elsewhere", "target_elsewhere", true),
    ("x", r#""theirs-far.example""#, "target_elsewhere", "target_unavailable", true),
];

#[test]
fn gates() {
    for (prefix, target, code, seen, held) in GATES {
        for policy in [OnUnresolved::Origin, OnUnresolved::Refuse, OnUnresolved::Sticky] {
            let (facts, at) = (facts(policy), format!("{prefix}: {target}, {policy:?}"));
            let map = format!(r#"{{"{prefix}":{target},"zz":"next.example"}}"#);
            let claims = claims(&[
                (FRONT, body(FRONT, "tickets", "classic", &map)),
                ("alias.example", body("alias.example", "tickets", "go", "{}")),
            ]);
            let outcome = run(&facts, &claims);
            let of = host(FRONT);
            assert!(outcome.rows.path(&of, "zz").is_some(), "{at}: the others are served");
            let got = entry(&outcome.report, prefix).map_or("", |entry| entry.code.as_str());
            assert_eq!(got, *code, "{at}");
            let row = outcome.rows.path(&of, prefix).map(|row| row.state);
            let holds = *held && policy == OnUnresolved::Refuse;
            let want = if code.is_empty() {
                Some(RowState::Routed)
            } else {
                holds.then_some(RowState::Held)
            };
            assert_eq!(row, want, "{at}");
            let view = outcome.report.view_for(&name("tickets"));
            let got = entry(&view, prefix).map_or("", |entry| entry.code.as_str());
            assert_eq!(got, *seen, "{at}");
        }
    }
}

#[test]
fn a_row_has_the_targets_app_and_home() {
    let outcome =
        run(&facts(OnUnresolved::Refuse), &one(r#"{"a":"away.example","b":"theirs.example"}"#));
    let row = outcome.rows.path(&host(FRONT), "a").unwrap();
    assert_eq!((&row.to.app, &row.to.home), (&Some(name("away")), &Some(name("b"))));
    assert_eq!(row.to.account, name("tickets"));
    // A held row tells nothing of the target that is not in the claim.
    let row = outcome.rows.path(&host(FRONT), "b").unwrap();
    assert_eq!((&row.to.app, &row.to.home, &row.to.account), (&None, &None, &name("tickets")));
}

/// A claim, and its code; the account of the route is `tickets`, its app `classic`.
#[test]
fn claims_that_have_no_effect() {
    #[rustfmt::skip]
    let cases: &[(&str, String, Option<Code>)] = &[
        (FRONT, body(FRONT, "tickets", "classic", "{}"), None),
        (FRONT, body(FRONT, "rival", "classic", "{}"), Some(Code::HostNotOwned)),
        (FRONT, body(FRONT, "tickets", "go", "{}"), Some(Code::HostNotOwned)),
        (FRONT, body("other.example", "tickets", "classic", "{}"), Some(Code::ClaimInvalid)),
        (FRONT, "{".to_owned(), Some(Code::ClaimInvalid)),
        ("nobodys.example", body("nobodys.example", "tickets", "go", "{}"), Some(Code::HostNotOwned)),
        ("far.example", body("far.example", "tickets", "go", "{}"), Some(Code::HostElsewhere)),
        ("theirs-far.example", body("theirs-far.example", "tickets", "go", "{}"), Some(Code::HostNotOwned)),
        ("alias.example", body("alias.example", "tickets", "go", "{}"), None),
        ("alias.example", body("alias.example", "tickets", "nope", "{}"), Some(Code::AppUnroutable)),
        ("alias.example", body("alias.example", "rival", "web", "{}"), Some(Code::HostNotOwned)),
        ("else.example", body("else.example", "tickets", "go", "{}"), Some(Code::HostNotOwned)),
    ];
    for (key, body, want) in cases {
        let outcome = run(&facts(OnUnresolved::Origin), &claims(&[(key, body.clone())]));
        let report = outcome.report.of_host(&host(key)).next().unwrap();
        assert_eq!(report.verdict.code(), *want, "{key} {body}");
        assert!(want.is_none() || outcome.rows == Rows::default(), "{key} {body}");
    }
    let outcome =
        run(&facts(OnUnresolved::Origin), &claims(&[("Tickets.example", "{}".to_owned())]));
    assert_eq!(outcome.report.strays().collect::<Vec<_>>(), ["Tickets.example"]);
}

/// An app's other hostnames point at its primary, or at its only route, or nowhere.
#[test]
fn primaries() {
    let routes = |marks: &[bool]| {
        let mut facts = Facts::new(Limits::default());
        facts.allow(name("tickets"), HostPattern::Any);
        for (at, primary) in marks.iter().enumerate() {
            let route = LocalRoute { primary: *primary, ..route("tickets", "web") };
            facts.add_route(host(&format!("r{at}.example")), route);
        }
        facts
    };
    let alias =
        claims(&[("a.example", body("a.example", "tickets", "web", r#"{"x":"r0.example"}"#))]);
    let cases: [(&[bool], Option<&str>); 6] = [
        (&[], None),
        (&[false], Some("r0.example")),
        (&[true], Some("r0.example")),
        (&[false, false], None),
        (&[false, true], Some("r1.example")),
        (&[true, true], None),
    ];
    for (marks, want) in cases {
        let outcome = run(&routes(marks), &alias);
        let row = outcome.rows.aliases.get(&host("a.example"));
        assert_eq!(row.map(|row| row.primary.as_str()), want, "{marks:?}");
        assert!(row.is_none_or(|row| row.own_map), "{marks:?}: its map is not empty");
        // The primary itself is no target: it is where the alias's prefixes go anyway.
        let served = outcome.rows.path(&host("a.example"), "x").is_some();
        assert_eq!(served, want == Some("r1.example"), "{marks:?}");
    }
    let mut facts = routes(&[true, false]);
    facts.add_route(host("r0.example"), route("rival", "web"));
    assert_eq!(facts.primary(&name("tickets"), &name("web")), Some(&host("r1.example")));
}

#[test]
fn limits_drop_in_order_and_say_so() {
    let mut facts = Facts::new(Limits { max_paths_per_claim: 2, max_wildcards: 2 });
    for of in ["a.example", "b.example", "c.example"] {
        facts.add_route(host(of), route("tickets", of));
    }
    facts.add_route(host("next.example"), route("tickets", "go"));
    let map = r#"{"c":"next.example","a":"next.example","b b":"next.example"}"#;
    let wide =
        |of| body(of, "tickets", of, map).replace("\"paths\"", "\"wildcard\":true,\"paths\"");
    let all = ["c.example", "b.example", "a.example"].map(|of| (of, wide(of)));
    let outcome = run(&facts, &claims(&all));
    let rows = &outcome.rows.paths[&host("a.example")];
    assert_eq!(rows.keys().map(Prefix::as_str).collect::<Vec<_>>(), ["a"]);
    let report = outcome.report.of_host(&host("a.example")).next().unwrap();
    let codes: Vec<_> = report.entries.iter().map(|entry| (&*entry.prefix, entry.code)).collect();
    assert_eq!(codes, [("b b", Code::PrefixInvalid), ("c", Code::OverLimit)]);
    let wildcards: Vec<_> = outcome.rows.wildcards.keys().map(Host::as_str).collect();
    assert_eq!(wildcards, ["a.example", "b.example"]);
    assert_eq!(outcome.report.wildcards_over_limit().collect::<Vec<_>>(), [&host("c.example")]);
}

#[test]
fn a_wildcard_that_a_route_has_is_a_name_only() {
    let mut facts = facts(OnUnresolved::Origin);
    let wide =
        body(FRONT, "tickets", "classic", "{}").replace("\"paths\"", "\"catchall\":true,\"paths\"");
    let claims = claims(&[(FRONT, wide)]);
    let row = run(&facts, &claims).rows.wildcards[&host(FRONT)].clone();
    assert_eq!((row.catchall, row.app), (Some(host(FRONT)), name("classic")));
    facts.add_pattern(HostPattern::Wildcard(host(FRONT)), Some(name("tickets")));
    let outcome = run(&facts, &claims);
    assert_eq!(outcome.rows.wildcards[&host(FRONT)].catchall, None);
    let report = outcome.report.of_host(&host(FRONT)).next().unwrap();
    assert_eq!(report.wildcard, Some(Code::WildcardRouted));
}

/// The configuration's claim gives way to a stored one of the same account, and comes back.
#[test]
fn claims_of_the_configuration() {
    let config = body(FRONT, "tickets", "classic", r#"{"a":"next.example"}"#);
    let mut facts = facts(OnUnresolved::Origin);
    facts.add_config_claim(Claim::parse(&host(FRONT), config.as_bytes()).unwrap());
    let stored = body(FRONT, "tickets", "classic", r#"{"b":"next.example"}"#);
    let other = body(FRONT, "rival", "classic", r#"{"c":"theirs.example"}"#);
    let deleted = stored.replace("\"paths\"", "\"deleted\":true,\"paths\"");
    let cases = [
        (None, "a", Verdict::Standing),
        (Some(stored), "b", Verdict::Replaced),
        (Some(other), "a", Verdict::Standing),
        (Some(deleted), "a", Verdict::Standing),
        // Nobody knows which of its entries were withdrawn since.
        (Some("{".to_owned()), "", Verdict::Replaced),
    ];
    for (stored, want, verdict) in cases {
        let stored: Vec<_> = stored.into_iter().map(|body| (FRONT, body)).collect();
        let outcome = run(&facts, &claims(&stored));
        let prefixes: Vec<_> =
            outcome.rows.path_rows().map(|(_, prefix, _)| prefix.as_str()).collect();
        assert_eq!(prefixes.join(" "), want, "{stored:?}");
        let report = outcome.report.of_host(&host(FRONT)).next().unwrap();
        assert_eq!((report.source, &report.verdict), (Source::Config, &verdict), "{stored:?}");
    }
}

/// What becomes of an entry that was served, by policy and by what happened.
#[test]
fn entries_that_were_served() {
    let served = one(r#"{"a":"next.example"}"#);
    let gone = one(r#"{"a":"missing.example"}"#);
    let dropped = one("{}");
    let broken = claims(&[(FRONT, "{".to_owned())]);
    let deleted = body(FRONT, "tickets", "classic", "{}").replace("}}", "},\"deleted\":true}");
    let deleted = claims(&[(FRONT, deleted)]);
    let stolen = claims(&[(FRONT, body(FRONT, "rival", "classic", r#"{"a":"theirs.example"}"#))]);
    let full: String = (10..40).map(|n| format!(r#","{n}":"next.example""#)).collect();
    let full = one(&format!(r#"{{"a":"missing.example"{full}}}"#));
    use OnUnresolved::{Origin, Refuse, Sticky};
    // What happened, under which policies it is held, and the alert.
    let cases: [(&str, &ClaimSet, &[OnUnresolved], Option<Code>); 7] = [
        ("missing", &gone, &[Sticky, Refuse], Some(Code::TargetMissing)),
        ("dropped", &dropped, &[], None),
        ("broken", &broken, &[Sticky, Refuse], Some(Code::ClaimInvalid)),
        ("deleted", &deleted, &[], None),
        ("stolen", &stolen, &[], Some(Code::HostNotOwned)),
        ("over the limit", &full, &[], Some(Code::OverLimit)),
        ("served", &served, &[], None),
    ];
    for policy in [Origin, Sticky, Refuse] {
        let facts = facts(policy);
        let before = run(&facts, &served).rows;
        for (what, claims, held, alert) in &cases {
            let outcome = reconcile(&facts, claims, &before);
            let row = outcome.rows.path(&host(FRONT), "a").map(|row| row.state);
            let want = match *what {
                "served" => Some(RowState::Routed),
                _ => held.contains(&policy).then_some(RowState::Held),
            };
            assert_eq!(row, want, "{what}, {policy:?}");
            let alerts: Vec<_> =
                outcome.withdrawn.iter().map(|it| (it.prefix.as_str(), it.code, it.held)).collect();
            let want: Vec<_> = alert.iter().map(|code| ("a", *code, row.is_some())).collect();
            assert_eq!(alerts, want, "{what}, {policy:?}");
            // It comes back.
            let again = reconcile(&facts, &served, &outcome.rows);
            assert_eq!(again.rows, before, "{what}, {policy:?}");
        }
    }
    // What another account has left behind holds nothing.
    let mut moved = facts(Sticky);
    let before = run(&moved, &served).rows;
    let site = SiteFacts { on_unresolved: Sticky, ..SiteFacts::default() };
    moved.add_route(host(FRONT), LocalRoute { site, ..route("rival", "classic") });
    for next in [stolen_missing(), broken] {
        assert!(reconcile(&moved, &next, &before).rows.paths.is_empty());
    }
}

/// A claim that can't be read holds what it served, but nothing that can't be a prefix any more.
#[test]
fn what_is_held_for_a_claim_that_cannot_be_read() {
    let map = r#"{"a":"next.example","b":"next.example","c":"next.example"}"#;
    let before = run(&facts(OnUnresolved::Refuse), &one(map)).rows;
    let mut facts = Facts::new(Limits { max_paths_per_claim: 1, max_wildcards: 0 });
    let site = SiteFacts {
        reserved: vec![Prefix::parse("A").unwrap()],
        on_unresolved: OnUnresolved::Refuse,
        ..SiteFacts::default()
    };
    facts.add_route(host(FRONT), LocalRoute { site, ..route("tickets", "classic") });
    let broken = claims(&[(FRONT, "{".to_owned())]);
    let rows = reconcile(&facts, &broken, &before).rows;
    let held: Vec<_> =
        rows.path_rows().map(|(_, prefix, row)| (prefix.as_str(), row.state)).collect();
    assert_eq!(held, [("b", RowState::Held)]);
}

fn stolen_missing() -> ClaimSet {
    claims(&[(FRONT, body(FRONT, "rival", "classic", r#"{"a":"missing.example"}"#))])
}

#[test]
fn one_line_for_the_log() {
    let map = r#"{"a":"missing.example","b":"missing.example","c":"missing.example","d":"missing.example",
        "e":"far.example","x\ny":"next.example","ok":"next.example"}"#;
    let outcome = run(&facts(OnUnresolved::Origin), &one(map));
    let claim = outcome.report.of_host(&host(FRONT)).next().unwrap();
    assert_eq!(
        claim.summary().unwrap().to_string(),
        "tickets.example: 6 of 7 entries are not routed: 1 prefix_invalid (x\\ny), \
         1 target_elsewhere (e), 4 target_missing (a, b, c, ...)"
    );
    let counts = outcome.report.counts();
    assert_eq!(counts[&(&host(FRONT), Code::TargetMissing)], 4);
    let outcome = run(&facts(OnUnresolved::Origin), &one(r#"{"ok":"next.example"}"#));
    assert!(outcome.report.claims().all(|claim| claim.summary().is_none()));
    let outcome = run(&facts(OnUnresolved::Origin), &claims(&[(FRONT, "{".to_owned())]));
    let claim = outcome.report.claims().next().unwrap();
    assert_eq!(
        claim.summary().unwrap().to_string(),
        "tickets.example: the claim has no effect: claim_invalid"
    );
    let reach = Reach { wildcard: true, catchall: true };
    let wide = Claim::attach(host("alias.example"), name("tickets"), name("go"), reach);
    let outcome = run(
        &facts(OnUnresolved::Origin),
        &claims(&[("alias.example", String::from_utf8(wide.to_json("1")).unwrap())]),
    );
    let claim = outcome.report.claims().next().unwrap();
    assert_eq!(
        claim.summary().unwrap().to_string(),
        "alias.example: the wildcard has no effect: host_not_owned; 0 of 0 entries are not routed"
    );
}

#[test]
fn warnings() {
    let codes = |site: SiteFacts, paths| {
        let mut facts = facts(OnUnresolved::Origin);
        facts.add_route(host(FRONT), LocalRoute { site, ..route("tickets", "classic") });
        facts.add_route(host("other.example"), route("tickets", "other"));
        let outcome = run(&facts, &one(paths));
        let claim = outcome.report.claims().next().unwrap().clone();
        let warnings =
            claim.warnings.iter().map(|warning| format!("{}: {warning}", warning.code()));
        warnings.collect::<Vec<_>>().join("; ")
    };
    let set = SiteFacts::default();
    let unset = SiteFacts { legacy_unset: true, ..SiteFacts::default() };
    let dots = SiteFacts { slug: "A-Za-z0-9_.-".parse().unwrap(), ..SiteFacts::default() };
    let clash = "prefix_case: Bob and bob differ only by case, and have different targets";
    let slug = "prefix_outside_slug: john.doe holds a byte outside slug";
    #[rustfmt::skip]
    let cases = [
        (&set, r#"{"paulca":"next.example"}"#, ""),
        (&unset, r#"{"paulca":"next.example"}"#, "legacy_unset: the site has a prefix map and does not set legacy"),
        (&unset, "{}", ""),
        (&set, r#"{"john.doe":"next.example"}"#, slug),
        (&dots, r#"{"john.doe":"next.example"}"#, ""),
        (&set, r#"{"Bob":"next.example","bob":"other.example"}"#, clash),
        (&set, r#"{"Bob":"next.example","bob":"next.example"}"#, ""),
        (&set, r#"{"Bob":"next.example","bobby":"other.example"}"#, ""),
    ];
    for (site, paths, want) in cases {
        assert_eq!(codes(site.clone(), paths), want, "{paths}");
    }
}

/// What the door tells of a map before it is stored, and what a pass tells after.
#[test]
fn a_preview_is_what_comes() {
    let claims = one(r#"{"a":"next.example"}"#);
    let (mut reconciler, _) =
        Reconciler::new(facts(OnUnresolved::Refuse), claims, &Rows::default());
    let rows = reconciler.rows().clone();
    let next = body(FRONT, "tickets", "classic", r#"{"a":"theirs.example","b":"away.example"}"#);
    let claim = Claim::parse(&host(FRONT), next.as_bytes()).unwrap();
    let preview = reconciler.preview(claim);
    assert_eq!(reconciler.rows(), &rows);
    reconciler.update([(FRONT, Some(next.as_bytes()))]);
    assert_eq!(preview, reconciler.report().claims().cloned().collect::<Vec<_>>());
    assert_eq!(preview[0].entries[0].code, Code::TargetOtherAccount);
}
