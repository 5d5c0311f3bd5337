//! Other projects' conformance cases, read in place.
//!
//! They are not part of this repository: the environment variable `FINGERPOST_CASES` names the folder that
//! holds them. Where our design decides otherwise, the row is listed with the reason; an unlisted
//! disagreement fails, and so does a listed row that agrees or is gone.

mod caddy;
mod gateway;
mod nginx;
mod toascii;
mod whatwg;

use std::path::PathBuf;

use fingerpost_authority::{Authority, Host};
use serde_json::Value;

/// A row of a suite: its input, what the suite wants, and what this crate says.
struct Row {
    input: String,
    want: Option<String>,
    got: Option<String>,
}

/// Rows that are decided otherwise: reason, inputs.
type Otherwise<'a> = &'a [(&'a str, &'a [&'a str])];

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

/// A text that may be null.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value[key].as_str()
}

/// A text that every row has.
fn must<'v>(value: &'v Value, key: &str) -> &'v str {
    text(value, key).unwrap_or_else(|| panic!("{key} of {value}"))
}

/// The host of an authority that is valid.
fn host(authority: &str) -> Host {
    let parsed = Authority::parse(authority.as_bytes());
    parsed.unwrap_or_else(|error| panic!("{authority}: {error}")).into_host()
}

fn compare(rows: &[Row], otherwise: Otherwise<'_>) {
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
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
