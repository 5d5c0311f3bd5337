//! One attempt to have a request answered by a fleet.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use http::header::{CONNECTION, HOST};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::{Body, Incoming};
use tokio::sync::oneshot;

use super::download::Download;
use super::expect::Gate;
use super::tunnel::Tunnel;
use super::upload::Progress;
use super::{History, Inbound, Upload, http2, queue, retry};
use crate::headers::{self, Edited};
use crate::problem::Problem;
use crate::server::{Client, Stage};
use crate::upstream::{
    self, Choice, Failure, FleetPool, Lease, Member, NotSent, ServerPool, Switched,
};

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

/// Sends `order` to a server of the fleet, within the time that the exchange may take.
pub(crate) async fn attempt(
    client: &Rc<Client>,
    fleet: &Rc<FleetPool>,
    order: Order,
    history: &mut History,
) -> Attempt {
    let Some(limit) = fleet.fleet.request_timeout else {
        return attempt_one(client, fleet, order, history).await;
    };
    let deadline = history.deadline(limit);
    let attempt = Box::pin(attempt_one(client, fleet, order, history));
    match tokio::time::timeout_at(deadline, attempt).await {
        Ok(attempt) => attempt,
        Err(_) => failed(fleet, Failure::RequestTimeout),
    }
}

async fn attempt_one(
    client: &Rc<Client>,
    fleet: &Rc<FleetPool>,
    mut order: Order,
    history: &mut History,
) -> Attempt {
    let (index, ticket) = match history.choose(fleet, client.now()) {
        Choice::Server(index, ticket) => (index, ticket),
        Choice::Full => {
            return match queue::wait(client, fleet, history).await {
                Ok(()) => Attempt::Again(order),
                Err(failure) => failed(fleet, failure),
            };
        }
        Choice::Nobody => return failed(fleet, Failure::NoServer),
    };
    let Some(member) = fleet.member(index) else { return failed(fleet, Failure::NoServer) };
    let server = &member.pool;
    let leg = Leg { client, fleet, member, index };
    let mut lease = match leg.lease(history, order.edited).await {
        Ok(mut lease) => {
            lease.counts(ticket);
            lease
        }
        // That says nothing of the server.
        Err(Failure::OnlyHttp2) => return failed(fleet, Failure::OnlyHttp2),
        Err(failure) => {
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
    // An idle connection can have been closed while we wrote, through nobody's fault. One that has only
    // just been made is the server's last word, unless there is another server.
    let twice = lease.is_stream() || (!fleet.is_one() && order.parts.method.is_idempotent());
    let copy = (lease.reused() || twice).then(|| order.parts.clone());
    let Order { parts, inbound, edited, version } = order;

    let switched = edited.websocket.then(|| lease.switched()).flatten();
    match leg.send(&mut lease, parts, inbound.clone(), edited).await {
        Ok(response) if edited.websocket => {
            match leg.switch(lease, response, switched, version, history).await {
                Ok(response) => Attempt::Answered(response),
                Err((problem, failure)) => {
                    log(fleet, Some(server), failure);
                    Attempt::Failed(problem)
                }
            }
        }
        Ok(response) => match leg.accept(lease, response, inbound, version, history) {
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
    member: &'a Member,
    /// Its position in the fleet.
    index: usize,
}

impl Leg<'_> {
    /// A connection to the server: the one at hand, an idle one, or else a new one.
    async fn lease(self, history: &mut History, edited: Edited) -> Result<Lease, Failure> {
        let Self { client, fleet, .. } = self;
        let server = &self.member.pool;
        if let Some(lease) = history.take_spare(server, client.now()) {
            return Ok(lease);
        }
        if server.is_shared() && edited.websocket {
            return upstream::connect_one(server, &fleet.fleet).await;
        }
        if server.is_shared() {
            if let Some(lease) = server.take_shared() {
                return Ok(lease);
            }
        } else if !history.fresh
            && let Some(lease) = server.take(&fleet.fleet, client.now())
        {
            return Ok(lease);
        }
        let lease = upstream::connect(server, &fleet.fleet, client.now()).await?;
        if !fleet.is_one() && fleet.fleet.fail_statuses.is_empty() {
            self.member.state.worked(&fleet.fleet);
        }
        Ok(lease)
    }

    /// Sends the request and waits for the response's header.
    async fn send(
        self,
        lease: &mut Lease,
        mut parts: Parts,
        inbound: Option<Rc<Inbound>>,
        mut edited: Edited,
    ) -> Result<Response<Incoming>, Unsent> {
        let client = self.client;
        let limit = self.fleet.fleet.response_timeout;
        client.begin(Stage::Response, limit);
        let reused = lease.reused();
        if reused && !lease.is_ready() && in_time(client, lease.ready()).await?.is_err() {
            return Err(Unsent::Whole(parts));
        }
        // From here to the dispatch nothing waits, so that no change comes between.
        if !client.worker().is_current(self.fleet) {
            return Err(Unsent::Moved(parts));
        }
        if lease.is_stream() {
            let server = &self.member.pool;
            http2::encode(&mut parts, server.scheme(), &server.address);
            edited.expects_continue = false;
        }
        let mut request = Request::from_parts(parts, Upload(inbound));
        if let Some(inbound) = request.body().0.clone() {
            inbound.prepare(limit);
            if edited.expects_continue {
                inbound.hold_back(Gate::before(&mut request));
            }
        }
        match in_time(client, lease.send(request)).await? {
            Ok(response) => Ok(response),
            Err(NotSent::Whole(request)) => {
                let mut parts = request.into_parts().0;
                http2::decode(&mut parts);
                Err(Unsent::Whole(parts))
            }
            Err(NotSent::Partly(error)) => Err(Unsent::Partly(error)),
        }
    }

    /// Takes a response: edits its header, and ties the connection to its content.
    fn accept(
        self,
        lease: Lease,
        response: Response<Incoming>,
        inbound: Option<Rc<Inbound>>,
        version: Version,
        history: &History,
    ) -> Result<Response<Download>, (Problem, Failure)> {
        self.note(response.status());
        let (mut parts, incoming) = response.into_parts();
        headers::edit_response(&mut parts, incoming.size_hint().exact(), version)
            .map_err(|problem| (problem, Failure::Protocol))?;
        let unfinished =
            inbound.filter(|inbound| inbound.progress() != Progress::Complete).inspect(|inbound| {
                inbound.answered();
                // The rest of the content may never be read, so that no request can follow it.
                parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
            });
        let mut body = Download::upstream(self.client, self.fleet, incoming, lease, unfinished);
        if let Some(deadline) = history.set_deadline() {
            body.ends_by(deadline);
        }
        Ok(Response::from_parts(parts, body))
    }

    /// Notes what a response's status says of the server.
    fn note(self, status: StatusCode) {
        let fleet = &self.fleet.fleet;
        if self.fleet.is_one() {
            return;
        }
        if fleet.fail_statuses.contains(&status) {
            self.member.state.failed(fleet);
        } else {
            self.member.state.worked(fleet);
        }
    }

    /// Takes the response to a request for a WebSocket, which may be any: a 101 makes a tunnel.
    async fn switch(
        self,
        mut lease: Lease,
        response: Response<Incoming>,
        switched: Option<oneshot::Receiver<Switched>>,
        version: Version,
        history: &History,
    ) -> Result<Response<Download>, (Problem, Failure)> {
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            if version == Version::HTTP_2 {
                headers::refuse_success(response.status())
                    .map_err(|problem| (problem, Failure::Protocol))?;
            }
            return self.accept(lease, response, None, version, history);
        }
        let (mut parts, _) = response.into_parts();
        headers::edit_switch(&mut parts, version)
            .map_err(|problem| (problem, Failure::Protocol))?;
        let gone = (Failure::Terminated.problem(), Failure::Terminated);
        let Some(switched) = switched else { return Err(gone) };
        let upstream = switched.await.map_err(|_| gone)?;
        self.note(parts.status);
        self.client.set_tunnel(Tunnel::new(upstream, lease.take_ticket()));
        Ok(Response::from_parts(parts, Download::whole(self.client, Bytes::new())))
    }

    /// What is to be sent again, if anything; `copy` is of what may be sent twice.
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
            Unsent::Whole(parts) if lease.reused() && history.go_fresh() => {
                lease.retire();
                Ok(parts)
            }
            Unsent::Whole(parts) => self.elsewhere(Failure::Handshake, history).map(|()| parts),
            Unsent::Expired(Stage::Upload) => Err(Problem::CLIENT_STALLED),
            Unsent::Expired(_) => {
                lease.retire();
                Err(self.failed(Failure::ResponseTimeout))
            }
            Unsent::Partly(error) => {
                match inbound.map(Inbound::progress) {
                    Some(Progress::Failed) => return Err(Problem::CLIENT_BODY),
                    Some(Progress::TooLarge) => return Err(Problem::TOO_LARGE),
                    _ => {}
                }
                match copy {
                    Some(parts)
                        if retry::again(&parts.method, inbound, &lease, &error)
                            && history.replay(self.fleet, self.index, self.client.now()) =>
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
        self.member.state.failed(&self.fleet.fleet);
        let again = match self.client.worker().is_current(self.fleet) {
            true => history.next_server(self.fleet, self.index, self.client.now()),
            false => history.moved(),
        };
        if again { Ok(()) } else { Err(problem) }
    }

    fn failed(self, failure: Failure) -> Problem {
        log(self.fleet, Some(&self.member.pool), failure);
        failure.problem()
    }
}

/// It ends here, by no server's fault.
fn failed(fleet: &FleetPool, failure: Failure) -> Attempt {
    log(fleet, None, failure);
    Attempt::Failed(failure.problem())
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
