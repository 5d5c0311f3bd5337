//! The Gateway API's HTTP routes, host and path part.
//!
//! Its `*.name` is any number of labels, our `**.name`. A listener's hostname and a route's meet in one pattern,
//! which belongs to the most specific listener that covers it.

use fingerpost_authority::HostPattern;
use fingerpost_router::Owner;
use serde_json::Value;

use super::{Otherwise, Row, answer, compare, host, list, must, read, router};

static OTHERWISE: Otherwise = &[(
    "a path also answers with its trailing slash",
    &["httproute-exact-path-matching any.example/two/"],
)];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn requests_reach_the_backends_of_the_gateway_api() {
    let suite = read("gateway_api_cases.json");
    let mut rows = Vec::new();
    for group in list(&suite, "groups") {
        for check in list(group, "checks").iter().filter(|check| must(check, "tier") == "host+path")
        {
            let name = check["host"].as_str().unwrap_or("any.example");
            let path = must(check, "path");
            let router = router(routes(group, &check["port"]));
            rows.push(Row {
                input: format!("{} {name}{path}", must(group, "id")),
                want: check["expect_backend"].as_str().unwrap_or("none").to_owned(),
                got: answer(&router, &host(name), path),
            });
        }
    }
    assert_eq!(rows.len(), 91, "rows of this tier");
    compare(&rows, OTHERWISE);
}

fn routes(group: &Value, port: &Value) -> Vec<(Owner, String, String)> {
    let listeners: Vec<(HostPattern, &Value)> = list(group, "listeners")
        .iter()
        .filter(|listener| listener["port"] == *port)
        .map(|listener| (pattern(&listener["hostname"]), listener))
        .collect();
    let mut out = Vec::new();
    for route in list(group, "routes") {
        for (own, listener) in &listeners {
            if !list(route, "parents").iter().any(|parent| attaches(parent, listener)) {
                continue;
            }
            let hostnames = list(route, "hostnames");
            let all = [HostPattern::Any];
            let hostnames: Vec<_> = hostnames.iter().map(pattern).collect();
            for hostname in if hostnames.is_empty() { &all[..] } else { &hostnames } {
                let Some(both) = intersection(own, hostname) else { continue };
                let best = listeners
                    .iter()
                    .filter(|(pattern, _)| covers(pattern, &both))
                    .map(|(pattern, _)| pattern)
                    .min();
                if best == Some(own) {
                    let routes =
                        rules(route).map(|(path, to)| (Owner::Host(both.clone()), path, to));
                    // two hostnames of a route may meet a listener in the same pattern
                    let fresh: Vec<_> = routes.filter(|route| !out.contains(route)).collect();
                    out.extend(fresh);
                }
            }
        }
    }
    out
}

/// The rules that match by path alone.
fn rules(route: &Value) -> impl Iterator<Item = (String, String)> {
    list(route, "rules").iter().flat_map(|rule| {
        let to = must(&list(rule, "to")[0], "backend");
        list(rule, "when").iter().map(move |when| {
            let path = &when["path"];
            let written = match path["kind"].as_str() {
                Some("exact") => must(path, "value").to_owned(),
                Some("prefix") => {
                    format!("{}/{{*rest}}", must(path, "value").trim_end_matches('/'))
                }
                _ => "/{*rest}".to_owned(),
            };
            (written, to.to_owned())
        })
    })
}

fn attaches(parent: &Value, listener: &Value) -> bool {
    let fits = |key: &str, value: &Value| parent[key].is_null() || parent[key] == *value;
    fits("listener", &listener["name"]) && fits("port", &listener["port"])
}

fn pattern(hostname: &Value) -> HostPattern {
    let Some(text) = hostname.as_str() else { return HostPattern::Any };
    let text = if text.starts_with("*.") { format!("*{text}") } else { text.to_owned() };
    HostPattern::from_written(&text).unwrap()
}

/// Every host of `inner` is one of `outer`.
fn covers(outer: &HostPattern, inner: &HostPattern) -> bool {
    match (outer, inner) {
        (HostPattern::Any, _) => true,
        (outer, HostPattern::Exact(host)) => outer.matches(host),
        (HostPattern::DeepWildcard(suffix), HostPattern::DeepWildcard(inner)) => {
            suffix == inner || outer.matches(inner)
        }
        _ => false,
    }
}

fn intersection(one: &HostPattern, other: &HostPattern) -> Option<HostPattern> {
    if covers(one, other) {
        return Some(other.clone());
    }
    covers(other, one).then(|| one.clone())
}
