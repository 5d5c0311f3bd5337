//! Verbs that ask a running box.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::output::Output;
use super::{AdminArgs, routes};
use crate::client::{AdminClient, query};

/// `explain --admin`: which route a request takes in the snapshot in use.
pub(super) fn explain(admin: &AdminArgs, host: &str, target: &str, as_json: bool) -> Output {
    asked(admin, |client| {
        let path = format!("/api/explain?host={}&target={}", query(host), query(target));
        let answer = client.get(&path)?;
        if as_json {
            return Ok(Output::json(&answer));
        }
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        let mut out = format!("{}\n", answer.get("status").unwrap_or(&Value::Null));
        for key in ["host", "site", "tier", "route", "prefix", "spelling", "target"] {
            if let Some(value) = text(key) {
                // Writing to a string does not fail.
                _ = writeln!(out, "  {key:<9} {value}");
            }
        }
        for step in text("reason").unwrap_or_default().split("; ") {
            _ = writeln!(out, "  - {step}");
        }
        Ok(Output::new(out))
    })
}

/// `routes --admin`: what each host serves in the snapshot in use.
pub(super) fn routes(admin: &AdminArgs, as_json: bool) -> Output {
    asked(admin, |client| {
        let listing = serde_json::from_value(client.get("/api/routes")?);
        let listing = listing.map_err(|error| format!("the box is of another version: {error}"))?;
        Ok(routes::print(&listing, as_json))
    })
}

/// `domains paths --admin`: the map of a host as it is stored, with what of it is not routed.
pub(super) fn paths(admin: &AdminArgs, host: &str, as_json: bool) -> Output {
    asked(admin, |client| {
        let report = client.get(&format!("/api/report?host={}", query(host)))?;
        let claims = report.get("claims").and_then(Value::as_array).cloned().unwrap_or_default();
        let standing = |claim: &&Value| claim.get("verdict") != Some(&json!("replaced"));
        let claim = claims.iter().find(standing);
        let claim = claim.ok_or_else(|| format!("there is no claim of {host} to see"))?;
        let word = |key: &str| claim.get(key).and_then(Value::as_str).unwrap_or_default();
        let (account, app) = (word("account"), word("app"));
        let domain = client.get(&format!(
            "/api/cli/apps/{}/{}/domains/{}",
            query(account),
            query(app),
            query(host)
        ))?;
        if as_json {
            return Ok(Output::json(&domain));
        }
        let refused = claim.get("refused").and_then(Value::as_array).cloned().unwrap_or_default();
        let code = |prefix: &str| {
            let entry = refused.iter().find(|entry| entry.get("prefix") == Some(&json!(prefix)))?;
            entry.get("code").and_then(Value::as_str)
        };
        let entries = domain.get("paths").and_then(Value::as_object).cloned().unwrap_or_default();
        let width = entries.keys().map(|prefix| prefix.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for (prefix, target) in &entries {
            let target = target.as_str().unwrap_or_default();
            let whole = || claim.get("code").and_then(Value::as_str);
            let code = code(prefix).or_else(whole);
            let code = code.map(|code| format!("  ({code})")).unwrap_or_default();
            _ = writeln!(out, "{prefix:width$}  {target}{code}");
        }
        Ok(Output::new(out))
    })
}

/// `history --admin`: how the map of a host changed, the newest change first; or a whole past map.
pub(super) fn history(admin: &AdminArgs, host: &str, number: Option<u64>, as_json: bool) -> Output {
    asked(admin, |client| {
        let number = number.map(|number| format!("&number={number}")).unwrap_or_default();
        let document = client.get(&format!("/api/history?host={}{number}", query(host)))?;
        if as_json || !number.is_empty() {
            return Ok(Output::json(&document));
        }
        let mut out = String::new();
        for row in document.get("rows").and_then(Value::as_array).into_iter().flatten() {
            _ = writeln!(out, "{}", history_row(row));
        }
        Ok(Output::new(out))
    })
}

fn history_row(row: &Value) -> String {
    let word = |key: &str| match row.get(key) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => "-".to_owned(),
        Some(value) => value.to_string(),
    };
    let mut line = format!(
        "{:>6}  {}  {}  {} -> {}",
        word("number"),
        word("at"),
        word("actor"),
        word("before"),
        word("after")
    );
    for (mark, key) in [("+", "added"), ("~", "moved"), ("-", "removed")] {
        let prefixes = row.get(key).and_then(Value::as_object);
        for prefix in prefixes.into_iter().flat_map(|entries| entries.keys()).take(SHOWN) {
            _ = write!(line, " {mark}{prefix}");
        }
        let more = prefixes.map_or(0, serde_json::Map::len).saturating_sub(SHOWN);
        if more > 0 {
            _ = write!(line, " {mark}{more} more");
        }
    }
    line
}

/// Prefixes of a kind that one line names.
const SHOWN: usize = 5;

fn asked(admin: &AdminArgs, verb: impl FnOnce(&AdminClient) -> Result<Output, String>) -> Output {
    let (url, token) = (admin.admin.as_deref().unwrap_or_default(), admin.token.as_deref());
    let done = token
        .filter(|token| !token.is_empty())
        .ok_or_else(|| "a token is needed: --token, or FINGERPOST_TOKEN".to_owned())
        .and_then(|token| AdminClient::new(url, token))
        .and_then(|client| verb(&client));
    done.unwrap_or_else(|error| Output::failure(format!("fingerpost: {error}\n")))
}
