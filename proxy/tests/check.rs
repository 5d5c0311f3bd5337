//! Everything that is wrong with a configuration is reported at once, in the words of the file.

#[path = "check/cases.rs"]
mod cases;

use fingerpost::config::{Config, Diagnostics, Route, Scope, Severity};
use fingerpost::entry::Action;
use fingerpost_router::{Owner, RouteOptions, Router, RouterBuilder};
use proptest::prelude::*;

use self::cases::CASES;

const NAME: &str = "fingerpost.toml";

/// The configuration of the design's contract.
const EXAMPLE: &str = include_str!("check/example.toml");

/// Builds the router of a configuration, as `run` does.
fn conflicts(config: &Config) -> Option<String> {
    let mut builder = Router::builder(0);
    let add = |builder: &mut RouterBuilder<()>, owner: Owner, route: &Route| {
        let mut options = RouteOptions::default();
        options.guarded = route.guarded;
        options.forwards = matches!(route.action, Action::Forward(_));
        builder.route(owner, route.path.clone(), options, ());
    };
    for site in &config.sites {
        builder.site(site.pattern.clone(), site.options.routing.clone());
        for route in &site.routes {
            add(&mut builder, Owner::Host(site.pattern.clone()), route);
        }
    }
    for route in &config.shared {
        let every = route.scope == Scope::EveryHost;
        add(&mut builder, if every { Owner::EveryHost } else { Owner::Shared }, route);
    }
    for claim in &config.claims {
        for entry in &claim.paths {
            let target = Some(entry.target.clone());
            builder.prefix(claim.host.clone(), entry.prefix.clone(), target);
        }
    }
    builder.build().err().map(|conflicts| conflicts.to_string())
}

/// What `check` prints, line by line, without the name of the file.
fn lines(result: &Result<Config, Diagnostics>) -> Vec<String> {
    let diagnostics = result.as_ref().map_or_else(|errors| errors, |config| &config.warnings);
    let text = diagnostics.to_string();
    text.lines()
        .map(|line| line.strip_prefix("fingerpost.toml:").unwrap_or(line).to_owned())
        .collect()
}

#[test]
fn every_mistake_is_reported_where_it_is() {
    for case in CASES {
        let result = Config::parse(NAME, case.text);
        assert_eq!(lines(&result), case.want, "{}", case.what);
        if let Ok(config) = &result {
            assert_eq!(conflicts(config), None, "{}", case.what);
        }
        let fails = case.want.iter().any(|line| !line.contains(": warning: "));
        assert_eq!(result.is_err(), fails, "{}", case.what);
    }
}

#[test]
fn the_example_of_the_design_is_accepted() {
    let config = Config::parse(NAME, EXAMPLE).unwrap();
    assert_eq!(config.sites.len(), 4);
    assert_eq!(config.shared.len(), 1);
    assert_eq!(config.claims[0].paths[0].target.as_str(), "next.tickets.example");
    let ids: Vec<_> = config.sites.iter().map(|site| &*site.routes[0].id).collect();
    let defaults = ["docs.example.com /{*rest}", "*.docs.example.com /{*rest}"];
    assert_eq!(ids, [defaults[0], "go", "classic", defaults[1]]);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.toml");
    let message = Config::load(&missing).unwrap_err().to_string();
    assert!(message.contains("missing.toml: can't be read: "), "{message}");

    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, b"box = \"a\"\n# \xff\n").unwrap();
    let message = Config::load(&binary).unwrap_err().to_string();
    assert!(message.ends_with(": line 2 is not UTF-8, which a TOML file has to be\n"), "{message}");
}

#[test]
fn what_clients_would_not_take_is_reported_at_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let made = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        rcgen::generate_simple_self_signed(names).unwrap()
    };
    let (good, other) = (made(&["a.example", "*.a.example"]), made(&["b.example", "a.example"]));
    let nameless = made(&["*", "**.a.example"]);
    let old = {
        let mut params = rcgen::CertificateParams::new(vec!["old.example".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(2020, 2, 29);
        params.self_signed(&good.signing_key).unwrap()
    };
    let cert = write("good.pem", &good.cert.pem());
    let key = write("good.key", &good.signing_key.serialize_pem());
    let other_cert = write("other.pem", &other.cert.pem());
    let other_key = write("other.key", &other.signing_key.serialize_pem());
    let nameless_cert = write("nameless.pem", &nameless.cert.pem());
    let nameless_key = write("nameless.key", &nameless.signing_key.serialize_pem());
    let old_cert = write("old.pem", &old.pem());
    let half = write("half.pem", good.cert.pem().get(..200).unwrap());
    let odd = write("odd.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for (cert, key, want) in [
        (&cert, &key, String::new()),
        (
            &cert,
            &other_key,
            format!(
                "5:8: certificates[0].key: {other_key}: the key does not belong to the first certificate"
            ),
        ),
        (&cert, &cert, format!("5:8: certificates[0].key: {cert}: holds no private key: ")),
        (&key, &key, format!("4:8: certificates[0].cert: {key}: holds no certificate: ")),
        (&half, &key, format!("4:8: certificates[0].cert: {half}: not PEM: ")),
        (
            &odd,
            &key,
            format!("4:8: certificates[0].cert: {odd}: the first certificate is malformed: "),
        ),
        (
            &nameless_cert,
            &nameless_key,
            format!(
                "4:8: certificates[0].cert: {nameless_cert}: the first certificate names no host"
            ),
        ),
        (
            &old_cert,
            &key,
            "4:8: warning: certificates[0].cert: the certificate ended on 2020-02-29T00:00:00Z"
                .to_owned(),
        ),
    ] {
        let text = format!(
            "[listen]\nhttps = [\"127.0.0.1:8443\"]\n[[certificates]]\ncert = {cert:?}\nkey  = {key:?}\n"
        );
        let found = lines(&Config::parse(NAME, &text));
        assert_eq!(found.len(), usize::from(!want.is_empty()), "{found:?}");
        assert!(found.concat().starts_with(&want), "{found:?}, not {want}");
    }
    let text = format!(
        "[[certificates]]\ncert = {cert:?}\nkey = {key:?}\n\
         [[certificates]]\ncert = {other_cert:?}\nkey = {other_key:?}\n"
    );
    let want = [
        "1:1: warning: certificates[0]: certificates are not used: [listen] https is empty",
        "5:8: warning: certificates[1].cert: a.example is served by certificates[0] (line 1), which names it too",
    ];
    assert_eq!(lines(&Config::parse(NAME, &text)), want);
}

#[test]
fn a_thousand_mistakes_are_shown_and_the_rest_is_counted() {
    let text: String = (0..1500).map(|number| format!("key{number} = 1\n")).collect();
    let errors = Config::parse(NAME, &text).unwrap_err();
    assert_eq!(errors.len(), 1000);
    assert!(errors.to_string().ends_with("fingerpost.toml: and 500 more\n"));
}

#[test]
fn an_error_is_not_hidden_behind_warnings() {
    let guards: String = (0..1100)
        .map(|number| format!("[[routes]]\npath = \"/{number}\"\nguarded = true\nrespond = {{}}\n"))
        .collect();
    let text = format!("{guards}[[routes]]\nhosts = [\"a.example\"]\nrespond = {{}}\n");
    assert_eq!(Config::parse(NAME, &text).unwrap().warnings.count(Severity::Warning), 1000);
    let wrong = format!("{text}[[routes]]\nhosts = [\"b.example\"]\nfleet = \"x\"\n");
    assert!(Config::parse(NAME, &wrong).is_err());
}

#[test]
fn an_accepted_map_of_many_entries_takes_no_time_to_check() {
    let entries: String =
        (0..100_000).map(|number| format!("a{number} = \"next.tickets.example\"\n")).collect();
    let text =
        EXAMPLE.replace("paths = { paulca = \"next.tickets.example\" }\n", "[claims.paths]\n");
    let (before, after) = text.split_once("[claims.paths]\n").unwrap();
    let limit = "[limits]\nmax_paths_per_claim = 100000\n";
    let text = format!("{before}[claims.paths]\n{entries}{after}\n{limit}");
    assert_eq!(Config::parse(NAME, &text).unwrap().claims[0].paths.len(), 100_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Pieces of bad configurations, put together at random.
    #[test]
    fn no_text_panics_and_what_is_accepted_builds_a_router(
        pieces in prop::collection::vec((0..CASES.len(), any::<u16>(), any::<u16>()), 1..6),
        noise in ".{0,8}",
    ) {
        let mut text = String::new();
        for (case, from, to) in pieces {
            let source = CASES[case].text;
            let at = |number: u16| source.floor_char_boundary(usize::from(number) % (source.len() + 1));
            let (from, to) = (at(from.min(to)), at(from.max(to)));
            text.push_str(source.get(from..to).unwrap_or(source));
            text.push_str(&noise);
        }
        let result = Config::parse(NAME, &text);
        let diagnostics = result.as_ref().map_or_else(|errors| errors, |config| &config.warnings);
        prop_assert_eq!(diagnostics.has_errors(), result.is_err());
        if let Ok(config) = &result {
            prop_assert_eq!(conflicts(config), None);
        }
        for one in diagnostics.iter() {
            let line = text.split('\n').nth(one.line() - 1);
            let width = line.map(|line| line.chars().count() + 1);
            prop_assert!(width.is_some_and(|width| one.column() <= width), "{:?}", one);
        }
    }
    /// Routes and claims of a few hosts and paths that often collide.
    #[test]
    fn routes_and_claims_that_are_accepted_build_a_router(
        routes in prop::collection::vec((0..4_usize, 0..9_usize, any::<bool>()), 0..8),
        entries in prop::collection::btree_map(0..5_usize, 0..3_usize, 0..4),
    ) {
        let hosts = ["\"a.example\"", "\"b.example\"", "\"*.example\"", "\"*\", \"a.example\""];
        let paths = ["/", "/x", "/x/", "/{id}", "/{*rest}", "/x/{*rest}", "/%78", "/Admin", "/admin/{a}/b"];
        let mut text = "[fleets.go]\nservers = [\"127.0.0.1:1\"]\n".to_owned();
        for (host, path, guarded) in routes {
            let (host, path) = (hosts[host], paths[path]);
            text.push_str(&format!("[[routes]]\nhosts = [{host}]\npath = \"{path}\"\n"));
            text.push_str(&format!("guarded = {guarded}\nfleet = \"go\"\n"));
            text.push_str("account = \"a\"\napp = \"a\"\n");
        }
        text.push_str("[[claims]]\nhost = \"a.example\"\naccount = \"a\"\napp = \"a\"\n[claims.paths]\n");
        for (prefix, target) in entries {
            let prefix = ["x", "X", "admin", "paulca", ".well-known"][prefix];
            text.push_str(&format!("\"{prefix}\" = \"{}.example\"\n", ["a", "b", "c"][target]));
        }
        if let Ok(config) = Config::parse(NAME, &text) {
            prop_assert_eq!(conflicts(&config), None, "{}", text);
        }
    }
}
