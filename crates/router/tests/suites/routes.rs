//! Which routes other servers select: Caddy, Go's ServeMux, nginx.

use fingerpost_authority::HostPattern;
use fingerpost_router::Owner;
use serde_json::Value;

use super::{Otherwise, Row, answer, compare, host, list, must, owner, read, router};

static CADDY: Otherwise = &[
    (
        "a path also answers with its trailing slash, or without",
        &["/foo/bar/ /foo/bar", "/foo/bar/ /other /other/"],
    ),
    (
        "paths are compared with their case",
        &["/foo /FOO", "/foo/bar.txt /foo/BAR.txt", "/admin%2fpanel /ADMIN%2fpanel"],
    ),
    ("the normal form keeps empty segments", &["/foo //foo"]),
    ("the normal form keeps %2F, which splits no segment", &["/foo/bar/baz /foo%2fbar/baz"]),
];

/// A Caddy path as one of ours; `None` where a `*` stands for a part of a segment, or in the middle.
fn caddy(pattern: &str) -> Option<String> {
    if pattern.trim_start_matches('*').is_empty() {
        return Some("/{*rest}".to_owned());
    }
    let prefix = pattern.strip_suffix("/*");
    if prefix.unwrap_or(pattern).contains('*') || !pattern.starts_with('/') {
        return None;
    }
    Some(prefix.map_or_else(|| pattern.to_owned(), |prefix| format!("{prefix}/{{*rest}}")))
}

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn paths_match_like_those_of_caddy() {
    let suite = read("caddy_match_cases.json");
    let (mut rows, mut unsaid) = (Vec::new(), 0);
    for case in list(&suite, "cases").iter().filter(|case| must(case, "matcher") == "path") {
        let patterns: Vec<&str> =
            list(case, "patterns").iter().map(|pattern| pattern.as_str().unwrap()).collect();
        let ours: Option<Vec<String>> = patterns.iter().map(|pattern| caddy(pattern)).collect();
        let parsed = |path: &String| path.parse::<fingerpost_router::PathPattern>().is_ok();
        let Some(ours) = ours.filter(|ours| ours.iter().all(parsed)) else {
            unsaid += 1;
            continue;
        };
        let router =
            router(ours.into_iter().map(|path| (Owner::Shared, path, "true".to_owned())).collect());
        let input = must(case, "input");
        rows.push(Row {
            input: format!("{} {input}", patterns.join(" ")),
            want: case["match"].to_string(),
            got: answer(&router, &host("a.test"), input).replace("none", "false"),
        });
    }
    assert_eq!(unsaid, 25, "rows that our patterns cannot say");
    compare(&rows, CADDY);
}

/// A pattern of a ServeMux: `/dir/` is a subtree.
fn mux(pattern: &str, value: &str) -> (Owner, String, String) {
    let (name, path) = pattern.split_at(pattern.find('/').unwrap());
    let owner = if name.is_empty() { Owner::Shared } else { owner(name) };
    let path = path.replace('#', "%23");
    let path = if path.ends_with('/') { format!("{path}{{*rest}}") } else { path };
    (owner, path, value.to_owned())
}

static MUX: Otherwise = &[
    (
        "a path also answers with its trailing slash",
        &["google.com/search/", "codesearch.google.com/search/", "images.google.com/search/"],
    ),
    (
        "the normal form keeps empty segments; where a guard is met they are read merged too",
        &["//foo.txt", "///foo.txt"],
    ),
];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn patterns_match_like_those_of_gos_servemux() {
    let suite = read("go_servemux_cases.json");
    let patterns = list(&suite, "patterns").iter().map(|pattern| pattern.as_str().unwrap());
    let muxed = router(patterns.map(|pattern| mux(pattern, pattern)).collect());
    let mut rows = Vec::new();
    for check in list(&suite, "checks").iter().filter(|check| must(check, "method") == "GET") {
        let (name, path) = (must(check, "host"), must(check, "path"));
        rows.push(Row {
            input: format!("{name}{path}"),
            want: Some(must(check, "pattern"))
                .filter(|text| !text.is_empty())
                .unwrap_or("none")
                .to_owned(),
            got: answer(&muxed, &host(name), path),
        });
    }
    let handlers = list(&suite, "host_handlers").iter();
    let named = router(
        handlers.map(|handler| mux(must(handler, "pattern"), must(handler, "name"))).collect(),
    );
    for check in list(&suite, "host_checks") {
        let url = must(check, "url").strip_prefix("http://").unwrap();
        let (name, path) = url.split_at(url.find('/').unwrap());
        // a redirect that adds the slash names the path: the handler is the one behind it
        let want = match must(check, "expect") {
            "/someDir/" if name == "someHost.com" => "someHost.com/someDir",
            "/someDir/" => "someDir",
            "/%23/" => "hash",
            name => name,
        };
        rows.push(Row {
            input: url.to_owned(),
            want: want.to_owned(),
            got: answer(&named, &host(name), path),
        });
    }
    for check in list(&suite, "redirect_to_clean") {
        let all = [("/foo.txt".to_owned(), "/foo.txt"), ("/{*rest}".to_owned(), "another")];
        let router =
            router(all.map(|(path, value)| (Owner::Shared, path, value.to_owned())).into());
        let path = must(check, "path");
        rows.push(Row {
            input: path.to_owned(),
            want: must(check, "location").to_owned(),
            got: answer(&router, &host("a.test"), path),
        });
    }
    compare(&rows, MUX);
}

static LOCATIONS: Otherwise = &[
    ("there are no regular expressions", &["/t.gif", "/t.GIF", "/casefull/t.gif", "/casefull/"]),
    ("a prefix is made of whole segments", &["/foobar"]),
];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn locations_match_like_those_of_nginx() {
    let suite = read("nginx_location_cases.json");
    let mut routes: Vec<(Owner, String, String)> = Vec::new();
    for location in list(&suite, "locations") {
        let (value, name) = (must(location, "value"), must(location, "name"));
        let path = match must(location, "kind") {
            "exact" => value.to_owned(),
            "prefix" | "prefix_no_regex" => format!("{}/{{*rest}}", value.trim_end_matches('/')),
            _ => continue,
        };
        // `/foo` and `/foo/` are one prefix of whole segments: the last counts
        routes.retain(|(_, known, _)| *known != path);
        routes.push((Owner::Shared, path, name.to_owned()));
    }
    let router = router(routes);
    let rows: Vec<Row> = list(&suite, "checks")
        .iter()
        .map(|check| Row {
            input: must(check, "path").to_owned(),
            want: must(check, "expect").to_owned(),
            got: answer(&router, &host("a.test"), must(check, "path")),
        })
        .collect();
    compare(&rows, LOCATIONS);
}

static SERVERS: Otherwise = &[
    (
        "there are no regular expressions",
        &[
            "example.com",
            "EXAMPLE.COM",
            "blah.example.com",
            "BLAH.EXAMPLE.COM",
            "www01.example.com",
            "WWW01.EXAMPLE.COM",
        ],
    ),
    (
        "a wildcard is the first label or all before the suffix",
        &["wc2.example.net", "wc2.example.com.pref"],
    ),
];

/// Our patterns for one server name: `.x` is `x` and `**.x`.
fn server_name(name: &str) -> Vec<HostPattern> {
    if let Some(bare) = name.strip_prefix('.') {
        return [bare.to_owned(), format!("**.{bare}")]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
    }
    let text = if name.starts_with("*.") { format!("*{name}") } else { name.to_owned() };
    HostPattern::from_written(&text).into_iter().collect()
}

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn server_names_match_like_those_of_nginx() {
    let suite = read("nginx_server_name_cases.json");
    let mut routes = vec![(Owner::Shared, "/{*rest}".to_owned(), "localhost".to_owned())];
    for names in list(&suite, "servers") {
        let names: Vec<&str> =
            names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let value = names[0].trim_start_matches('.');
        for pattern in names.iter().flat_map(|name| server_name(name)) {
            routes.push((Owner::Host(pattern), "/{*rest}".to_owned(), value.to_owned()));
        }
    }
    let router = router(routes);
    let checks = list(&suite, "checks").iter().filter(|check| check["host"].is_string());
    let rows: Vec<Row> = checks
        .map(|check| Row {
            input: must(check, "host").to_owned(),
            want: value(check),
            got: answer(&router, &host(must(check, "host")), "/"),
        })
        .collect();
    compare(&rows, SERVERS);
}

fn value(check: &Value) -> String {
    must(check, "value").to_owned()
}
