//! Every stored claim, as a box has read them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fingerpost_authority::{Host, HostKind};

use crate::{Claim, ClaimError};

/// Every stored claim, as a box has read them: parsed, or with the reason why not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimSet {
    claims: BTreeMap<Host, Result<Arc<Claim>, ClaimError>>,
    /// Hosts of claims by the name that they stand one label under.
    under: BTreeMap<Host, BTreeSet<Host>>,
    /// Keys that are no canonical host.
    strays: BTreeSet<String>,
}

impl ClaimSet {
    /// No claims.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over what is stored under `key`; `None` is nothing.
    ///
    /// A key that is not the canonical text of a host is a stray: it is reported and has no effect.
    pub fn set(&mut self, key: &str, body: Option<&[u8]>) -> Option<Host> {
        let host = Host::parse(key).ok().filter(|host| host.as_str() == key);
        match (&host, body) {
            (Some(host), Some(body)) => self.insert(host.clone(), Claim::parse(host, body)),
            (Some(host), None) => self.remove(host),
            (None, Some(_)) => {
                self.strays.insert(key.to_owned());
            }
            (None, None) => {
                self.strays.remove(key);
            }
        }
        host
    }

    /// Takes over a claim, or the reason why there is none.
    pub fn insert(&mut self, host: Host, claim: Result<Claim, ClaimError>) {
        if let Some(parent) = parent(&host) {
            self.under.entry(parent).or_default().insert(host.clone());
        }
        self.claims.insert(host, claim.map(Arc::new));
    }

    fn remove(&mut self, host: &Host) {
        self.claims.remove(host);
        let Some(parent) = parent(host) else { return };
        if let Some(hosts) = self.under.get_mut(&parent) {
            hosts.remove(host);
            if hosts.is_empty() {
                self.under.remove(&parent);
            }
        }
    }

    /// What is stored for a host, tombstones included.
    #[must_use]
    pub fn get(&self, host: &Host) -> Option<Result<&Claim, &ClaimError>> {
        self.claims.get(host).map(|claim| claim.as_deref())
    }

    /// The claim of a host, unless it is deleted or does not parse.
    #[must_use]
    pub fn live(&self, host: &Host) -> Option<&Claim> {
        self.get(host)?.ok().filter(|claim| !claim.is_deleted())
    }

    /// The hosts, in order.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.claims.keys()
    }

    /// How many hosts there are, tombstones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.claims.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Keys that are no canonical host.
    pub fn strays(&self) -> impl Iterator<Item = &str> {
        self.strays.iter().map(String::as_str)
    }

    /// Claims exactly one label under `host`.
    pub(crate) fn under(&self, host: &Host) -> impl Iterator<Item = &Host> {
        self.under.get(host).into_iter().flatten()
    }
}

/// The name that `host` stands one label under.
pub(crate) fn parent(host: &Host) -> Option<Host> {
    if host.kind() != HostKind::Name {
        return None;
    }
    let (_, rest) = host.as_str().split_once('.')?;
    Host::parse(rest).ok()
}
