//! One connection to an upstream server, while one request has it.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::ServerPool;
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

/// A connection, and where it goes back to.
///
/// Dropping it closes the connection, whatever is under way on it.
#[derive(Debug)]
pub(crate) struct Lease {
    line: Option<Line>,
    reused: bool,
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
        Self { line: Some(line), reused }
    }

    /// The sending half; `None` never happens before [`release`](Self::release).
    pub(crate) fn sender(&mut self) -> Option<&mut SendRequest<Upload>> {
        self.line.as_mut().map(|line| &mut line.sender)
    }

    /// Asks for the socket, should the server switch to another protocol in answer to this request.
    pub(crate) fn switched(&self) -> Option<oneshot::Receiver<Switched>> {
        let line = self.line.as_ref()?;
        let (heir, socket) = oneshot::channel();
        line.traffic.heir.replace(Some(heir));
        Some(socket)
    }

    /// Whether the connection goes to `server`.
    pub(crate) fn is_to(&self, server: &Rc<ServerPool>) -> bool {
        self.line.as_ref().is_some_and(|line| Rc::ptr_eq(&line.server, server))
    }

    /// Whether an earlier request used the connection.
    pub(crate) const fn reused(&self) -> bool {
        self.reused
    }

    /// Whether a byte of this request may have reached the server.
    pub(crate) fn sent(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.traffic.sent.get())
    }

    /// Whether a byte of its response has come, told after `error` ended the connection.
    ///
    /// A cursor of hyper's doesn't say how much was read into it. But a connection that ended with
    /// an end of file has had exactly one read that brought nothing.
    pub(crate) fn received(&self, error: &hyper::Error) -> bool {
        let reads = self.line.as_ref().map_or(0, |line| line.traffic.reads.get());
        reads > u32::from(error.is_incomplete_message())
    }

    /// Gives the connection back for `fleet`. Request and response must both be complete.
    pub(crate) fn release(mut self, fleet: &Fleet, now: u32) {
        if let Some(line) = self.line.take() {
            let server = Rc::clone(&line.server);
            server.put(line, fleet, now);
        }
    }
}

/// A socket that notes what goes over it.
#[derive(Debug)]
pub(crate) struct NotedSocket {
    socket: TokioIo<TcpStream>,
    traffic: Rc<Traffic>,
}

impl NotedSocket {
    pub(super) fn new(socket: TcpStream, traffic: Rc<Traffic>) -> Self {
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
