//! From a checked configuration to a snapshot: the only place where rows become a router.

use std::sync::Arc;

use fingerpost_authority::HostPattern;
use fingerpost_router::{Conflicts, Owner, RouteOptions, Router, RouterBuilder};

use crate::config::{self, Config, Route, Scope};
use crate::entry::{Action, Entry};
use crate::snapshot::{Fleet, Server, Settings, Snapshot};

/// Builds the snapshot of a configuration.
///
/// `generation` counts the snapshots of this process; `seed` keys the hashes of the router.
///
/// # Errors
///
/// [`Conflicts`] that the checks of the configuration have let through.
pub fn snapshot(config: &Config, generation: u64, seed: u64) -> Result<Snapshot, Conflicts> {
    let router = router(config, seed)?;
    let fleets = config.fleets.iter().map(|fleet| Arc::new(to_fleet(config, fleet))).collect();
    Ok(Snapshot::new(router, fleets, generation, Arc::new(settings(config))))
}

/// Builds the router of a configuration.
///
/// # Errors
///
/// As [`snapshot`].
pub fn router(config: &Config, seed: u64) -> Result<Router<Arc<Entry>>, Conflicts> {
    let mut builder = Router::builder(seed);
    builder.unknown_host(config.unknown_host);
    for site in &config.sites {
        builder.site(site.pattern.clone(), site.options.routing.clone());
        for route in &site.routes {
            add(&mut builder, Some(&site.pattern), route);
        }
    }
    for route in &config.shared {
        add(&mut builder, None, route);
    }
    for claim in &config.claims {
        for entry in &claim.paths {
            let target = Some(entry.target.clone());
            builder.prefix(claim.host.clone(), entry.prefix.clone(), target);
        }
    }
    builder.build()
}

fn add(builder: &mut RouterBuilder<Arc<Entry>>, site: Option<&HostPattern>, route: &Route) {
    let owner = match (site, route.scope) {
        (Some(pattern), _) => Owner::Host(pattern.clone()),
        (None, Scope::EveryHost) => Owner::EveryHost,
        (None, _) => Owner::Shared,
    };
    let label = site.map_or_else(|| SHARED.into(), |pattern| pattern.to_string().into());
    let forwards = matches!(route.action, Action::Forward(_));
    let options = if forwards { RouteOptions::forwarding() } else { RouteOptions::answering() };
    let entry = Entry {
        id: Arc::clone(&route.id),
        label_host: label,
        action: route.action.clone(),
        account: route.account.clone(),
        app: route.app.clone(),
    };
    builder.route(owner, route.path.clone(), options.with_guarded(route.guarded), Arc::new(entry));
}

fn to_fleet(config: &Config, fleet: &config::Fleet) -> Fleet {
    let servers = fleet.servers.iter().map(|server| Server::new(server.to_string())).collect();
    let mut out = Fleet::new(Arc::clone(&fleet.name), servers);
    out.connect_timeout = fleet.connect_timeout;
    out.response_timeout = fleet.response_timeout;
    out.body_timeout = fleet.body_timeout;
    out.idle_timeout = fleet.idle_timeout;
    out.max_idle = config.limits.upstream_keep_alive;
    out
}

fn settings(config: &Config) -> Settings {
    Settings {
        header_timeout: config.timeouts.header_read_timeout,
        keep_alive_timeout: config.timeouts.keep_alive_timeout,
        body_timeout: config.timeouts.body_timeout,
        max_header_size: config.limits.max_header_size,
        trusted_proxies: config.forwarding.trusted_proxies.clone(),
        forwarded: config.forwarding.forwarded,
        access_log: config.log.access,
    }
}

/// The label of a route without hosts.
const SHARED: &str = "_shared";
