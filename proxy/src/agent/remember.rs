//! What a box serves while its claim store can't be read.

use std::collections::BTreeSet;

use fingerpost_authority::Host;
use fingerpost_claims::{ClaimSet, Facts, Name, Pass, PathRow, Reconciler, RowState, Rows};
use serde_json::{Map, Value, json};

use crate::config::Config;

/// Rows that were served before, as far as they still fit the configuration.
///
/// They are made into the claims that they came from, and go through every gate again: a route that is gone, or
/// belongs to somebody else now, takes its rows with it. The claims of the configuration are left out: nobody knows
/// which of them a published one had taken the place of, and what they gave has rows already.
pub(super) fn remember(config: &Config, rows: &Rows) -> (Reconciler, Pass) {
    let facts = config.facts_without_claims();
    let hosts = rows.aliases.keys().chain(rows.wildcards.keys()).chain(rows.paths.keys());
    let mut claims = ClaimSet::new();
    for host in hosts.collect::<BTreeSet<_>>() {
        if let Some(body) = claim(&facts, rows, host) {
            claims.set(host.as_str(), Some(body.to_string().as_bytes()));
        }
    }
    Reconciler::new(facts, claims, rows)
}

/// The claim that the rows of a host came from, as it is stored.
fn claim(facts: &Facts, rows: &Rows, host: &Host) -> Option<Value> {
    let wildcard = rows.wildcards.get(host);
    let alias = rows.aliases.get(host);
    let paths = rows.paths.get(host);
    let route = facts.route(alias.map_or(host, |alias| &alias.primary))?;
    let of_path = || paths?.values().next().map(|row| &row.to.account);
    let account = wildcard.map(|row| &row.account).or_else(of_path).or(route.account.as_ref())?;
    let app: &Name = wildcard.map(|row| &row.app).or(route.app.as_ref())?;
    let entries = paths.into_iter().flat_map(|paths| paths.iter());
    let entries: Map<_, _> =
        entries.map(|(prefix, row)| (prefix.as_str().to_owned(), target(row))).collect();
    Some(json!({
        "host": host.as_str(),
        "account": account.as_str(),
        "app": app.as_str(),
        "wildcard": wildcard.is_some(),
        "catchall": wildcard.is_some_and(|row| row.catchall.is_some()),
        "paths": entries,
    }))
}

/// An entry without a target is none, and is held where the site holds such entries.
fn target(row: &PathRow) -> Value {
    debug_assert!(row.to.target.is_some() || row.state == RowState::Held, "a routed row has one");
    row.to.target.as_ref().map_or(Value::Null, |target| target.as_str().into())
}
