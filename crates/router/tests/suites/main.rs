//! Other projects' conformance cases for paths and routes, read in place.
//!
//! They are not part of this repository: the environment variable `FINGERPOST_CASES` names the folder that
//! holds them. Where our design decides otherwise, the row is listed with the reason; an unlisted
//! disagreement fails, and so does a listed row that agrees or is gone. What cannot be said in our patterns
//! (regular expressions, parts of segments) is counted, so that it cannot grow unseen.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a row that cannot be read fails the test"
)]

mod gateway;
mod paths;
mod routes;

use std::path::PathBuf;

use fingerpost_authority::{Authority, Host, HostPattern};
use fingerpost_router::{Lookup, Owner, PathPattern, RouteOptions, Router};
use serde_json::Value;

/// A row of a suite: its input, what the suite wants, and what these crates say.
struct Row {
    input: String,
    want: String,
    got: String,
}

/// Rows that are decided otherwise: reason, inputs.
type Otherwise = &'static [(&'static str, &'static [&'static str])];

/// Reads `suites/<name>` of the folder of cases.
fn read(name: &str) -> Value {
    let folder = std::env::var_os("FINGERPOST_CASES").expect("FINGERPOST_CASES names a folder");
    let path = PathBuf::from(folder).join("suites").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// A text that every row has.
fn must<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// The host of an authority that is valid.
fn host(authority: &str) -> Host {
    let parsed = Authority::parse(authority.as_bytes());
    parsed.unwrap_or_else(|error| panic!("{authority}: {error}")).into_host()
}

fn rooted(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

/// A router of routes that forward: owner, pattern, value.
fn router(routes: Vec<(Owner, String, String)>) -> Router<String> {
    let mut builder = Router::builder(1);
    for (owner, pattern, value) in routes {
        let pattern =
            PathPattern::parse(&pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        builder.route(owner, pattern, RouteOptions::forwarding(), value);
    }
    builder.build().unwrap_or_else(|conflicts| panic!("{conflicts}"))
}

fn owner(host: &str) -> Owner {
    Owner::Host(HostPattern::from_written(host).unwrap_or_else(|error| panic!("{host}: {error}")))
}

/// The value that a request selects, `none`, or its status.
fn answer(router: &Router<String>, host: &Host, path: &str) -> String {
    match router.lookup(&Lookup { host: Some(host), path: path.as_bytes(), query: None }) {
        Ok(Some(found)) => found.value().clone(),
        Ok(None) => "none".to_owned(),
        Err(refused) => refused.status().to_string(),
    }
}

fn compare(rows: &[Row], otherwise: Otherwise) {
    assert!(!rows.is_empty(), "the suite has no rows");
    let mut wrong = Vec::new();
    for Row { input, want, got } in rows {
        let listed = otherwise.iter().any(|(_, inputs)| inputs.contains(&input.as_str()));
        match (want == got, listed) {
            (true, false) | (false, true) => {}
            (true, true) => wrong.push(format!("{input:?} is listed, but agrees: {got:?}")),
            (false, false) => wrong.push(format!("{input:?}: wanted {want:?}, got {got:?}")),
        }
    }
    for (reason, inputs) in otherwise {
        for input in *inputs {
            if !rows.iter().any(|row| row.input == *input) {
                wrong.push(format!("{input:?} ({reason}) is no row of the suite"));
            }
        }
    }
    println!(
        "{} rows, {} decided otherwise",
        rows.len(),
        otherwise.iter().map(|(_, rows)| rows.len()).sum::<usize>()
    );
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
