//! Rows to test with.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses some of it, and may panic")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{AliasRow, Destination, Name, PathRow, RowState, Rows, WildcardRow};
use fingerpost_path::Prefix;
use fingerpost_registry::{
    Choice, FleetBoxRow, FleetRow, Local, OnUnresolved, Options, Registry, RouteAction, RouteHost,
    RouteRow, RouteScope, RouteSource, Row, SiteFallback, SiteRow, Tables,
};

pub(crate) fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(crate) fn prefix(text: &str) -> Prefix {
    Prefix::parse(text).unwrap()
}

pub(crate) fn open(path: &Path) -> (Registry, Tables) {
    Registry::open(path, &Options::default()).unwrap()
}

pub(crate) fn path_row(target: &str) -> PathRow {
    let to = Destination {
        target: Some(host(target)),
        account: name("tickets"),
        app: Some(name("go")),
        home: None,
    };
    PathRow { to: Arc::new(to), state: RowState::Routed }
}

pub(crate) fn route(pattern: Option<&str>, path: &str) -> RouteRow {
    RouteRow {
        host: RouteHost(pattern.map(|text| HostPattern::from_written(text).unwrap())),
        scope: if pattern.is_some() { RouteScope::Site } else { RouteScope::Fallback },
        path: path.to_owned(),
        id: "go".to_owned(),
        action: RouteAction::Forward,
        fleet: Some("go".to_owned()),
        status: Some(200),
        location: Some("/".to_owned()),
        headers: vec!["a: b".to_owned()],
        body: b"ok".to_vec(),
        account: Some(name("tickets")),
        app: Some(name("go")),
        version: Some("v1".to_owned()),
        home: Some(name("a")),
        primary_route: true,
        guarded: false,
        ready: true,
        source: RouteSource::Config,
        dns_status: Some("ok".to_owned()),
        cert_expires_at: Some(1),
    }
}

pub(crate) fn fleet(name: &str) -> FleetRow {
    FleetRow {
        name: name.to_owned(),
        connect_timeout: Duration::from_secs(5),
        response_timeout: Duration::from_secs(60),
        body_timeout: Duration::from_secs(300),
        idle_timeout: Duration::from_secs(4),
        max_idle: 256,
    }
}

pub(crate) fn site(pattern: &str) -> SiteRow {
    SiteRow {
        host: HostPattern::from_written(pattern).unwrap(),
        account: Some(name("tickets")),
        app: Some(name("classic")),
        legacy: Some(vec!["rails".to_owned()]),
        legacy_query: vec!["q".to_owned()],
        slug: Some("a-z".to_owned()),
        case_sensitive: false,
        ambiguous: Choice::Select,
        ambiguous_paths: Choice::Refuse,
        fallback: SiteFallback::Shared,
        control_plane: false,
        reserved: vec!["admin".to_owned()],
        flip_drain: Duration::from_secs(30),
        on_unresolved: OnUnresolved::Origin,
    }
}

pub(crate) fn keyed<R: Row>(rows: impl IntoIterator<Item = R>) -> BTreeMap<R::Key, R> {
    rows.into_iter().map(|row| (row.key(), row)).collect()
}

/// A few rows in every table, with no column empty.
pub(crate) fn sample() -> Tables {
    let boxes = [("go", 0, "10.0.0.1:80"), ("go", 1, "10.0.0.2:80"), ("classic", 0, "10.0.0.3:80")];
    let boxes = boxes.map(|(fleet, position, address)| FleetBoxRow {
        fleet: fleet.to_owned(),
        position,
        address: address.to_owned(),
        home: Some(name("a")),
        heartbeat_at: Some(1),
    });
    let home = Some(name("b"));
    let there = Destination { home, ..Destination::clone(&path_row("next.tickets.example").to) };
    let there = PathRow { to: Arc::new(there), state: RowState::Held };
    let paths = [(prefix("paulca"), path_row("next.tickets.example")), (prefix("bigcorp"), there)];
    Tables {
        local: Local {
            routes: keyed([
                route(Some("tickets.example"), "/{*rest}"),
                route(Some("*.pages.example"), "/{*rest}"),
                route(None, "/healthz"),
            ]),
            fleets: keyed([fleet("go"), fleet("classic")]),
            fleet_boxes: keyed(boxes),
            sites: keyed([site("tickets.example"), site("*")]),
        },
        rows: Rows {
            aliases: [(
                host("www.tickets.example"),
                AliasRow { primary: host("tickets.example"), own_map: false },
            )]
            .into(),
            wildcards: [(
                host("pages.example"),
                WildcardRow {
                    account: name("pages"),
                    app: name("classic"),
                    catchall: Some(host("tickets.example")),
                },
            )]
            .into(),
            paths: [(host("tickets.example"), Arc::new(paths.into_iter().collect()))].into(),
        },
        serial: Some(7),
    }
}
