//! What each host serves, for people and for programs.

use std::fmt;
use std::sync::Arc;

use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::Rows;
use fingerpost_router::{Fallback, Router};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Route, Scope};
use crate::entry::{Action, Entry};

/// What each host serves; it prints as `routes` shows it, and its JSON is that of `routes --json`.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Listing {
    sites: Vec<SiteLine>,
    /// Hosts, and wildcards over hosts, that the site of another host answers for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<AliasLine>,
    shared: Vec<RouteLine>,
}

#[derive(Debug, Deserialize, Serialize)]
struct SiteLine {
    host: String,
    account: Option<String>,
    app: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    no_fallback: bool,
    routes: Vec<RouteLine>,
    paths: Vec<PathLine>,
}

#[derive(Debug, Deserialize, Serialize)]
struct AliasLine {
    host: String,
    primary: String,
    /// Those of a map of its own.
    paths: Vec<PathLine>,
}

#[derive(Debug, Deserialize, Serialize)]
struct RouteLine {
    id: String,
    path: String,
    action: ActionWord,
    account: Option<String>,
    app: Option<String>,
    primary: bool,
    guarded: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum ActionWord {
    Fleet(String),
    Redirect(u16),
    Respond(u16),
}

#[derive(Debug, Deserialize, Serialize)]
struct PathLine {
    prefix: String,
    /// `None` is 503.
    target: Option<String>,
}

impl Listing {
    /// Lists a configuration with the rows of claims; where prefixes go is asked of the router.
    pub(crate) fn new(config: &Config, rows: &Rows, router: &Router<Arc<Entry>>) -> Self {
        let sites = config.sites.iter().map(|site| SiteLine {
            host: site.pattern.to_string(),
            account: text(site.options.account.as_ref()),
            app: text(site.options.app.as_ref()),
            no_fallback: site.options.routing.fallback == Fallback::None,
            routes: site.routes.iter().map(|route| RouteLine::new(config, route, None)).collect(),
            paths: match &site.pattern {
                HostPattern::Exact(host) => paths(router, host),
                _ => Vec::new(),
            },
        });
        let aliases = rows.aliases.iter().map(|(host, row)| AliasLine {
            host: host.to_string(),
            primary: row.primary.to_string(),
            paths: if row.own_map { paths(router, host) } else { Vec::new() },
        });
        let catchalls = rows.wildcards.iter().filter_map(|(host, row)| {
            let primary = row.catchall.as_ref()?.to_string();
            Some(AliasLine { host: format!("*.{host}"), primary, paths: Vec::new() })
        });
        let shared = config.shared.iter().map(|route| {
            let every = route.scope == Scope::EveryHost;
            RouteLine::new(config, route, Some(if every { EVERY } else { FALLBACK }))
        });
        Self {
            sites: sites.collect(),
            aliases: aliases.chain(catchalls).collect(),
            shared: shared.collect(),
        }
    }
}

const EVERY: &str = "every-host";
const FALLBACK: &str = "fallback";

fn paths(router: &Router<Arc<Entry>>, host: &Host) -> Vec<PathLine> {
    let line = |(prefix, target): (&str, Option<&Host>)| PathLine {
        prefix: prefix.to_owned(),
        target: target.map(ToString::to_string),
    };
    router.prefixes(host).into_iter().map(line).collect()
}

impl RouteLine {
    fn new(config: &Config, route: &Route, scope: Option<&str>) -> Self {
        Self {
            id: route.id.to_string(),
            path: route.path.to_string(),
            action: match &route.action {
                Action::Forward(fleet) => {
                    let fleet = config.fleet(*fleet);
                    ActionWord::Fleet(fleet.map(|fleet| fleet.name.to_string()).unwrap_or_default())
                }
                Action::Redirect(redirect) => ActionWord::Redirect(redirect.status.as_u16()),
                Action::Respond(response) => ActionWord::Respond(response.status.as_u16()),
            },
            account: text(route.account.as_ref()),
            app: text(route.app.as_ref()),
            primary: route.primary,
            guarded: route.guarded,
            scope: scope.map(str::to_owned),
        }
    }

    fn row(&self) -> [String; 3] {
        let action = match &self.action {
            ActionWord::Fleet(name) => format!("fleet {name}"),
            ActionWord::Redirect(status) => format!("redirect {status}"),
            ActionWord::Respond(status) => format!("respond {status}"),
        };
        let guarded = if self.guarded { " (guarded)" } else { "" };
        [self.path.clone(), action, format!("{}{guarded}", self.id)]
    }
}

impl PathLine {
    fn row(&self) -> [String; 3] {
        let target = self.target.as_deref().unwrap_or("503");
        [self.prefix.clone(), format!("-> {target}"), String::new()]
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = |scope: &str| -> Vec<_> {
            let of_scope = |route: &&RouteLine| route.scope.as_deref() == Some(scope);
            self.shared.iter().filter(of_scope).map(RouteLine::row).collect()
        };
        layer(f, "every host, first", &shared(EVERY))?;
        for site in &self.sites {
            let mut about = Vec::new();
            about.extend(site.account.as_ref().map(|account| format!("account {account}")));
            about.extend(site.app.as_ref().map(|app| format!("app {app}")));
            about.extend(site.no_fallback.then(|| "no fallback".to_owned()));
            let about =
                if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
            let routes = site.routes.iter().map(RouteLine::row);
            let rows: Vec<_> = routes.chain(site.paths.iter().map(PathLine::row)).collect();
            block(f, &format!("{}{about}", site.host), &rows)?;
        }
        for alias in &self.aliases {
            let rows: Vec<_> = alias.paths.iter().map(PathLine::row).collect();
            block(f, &format!("{} = {}", alias.host, alias.primary), &rows)?;
        }
        layer(f, "any host, last", &shared(FALLBACK))
    }
}

fn layer(f: &mut fmt::Formatter<'_>, heading: &str, rows: &[[String; 3]]) -> fmt::Result {
    if rows.is_empty() { Ok(()) } else { block(f, heading, rows) }
}

/// Writes rows under a heading, with their columns aligned.
fn block(f: &mut fmt::Formatter<'_>, heading: &str, rows: &[[String; 3]]) -> fmt::Result {
    writeln!(f, "{heading}")?;
    let width = |column: fn(&[String; 3]) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
    };
    let (first, second) = (width(|[first, ..]| first), width(|[_, second, _]| second));
    for [path, action, id] in rows {
        let line = format!("  {path:first$}  {action:second$}  {id}");
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

fn text(name: Option<&Arc<str>>) -> Option<String> {
    name.map(ToString::to_string)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
