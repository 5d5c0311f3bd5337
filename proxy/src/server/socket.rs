//! A client's socket that closes without losing what was written to it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;

use super::client::Client;

/// What a client's bytes come over: a socket, with or without TLS on it.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + 'static {
    /// Whether it takes more from the socket than it was asked for, so that an empty socket doesn't mean that
    /// the client has paused.
    const READS_AHEAD: bool;

    /// The socket itself.
    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    const READS_AHEAD: bool = false;

    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Wire for TlsStream<TcpStream> {
    const READS_AHEAD: bool = true;

    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// A socket that, when shut down, reads on for a while if the client is still sending.
///
/// Closing a socket with unread bytes makes the kernel reset the connection, and the reset can
/// overtake a response (RFC 9112 section 9.6): a client that is told 413 would see an error instead.
#[derive(Debug)]
pub(super) struct ClientSocket<W> {
    socket: TokioIo<W>,
    client: Rc<Client>,
    linger: Linger,
}

#[derive(Debug)]
enum Linger {
    NotYet,
    Reading { left: usize, patience: Pin<Box<Sleep>> },
    Over,
}

impl Linger {
    fn reading(read: usize) -> Self {
        let left = MOST.saturating_sub(read);
        Self::Reading { left, patience: Box::pin(sleep(LONGEST)) }
    }
}

/// How much is read, and for how long.
const MOST: usize = 4 << 20;
const LONGEST: Duration = Duration::from_secs(2);

impl<W: Wire> ClientSocket<W> {
    pub(super) fn new(socket: W, client: Rc<Client>) -> Self {
        Self { socket: TokioIo::new(socket), client, linger: Linger::NotYet }
    }

    /// Reads and forgets. Ready at the end of what the client sends, or of our patience.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 4096];
        loop {
            let read = self.socket.inner().tcp().try_read(&mut scratch);
            match (&mut self.linger, read) {
                (Linger::Over, _) | (_, Ok(0)) => return Poll::Ready(()),
                (Linger::NotYet, Ok(read)) => self.linger = Linger::reading(read),
                (Linger::NotYet, Err(error))
                    if W::READS_AHEAD && error.kind() == io::ErrorKind::WouldBlock =>
                {
                    self.linger = Linger::reading(0);
                }
                (Linger::Reading { left, .. }, Ok(read)) => match left.checked_sub(read) {
                    Some(rest) => *left = rest,
                    None => return Poll::Ready(()),
                },
                (Linger::Reading { patience, .. }, Err(error))
                    if error.kind() == io::ErrorKind::WouldBlock =>
                {
                    if patience.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                    if ready!(self.socket.inner().tcp().poll_read_ready(cx)).is_err() {
                        return Poll::Ready(());
                    }
                }
                // The usual end: nothing is there that could be lost.
                (_, Err(_)) => return Poll::Ready(()),
            }
        }
    }
}

impl<W: Wire> Read for ClientSocket<W> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl<W: Wire> Write for ClientSocket<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.client.set_blocked(result.is_pending());
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.linger {
            Linger::Over => return Poll::Ready(Ok(())),
            Linger::Reading { .. } => (),
            Linger::NotYet => ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?,
        }
        ready!(self.poll_linger(cx));
        self.linger = Linger::Over;
        Poll::Ready(Ok(()))
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
        self.client.set_blocked(result.is_pending());
        result
    }
}
