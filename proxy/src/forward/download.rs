//! A response's content on its way to the client.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use thiserror::Error;
use tokio::time::{Instant, Sleep, sleep_until};

use super::upload::Progress;
use super::{Inbound, trailers};
use crate::observe::Observer;
use crate::server::{Client, Lasting, Stage};
use crate::upstream::{Failure, FleetPool, Lease};

/// Content of either kind; when it ends or is dropped, so does the exchange.
#[derive(Debug)]
pub(crate) struct Download {
    client: Rc<Client>,
    source: Source,
    observer: Observer,
}

#[derive(Debug)]
enum Source {
    /// Ours, or none at all.
    Whole(Option<Bytes>),
    Upstream(Stream),
}

#[derive(Debug)]
struct Stream {
    incoming: Incoming,
    fleet: Rc<FleetPool>,
    /// Given back when the content is complete; dropped, and so closed, when it never will be.
    lease: Option<Lease>,
    /// The request's content, if it was not complete when the response began.
    inbound: Option<Rc<Inbound>>,
    /// When the exchange has taken as long as it may.
    deadline: Option<Pin<Box<Sleep>>>,
    /// What may end it before its end.
    lasting: Option<Rc<Lasting>>,
}

/// The content ends here although more was announced: hyper closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the response's content is incomplete")]
pub(crate) struct DownloadError;

impl Download {
    /// Content that we have.
    pub(crate) fn whole(client: &Rc<Client>, content: Bytes) -> Self {
        let content = Some(content).filter(|content| !content.is_empty());
        Self {
            client: Rc::clone(client),
            source: Source::Whole(content),
            observer: Observer::default(),
        }
    }

    /// Content that an upstream sends over `lease`.
    pub(super) fn upstream(
        client: &Rc<Client>,
        fleet: &Rc<FleetPool>,
        incoming: Incoming,
        lease: Lease,
        inbound: Option<Rc<Inbound>>,
    ) -> Self {
        let (fleet, lease) = (Rc::clone(fleet), Some(lease));
        let mut stream = Stream { incoming, fleet, lease, inbound, deadline: None, lasting: None };
        if stream.incoming.is_end_stream() {
            stream.finish(client);
        }
        Self {
            client: Rc::clone(client),
            source: Source::Upstream(stream),
            observer: Observer::default(),
        }
    }

    /// Cuts it if it isn't complete by then.
    pub(super) fn ends_by(&mut self, deadline: Instant) {
        if let Source::Upstream(stream) = &mut self.source {
            stream.deadline = Some(Box::pin(sleep_until(deadline)));
        }
    }

    /// Has it cut when a flip has moved its requests away.
    pub(crate) fn follow(&mut self, lasting: Rc<Lasting>) {
        if let Source::Upstream(stream) = &mut self.source {
            stream.lasting = Some(lasting);
        }
    }

    /// Has the exchange noted, whose end is that of this content.
    pub(crate) fn observe(&mut self, observer: Observer) {
        self.observer = observer;
    }
}

impl Stream {
    fn poll(
        &mut self,
        client: &Client,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, DownloadError>>> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Some(Err(self.fail(Failure::RequestTimeout))));
        }
        if self.lasting.as_ref().is_some_and(|lasting| lasting.is_cut(cx.waker())) {
            // No fault of the upstream's: the client asks again, and is sent elsewhere.
            self.lease = None;
            return Poll::Ready(Some(Err(DownloadError)));
        }
        match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Pending => {
                if client.expired() == Some(Stage::Download) {
                    return Poll::Ready(Some(Err(self.fail(Failure::BodyTimeout))));
                }
                if client.stage() != Stage::Download {
                    client.begin(Stage::Download, self.fleet.fleet.body_timeout);
                }
                Poll::Pending
            }
            Poll::Ready(Some(Ok(frame))) => {
                // Until we are asked for more, it is the client that we wait for.
                client.begin(Stage::Client, client.settings().body_timeout);
                if frame.is_trailers() || self.incoming.is_end_stream() {
                    self.finish(client);
                }
                Poll::Ready(Some(Ok(trailers::filtered(frame))))
            }
            Poll::Ready(None) => {
                self.finish(client);
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(self.fail(Failure::of(&error))))),
        }
    }

    /// The content is complete. A connection whose request isn't can't take another.
    fn finish(&mut self, client: &Client) {
        let sent =
            self.inbound.take().is_none_or(|inbound| inbound.progress() == Progress::Complete);
        if let Some(lease) = self.lease.take().filter(|_| sent) {
            lease.release(&self.fleet.fleet, client.now());
        }
    }

    fn fail(&mut self, failure: Failure) -> DownloadError {
        self.lease = None;
        tracing::warn!(
            fleet = &*self.fleet.fleet.name,
            error = failure.problem().error,
            "response cut short: {failure}"
        );
        DownloadError
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = DownloadError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, DownloadError>>> {
        let me = &mut *self;
        let polled = match &mut me.source {
            Source::Whole(content) => Poll::Ready(content.take().map(|data| Ok(Frame::data(data)))),
            Source::Upstream(stream) => stream.poll(&me.client, cx),
        };
        match &polled {
            Poll::Ready(Some(Ok(frame))) => me.observer.add(Some(frame)),
            Poll::Ready(None) => me.observer.add(None),
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Whole(content) => content.is_none(),
            Source::Upstream(stream) => stream.incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Whole(content) => {
                SizeHint::with_exact(content.as_ref().map_or(0, |content| content.len() as u64))
            }
            Source::Upstream(stream) => stream.incoming.size_hint(),
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        // What has been written may still have to be flushed, within the time for the next request.
        let answered = || match &self.source {
            Source::Whole(_) => true,
            // Without a lease it is complete, or its upstream has failed.
            Source::Upstream(stream) => stream.lease.is_none() || self.is_end_stream(),
        };
        self.client.exchange_over(answered);
        if self.is_end_stream() {
            self.observer.add(None);
        }
    }
}
