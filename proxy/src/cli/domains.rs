//! `domains`: what is known of one hostname.

use std::fmt::Write as _;
use std::path::Path;

use fingerpost_authority::{Host, HostPattern};
use serde_json::{Map, Value, json};

use super::output::Output;
use crate::config::Config;

/// Lists the prefix map of a host.
pub(super) fn paths(path: &Path, host: &str, json: bool) -> Output {
    let host = match Host::from_written(host) {
        Ok(host) => host,
        Err(error) => return Output::failure(format!("{host:?} is not a host: {error}\n")),
    };
    Output::of_config(path, |config| of_host(config, &host, json))
}

fn of_host(config: &Config, host: &Host, json: bool) -> Output {
    let claim = config.claim(host);
    if claim.is_none() && config.site(&HostPattern::Exact(host.clone())).is_none() {
        return Output::failure(format!("no route and no claim has the host {host}\n"));
    }
    let entries = || claim.map(|claim| &claim.paths).into_iter().flatten();
    if json {
        let paths = entries()
            .map(|entry| (entry.prefix.as_str().to_owned(), Value::from(entry.target.as_str())));
        return Output::json(&json!({
            "host": host.as_str(),
            "account": claim.map(|claim| &*claim.account),
            "app": claim.map(|claim| &*claim.app),
            "paths": paths.collect::<Map<_, _>>(),
        }));
    }
    let width = entries().map(|entry| entry.prefix.as_str().chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in entries() {
        _ = writeln!(text, "{:width$}  {}", entry.prefix.as_str(), entry.target);
    }
    Output::new(text)
}
