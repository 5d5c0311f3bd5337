//! The tables that do not depend on others.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::value;
use crate::config::defaults;
use crate::config::model::{
    Account, Forwarding, Limits, Listen, Log, LogFormat, LogLevel, Store, Timeouts,
};
use crate::config::place::Place;
use crate::config::raw::{
    RawAccount, RawForwarding, RawHttp2, RawLevel, RawLimits, RawListen, RawLog, RawLogFormat,
    RawStore, RawTimeouts,
};
use crate::config::report::Report;
use crate::snapshot::{Admission, Http2};

pub(super) fn listen(raw: Option<RawListen>, report: &mut Report<'_>) -> Listen {
    let raw = raw.unwrap_or_default();
    let place = Place::root().key("listen");
    let default = vec![defaults::HTTP.to_owned()];
    let written = raw.http.as_ref();
    let mut http = value::list(&place.key("http"), written, report, socket_address);
    let https = value::list(&place.key("https"), raw.https.as_ref(), report, socket_address);
    let serves_https = raw.https.is_some_and(|https| !https.is_empty());
    if written.is_some_and(Vec::is_empty) && !serves_https {
        report.error(&place.key("http"), "an address is needed, such as \"0.0.0.0:80\"");
    }
    if written.is_none() && !report.is_broken(&place.key("http")) {
        http = value::list(&place.key("http"), Some(&default), report, socket_address);
    }
    let announced = place.key("proxy_protocol");
    let proxied = value::list(&announced, raw.proxy_protocol.as_ref(), report, socket_address);
    for (address, place) in &proxied {
        let known = http.iter().chain(&https).any(|(known, _)| known == address);
        if !known && !report.is_broken(&Place::root().key("listen")) {
            report.error(place, format_args!("{address} is in neither http nor https"));
        }
    }
    let admin = value::optional(&place.key("admin"), raw.admin.as_ref(), report, socket_address);
    if let Some(admin) = admin.filter(|admin| is_public(admin.ip())) {
        let message = format!(
            "{admin} can be reached from other networks, and tokens are sent to it in the clear; \
             use a loopback or private address"
        );
        report.warn(&place.key("admin"), message);
    }
    let mut seen = BTreeSet::new();
    let all =
        http.iter().chain(&https).cloned().chain(admin.map(|admin| (admin, place.key("admin"))));
    for (address, place) in all {
        // Port 0 takes another free port each time.
        if address.port() != 0 && !seen.insert(address) {
            report.error(&place, format_args!("the address {address} is listed twice"));
        }
    }
    let addresses = |list: Vec<(SocketAddr, Place)>| list.into_iter().map(|(address, _)| address);
    Listen {
        http: addresses(http).collect(),
        https: addresses(https).collect(),
        proxy_protocol: addresses(proxied).collect(),
        admin,
    }
}

pub(super) fn http2(listen: Option<&RawListen>, raw: Option<RawHttp2>) -> Http2 {
    let raw = raw.unwrap_or_default();
    Http2 {
        prior_knowledge: listen.and_then(|listen| listen.h2c) == Some(true),
        max_concurrent_streams: raw
            .max_concurrent_streams
            .unwrap_or(defaults::MAX_CONCURRENT_STREAMS),
        max_resets: raw.max_resets.unwrap_or(defaults::MAX_RESETS),
    }
}

pub(super) fn admission(raw: Option<&RawLimits>) -> Admission {
    let mut admission = Admission::default();
    let Some(raw) = raw else { return admission };
    admission.connections = raw.max_connections.unwrap_or(defaults::MAX_CONNECTIONS);
    admission.connections_per_address = raw.max_connections_per_address;
    admission.requests_per_connection = raw.max_requests_per_connection;
    admission.headers = raw.max_headers.unwrap_or(defaults::MAX_HEADERS).into();
    admission.body_size = raw.max_body_size;
    admission
}

pub(super) fn https_redirect(raw: Option<&RawListen>, report: &mut Report<'_>) -> Option<u16> {
    let raw = raw.filter(|raw| raw.redirect_http == Some(true))?;
    let place = Place::root().key("listen");
    if raw.https.as_ref().is_none_or(Vec::is_empty) && !report.is_broken(&place.key("https")) {
        let message = "there is no HTTPS to send clients to: https is empty";
        report.error(&place.key("redirect_http"), message);
    }
    Some(raw.https_port.unwrap_or(defaults::HTTPS_PORT))
}

fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => !(ip.is_loopback() || ip.is_private() || ip.is_link_local()),
        IpAddr::V6(ip) => !(ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()),
    }
}

fn socket_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.rsplit_once(':').map_or(text, |(_, port)| port);
    let hint = match port.parse::<u16>() {
        Ok(port) if text.starts_with("localhost:") => format!("; write \"127.0.0.1:{port}\""),
        Ok(port) if text.len() == port.to_string().len() || text.starts_with(':') => {
            format!("; write \"0.0.0.0:{port}\" for all addresses")
        }
        Ok(_) => String::new(),
        Err(_) => "; it looks like \"127.0.0.1:8080\" or \"[::1]:8080\"".to_owned(),
    };
    Err(format!("{text:?} is not an IP address and a port{hint}"))
}

/// Without an admin listener there is a store only where one is written.
pub(super) fn store(
    raw: Option<RawStore>,
    listen: &Listen,
    report: &mut Report<'_>,
) -> Option<Store> {
    if raw.is_none() && listen.admin.is_none() {
        return None;
    }
    let sqlite = raw.unwrap_or_default().sqlite;
    if sqlite.as_deref() == Some("") {
        report.error(&Place::root().key("store").key("sqlite"), "must not be empty");
    }
    Some(Store { sqlite: PathBuf::from(sqlite.as_deref().unwrap_or(defaults::SQLITE)) })
}

pub(super) fn accounts(
    raw: Option<BTreeMap<String, RawAccount>>,
    report: &mut Report<'_>,
) -> Vec<Account> {
    let all = Place::root().key("accounts");
    let mut accounts = Vec::new();
    for (name, raw) in raw.unwrap_or_default() {
        let place = all.key(&name);
        if let Err(message) = value::name(&name) {
            report.error(&place, format_args!("the name of an account: {message}"));
        }
        let may_claim = place.key("may_claim");
        let hosts = value::list(&may_claim, raw.may_claim.as_ref(), report, value::host_pattern);
        let may_claim = hosts.into_iter().map(|(pattern, _)| pattern).collect();
        accounts.push(Account { name: name.into(), may_claim });
    }
    accounts
}

pub(super) fn log(raw: Option<RawLog>) -> Log {
    let raw = raw.unwrap_or_default();
    Log {
        format: raw.format.map_or(LogFormat::Text, |format| match format {
            RawLogFormat::Text => LogFormat::Text,
            RawLogFormat::Json => LogFormat::Json,
        }),
        level: raw.level.map_or(LogLevel::Info, |level| match level {
            RawLevel::Error => LogLevel::Error,
            RawLevel::Warn => LogLevel::Warn,
            RawLevel::Info => LogLevel::Info,
            RawLevel::Debug => LogLevel::Debug,
            RawLevel::Trace => LogLevel::Trace,
        }),
        access: raw.access.unwrap_or(false),
    }
}

pub(super) fn timeouts(raw: Option<RawTimeouts>, report: &mut Report<'_>) -> Timeouts {
    let raw = raw.unwrap_or_default();
    let place = Place::root().key("timeouts");
    let mut timeout = |key, text: &Option<String>, default| {
        value::timeout(&place, key, text.as_ref(), default, report)
    };
    let header_read_timeout =
        timeout("header_read_timeout", &raw.header_read_timeout, defaults::HEADER_READ_TIMEOUT);
    let body_timeout = timeout("body_timeout", &raw.body_timeout, defaults::BODY_TIMEOUT);
    let keep_alive_timeout =
        timeout("keep_alive_timeout", &raw.keep_alive_timeout, defaults::KEEP_ALIVE_TIMEOUT);
    let websocket_timeout =
        timeout("websocket_timeout", &raw.websocket_timeout, defaults::WEBSOCKET_TIMEOUT);
    let mut duration = |key, text: &Option<String>, default| {
        value::duration(&place, key, text.as_ref(), default, report)
    };
    Timeouts {
        header_read_timeout,
        body_timeout,
        keep_alive_timeout,
        websocket_timeout,
        drain_grace: duration("drain_grace", &raw.drain_grace, defaults::DRAIN_GRACE),
        drain_deadline: duration("drain_deadline", &raw.drain_deadline, defaults::DRAIN_DEADLINE),
    }
}

pub(super) fn claim_limits(raw: Option<&RawLimits>) -> fingerpost_claims::Limits {
    let limit = |limit: Option<u32>, default: u32| {
        usize::try_from(limit.unwrap_or(default)).unwrap_or(usize::MAX)
    };
    fingerpost_claims::Limits {
        max_paths_per_claim: limit(
            raw.and_then(|raw| raw.max_paths_per_claim),
            defaults::MAX_PATHS_PER_CLAIM,
        ),
        max_wildcards: limit(raw.and_then(|raw| raw.max_wildcards), defaults::MAX_WILDCARDS),
    }
}

pub(super) fn limits(raw: Option<RawLimits>) -> Limits {
    let raw = raw.unwrap_or_default();
    let header = raw.max_header_size.unwrap_or(defaults::MAX_HEADER_SIZE);
    Limits {
        threads: raw.threads.and_then(|threads| NonZeroUsize::new(threads.into())),
        max_header_size: usize::try_from(header).unwrap_or(usize::MAX),
        upstream_keep_alive: raw
            .upstream_keep_alive
            .unwrap_or(defaults::UPSTREAM_KEEP_ALIVE)
            .into(),
    }
}

pub(super) fn forwarding(raw: Option<RawForwarding>, report: &mut Report<'_>) -> Forwarding {
    let raw = raw.unwrap_or_default();
    let place = Place::root().key("forwarding").key("trusted_proxies");
    let proxies = value::list(&place, raw.trusted_proxies.as_ref(), report, value::network);
    Forwarding {
        trusted_proxies: proxies.into_iter().map(|(network, _)| network).collect(),
        forwarded: raw.forwarded.unwrap_or(false),
    }
}
