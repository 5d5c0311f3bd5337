//! One attempt to have a request answered by a fleet.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use http::header::{CONNECTION, HOST};
use http::request::Parts;
use http::{HeaderValue, Request, Response, Version};
use hyper::body::{Body, Incoming};

use super::download::Download;
use super::expect::Gate;
use super::upload::Progress;
use super::{History, Inbound, Upload, retry};
use crate::headers::{self, Edited};
use crate::problem::Problem;
use crate::server::{Client, Stage};
use crate::upstream::{self, Failure, FleetPool, Lease, ServerPool};

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) parts: Parts,
    pub(crate) inbound: Option<Rc<Inbound>>,
    pub(crate) edited: Edited,
    /// The version that the client speaks.
    pub(crate) version: Version,
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Attempt {
    Answered(Response<Download>),
    Failed(Problem),
    /// Nothing was sent, or it may be sent twice: look up again, and try again.
    Again(Order),
}

/// Sends `order` to the fleet's next server.
pub(crate) async fn attempt(
    client: &Rc<Client>,
    fleet: &Rc<FleetPool>,
    mut order: Order,
    history: &mut History,
) -> Attempt {
    let Some(server) = history.server(fleet, client.now()) else {
        log(fleet, None, Failure::NoServer);
        return Attempt::Failed(Failure::NoServer.problem());
    };
    let leg = Leg { client, fleet, server };
    let mut lease = match leg.lease(history).await {
        Ok(lease) => lease,
        Err(failure) => {
            server.went_down(client.now());
            return match leg.elsewhere(failure, history) {
                Ok(()) => Attempt::Again(order),
                Err(problem) => Attempt::Failed(problem),
            };
        }
    };
    if order.edited.hostless {
        let host = HeaderValue::from_str(&server.address);
        order.parts.headers.insert(HOST, host.unwrap_or_else(|_| HeaderValue::from_static("")));
    }
    // Only an idle connection can have been closed while we wrote, through nobody's fault.
    let copy = lease.reused().then(|| order.parts.clone());
    let Order { parts, inbound, edited, version } = order;

    match leg.send(&mut lease, parts, inbound.clone(), edited).await {
        Ok(response) => match leg.accept(lease, response, inbound, version) {
            Ok(response) => Attempt::Answered(response),
            Err((problem, failure)) => {
                log(fleet, Some(server), failure);
                Attempt::Failed(problem)
            }
        },
        Err(unsent) => match leg.again(unsent, lease, copy, inbound.as_deref(), history) {
            Ok(parts) => Attempt::Again(Order { parts, inbound, edited, version }),
            Err(problem) => Attempt::Failed(problem),
        },
    }
}

/// From whom an attempt is, and to whom.
#[derive(Clone, Copy)]
struct Leg<'a> {
    client: &'a Rc<Client>,
    fleet: &'a Rc<FleetPool>,
    server: &'a Rc<ServerPool>,
}

impl Leg<'_> {
    /// A connection to the server: the one at hand, an idle one, or else a new one.
    async fn lease(self, history: &mut History) -> Result<Lease, Failure> {
        let Self { client, fleet, server } = self;
        if let Some(lease) = history.take_spare(server, client.now()) {
            return Ok(lease);
        }
        if !history.fresh
            && let Some(lease) = server.take(&fleet.fleet, client.now())
        {
            return Ok(lease);
        }
        let lease = upstream::connect(server, fleet.fleet.connect_timeout).await?;
        server.is_up();
        Ok(lease)
    }

    /// Sends the request and waits for the response's header.
    async fn send(
        self,
        lease: &mut Lease,
        parts: Parts,
        inbound: Option<Rc<Inbound>>,
        edited: Edited,
    ) -> Result<Response<Incoming>, Unsent> {
        let client = self.client;
        let limit = self.fleet.fleet.response_timeout;
        client.begin(Stage::Response, limit);
        let reused = lease.reused();
        let Some(sender) = lease.sender() else { return Err(Unsent::Whole(parts)) };
        if reused && !sender.is_ready() && in_time(client, sender.ready()).await?.is_err() {
            return Err(Unsent::Whole(parts));
        }
        // From here to the dispatch nothing waits, so that no change comes between.
        if !client.worker().is_current(self.fleet) {
            return Err(Unsent::Moved(parts));
        }
        let mut request = Request::from_parts(parts, Upload(inbound));
        if let Some(inbound) = request.body().0.clone() {
            inbound.prepare(limit);
            if edited.expects_continue {
                inbound.hold_back(Gate::before(&mut request));
            }
        }
        match in_time(client, sender.try_send_request(request)).await? {
            Ok(response) => Ok(response),
            Err(mut error) => Err(match error.take_message() {
                Some(request) => Unsent::Whole(request.into_parts().0),
                None => Unsent::Partly(error.into_error()),
            }),
        }
    }

    /// Takes a response: edits its header, and ties the connection to its content.
    fn accept(
        self,
        lease: Lease,
        response: Response<Incoming>,
        inbound: Option<Rc<Inbound>>,
        version: Version,
    ) -> Result<Response<Download>, (Problem, Failure)> {
        let (mut parts, incoming) = response.into_parts();
        headers::edit_response(&mut parts, incoming.size_hint().exact(), version)
            .map_err(|problem| (problem, Failure::Protocol))?;
        let unfinished =
            inbound.filter(|inbound| inbound.progress() != Progress::Complete).inspect(|inbound| {
                inbound.answered();
                // The rest of the content may never be read, so that no request can follow it.
                parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
            });
        let body = Download::upstream(self.client, self.fleet, incoming, lease, unfinished);
        Ok(Response::from_parts(parts, body))
    }

    /// What is to be sent again, if anything; `copy` is of what an idle connection was given.
    fn again(
        self,
        unsent: Unsent,
        lease: Lease,
        copy: Option<Parts>,
        inbound: Option<&Inbound>,
        history: &mut History,
    ) -> Result<Parts, Problem> {
        match unsent {
            Unsent::Moved(parts) => {
                history.spare(lease, self.fleet);
                if history.moved() { Ok(parts) } else { Err(Problem::UNAVAILABLE) }
            }
            Unsent::Whole(parts) if lease.reused() => {
                history.go_fresh();
                Ok(parts)
            }
            Unsent::Whole(parts) => self.elsewhere(Failure::Handshake, history).map(|()| parts),
            Unsent::Expired(Stage::Upload) => Err(Problem::CLIENT_STALLED),
            Unsent::Expired(_) => Err(self.failed(Failure::ResponseTimeout)),
            Unsent::Partly(error) => {
                match inbound.map(Inbound::progress) {
                    Some(Progress::Failed) => return Err(Problem::CLIENT_BODY),
                    Some(Progress::TooLarge) => return Err(Problem::TOO_LARGE),
                    _ => {}
                }
                match copy {
                    Some(parts)
                        if retry::again(&parts.method, inbound, &lease, &error)
                            && history.replay() =>
                    {
                        Ok(parts)
                    }
                    _ => Err(self.failed(Failure::of(&error))),
                }
            }
        }
    }

    /// The server gave no connection: whether another one is worth it, or another decision.
    fn elsewhere(self, failure: Failure, history: &mut History) -> Result<(), Problem> {
        let problem = self.failed(failure);
        let again = match self.client.worker().is_current(self.fleet) {
            true => history.next_server(self.fleet.len()),
            false => history.moved(),
        };
        if again { Ok(()) } else { Err(problem) }
    }

    fn failed(self, failure: Failure) -> Problem {
        log(self.fleet, Some(self.server), failure);
        failure.problem()
    }
}

/// How far a request came that has no response.
enum Unsent {
    /// Nowhere: the connection was closed before it was written.
    Whole(Parts),
    /// Nowhere: while it waited for a connection, the snapshot that it was decided by was replaced.
    Moved(Parts),
    /// It may have been sent, all or part of it.
    Partly(hyper::Error),
    /// As far as there was time.
    Expired(Stage),
}

/// Waits for `future` as long as the client's watch lets it.
async fn in_time<F: Future>(client: &Client, future: F) -> Result<F::Output, Unsent> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => match client.expired() {
            Some(stage) => Poll::Ready(Err(Unsent::Expired(stage))),
            None => Poll::Pending,
        },
    })
    .await
}

/// One line for each failure of an upstream.
fn log(fleet: &FleetPool, server: Option<&Rc<ServerPool>>, failure: Failure) {
    tracing::warn!(
        fleet = &*fleet.fleet.name,
        server = server.map(|server| &*server.address),
        error = failure.problem().error,
        "{failure}"
    );
}
