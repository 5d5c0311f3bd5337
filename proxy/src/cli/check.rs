//! `check`: everything that is wrong with a configuration.

use std::path::Path;

use super::output::Output;
use crate::config::{Config, Diagnostics, Severity};

pub(super) fn check(path: &Path) -> Output {
    match Config::load(path) {
        Ok(config) => Output {
            out: format!("{}: ok: {}\n", path.display(), summary(&config)),
            err: config.warnings.to_string(),
            failed: false,
        },
        Err(diagnostics) => {
            Output::failure(format!("{diagnostics}{}: {}\n", path.display(), counts(&diagnostics)))
        }
    }
}

fn summary(config: &Config) -> String {
    let routes = config.sites.iter().map(|site| site.routes.len()).sum::<usize>();
    let prefixes = config.claims.iter().map(|claim| claim.paths.len()).sum::<usize>();
    let mut parts = vec![
        count(config.fleets.len(), "fleet"),
        format!("{} on {}", count(routes, "route"), count(config.sites.len(), "host")),
        count(config.shared.len(), "shared route"),
        format!("{} of {}", count(prefixes, "prefix"), count(config.claims.len(), "claim")),
    ];
    if !config.warnings.is_empty() {
        parts.push(count(config.warnings.len(), "warning"));
    }
    parts.join(", ")
}

fn counts(diagnostics: &Diagnostics) -> String {
    let warnings = diagnostics.count(Severity::Warning);
    let errors = count(diagnostics.count(Severity::Error), "error");
    match (diagnostics.left_out(), warnings) {
        (0, 0) => errors,
        (0, warnings) => format!("{errors}, {}", count(warnings, "warning")),
        (more, _) => format!("{errors} shown, and {more} more"),
    }
}

fn count(number: usize, noun: &str) -> String {
    match (number, noun) {
        (1, noun) => format!("1 {noun}"),
        (number, "prefix") => format!("{number} prefixes"),
        (number, noun) => format!("{number} {noun}s"),
    }
}
