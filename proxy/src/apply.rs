//! From a checked configuration to a snapshot: the only place where rows become a router.

use std::sync::Arc;

use fingerpost_claims::{AliasRow, ClaimSet, PathRow, RowState, Rows, RowsDiff, reconcile};
use fingerpost_router::{Alias, Conflicts, Owner, PathChange, RouteOptions, Router, RouterBuilder};

use crate::config::{self, Config, Route, Scope, Site};
use crate::entry::{Action, Entry};
use crate::snapshot::{Fleet, Server, Settings, Snapshot};
use crate::tls::Certificates;
pub use local::local;

mod local;

/// Builds the snapshot of a configuration and the rows of claims.
///
/// `generation` counts the snapshots of this process; `seed` keys the hashes of the router.
///
/// # Errors
///
/// [`Conflicts`] that the checks of the configuration have let through, or rows of another configuration.
pub fn snapshot(
    config: &Config,
    rows: &Rows,
    generation: u64,
    seed: u64,
) -> Result<Snapshot, Conflicts> {
    let router = router(config, rows, seed)?;
    let fleets = config.fleets.iter().map(|fleet| Arc::new(to_fleet(config, fleet))).collect();
    Ok(Snapshot::new(router, fleets, generation, Arc::new(settings(config))))
}

/// Builds the next snapshot where only rows have changed: what did not change is shared with `current`.
///
/// # Errors
///
/// [`Conflicts`]: `changes` do not lead from the rows of `current` to rows that fit its configuration.
///
/// # Complexity
///
/// For each change the shard of about 1,000 prefixes or hosts that holds it.
pub fn next(
    current: &Snapshot,
    changes: &RowsDiff,
    generation: u64,
) -> Result<Snapshot, Conflicts> {
    let mut update = current.router.update();
    for (host, row) in &changes.aliases {
        update.alias(host.clone(), row.as_ref().map(alias));
    }
    for (host, row) in &changes.wildcards {
        update.catchall(host.clone(), row.as_ref().and_then(|row| row.catchall.clone()));
    }
    for (host, prefix, row) in &changes.paths {
        let change = match row.as_ref().map(target) {
            None => PathChange::Remove,
            Some(None) => PathChange::Hold,
            Some(Some(target)) => PathChange::Serve(target.clone()),
        };
        update.path(host.clone(), prefix.clone(), change);
    }
    let (fleets, settings) = (current.fleets.clone(), Arc::clone(&current.settings));
    Ok(Snapshot::new(update.build()?, fleets, generation, settings))
}

/// Builds the router of a configuration and the rows of claims.
///
/// # Errors
///
/// As [`snapshot`].
pub fn router(config: &Config, rows: &Rows, seed: u64) -> Result<Router<Arc<Entry>>, Conflicts> {
    let mut builder = Router::builder(seed);
    builder.unknown_host(config.unknown_host);
    for site in &config.sites {
        builder.site(site.pattern.clone(), site.options.routing.clone());
        for route in &site.routes {
            add(&mut builder, Some(site), route);
        }
    }
    for route in &config.shared {
        add(&mut builder, None, route);
    }
    for (host, row) in &rows.aliases {
        builder.alias(host.clone(), alias(row));
    }
    for (host, row) in &rows.wildcards {
        if let Some(primary) = &row.catchall {
            builder.catchall(host.clone(), primary.clone());
        }
    }
    for (host, prefix, row) in rows.path_rows() {
        builder.prefix(host.clone(), prefix.clone(), target(row).cloned());
    }
    builder.build()
}

/// The rows of a configuration by itself, with no claim published.
pub fn rows(config: &Config) -> Rows {
    reconcile(&config.facts(), &ClaimSet::new(), &Rows::default()).rows
}

fn alias(row: &AliasRow) -> Alias {
    Alias { primary: row.primary.clone(), own_map: row.own_map }
}

/// Where requests for a row go; `None` is nowhere, for now.
fn target(row: &PathRow) -> Option<&fingerpost_authority::Host> {
    row.to.target.as_ref().filter(|_| row.state == RowState::Routed)
}

fn add(builder: &mut RouterBuilder<Arc<Entry>>, site: Option<&Site>, route: &Route) {
    let owner = match (site, route.scope) {
        (Some(site), _) => Owner::Host(site.pattern.clone()),
        (None, Scope::EveryHost) => Owner::EveryHost,
        (None, _) => Owner::Shared,
    };
    let label = site.map_or_else(|| SHARED.to_owned(), |site| site.pattern.to_string());
    let forwards = matches!(route.action, Action::Forward(_));
    let options = if forwards { RouteOptions::forwarding() } else { RouteOptions::answering() };
    let mut entry = Entry::new(Arc::clone(&route.id), label, route.action.clone());
    (entry.account, entry.app) = (route.account.clone(), route.app.clone());
    (entry.guards, entry.max_body_size) = (route.guards.clone(), route.max_body_size);
    if let Some(site) = site {
        entry.flip_drain = site.options.flip_drain;
    }
    builder.route(owner, route.path.clone(), options.with_guarded(route.guarded), Arc::new(entry));
}

fn to_fleet(config: &Config, fleet: &config::Fleet) -> Fleet {
    let server =
        |server: &config::Server| Server::new(server.to_string()).with_weight(server.weight());
    let servers = fleet.servers.iter().map(server).collect();
    let mut out = Fleet::new(Arc::clone(&fleet.name), servers);
    out.connect_timeout = fleet.connect_timeout;
    out.response_timeout = fleet.response_timeout;
    out.body_timeout = fleet.body_timeout;
    out.idle_timeout = fleet.idle_timeout;
    out.max_idle = config.limits.upstream_keep_alive;
    out.request_timeout = fleet.request_timeout;
    out.max_fails = fleet.max_fails;
    out.fail_timeout = fleet.fail_timeout;
    out.fail_statuses.clone_from(&fleet.fail_statuses);
    out.slow_start = fleet.slow_start;
    out.retry_budget = fleet.retry_budget;
    out.max_connections = fleet.max_connections;
    out.queue = fleet.queue;
    out.queue_timeout = fleet.queue_timeout;
    out.health.clone_from(&fleet.health);
    out.transport.clone_from(&fleet.transport);
    out
}

fn settings(config: &Config) -> Settings {
    Settings {
        header_timeout: config.timeouts.header_read_timeout,
        keep_alive_timeout: config.timeouts.keep_alive_timeout,
        body_timeout: config.timeouts.body_timeout,
        websocket_timeout: config.timeouts.websocket_timeout,
        max_header_size: config.limits.max_header_size,
        trusted_proxies: config.forwarding.trusted_proxies.clone(),
        forwarded: config.forwarding.forwarded,
        access_log: config.log.access,
        http2: config.http2,
        admission: config.admission,
        https_redirect: config.https_redirect,
        certificates: certificates(config),
    }
}

fn certificates(config: &Config) -> Option<Arc<Certificates>> {
    let all = &config.certificates;
    let identities = all.iter().map(|certificate| Arc::clone(&certificate.identity));
    let default = all.iter().position(|certificate| certificate.default);
    (!all.is_empty()).then(|| Arc::new(Certificates::new(identities, default, config.min_tls)))
}

/// The label of a route without hosts.
const SHARED: &str = "_shared";
