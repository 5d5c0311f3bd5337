//! What the log says of a pass.

use std::collections::BTreeSet;

use fingerpost_authority::Host;
use fingerpost_claims::{Pass, Report};

/// How many withdrawn entries of one pass get a line of their own.
const LINES: usize = 100;

/// Writes a line for each host with something that has no effect, and for each entry that was served and is not
/// any more.
pub(super) fn log(report: &Report, pass: &Pass, hosts: Option<&BTreeSet<Host>>) {
    let claims = report.claims().filter(|claim| hosts.is_none_or(|h| h.contains(&claim.host)));
    for summary in claims.filter_map(|claim| claim.summary()) {
        tracing::info!("{summary}");
    }
    for entry in pass.withdrawn.iter().take(LINES) {
        let (host, prefix, code) = (&entry.host, entry.prefix.as_str(), entry.code);
        let now = if entry.held { "503" } else { "the origin" };
        tracing::warn!(%host, prefix, %code, "an entry that was served is not any more: {now}");
    }
    if let Some(more) = pass.withdrawn.len().checked_sub(LINES).filter(|more| *more > 0) {
        tracing::warn!(more, "more entries that were served are not any more");
    }
}
