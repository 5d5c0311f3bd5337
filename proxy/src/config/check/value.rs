//! Single values: what is parsed the same way wherever it stands.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use fingerpost_authority::{Host, HostPattern, HostPatternError, WrittenHostError};

use crate::config::duration;
use crate::config::place::Place;
use crate::config::report::Report;
use crate::network::Network;

/// Parses each element of a list and reports those that are none, each at its own place.
///
/// Elements of the wrong type have been reported already, and are passed over.
pub(super) fn list<T, E: Display>(
    place: &Place,
    texts: Option<&Vec<String>>,
    report: &mut Report<'_>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Vec<(T, Place)> {
    let mut parsed = Vec::new();
    for (index, text) in texts.into_iter().flatten().enumerate() {
        let place = place.index(index);
        if report.is_broken(&place) {
            continue;
        }
        match parse(text) {
            Ok(value) => parsed.push((value, place)),
            Err(error) => report.error(&place, error),
        }
    }
    parsed
}

/// Parses a value where there is one.
pub(super) fn optional<T, E: Display>(
    place: &Place,
    text: Option<&String>,
    report: &mut Report<'_>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Option<T> {
    match parse(text?) {
        Ok(value) => Some(value),
        Err(error) => {
            report.error(place, error);
            None
        }
    }
}

/// Parses the duration under a key of a table; a default stands in for one that is missing or
/// wrong.
pub(super) fn duration(
    table: &Place,
    key: &str,
    text: Option<&String>,
    default: &str,
    report: &mut Report<'_>,
) -> Duration {
    let written = text.and_then(|_| optional(&table.key(key), text, report, duration::parse));
    written.unwrap_or_else(|| duration::parse(default).unwrap_or_default())
}

/// As [`duration()`], for what has to wait at all.
pub(super) fn timeout(
    table: &Place,
    key: &str,
    text: Option<&String>,
    default: &str,
    report: &mut Report<'_>,
) -> Duration {
    let parsed = duration(table, key, text, default, report);
    if parsed.is_zero() {
        report.error(&table.key(key), "a timeout of 0 would fail every request");
    }
    parsed
}

/// A name of an account, an app, a box or a route: anything that can be read in a log.
pub(super) fn name(text: &str) -> Result<Arc<str>, String> {
    if text.is_empty() {
        return Err("must not be empty".to_owned());
    }
    if let Some(bad) = text.chars().find(|c| c.is_control()) {
        return Err(format!("{text:?} holds the control character {bad:?}"));
    }
    if text.trim() != text {
        return Err(format!("{text:?} begins or ends with a space"));
    }
    Ok(text.into())
}

pub(super) fn host_pattern(text: &str) -> Result<HostPattern, String> {
    HostPattern::from_written(text).map_err(|error| match error {
        // Without a wildcard there is only the host to speak of.
        HostPatternError::Host { offset: 0, source } => {
            format!("{text:?} is not a host: {}", why_no_host(&source))
        }
        error => format!("{text:?} is not a host pattern: {}", chain(&error)),
    })
}

pub(super) fn host(text: &str) -> Result<Host, String> {
    Host::from_written(text)
        .map_err(|error| format!("{text:?} is not a host: {}", why_no_host(&error)))
}

/// Says why a text is no host, without saying twice that it is none.
pub(super) fn why_no_host(error: &WrittenHostError) -> String {
    match error {
        WrittenHostError::Host(error) => chain(error),
        error => chain(error),
    }
}

pub(super) fn network(text: &str) -> Result<Network, String> {
    let hint = "; a network looks like \"10.0.0.0/8\" or \"fd00::/8\"";
    quoted::<Network>(text).map_err(|message| format!("{message}{hint}"))
}

/// Parses by [`FromStr`], with the text in front of the reason.
pub(super) fn quoted<T: FromStr<Err: std::error::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{text:?}: {}", chain(&error)))
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
