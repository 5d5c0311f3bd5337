//! One connection to an upstream server, while one request has it.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::shared::Stream;
use super::socket::Socket;
use super::{ServerPool, Ticket};
use crate::forward::Upload;
use crate::snapshot::Fleet;

/// Whether bytes have gone over a connection since a request took it.
///
/// hyper says what failed, not how far it got; this decides whether a request may be sent again.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(super) sent: Cell<bool>,
    /// Reads that succeeded, the one that finds the end included.
    pub(super) reads: Cell<u32>,
    /// Who wants the socket when its server has switched to another protocol.
    pub(super) heir: RefCell<Option<oneshot::Sender<Switched>>>,
}

/// A socket on which a server has switched to another protocol.
#[derive(Debug)]
pub(crate) struct Switched {
    pub(crate) socket: NotedSocket,
    /// What was read of that protocol already.
    pub(crate) read: Bytes,
}

/// A connection, or a place on one, and where it goes back to.
///
/// Dropping it ends the exchange, whatever is under way.
#[derive(Debug)]
pub(crate) struct Lease {
    carrier: Option<Carrier>,
    reused: bool,
    /// What it counts as, where exchanges are counted.
    ticket: Option<Ticket>,
}

/// What carries an exchange.
#[derive(Debug)]
enum Carrier {
    /// A connection of its own (HTTP/1.1).
    Line(Line),
    /// A stream on one that others use too (HTTP/2).
    Stream(Stream, Rc<ServerPool>),
}

/// What stays of a connection while nobody has it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) sender: SendRequest<Upload>,
    pub(super) traffic: Rc<Traffic>,
    pub(super) server: Rc<ServerPool>,
    task: AbortHandle,
}

impl Line {
    pub(super) const fn new(
        sender: SendRequest<Upload>,
        traffic: Rc<Traffic>,
        server: Rc<ServerPool>,
        task: AbortHandle,
    ) -> Self {
        Self { sender, traffic, server, task }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The task may be in the middle of content that nobody wants: it ends now, not at its end.
        self.task.abort();
    }
}

impl Lease {
    pub(super) fn new(line: Line, reused: bool) -> Self {
        line.traffic.sent.set(false);
        line.traffic.reads.set(0);
        line.traffic.heir.replace(None);
        Self { carrier: Some(Carrier::Line(line)), reused, ticket: None }
    }

    pub(super) fn shared(stream: Stream, server: Rc<ServerPool>, reused: bool) -> Self {
        Self { carrier: Some(Carrier::Stream(stream, server)), reused, ticket: None }
    }

    /// Makes it count as one exchange with its server.
    pub(crate) fn counts(&mut self, ticket: Option<Ticket>) {
        self.ticket = ticket;
    }

    /// Takes over what it counts as.
    pub(crate) fn take_ticket(&mut self) -> Option<Ticket> {
        self.ticket.take()
    }

    /// Whether it is a stream of a connection that others use too.
    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self.carrier, Some(Carrier::Stream(..)))
    }

    /// Whether a request can be sent at once.
    pub(crate) fn is_ready(&self) -> bool {
        match &self.carrier {
            Some(Carrier::Line(line)) => line.sender.is_ready(),
            // Nobody waits for a stream: the connection has room, or is closed and says so.
            Some(Carrier::Stream(..)) | None => true,
        }
    }

    /// Waits until a request can be sent.
    ///
    /// # Errors
    ///
    /// When the connection is closed.
    pub(crate) async fn ready(&mut self) -> Result<(), Closed> {
        match &mut self.carrier {
            Some(Carrier::Line(line)) => line.sender.ready().await.map_err(|_| Closed),
            Some(Carrier::Stream(..)) => Ok(()),
            None => Err(Closed),
        }
    }

    /// Sends a request, and waits for the header of its response.
    ///
    /// # Errors
    ///
    /// With the request, if it is certain that nothing of it was sent.
    pub(crate) async fn send(
        &mut self,
        request: Request<Upload>,
    ) -> Result<Response<Incoming>, NotSent> {
        let sent = match &mut self.carrier {
            Some(Carrier::Line(line)) => line.sender.try_send_request(request).await,
            Some(Carrier::Stream(stream, _)) => stream.sender.try_send_request(request).await,
            None => return Err(NotSent::Whole(Box::new(request))),
        };
        sent.map_err(|mut error| match error.take_message() {
            Some(request) => NotSent::Whole(Box::new(request)),
            None => NotSent::Partly(error.into_error()),
        })
    }

    /// Asks for the socket, should the server switch to another protocol in answer to this request.
    pub(crate) fn switched(&self) -> Option<oneshot::Receiver<Switched>> {
        let Some(Carrier::Line(line)) = &self.carrier else { return None };
        let (heir, socket) = oneshot::channel();
        line.traffic.heir.replace(Some(heir));
        Some(socket)
    }

    /// Whether the connection goes to `server`.
    pub(crate) fn is_to(&self, server: &Rc<ServerPool>) -> bool {
        match &self.carrier {
            Some(Carrier::Line(line)) => Rc::ptr_eq(&line.server, server),
            Some(Carrier::Stream(_, own)) => Rc::ptr_eq(own, server),
            None => false,
        }
    }

    /// Whether an earlier request used the connection.
    pub(crate) const fn reused(&self) -> bool {
        self.reused
    }

    /// Whether the server may have begun to work on this request, told after `error` ended it.
    pub(crate) fn sent(&self, error: &hyper::Error) -> bool {
        match &self.carrier {
            Some(Carrier::Line(line)) => line.traffic.sent.get(),
            Some(Carrier::Stream(..)) => !is_unprocessed(error),
            None => false,
        }
    }

    /// Whether a byte of its response has come, told after `error` ended it.
    ///
    /// A cursor of hyper's doesn't say how much was read into it. But a connection that ended with
    /// an end of file has had exactly one read that brought nothing. A stream that was reset was answered,
    /// one whose connection went away was not.
    pub(crate) fn received(&self, error: &hyper::Error) -> bool {
        match &self.carrier {
            Some(Carrier::Line(line)) => {
                line.traffic.reads.get() > u32::from(error.is_incomplete_message())
            }
            Some(Carrier::Stream(..)) => {
                !is_unprocessed(error)
                    && h2_error(error).is_some_and(|error| !error.is_io() && !error.is_go_away())
            }
            None => false,
        }
    }

    /// Lets nobody else use the connection, which seems to be dead.
    pub(crate) fn retire(&self) {
        if let Some(Carrier::Stream(stream, _)) = &self.carrier {
            stream.retire();
        }
    }

    /// Gives the connection back for `fleet`. Request and response must both be complete.
    pub(crate) fn release(mut self, fleet: &Fleet, now: u32) {
        match self.carrier.take() {
            Some(Carrier::Line(line)) => {
                let server = Rc::clone(&line.server);
                server.put(line, fleet, now);
            }
            Some(Carrier::Stream(stream, _)) => stream.ended(fleet, now),
            None => (),
        }
    }
}

/// The connection was closed while nobody used it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed;

/// How much of a request was not sent.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// All of it.
    Whole(Box<Request<Upload>>),
    /// Nobody knows.
    Partly(hyper::Error),
}

fn h2_error(error: &hyper::Error) -> Option<&h2::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Whether the server says that it did not begin to work on the request (RFC 9113 section 8.7): it
/// refused the stream, or the connection ended with one before it (GOAWAY).
fn is_unprocessed(error: &hyper::Error) -> bool {
    h2_error(error).is_some_and(|error| {
        // h2 gives a peer's GOAWAY as error only to streams after the last one that it names.
        error.is_remote()
            && (error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM))
    })
}

/// A socket that notes what goes over it.
#[derive(Debug)]
pub(crate) struct NotedSocket {
    socket: TokioIo<Socket>,
    traffic: Rc<Traffic>,
}

impl NotedSocket {
    pub(super) fn new(socket: Socket, traffic: Rc<Traffic>) -> Self {
        Self { socket: TokioIo::new(socket), traffic }
    }

    fn note_sent(&self, result: &Poll<io::Result<usize>>) {
        if matches!(result, Poll::Ready(Ok(sent)) if *sent > 0) {
            self.traffic.sent.set(true);
        }
    }
}

impl Read for NotedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.socket).poll_read(cx, buf);
        if matches!(result, Poll::Ready(Ok(()))) {
            self.traffic.reads.set(self.traffic.reads.get().saturating_add(1));
        }
        result
    }
}

impl Write for NotedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.note_sent(&result);
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.note_sent(&result);
        result
    }
}
