//! `routes`: what each host serves.

use std::fmt::Write as _;
use std::path::Path;

use fingerpost_authority::HostPattern;
use fingerpost_router::Fallback;
use serde_json::{Value, json};

use super::output::Output;
use crate::config::{Claim, Config, Route, Scope, Site};
use crate::entry::Action;

pub(super) fn routes(path: &Path, json: bool) -> Output {
    Output::of_config(path, |config| {
        if json { Output::json(&as_json(config)) } else { Output::new(as_text(config)) }
    })
}

fn as_text(config: &Config) -> String {
    let mut text = String::new();
    layer(&mut text, config, "every host, first", Scope::EveryHost);
    for site in &config.sites {
        let mut about = Vec::new();
        about.extend(site.options.account.as_ref().map(|account| format!("account {account}")));
        about.extend(site.options.app.as_ref().map(|app| format!("app {app}")));
        if site.options.routing.fallback == Fallback::None {
            about.push("no fallback".to_owned());
        }
        let mut rows: Vec<_> = site.routes.iter().map(|route| row(config, route)).collect();
        let entries = claim_of(config, site).map(|claim| &claim.paths).into_iter().flatten();
        rows.extend(entries.map(|entry| {
            let target = format!("-> {}", entry.target);
            [entry.prefix.as_str().to_owned(), target, String::new()]
        }));
        let about = match about.as_slice() {
            [] => String::new(),
            about => format!(" ({})", about.join(", ")),
        };
        block(&mut text, &format!("{}{about}", site.pattern), &rows);
    }
    layer(&mut text, config, "any host, last", Scope::Fallback);
    text
}

fn layer(text: &mut String, config: &Config, heading: &str, scope: Scope) {
    let shared = config.shared.iter().filter(|route| route.scope == scope);
    let rows: Vec<_> = shared.map(|route| row(config, route)).collect();
    if !rows.is_empty() {
        block(text, heading, &rows);
    }
}

/// Writes rows under a heading, with their columns aligned.
fn block(text: &mut String, heading: &str, rows: &[[String; 3]]) {
    _ = writeln!(text, "{heading}");
    let width = |column: fn(&[String; 3]) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
    };
    let (first, second) = (width(|[first, ..]| first), width(|[_, second, _]| second));
    for [path, action, id] in rows {
        let line = format!("  {path:first$}  {action:second$}  {id}");
        _ = writeln!(text, "{}", line.trim_end());
    }
}

fn row(config: &Config, route: &Route) -> [String; 3] {
    let action = match &route.action {
        Action::Forward(fleet) => {
            let name = config.fleet(*fleet).map(|fleet| &*fleet.name).unwrap_or_default();
            format!("fleet {name}")
        }
        Action::Respond(response) => format!("respond {}", response.status.as_u16()),
        Action::Redirect(redirect) => format!("redirect {}", redirect.status.as_u16()),
    };
    let guarded = if route.guarded { " (guarded)" } else { "" };
    [route.path.to_string(), action, format!("{}{guarded}", route.id)]
}

fn claim_of<'c>(config: &'c Config, site: &Site) -> Option<&'c Claim> {
    match &site.pattern {
        HostPattern::Exact(host) => config.claim(host),
        _ => None,
    }
}

fn as_json(config: &Config) -> Value {
    let sites = config.sites.iter().map(|site| {
        let entries = claim_of(config, site).map(|claim| &claim.paths).into_iter().flatten();
        let paths = entries
            .map(|entry| json!({"prefix": entry.prefix.as_str(), "target": entry.target.as_str()}));
        json!({
            "host": site.pattern.to_string(),
            "account": site.options.account.as_deref(),
            "app": site.options.app.as_deref(),
            "routes": site.routes.iter().map(|route| route_json(config, route)).collect::<Value>(),
            "paths": paths.collect::<Value>(),
        })
    });
    let shared = config.shared.iter().map(|route| {
        let mut value = route_json(config, route);
        let scope = if route.scope == Scope::EveryHost { "every-host" } else { "fallback" };
        if let Some(fields) = value.as_object_mut() {
            fields.insert("scope".to_owned(), scope.into());
        }
        value
    });
    json!({"sites": sites.collect::<Value>(), "shared": shared.collect::<Value>()})
}

fn route_json(config: &Config, route: &Route) -> Value {
    let action = match &route.action {
        Action::Forward(fleet) => {
            json!({"fleet": config.fleet(*fleet).map(|fleet| &*fleet.name)})
        }
        Action::Respond(response) => json!({"respond": response.status.as_u16()}),
        Action::Redirect(redirect) => json!({"redirect": redirect.status.as_u16()}),
    };
    json!({
        "id": &*route.id,
        "path": route.path.as_str(),
        "action": action,
        "account": route.account.as_deref(),
        "app": route.app.as_deref(),
        "primary": route.primary,
        "guarded": route.guarded,
    })
}
