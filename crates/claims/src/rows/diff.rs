//! What makes one set of rows into another.

use std::collections::BTreeMap;
use std::sync::Arc;

use fingerpost_authority::Host;
use fingerpost_path::Prefix;

use super::{AliasRow, PathRow, PathRows, Rows, WildcardRow};

/// What makes one set of rows into another; each list is in the order of its keys, and `None` removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowsDiff {
    /// Rows of `route_aliases`.
    pub aliases: Vec<(Host, Option<AliasRow>)>,
    /// Rows of `wildcard_domains`.
    pub wildcards: Vec<(Host, Option<WildcardRow>)>,
    /// Rows of `route_paths`.
    pub paths: Vec<(Host, Prefix, Option<PathRow>)>,
}

impl RowsDiff {
    /// Whether nothing changes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.aliases.is_empty() && self.wildcards.is_empty() && self.paths.is_empty()
    }

    /// Adds what has changed among aliases.
    pub(crate) fn compare_aliases(
        &mut self,
        old: &BTreeMap<Host, AliasRow>,
        new: &BTreeMap<Host, AliasRow>,
    ) {
        compare(old, new, |host, row| self.aliases.push((host.clone(), row.cloned())));
    }

    /// Adds what has changed among wildcards.
    pub(crate) fn compare_wildcards(
        &mut self,
        old: &BTreeMap<Host, WildcardRow>,
        new: &BTreeMap<Host, WildcardRow>,
    ) {
        compare(old, new, |host, row| self.wildcards.push((host.clone(), row.cloned())));
    }

    /// Adds what has changed among the path rows of one host.
    pub(crate) fn compare_paths(
        &mut self,
        host: &Host,
        old: Option<&PathRows>,
        new: Option<&PathRows>,
    ) {
        let none = PathRows::new();
        compare(old.unwrap_or(&none), new.unwrap_or(&none), |prefix, row| {
            self.paths.push((host.clone(), prefix.clone(), row.cloned()));
        });
    }
}

impl Rows {
    /// What makes `self` into `next`.
    ///
    /// # Complexity
    /// Linear in the rows of hosts whose path rows are not shared between the two.
    #[must_use]
    pub fn diff(&self, next: &Self) -> RowsDiff {
        let mut diff = RowsDiff::default();
        diff.compare_aliases(&self.aliases, &next.aliases);
        diff.compare_wildcards(&self.wildcards, &next.wildcards);
        let mut hosts = Vec::new();
        compare(&self.paths, &next.paths, |host, _| hosts.push(host.clone()));
        for host in hosts {
            let (old, new) = (self.paths.get(&host), next.paths.get(&host));
            diff.compare_paths(&host, old.map(Arc::as_ref), new.map(Arc::as_ref));
        }
        diff
    }

    /// Carries a difference out.
    pub fn apply(&mut self, diff: &RowsDiff) {
        for (host, row) in &diff.aliases {
            set(&mut self.aliases, host, row.as_ref());
        }
        for (host, row) in &diff.wildcards {
            set(&mut self.wildcards, host, row.as_ref());
        }
        for (host, prefix, row) in &diff.paths {
            let rows = Arc::make_mut(self.paths.entry(host.clone()).or_default());
            set(rows, prefix, row.as_ref());
            if rows.is_empty() {
                self.paths.remove(host);
            }
        }
    }
}

fn set<K: Ord + Clone, V: Clone>(map: &mut BTreeMap<K, V>, key: &K, value: Option<&V>) {
    match value {
        Some(value) => {
            map.insert(key.clone(), value.clone());
        }
        None => {
            map.remove(key);
        }
    }
}

/// Walks two maps together and calls back for each key whose values differ, with the new one.
pub(crate) fn compare<'a, K: Ord, V: Eq>(
    old: &'a BTreeMap<K, V>,
    new: &'a BTreeMap<K, V>,
    mut changed: impl FnMut(&'a K, Option<&'a V>),
) {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some((was, _)), Some((is, _))) if was == is => {
                let same = old.next().map(|(_, row)| row) == new.peek().map(|(_, row)| *row);
                if let Some((key, row)) = new.next()
                    && !same
                {
                    changed(key, Some(row));
                }
            }
            (Some((was, _)), is) if is.is_none_or(|(is, _)| was < is) => {
                changed(was, None);
                old.next();
            }
            _ => {
                if let Some((key, row)) = new.next() {
                    changed(key, Some(row));
                }
            }
        }
    }
}
