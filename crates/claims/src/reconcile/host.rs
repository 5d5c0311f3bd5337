//! What one hostname gets.

use fingerpost_authority::Host;

use super::entries::{Judge, refuse_all};
use crate::gates::{self, Resolved};
use crate::rows::compare;
use crate::{
    AliasRow, Claim, ClaimReport, ClaimSet, Code, EntryReport, Facts, OnUnresolved, PathRow,
    PathRows, RowState, Source, Verdict, Warning, WildcardRow, Withdrawn,
};

/// What one hostname gets, and what is said about it.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) host: Host,
    pub(super) alias: Option<AliasRow>,
    /// Subject to the limit over all wildcards.
    pub(super) wildcard: Option<WildcardRow>,
    pub(super) paths: PathRows,
    pub(super) reports: Vec<ClaimReport>,
}

/// Judges the claims of one host.
///
/// It looks at the facts, at the stored claims of this host, of the name above it and of names one label
/// under it, and at this host's previous rows; at nothing else.
pub(super) fn judge(
    facts: &Facts,
    claims: &ClaimSet,
    host: &Host,
    previous: Option<&PathRows>,
) -> Judged {
    let mut judged = Judged {
        host: host.clone(),
        alias: None,
        wildcard: None,
        paths: PathRows::new(),
        reports: Vec::new(),
    };
    let config = facts.config_claim(host).filter(|claim| !claim.is_deleted());
    let stored = claims.get(host).filter(|stored| !stored.is_ok_and(Claim::is_deleted));
    if let Some(claim) = config {
        let replaced = match stored {
            None => false,
            Some(Ok(stored)) => stored.account() == claim.account(),
            Some(Err(_)) => true,
        };
        if replaced {
            judged.reports.push(about(claim, Source::Config, Verdict::Replaced));
        } else {
            judged.add(facts, claims, claim, Source::Config, previous);
        }
    }
    match stored {
        None => {}
        Some(Ok(claim)) => judged.add(facts, claims, claim, Source::Stored, previous),
        Some(Err(_)) => judged.add_unreadable(facts, previous),
    }
    judged
}

impl Judged {
    /// Adds a claim. Of two claims of one host at most one is owned, so that rows never mix.
    fn add(
        &mut self,
        facts: &Facts,
        claims: &ClaimSet,
        claim: &Claim,
        source: Source,
        previous: Option<&PathRows>,
    ) {
        let owned = gates::owned(facts, claims, claim, source);
        let resolved = match owned.and_then(|()| gates::local(facts, claim)) {
            Ok(resolved) => resolved,
            Err((code, detail)) => {
                let mut report = about(claim, source, Verdict::Refused { code, detail });
                report.wildcard = claim.reach().is_wide().then_some(code);
                report.entries = refuse_all(claim, code);
                self.reports.push(report);
                return;
            }
        };
        let mut report = about(claim, source, Verdict::Standing);
        if resolved.host != claim.host() {
            let own_map = claim.entry_count() > 0;
            self.alias = Some(AliasRow { primary: resolved.host.clone(), own_map });
        }
        report.wildcard = self.add_wildcard(facts, claims, claim, source, &resolved).err();
        let judge = Judge::new(facts, claim, &resolved, previous);
        (self.paths, report.entries) = judge.entries();
        report.routed = self.paths.values().filter(|row| row.state == RowState::Routed).count();
        report.warnings = Warning::of_map(&resolved.route.site, claim.paths());
        self.reports.push(report);
    }

    fn add_wildcard(
        &mut self,
        facts: &Facts,
        claims: &ClaimSet,
        claim: &Claim,
        source: Source,
        resolved: &Resolved<'_>,
    ) -> Result<(), Code> {
        if !claim.reach().is_wide() {
            return Ok(());
        }
        gates::names_owned(facts, claims, claim, source)?;
        let (account, app) = (claim.account().clone(), claim.app().clone());
        let row = self.wildcard.insert(WildcardRow { account, app, catchall: None });
        if claim.reach().catchall {
            gates::names_unrouted(facts, claim.host())?;
            row.catchall = Some(resolved.host.clone());
        }
        Ok(())
    }

    /// A stored claim that does not parse: what was served before is held, where the site says so.
    fn add_unreadable(&mut self, facts: &Facts, previous: Option<&PathRows>) {
        self.reports.push(ClaimReport {
            host: self.host.clone(),
            source: Source::Stored,
            account: None,
            app: None,
            verdict: Verdict::Refused { code: Code::ClaimInvalid, detail: None },
            wildcard: None,
            routed: 0,
            entries: Vec::new(),
            warnings: Vec::new(),
        });
        let Some(route) = facts.route(&self.host) else { return };
        if route.site.on_unresolved == OnUnresolved::Origin {
            return;
        }
        let kept = previous.into_iter().flatten().filter(|(prefix, row)| {
            route.account.as_ref() == Some(&row.to.account)
                && gates::unreserved(&route.site, prefix).is_ok()
        });
        let kept = kept.take(facts.limits().max_paths_per_claim);
        self.paths = kept
            .map(|(prefix, row)| (prefix.clone(), PathRow { state: RowState::Held, ..row.clone() }))
            .collect();
    }

    /// What was routed before, is still wanted, and is routed no longer.
    pub(super) fn withdrawn(&self, previous: Option<&PathRows>) -> Vec<Withdrawn> {
        let Some(previous) = previous else { return Vec::new() };
        let mut withdrawn = Vec::new();
        compare(previous, &self.paths, |prefix, row| {
            let routed = |row: &PathRow| row.state == RowState::Routed;
            if row.is_some_and(routed) || !previous.get(prefix).is_some_and(routed) {
                return;
            }
            let code = self.reports.iter().find_map(|report| code_of(report, prefix.as_str()));
            let Some(code) = code else { return };
            let (host, prefix) = (self.host.clone(), prefix.clone());
            withdrawn.push(Withdrawn { host, prefix, code, held: row.is_some() });
        });
        withdrawn
    }
}

/// Why an entry is not routed; of a claim that does not parse, every entry may be one.
fn code_of(report: &ClaimReport, prefix: &str) -> Option<Code> {
    if report.account.is_none() {
        return report.verdict.code();
    }
    let at =
        report.entries.binary_search_by(|entry: &EntryReport| (*entry.prefix).cmp(prefix)).ok()?;
    report.entries.get(at).map(|entry| entry.code)
}

fn about(claim: &Claim, source: Source, verdict: Verdict) -> ClaimReport {
    ClaimReport {
        host: claim.host().clone(),
        source,
        account: Some(claim.account().clone()),
        app: Some(claim.app().clone()),
        verdict,
        wildcard: None,
        routed: 0,
        entries: Vec::new(),
        warnings: Vec::new(),
    }
}
