//! Which requests Caddy's host matcher takes.

use fingerpost_authority::HostPattern;

use super::{Otherwise, Row, compare, host, list, must, read, text};

static OTHERWISE: Otherwise<'_> = &[
    (
        "a wildcard is the whole pattern or its first label; such a pattern is refused",
        &[
            "*.example.net *.*.example.com foo.bar.example.com",
            "*.example.net sub.*.example.com sub.foo.example.com",
            "*.example.net sub.*.example.com sub.foo.example.net",
            "www.*.* www.example.com",
        ],
    ),
    (
        "there are no placeholders; such a pattern is refused",
        &["{env.GO_BENCHMARK_DOMAIN} localhost", "{env.GO_NONEXISTENT} localhost"],
    ),
];

#[test]
#[ignore = "needs FINGERPOST_CASES: .ci/run suites"]
fn patterns_match_like_those_of_caddy() {
    let suite = read("caddy_match_cases.json");
    let hosts = list(&suite, "cases").iter().filter(|case| text(case, "matcher") == Some("host"));
    let rows: Vec<Row> = hosts
        .map(|case| {
            let patterns: Vec<&str> =
                list(case, "patterns").iter().map(|pattern| pattern.as_str().unwrap()).collect();
            let host = must(case, "input");
            Row {
                input: format!("{} {host}", patterns.join(" ")),
                want: Some(case["match"].to_string()),
                got: matches(&patterns, host).map(|matches| matches.to_string()),
            }
        })
        .collect();
    compare(&rows, OTHERWISE);
}

/// `None` where a pattern is none of ours.
fn matches(patterns: &[&str], authority: &str) -> Option<bool> {
    let host = host(authority);
    let patterns: Result<Vec<HostPattern>, _> =
        patterns.iter().map(|pattern| pattern.parse()).collect();
    Some(patterns.ok()?.iter().any(|pattern| pattern.matches(&host)))
}
