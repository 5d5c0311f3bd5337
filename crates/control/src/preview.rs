//! What this box makes of a claim, before or after it has.

use std::collections::BTreeSet;

use fingerpost_authority::{Host, HostKind};
use fingerpost_claims::{Claim, ClaimSet, Code, Rows, Source, Warning, reconcile};
use serde::Serialize;

use crate::auth::Caller;
use crate::control::Control;
use crate::pointer::pointer;

/// An entry that this box does not route.
#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    /// JSON Pointer to it in the body that was published (RFC 6901).
    pointer: String,
    prefix: String,
    target: Option<String>,
    code: &'static str,
}

/// What has effect, and may not do what was meant.
#[derive(Debug, Serialize)]
pub(crate) struct Warned {
    code: &'static str,
    detail: String,
}

impl Warned {
    pub(crate) fn new(warning: &Warning) -> Self {
        Self { code: warning.code(), detail: warning.to_string() }
    }
}

/// What reconcile makes of a claim.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    /// Why the claim as a whole has no effect.
    pub(crate) code: Option<Code>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) warnings: Vec<Warned>,
}

/// Says what reconcile makes of a claim: why it has no effect, or which entries have none. The caller is told
/// as much of targets as may be known to the account.
///
/// # Complexity
/// Looks at the entries of this claim, at the claims of their targets and of the names above those, and at
/// every claim in the configuration.
pub(crate) fn preview(control: &Control, caller: &Caller, claim: &Claim) -> Preview {
    let mut outcome = None;
    control.view.look(&mut |live| {
        let host = claim.host();
        let mut claims = ClaimSet::new();
        for near in neighbours(claim) {
            if let Some(Ok(stored)) = live.claims.get(&near) {
                claims.insert(near, Ok(stored.clone()));
            }
        }
        claims.insert(host.clone(), Ok(claim.clone()));
        let mut report = reconcile(live.facts, &claims, &Rows::default()).report;
        if !caller.is_operator() {
            report = report.view_for(claim.account());
        }
        let found = report.of_host(host).find(|found| found.source == Source::Stored);
        outcome = found.map(|found| {
            let refused = found.entries.iter().map(|entry| Refused {
                pointer: pointer("/paths", &entry.prefix),
                prefix: entry.prefix.to_string(),
                target: entry.target.as_deref().map(str::to_owned),
                code: entry.code.as_str(),
            });
            Preview {
                code: found.verdict.code(),
                refused: refused.collect(),
                warnings: found.warnings.iter().map(Warned::new).collect(),
            }
        });
    });
    outcome.unwrap_or_default()
}

/// Hosts whose claims have a say in what becomes of this one.
fn neighbours(claim: &Claim) -> BTreeSet<Host> {
    let targets = claim.paths().iter().map(|(_, target)| target);
    let mut hosts: BTreeSet<Host> = targets.chain([claim.host()]).cloned().collect();
    let above: Vec<_> = hosts.iter().filter_map(above).collect();
    hosts.extend(above);
    hosts
}

/// The name that a host stands one label under.
fn above(host: &Host) -> Option<Host> {
    let name = host.kind() == HostKind::Name;
    let (_, rest) = host.as_str().split_once('.').filter(|_| name)?;
    Host::parse(rest).ok()
}
