//! Rows and report, put together from what each hostname gets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fingerpost_authority::Host;

use super::host::{Judged, judge};
use crate::{ClaimSet, Facts, Limits, Report, Rows, Source, WildcardRow, Withdrawn};

/// Rows and report, put together from what each hostname gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) rows: Rows,
    pub(super) report: Report,
    /// Every wildcard that passed its gates, before the limit.
    wanted: BTreeMap<Host, WildcardRow>,
}

impl Tables {
    /// Makes a full pass, and says what it withdrew from what was served before.
    pub(super) fn full(
        facts: &Facts,
        claims: &ClaimSet,
        previous: &Rows,
    ) -> (Self, Vec<Withdrawn>) {
        let (mut tables, mut withdrawn) = (Self::default(), Vec::new());
        let config = facts.config_claims().map(|(host, _)| host);
        let hosts: BTreeSet<_> = config.chain(claims.hosts()).collect();
        for host in hosts {
            let before = previous.paths.get(host).map(AsRef::as_ref);
            let judged = judge(facts, claims, host, before);
            withdrawn.extend(judged.withdrawn(before));
            tables.place(judged);
        }
        tables.finish(facts.limits(), claims);
        (tables, withdrawn)
    }

    /// Puts what a host gets in the place of what it had.
    pub(super) fn place(&mut self, judged: Judged) {
        let Judged { host, alias, wildcard, paths, reports } = judged;
        for source in [Source::Config, Source::Stored] {
            self.report.claims.remove(&(host.clone(), source));
        }
        for report in reports {
            self.report.claims.insert((host.clone(), report.source), Arc::new(report));
        }
        set(&mut self.rows.aliases, &host, alias);
        set(&mut self.wanted, &host, wildcard);
        let same = self.rows.paths.get(&host).is_some_and(|rows| **rows == paths);
        if !same {
            let paths = (!paths.is_empty()).then(|| Arc::new(paths));
            set(&mut self.rows.paths, &host, paths);
        }
    }

    /// Applies what concerns all hosts: the limit over wildcards, and keys that are no host.
    pub(super) fn finish(&mut self, limits: &Limits, claims: &ClaimSet) {
        let max = limits.max_wildcards;
        let within = |(host, row): (&Host, &WildcardRow)| (host.clone(), row.clone());
        self.rows.wildcards = self.wanted.iter().take(max).map(within).collect();
        self.report.wildcards_over = self.wanted.keys().skip(max).cloned().collect();
        self.report.strays = claims.strays().map(str::to_owned).collect();
    }
}

fn set<K: Ord + Clone, V>(map: &mut BTreeMap<K, V>, key: &K, value: Option<V>) {
    match value {
        Some(value) => {
            map.insert(key.clone(), value);
        }
        None => {
            map.remove(key);
        }
    }
}
