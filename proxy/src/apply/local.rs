//! The rows of a configuration, as a registry keeps them.

use std::sync::Arc;

use fingerpost_authority::HostPattern;
use fingerpost_claims::Name;
use fingerpost_registry::{
    Choice, FleetBoxRow, FleetRow, Local, OnUnresolved, RouteAction, RouteHost, RouteRow,
    RouteScope, RouteSource, Row, SiteFallback, SiteRow,
};
use fingerpost_router::{Ambiguity, Fallback};

use crate::config::{self, Config, Fleet, Route, Scope, Site};
use crate::entry::Action;

/// The rows of a configuration, as a registry keeps them: what the fingerprint digests besides claims.
pub fn local(config: &Config) -> Local {
    let mut local = Local::default();
    let on_sites = config
        .sites
        .iter()
        .flat_map(|site| site.routes.iter().map(move |route| (Some(&site.pattern), route)));
    let shared = config.shared.iter().map(|route| (None, route));
    for (pattern, route) in on_sites.chain(shared) {
        let row = to_route(config, pattern, route);
        local.routes.insert(row.key(), row);
    }
    for fleet in &config.fleets {
        let row = to_fleet(config, fleet);
        local.fleets.insert(row.key(), row);
        for (position, server) in (0..).zip(&fleet.servers) {
            let fleet = fleet.name.to_string();
            let address = server.to_string();
            let row = FleetBoxRow { fleet, position, address, home: None, heartbeat_at: None };
            local.fleet_boxes.insert(row.key(), row);
        }
    }
    for site in &config.sites {
        let row = to_site(site);
        local.sites.insert(row.key(), row);
    }
    local
}

fn to_route(config: &Config, pattern: Option<&HostPattern>, route: &Route) -> RouteRow {
    let mut row = RouteRow {
        host: RouteHost(pattern.cloned()),
        scope: match route.scope {
            Scope::EveryHost => RouteScope::EveryHost,
            Scope::Fallback => RouteScope::Fallback,
            // A shared route that says nothing is a fallback.
            Scope::Site if pattern.is_none() => RouteScope::Fallback,
            Scope::Site => RouteScope::Site,
        },
        path: route.path.as_str().to_owned(),
        id: route.id.to_string(),
        action: RouteAction::Forward,
        fleet: None,
        status: None,
        location: None,
        headers: Vec::new(),
        body: Vec::new(),
        account: name(route.account.as_ref()),
        app: name(route.app.as_ref()),
        version: None,
        home: None,
        primary_route: route.primary,
        guarded: route.guarded,
        ready: true,
        source: RouteSource::Config,
        dns_status: None,
        cert_expires_at: None,
    };
    match &route.action {
        Action::Forward(id) => row.fleet = config.fleet(*id).map(|fleet| fleet.name.to_string()),
        Action::Redirect(redirect) => {
            row.action = RouteAction::Redirect;
            row.status = Some(redirect.status.as_u16());
            row.location = Some(redirect.to.as_str().to_owned());
        }
        Action::Respond(response) => {
            row.action = RouteAction::Respond;
            row.status = Some(response.status.as_u16());
            let field = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
                format!("{name}: {}", value.as_bytes().escape_ascii())
            };
            row.headers = response.headers.iter().map(field).collect();
            row.body = response.body.to_vec();
        }
    }
    row
}

fn to_fleet(config: &Config, fleet: &Fleet) -> FleetRow {
    FleetRow {
        name: fleet.name.to_string(),
        connect_timeout: fleet.connect_timeout,
        response_timeout: fleet.response_timeout,
        body_timeout: fleet.body_timeout,
        idle_timeout: fleet.idle_timeout,
        max_idle: u32::try_from(config.limits.upstream_keep_alive).unwrap_or(u32::MAX),
    }
}

fn to_site(site: &Site) -> SiteRow {
    let options = &site.options;
    let rules = &options.routing.rules;
    let choice = |ambiguity| match ambiguity {
        Ambiguity::Select => Choice::Select,
        Ambiguity::Refuse => Choice::Refuse,
    };
    let texts = |texts: &[Box<str>]| texts.iter().map(ToString::to_string).collect();
    SiteRow {
        host: site.pattern.clone(),
        account: name(options.account.as_ref()),
        app: name(options.app.as_ref()),
        legacy: (!options.legacy_unset)
            .then(|| rules.families().names().map(str::to_owned).collect()),
        legacy_query: texts(rules.query()),
        slug: Some(rules.slug().to_string()),
        case_sensitive: rules.case_sensitive(),
        ambiguous: choice(options.routing.ambiguous),
        ambiguous_paths: choice(options.routing.ambiguous_paths),
        fallback: match options.routing.fallback {
            Fallback::Shared => SiteFallback::Shared,
            Fallback::None => SiteFallback::None,
        },
        control_plane: options.control_plane,
        reserved: options.reserved.iter().map(|prefix| prefix.as_str().to_owned()).collect(),
        flip_drain: options.flip_drain,
        on_unresolved: match options.on_unresolved {
            config::OnUnresolved::Origin => OnUnresolved::Origin,
            config::OnUnresolved::Sticky => OnUnresolved::Sticky,
            config::OnUnresolved::Refuse => OnUnresolved::Refuse,
        },
    }
}

fn name(text: Option<&Arc<str>>) -> Option<Name> {
    Name::parse(text?).ok()
}
