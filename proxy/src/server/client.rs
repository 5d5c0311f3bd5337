//! One client connection, as everything that serves it sees it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use fingerpost_authority::HostPattern;

use super::Phase;
use super::watch::{Stage, Watch};
use super::worker::Worker;
use crate::forward::Tunnel;
use crate::headers::Origin;
use crate::snapshot::Settings;
use crate::tls::Served;

/// What stays the same as long as a connection lives.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) worker: Rc<Worker>,
    origin: Origin,
    /// Those at the time of accept: they don't hold on to a snapshot.
    pub(super) settings: Arc<Settings>,
    /// The certificate that it is served with.
    served: Option<Arc<Served>>,
}

impl Link {
    pub(super) fn new(
        worker: Rc<Worker>,
        origin: Origin,
        settings: Arc<Settings>,
        served: Option<Arc<Served>>,
    ) -> Rc<Self> {
        Rc::new(Self { worker, origin, settings, served })
    }
}

/// What outlives the requests of a connection.
#[derive(Debug)]
pub(crate) struct Client {
    link: Rc<Link>,
    watch: Rc<Watch>,
    /// Requests that have come.
    requests: Cell<u32>,
    /// No request has come yet.
    fresh: Cell<bool>,
    /// The socket takes nothing more of what we have written, for the time being.
    blocked: Cell<bool>,
    /// That the time for the next request was cut short, and what `blocked` was then.
    cut_short: Cell<Option<bool>>,
    /// It is one stream of a connection, which has one exchange only.
    is_stream: bool,
    /// What the connection, or the stream, becomes when the response has been sent.
    tunnel: RefCell<Option<Box<Tunnel>>>,
    /// That exchange went as far as the upstream let it.
    answered: Cell<bool>,
}

impl Client {
    pub(super) fn new(link: Rc<Link>, watch: Rc<Watch>) -> Rc<Self> {
        let client = Self::with(link, watch, false);
        client.begin(Stage::Head, client.settings().header_timeout);
        Rc::new(client)
    }

    /// One stream of this connection, with waits of its own.
    pub(crate) fn stream(&self) -> Rc<Self> {
        Rc::new(Self::with(Rc::clone(&self.link), self.worker().watch(), true))
    }

    const fn with(link: Rc<Link>, watch: Rc<Watch>, is_stream: bool) -> Self {
        Self {
            link,
            watch,
            requests: Cell::new(0),
            fresh: Cell::new(true),
            blocked: Cell::new(false),
            cut_short: Cell::new(None),
            is_stream,
            tunnel: RefCell::new(None),
            answered: Cell::new(false),
        }
    }

    /// Whether it is one stream of a connection that has many.
    pub(crate) const fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Whether nobody can say that the client gave it up: what never carried a request is no exchange.
    pub(super) fn is_answered(&self) -> bool {
        self.answered.get() || self.fresh.get()
    }

    pub(crate) fn set_tunnel(&self, tunnel: Tunnel) {
        self.tunnel.replace(Some(Box::new(tunnel)));
    }

    /// Changes the tunnel, if there is one.
    pub(crate) fn with_tunnel<R>(&self, change: impl FnOnce(&mut Tunnel) -> R) -> Option<R> {
        self.tunnel.borrow_mut().as_deref_mut().map(change)
    }

    pub(crate) fn take_tunnel(&self) -> Option<Box<Tunnel>> {
        self.tunnel.take()
    }

    /// Remembers the task to wake when a limit has passed.
    pub(crate) fn register(&self, waker: &Waker) {
        self.watch.register(waker);
    }

    pub(crate) fn worker(&self) -> &Worker {
        &self.link.worker
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.link.origin
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.link.settings
    }

    /// The names of the certificate that the connection is served with; `None` without TLS.
    pub(crate) fn tls_names(&self) -> Option<&[HostPattern]> {
        self.link.served.as_deref().map(Served::names)
    }

    /// The peer's IP address.
    pub(crate) fn address(&self) -> &str {
        self.origin().address().to_str().unwrap_or_default()
    }

    /// Begins to wait for something that may take `limit`.
    pub(crate) fn begin(&self, stage: Stage, limit: Duration) {
        self.watch.begin(stage, self.worker().now(), limit);
    }

    /// A request has come.
    pub(crate) fn request_came(&self) {
        self.watch.end();
        self.requests.set(self.requests.get().saturating_add(1));
        self.fresh.set(false);
        self.cut_short.set(None);
    }

    /// The listeners have closed, and so does this connection when nothing is under way; to be told
    /// whenever something has happened, since that may be the end of an exchange.
    ///
    /// A request may be on its way: one that comes within a tick is still answered, and a client
    /// that has only just connected has a second for its first. One that hasn't taken all of the last
    /// response has as long as it would have had within it.
    pub(super) fn close_soon(&self) {
        let blocked = self.blocked.get();
        if self.stage() != Stage::Head || self.cut_short.replace(Some(blocked)) == Some(blocked) {
            return;
        }
        let patience = match (blocked, self.fresh.get()) {
            (true, _) => self.settings().body_timeout,
            (false, true) => Duration::from_secs(1).min(self.settings().header_timeout),
            (false, false) => Duration::ZERO,
        };
        self.begin(Stage::Head, patience);
    }

    /// Notes whether the socket took what was written last.
    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.set(blocked);
    }

    /// Its exchange is over: `answered` tells whether the client gave it up.
    pub(crate) fn exchange_over(&self, answered: impl FnOnce() -> bool) {
        if self.is_stream {
            self.answered.set(answered());
            self.watch.end();
        } else {
            self.await_request();
        }
    }

    /// Nothing is under way.
    pub(super) fn await_request(&self) {
        self.begin(Stage::Head, self.settings().keep_alive_timeout);
    }

    pub(crate) fn stage(&self) -> Stage {
        self.watch.stage()
    }

    pub(crate) fn expired(&self) -> Option<Stage> {
        self.watch.expired()
    }

    pub(crate) fn now(&self) -> u32 {
        self.worker().now()
    }

    /// Whether a response has to say that its connection closes.
    pub(crate) fn closes(&self) -> bool {
        self.worker().phase() != Phase::Serving || self.is_spent()
    }

    /// Whether as many requests have come as may.
    pub(super) fn is_spent(&self) -> bool {
        let most = self.settings().admission.requests_per_connection;
        most.is_some_and(|most| self.requests.get() >= most)
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }
}
