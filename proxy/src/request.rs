//! The one path that every request takes.
//!
//! `select` says which host it names, the router which entry serves it, and the entry what is done.
//! A request that has to be sent again is looked up again first: what was true of the snapshot then
//! may not be true of the one now.

mod https;
mod lasting;
mod websocket;

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use fingerpost_authority::{Head, Host, Rejected, Selected, select};
use fingerpost_path::PathRefused;
use fingerpost_router::{Lookup, Match, Refused};
use http::header::{ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use hyper::body::{Body, Incoming};
use hyper::upgrade::OnUpgrade;

use crate::entry::{Action, Entry, Redirect};
use crate::forward::{Attempt, Download, History, Inbound, Order, attempt};
use crate::guard::{Halt, Refusal, Visitor};
use crate::headers;
use crate::observe::Observer;
use crate::problem::{ALLOWED, Problem};
use crate::redirect::Values;
use crate::server::Client;
use crate::snapshot::Snapshot;
use crate::upstream::{FleetPool, Pools};

/// Answers one request.
///
/// # Errors
///
/// Never: whatever goes wrong is an answer, or the end of the connection.
pub(crate) async fn answer(
    client: Rc<Client>,
    request: Request<Incoming>,
) -> Result<Response<Download>, Infallible> {
    client.request_came();
    let (mut parts, incoming) = request.into_parts();
    let upgrade = client.is_stream().then(|| parts.extensions.remove::<OnUpgrade>()).flatten();
    let mut observer = Observer::begin(&client, &parts);
    let unread = !incoming.is_end_stream();
    let mut response = match respond(&client, parts, incoming, &mut observer).await {
        Outcome::Forwarded(response) => response,
        Outcome::Local(Local { status, mut headers, body }) => {
            if unread {
                // Nothing that follows on the connection may be taken for a request.
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            let mut response = Response::new(Download::whole(&client, body));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            response
        }
    };
    if client.is_stream() {
        // Nothing speaks of connections there (RFC 9113 section 8.2.2).
        response.headers_mut().remove(CONNECTION);
        if let (Some(tunnel), Some(upgrade)) = (client.take_tunnel(), upgrade) {
            websocket::tunnel(&client, tunnel, upgrade);
        }
    } else if client.closes() && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    observer.set_status(response.status());
    response.body_mut().observe(observer);
    Ok(response)
}

/// Where an answer comes from.
enum Outcome {
    Forwarded(Response<Download>),
    Local(Local),
}

/// An answer of our own.
struct Local {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl From<Problem> for Local {
    fn from(problem: Problem) -> Self {
        let (headers, body) = problem.render();
        Self { status: problem.status, headers, body }
    }
}

impl From<Box<Refusal>> for Local {
    fn from(refusal: Box<Refusal>) -> Self {
        let Refusal { status, headers, body } = *refusal;
        Self { status, headers, body }
    }
}

async fn respond(
    client: &Rc<Client>,
    parts: Parts,
    incoming: Incoming,
    observer: &mut Observer,
) -> Outcome {
    if parts.headers.len() > client.settings().admission.headers {
        return Outcome::Local(Problem::TOO_MANY_FIELDS.into());
    }
    let mut head = Head::from_parts(&parts, client.tls_names());
    head.websocket = client.is_stream() && headers::is_extended_connect(&parts);
    let host = match select(&head) {
        Ok(Selected::Host(host)) => Some(host),
        Ok(Selected::NoHost) => None,
        Ok(Selected::Asterisk) => return Outcome::Local(own_options()),
        Err(rejected) => {
            return Outcome::Local(rejected_problem(rejected).into());
        }
    };
    observer.set_host(host.as_ref());
    let version = parts.version;
    let mut visitor = Visitor::new(client, &parts.headers);
    let mut pending = Pending::Received(parts, incoming);
    let mut history = History::default();
    loop {
        let decision = decide(client, host.as_ref(), &pending, &mut visitor, observer);
        let (fleet, mapped, most) = match decision {
            Decision::Forward { fleet, mapped, most } => (fleet, mapped, most),
            Decision::Halt(Halt::Refused(refusal)) => return Outcome::Local(refusal.into()),
            Decision::Halt(Halt::Ask(auth)) => {
                // What it is decided for may change meanwhile: it is looked up again.
                let edited = matches!(pending, Pending::Ordered(_));
                match visitor.ask(auth, client, pending.parts(), edited).await {
                    Ok(()) => continue,
                    Err(refusal) => return Outcome::Local(refusal.into()),
                }
            }
            Decision::Answer(local) => return Outcome::Local(local),
        };
        let mut order = match pending {
            Pending::Ordered(order) => order,
            Pending::Received(mut parts, incoming) => {
                if headers::ends_here(&mut parts) {
                    return Outcome::Local(own_options());
                }
                let empty = incoming.is_end_stream();
                let edited = match headers::edit_request(&mut parts, empty, client.origin()) {
                    Ok(edited) => edited,
                    Err(problem) => return Outcome::Local(problem.into()),
                };
                let inbound = (!empty).then(|| Inbound::new(client, incoming));
                Order { parts, inbound, edited, version }
            }
        };
        if order.inbound.as_ref().is_some_and(|inbound| !inbound.allow(most)) {
            return Outcome::Local(Problem::TOO_LARGE.into());
        }
        if mapped && order.edited.overrides {
            headers::remove_overrides(&mut order.parts.headers);
        }
        visitor.introduce(&mut order.parts.headers);
        let (websocket, target) = (order.edited.websocket, order.parts.uri.clone());
        match attempt(client, &fleet, order, &mut history).await {
            Attempt::Answered(mut response) => {
                if websocket || lasting::is_event_stream(&response) {
                    lasting::follow(client, host, target, &fleet, &mut response);
                }
                return Outcome::Forwarded(response);
            }
            Attempt::Failed(problem) => return Outcome::Local(problem.into()),
            Attempt::Again(order) => pending = Pending::Ordered(order),
        }
    }
}

/// A request that has no answer yet.
enum Pending {
    /// As it came.
    Received(Parts, Incoming),
    /// As it is sent.
    Ordered(Order),
}

impl Pending {
    const fn parts(&self) -> &Parts {
        match self {
            Self::Received(parts, _) => parts,
            Self::Ordered(order) => &order.parts,
        }
    }
}

/// What the current snapshot says is to be done.
enum Decision {
    Forward {
        fleet: Rc<FleetPool>,
        mapped: bool,
        /// Bytes that its content may have.
        most: u64,
    },
    Answer(Local),
    /// A guard of the route is in the way.
    Halt(Halt),
}

fn decide(
    client: &Client,
    host: Option<&Host>,
    pending: &Pending,
    visitor: &mut Visitor,
    observer: &mut Observer,
) -> Decision {
    // Editing keeps the bytes of path and query.
    let target = &pending.parts().uri;
    client.worker().decide(|snapshot, pools| {
        let lookup = Lookup {
            host,
            path: target.path().as_bytes(),
            query: target.query().map(str::as_bytes),
        };
        let matched = match snapshot.router.lookup(&lookup) {
            Ok(matched) => matched,
            Err(refused) => return Decision::Answer(refused_problem(refused).into()),
        };
        if let Some(port) = snapshot.settings.https_redirect
            && !client.origin().is_secure(&pending.parts().headers)
            && let Some(host) = host
            && let Some(location) = https::location(snapshot, host, port, matched.as_ref(), target)
        {
            return Decision::Answer(moved(StatusCode::PERMANENT_REDIRECT, location));
        }
        let Some(matched) = matched else { return Decision::Answer(Problem::NO_ROUTE.into()) };
        observer.set_match(snapshot, &matched);
        if let Err(halt) = visitor.check(matched.value(), client.worker().gate()) {
            return Decision::Halt(halt);
        }
        act(snapshot, pools, &matched, host, target)
    })
}

fn act(
    snapshot: &Arc<Snapshot>,
    pools: &mut Pools,
    matched: &Match<'_, '_, Arc<Entry>>,
    host: Option<&Host>,
    target: &Uri,
) -> Decision {
    match &matched.value().action {
        Action::Forward(id) => match pools.fleet(snapshot, *id) {
            Some(fleet) => {
                let most = matched.value().max_body_size;
                let most = most.or(snapshot.settings.admission.body_size).unwrap_or(u64::MAX);
                Decision::Forward { fleet, mapped: matched.mapped(), most }
            }
            None => Decision::Answer(Problem::UNAVAILABLE.into()),
        },
        Action::Respond(reply) => {
            let mut headers = reply.headers.clone();
            headers.remove(TRANSFER_ENCODING);
            headers.remove(CONTENT_LENGTH);
            Decision::Answer(Local { status: reply.status, headers, body: reply.body.clone() })
        }
        Action::Redirect(redirect) => Decision::Answer(redirected(redirect, matched, host, target)),
    }
}

fn redirected(
    redirect: &Redirect,
    matched: &Match<'_, '_, Arc<Entry>>,
    host: Option<&Host>,
    target: &Uri,
) -> Local {
    let values = Values {
        host: host.map(Host::as_str),
        path: target.path(),
        query: target.query(),
        param: &|name| matched.params().find_map(|(known, value)| (known == name).then_some(value)),
    };
    let Some(location) = redirect.to.render(values) else {
        // Only a request without a host can't be sent to the same host.
        let detail = "the redirect needs a host and the request names none";
        return Problem::request(StatusCode::BAD_REQUEST, detail, false).into();
    };
    moved(redirect.status, location)
}

fn moved(status: StatusCode, location: HeaderValue) -> Local {
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(LOCATION, location);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Local { status, headers, body: Bytes::from_static(b"moved\n") }
}

/// `OPTIONS *` asks the server itself (RFC 9110 section 9.3.7).
fn own_options() -> Local {
    let mut headers = HeaderMap::with_capacity(2);
    headers.insert(ALLOW, ALLOWED);
    Local { status: StatusCode::OK, headers, body: Bytes::new() }
}

/// What `select` refuses, told to the client.
fn rejected_problem(rejected: Rejected) -> Problem {
    problem(rejected.status(), rejected.reason(), rejected.close())
}

/// What the router refuses, told to the client without naming what it could have been.
fn refused_problem(refused: Refused) -> Problem {
    let detail = match refused {
        Refused::UnknownHost => "this host is not served here",
        Refused::Held => "the application that serves this is not available",
        Refused::Path(PathRefused::Budget) => "the path has too many readings",
        Refused::Path(_) => "the path is malformed",
        _ => "the path can be read in more than one way",
    };
    problem(refused.status(), detail, false)
}

fn problem(status: u16, detail: &'static str, close: bool) -> Problem {
    match StatusCode::from_u16(status) {
        Ok(StatusCode::MISDIRECTED_REQUEST) => Problem { detail, close, ..Problem::MISDIRECTED },
        Ok(StatusCode::SERVICE_UNAVAILABLE) => Problem { detail, close, ..Problem::UNAVAILABLE },
        Ok(status) => Problem::request(status, detail, close),
        Err(_) => Problem::request(StatusCode::BAD_REQUEST, detail, true),
    }
}
