//! What a matched route does with a request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::guard::Guards;
use crate::redirect::Template;

/// The value that every route of the router carries.
///
/// A snapshot shares its entries by `Arc`; nothing in one changes after it was built.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The route's id, unique in a configuration.
    pub id: Arc<str>,
    /// The host as it was configured, for logs and metrics (`_shared` for a route without hosts).
    pub label_host: Arc<str>,
    /// What is done with a request.
    pub action: Action,
    /// The account that the traffic is charged to.
    pub account: Option<Arc<str>>,
    /// The app of that account.
    pub app: Option<Arc<str>>,
    /// How long a WebSocket or an event stream goes on after a flip has moved its requests away (30 s).
    pub flip_drain: Duration,
    /// Who may use it. A guarded route is to be `guarded` in the router too.
    pub guards: Guards,
    /// Bytes of a request's content, where that is not for the settings to say.
    pub max_body_size: Option<u64>,
}

impl Entry {
    /// Makes an entry that belongs to no account and no app, and is open to everybody.
    pub fn new(id: impl Into<Arc<str>>, label_host: impl Into<Arc<str>>, action: Action) -> Self {
        Self {
            id: id.into(),
            label_host: label_host.into(),
            action,
            account: None,
            app: None,
            flip_drain: Duration::from_secs(30),
            guards: Guards::default(),
            max_body_size: None,
        }
    }
}

/// A route's action.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Pass the request on to a server of a fleet.
    Forward(FleetId),
    /// Send the client elsewhere.
    Redirect(Redirect),
    /// Answer with a fixed response.
    Respond(Response),
}

/// Position of a fleet in [`Snapshot::fleets`](crate::snapshot::Snapshot::fleets) of one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FleetId(usize);

impl FleetId {
    /// Names the fleet at `index`.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// The position in the snapshot's list.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A fixed response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// Its header fields; framing fields are ours and are ignored here.
    pub headers: HeaderMap,
    /// Its content; not sent in answer to HEAD.
    pub body: Bytes,
}

impl Response {
    /// Makes a response without header fields of its own.
    pub fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self { status, headers: HeaderMap::new(), body: body.into() }
    }
}

/// A redirect to a place that may depend on the request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: StatusCode,
    /// Where to.
    pub to: Template,
}

impl Redirect {
    /// Makes a permanent redirect that keeps the method (308).
    pub fn new(to: Template) -> Self {
        Self { status: StatusCode::PERMANENT_REDIRECT, to }
    }
}
