//! Fleets.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use http::StatusCode;
use http::uri::PathAndQuery;

use super::value;
use crate::config::defaults;
use crate::config::duration;
use crate::config::model::{Fleet, Server, ServerError};
use crate::config::place::Place;
use crate::config::raw::{RawFleet, RawHealth, RawServer};
use crate::config::report::Report;
use crate::snapshot::Health;

mod transport;

pub(super) fn check(
    raw: Option<BTreeMap<String, RawFleet>>,
    report: &mut Report<'_>,
) -> Vec<Fleet> {
    let all = Place::root().key("fleets");
    let mut fleets = Vec::new();
    for (name, raw) in raw.unwrap_or_default() {
        let place = all.key(&name);
        if let Err(message) = value::name(&name) {
            report.error(&place, format_args!("the name of a fleet: {message}"));
        }
        fleets.push(fleet(&place, &name, raw, report));
    }
    fleets
}

fn fleet(place: &Place, name: &str, raw: RawFleet, report: &mut Report<'_>) -> Fleet {
    let servers = servers(&place.key("servers"), raw.servers, report);
    let health = raw.health.and_then(|raw| health(&place.key("health"), raw, report));
    let transport = transport::check(place, raw.http, raw.tls, &servers, report);
    let request_timeout = request_timeout(place, raw.request_timeout.as_ref(), report);
    let fail_statuses = raw.fail_statuses.as_deref();
    let fail_statuses = statuses(&place.key("fail_statuses"), fail_statuses, 500, report);
    let slow_start =
        value::duration(place, "slow_start", raw.slow_start.as_ref(), defaults::SLOW_START, report);
    let mut timeout = |key, text: &Option<String>, default| {
        value::timeout(place, key, text.as_ref(), default, report)
    };
    Fleet {
        name: name.into(),
        servers,
        connect_timeout: timeout(
            "connect_timeout",
            &raw.connect_timeout,
            defaults::CONNECT_TIMEOUT,
        ),
        response_timeout: timeout(
            "response_timeout",
            &raw.response_timeout,
            defaults::RESPONSE_TIMEOUT,
        ),
        body_timeout: timeout("body_timeout", &raw.body_timeout, defaults::FLEET_BODY_TIMEOUT),
        idle_timeout: timeout("idle_timeout", &raw.idle_timeout, defaults::IDLE_TIMEOUT),
        request_timeout,
        max_fails: raw.max_fails.unwrap_or(defaults::MAX_FAILS),
        fail_timeout: timeout("fail_timeout", &raw.fail_timeout, defaults::FAIL_TIMEOUT),
        fail_statuses,
        slow_start,
        retry_budget: raw.retry_budget.unwrap_or(defaults::RETRY_BUDGET),
        max_connections: raw.max_connections.and_then(NonZeroU32::new),
        queue: raw.queue.unwrap_or(defaults::QUEUE),
        queue_timeout: timeout("queue_timeout", &raw.queue_timeout, defaults::QUEUE_TIMEOUT),
        health,
        transport,
    }
}

fn servers(place: &Place, raw: Option<Vec<RawServer>>, report: &mut Report<'_>) -> Vec<Server> {
    if raw.as_ref().is_some_and(Vec::is_empty) {
        report.error(place, "the fleet is empty: it needs at least one server");
    }
    let mut servers = Vec::new();
    for (index, raw) in raw.into_iter().flatten().enumerate() {
        let place = place.index(index);
        let (place, address, weight) = match raw {
            RawServer::Address(address) => (place, Some(address), None),
            RawServer::Table(table) => (place.key("address"), table.address, table.weight),
        };
        let Some(address) = address.filter(|_| !report.is_broken(&place)) else { continue };
        match server(&address) {
            Ok(server) => {
                let weight = weight.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
                servers.push(server.with_weight(weight));
            }
            Err(error) => report.error(&place, error),
        }
    }
    servers
}

fn server(text: &str) -> Result<Server, String> {
    text.parse().map_err(|error| match error {
        ServerError::Host(error) => {
            format!("{text:?} is not a server: {}", value::why_no_host(&error))
        }
        error => format!("{text:?}: {}", value::chain(&error)),
    })
}

fn request_timeout(
    place: &Place,
    text: Option<&String>,
    report: &mut Report<'_>,
) -> Option<Duration> {
    let place = place.key("request_timeout");
    let limit = value::optional(&place, text, report, duration::parse)?;
    if limit.is_zero() {
        report.error(&place, "a timeout of 0 would fail every request");
    }
    Some(limit)
}

/// Statuses from `least` on.
fn statuses(
    place: &Place,
    raw: Option<&[u16]>,
    least: u16,
    report: &mut Report<'_>,
) -> Vec<StatusCode> {
    let mut statuses = Vec::new();
    for (index, code) in raw.into_iter().flatten().enumerate() {
        let place = place.index(index);
        if report.is_broken(&place) {
            continue;
        }
        match StatusCode::from_u16(*code) {
            Ok(status) if (least..600).contains(code) => statuses.push(status),
            _ => report.error(&place, format_args!("{code} is not a status from {least} to 599")),
        }
    }
    statuses
}

fn health(place: &Place, raw: RawHealth, report: &mut Report<'_>) -> Option<Health> {
    let expect = statuses(&place.key("expect"), raw.expect.as_deref(), 200, report);
    if raw.expect.is_some_and(|expect| expect.is_empty()) {
        report.error(&place.key("expect"), "no server could be well: name a status, such as 200");
    }
    let host = value::optional(&place.key("host"), raw.host.as_ref(), report, value::host);
    let mut timeout = |key, text: &Option<String>, default| {
        value::timeout(place, key, text.as_ref(), default, report)
    };
    let interval = timeout("interval", &raw.interval, defaults::HEALTH_INTERVAL);
    let limit = timeout("timeout", &raw.timeout, defaults::HEALTH_TIMEOUT);
    let path = raw.path?;
    if !path.starts_with('/') || path.parse::<PathAndQuery>().is_err() {
        let message = format_args!("{path:?} is not a path, such as \"/healthz\"");
        report.error(&place.key("path"), message);
    }
    let mut health = Health::new(path);
    health.host = host.map(|host| host.as_str().into());
    (health.interval, health.timeout) = (interval, limit);
    health.healthy = raw.healthy.unwrap_or(defaults::HEALTHY);
    health.unhealthy = raw.unhealthy.unwrap_or(defaults::UNHEALTHY);
    health.expect = expect;
    Some(health)
}
