//! Which hostnames the Gateway API's listeners and routes take.
//!
//! A model of a gateway that only matches hosts, ports and path prefixes; the hosts are this crate's. Its
//! `*.name` is any number of labels, our `**.name`: with that spelling every row agrees.

use core::cmp::Reverse;

use fingerpost_authority::{Host, HostPattern};
use serde_json::Value;

use super::{Otherwise, Row, compare, host, list, must, read, text};

static ONE_LABEL: Otherwise<'_> = &[(
    "RFC 9525 6.3: `*` is exactly one label",
    &[
        "httproute-hostname-intersection foo.bar.wildcard.io/s2",
        "httproute-hostname-intersection foo.bar.anotherwildcard.io/s4",
        "httproute-listener-hostname-matching multiple.prefixes.bar.com/",
        "httproute-listener-hostname-matching multiple.prefixes.foo.com/",
    ],
)];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn deep_wildcards_match_like_those_of_gateways() {
    compare(&rows("**."), &[]);
}

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn wildcards_match_like_those_of_gateways_but_one_label() {
    compare(&rows("*."), ONE_LABEL);
}

/// Every check that hosts and paths decide, of the groups in which hosts matter.
fn rows(wildcard: &str) -> Vec<Row> {
    let suite = read("gateway_api_cases.json");
    let mut rows = Vec::new();
    for group in list(&suite, "groups") {
        let hostnames =
            list(group, "routes").iter().any(|route| !list(route, "hostnames").is_empty());
        let listeners = list(group, "listeners").iter().any(|one| text(one, "hostname").is_some());
        for check in list(group, "checks") {
            if text(check, "tier") == Some("host+path") && (hostnames || listeners) {
                let id = must(group, "id");
                rows.push(Row {
                    input: format!("{id} {}{}", must(check, "host"), must(check, "path")),
                    want: text(check, "expect_backend").map(str::to_owned),
                    got: backend(group, check, wildcard),
                });
            }
        }
    }
    rows
}

fn pattern(hostname: Option<&str>, wildcard: &str) -> HostPattern {
    let Some(hostname) = hostname else {
        return HostPattern::Any;
    };
    match hostname.strip_prefix("*.") {
        Some(name) => format!("{wildcard}{name}").parse(),
        None => hostname.parse(),
    }
    .unwrap_or_else(|error| panic!("{hostname}: {error}"))
}

/// The backend that the model selects.
fn backend(group: &Value, check: &Value, wildcard: &str) -> Option<String> {
    let host = host(must(check, "host"));
    let listener = list(group, "listeners")
        .iter()
        .filter(|listener| listener["port"] == check["port"])
        .map(|listener| (pattern(text(listener, "hostname"), wildcard), listener))
        .filter(|(pattern, _)| pattern.matches(&host))
        .min_by(|left, right| left.0.cmp(&right.0))?
        .1;
    list(group, "routes")
        .iter()
        .filter(|route| list(route, "parents").iter().any(|parent| attaches(parent, listener)))
        .filter_map(|route| Some((hostname(route, &host, wildcard)?, route)))
        .flat_map(|(pattern, route)| {
            list(route, "rules").iter().filter_map(move |rule| {
                let length = prefix(rule, must(check, "path"))?;
                let backend = text(list(rule, "to").first()?, "backend")?;
                Some((pattern.clone(), Reverse(length), backend))
            })
        })
        .min()
        .map(|(_, _, backend)| backend.to_owned())
}

fn attaches(parent: &Value, listener: &Value) -> bool {
    let fits = |key: &str, value: &Value| parent[key].is_null() || parent[key] == *value;
    fits("listener", &listener["name"]) && fits("port", &listener["port"])
}

/// The most specific hostname of a route that takes `host`.
fn hostname(route: &Value, host: &Host, wildcard: &str) -> Option<HostPattern> {
    let hostnames = list(route, "hostnames");
    if hostnames.is_empty() {
        return Some(HostPattern::Any);
    }
    let patterns = hostnames.iter().map(|hostname| pattern(hostname.as_str(), wildcard));
    patterns.filter(|pattern| pattern.matches(host)).min()
}

/// The length of the longest path prefix of a rule that takes `path`.
fn prefix(rule: &Value, path: &str) -> Option<usize> {
    let prefixes =
        list(rule, "when").iter().map(|when| text(&when["path"], "value").unwrap_or("/"));
    let whole_segments = |prefix: &&str| {
        path.strip_prefix(prefix.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    prefixes.filter(whole_segments).map(str::len).max()
}
