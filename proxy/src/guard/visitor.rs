//! One request before the guards of the routes that it is decided for.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;
use http::request::Parts;

use super::gate::Gate;
use super::{Auth, Refusal, address};
use crate::entry::Entry;
use crate::server::Client;

/// What guards know of a request.
///
/// A request is decided again before each dispatch, and its guards are looked at again each time. It is
/// counted once for a route, and what it has proved to one guard counts for as long as the guard stays equal.
#[derive(Debug)]
pub(crate) struct Visitor {
    /// `None` where a trusted proxy gives no usable address.
    address: Option<IpAddr>,
    peer: IpAddr,
    /// The route that it was counted for.
    counted: Option<Arc<str>>,
    passed: Option<Passed>,
    /// Whether the last decision rests on `passed`.
    relies: bool,
    /// Fields that were set for the decision before.
    told: HeaderMap,
}

#[derive(Debug)]
struct Passed {
    auth: Auth,
    identity: HeaderMap,
}

/// What keeps a request from its route.
#[derive(Debug)]
pub(crate) enum Halt {
    /// For good.
    Refused(Box<Refusal>),
    /// Until somebody was asked.
    Ask(Auth),
}

impl Visitor {
    pub(crate) fn new(client: &Client, headers: &HeaderMap) -> Self {
        let origin = client.origin();
        let address = address::client(origin, headers, &client.settings().trusted_proxies);
        Self {
            address,
            peer: origin.peer(),
            counted: None,
            passed: None,
            relies: false,
            told: HeaderMap::new(),
        }
    }

    /// Looks at the guards of `entry`.
    pub(crate) fn check(&mut self, entry: &Entry, gate: &Gate) -> Result<(), Halt> {
        self.relies = false;
        let guards = &entry.guards;
        if let Some(networks) = &guards.internal_only
            && !self.address.is_some_and(|address| networks.contain(address))
        {
            return Err(Halt::Refused(Refusal::outsider()));
        }
        if let Some(limit) = guards.rate_limit
            && self.counted.as_ref() != Some(&entry.id)
        {
            let client = self.address.unwrap_or(self.peer);
            let counted = gate.rates.count(&entry.id, client, limit, gate.now());
            counted.map_err(|wait| Halt::Refused(Refusal::too_many(wait)))?;
            self.counted = Some(Arc::clone(&entry.id));
        }
        let Some(auth) = &guards.auth else { return Ok(()) };
        self.relies = self.passed.as_ref().is_some_and(|passed| passed.auth == *auth);
        if self.relies { Ok(()) } else { Err(Halt::Ask(auth.clone())) }
    }

    /// Asks whoever knows, so that the next look finds it passed.
    pub(crate) async fn ask(
        &mut self,
        auth: Auth,
        client: &Client,
        parts: &Parts,
        edited: bool,
    ) -> Result<(), Box<Refusal>> {
        let identity = match &auth {
            Auth::Basic(basic) => {
                basic.ask(&parts.headers, client.worker().gate()).await?;
                HeaderMap::new()
            }
            Auth::Forward(forward) => forward.ask(client, parts, edited).await?,
        };
        self.passed = Some(Passed { auth, identity });
        Ok(())
    }

    /// Tells an application who the client is, in the fields that nobody else may set.
    pub(crate) fn introduce(&mut self, headers: &mut HeaderMap) {
        for name in std::mem::take(&mut self.told).keys() {
            headers.remove(name);
        }
        if let Some(Passed { auth: Auth::Forward(forward), identity }) = &self.passed
            && self.relies
        {
            forward.strip(headers);
            headers.extend(identity.clone());
            self.told.clone_from(identity);
        }
    }
}
