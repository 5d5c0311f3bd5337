//! Bytes in both directions, after a client and an upstream have switched to a protocol of their own.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::rt::{Read, ReadBuf, Write};

use crate::server::{Client, Lasting, Stage};
use crate::upstream::{Switched, Ticket};

/// The upstream's end of a tunnel.
#[derive(Debug)]
pub(crate) struct Tunnel {
    upstream: Switched,
    lasting: Option<Rc<Lasting>>,
    /// What it counts as, where exchanges are counted.
    ticket: Option<Ticket>,
}

impl Tunnel {
    pub(super) const fn new(upstream: Switched, ticket: Option<Ticket>) -> Self {
        Self { upstream, lasting: None, ticket }
    }

    /// Has it cut when a flip has moved its requests away.
    pub(crate) fn follow(&mut self, lasting: Rc<Lasting>) {
        self.lasting = Some(lasting);
    }

    /// Passes bytes on until the upstream has ended, or neither side has said anything for too long.
    ///
    /// `first` is what was read of the client's bytes already. A client that has ended is still told what the
    /// upstream says; the reverse is of no use, since nobody would hear the client.
    pub(crate) async fn run(self, client: &Rc<Client>, socket: impl Read + Write, first: Bytes) {
        let Self { upstream: Switched { socket: upstream, read }, lasting, ticket: _ticket } = self;
        let (mut socket, mut upstream) = (pin!(socket), pin!(upstream));
        let (mut up, mut down) = (Pipe::new(first), Pipe::new(read));
        client.begin(Stage::Tunnel, client.settings().websocket_timeout);
        poll_fn(|cx| {
            client.register(cx.waker());
            if lasting.as_ref().is_some_and(|lasting| lasting.is_cut(cx.waker())) {
                return Poll::Ready(());
            }
            let before = (up.moved, down.moved, up.is_done());
            // A client that fails is heard of by what is written to it, too.
            let failed =
                matches!(up.poll(cx, socket.as_mut(), upstream.as_mut()), Poll::Ready(Err(_)));
            let ended = down.poll(cx, upstream.as_mut(), socket.as_mut()).is_ready();
            if failed || ended {
                return Poll::Ready(());
            }
            if before != (up.moved, down.moved, up.is_done()) {
                let settings = client.settings();
                let limit = match up.is_done() {
                    true => settings.body_timeout.min(settings.websocket_timeout),
                    false => settings.websocket_timeout,
                };
                client.begin(Stage::Tunnel, limit);
            }
            match client.expired() {
                Some(_) => Poll::Ready(()),
                None => Poll::Pending,
            }
        })
        .await;
        if down.is_done() && client.is_stream() {
            // A stream that is dropped before its client has ended it is reset (RFC 8441 section 5).
            client.begin(Stage::Tunnel, FAREWELL);
            poll_fn(|cx| match client.expired() {
                Some(_) => Poll::Ready(()),
                None => up.forget(cx, socket.as_mut()),
            })
            .await;
        }
    }
}

/// How long a client of HTTP/2 has to end its side of a stream, when the other one has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// One direction.
struct Pipe {
    buffer: Box<[u8]>,
    /// What stands in the buffer and has not been written.
    start: usize,
    end: usize,
    /// What was there before the buffer was.
    first: Bytes,
    state: State,
    /// Counts what was written, so that progress can be seen.
    moved: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Ending,
    Done,
}

/// Two of these are what a WebSocket costs in memory.
const BUFFER: usize = 8 * 1024;

impl Pipe {
    fn new(first: Bytes) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { buffer, start: 0, end: 0, first, state: State::Reading, moved: 0 }
    }

    fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads and forgets, up to the end of the source.
    fn forget(&mut self, cx: &mut Context<'_>, mut from: Pin<&mut impl Read>) -> Poll<()> {
        loop {
            let mut space = ReadBuf::new(&mut self.buffer);
            match ready!(from.as_mut().poll_read(cx, space.unfilled())) {
                Ok(()) if !space.filled().is_empty() => (),
                _ => return Poll::Ready(()),
            }
        }
    }

    /// Ready when the source has ended and the destination has been told.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut from: Pin<&mut impl Read>,
        mut to: Pin<&mut impl Write>,
    ) -> Poll<io::Result<()>> {
        loop {
            if !self.first.is_empty() {
                let written = written(ready!(to.as_mut().poll_write(cx, &self.first)))?;
                drop(self.first.split_to(written));
                self.moved += 1;
                continue;
            }
            let waiting = self.buffer.get(self.start..self.end).unwrap_or_default();
            if !waiting.is_empty() {
                self.start += written(ready!(to.as_mut().poll_write(cx, waiting)))?;
                self.moved += 1;
                continue;
            }
            match self.state {
                State::Reading => {
                    let mut space = ReadBuf::new(&mut self.buffer);
                    if from.as_mut().poll_read(cx, space.unfilled())?.is_pending() {
                        ready!(to.as_mut().poll_flush(cx))?;
                        return Poll::Pending;
                    }
                    (self.start, self.end) = (0, space.filled().len());
                    if self.end == 0 {
                        self.state = State::Ending;
                    }
                }
                State::Ending => {
                    ready!(to.as_mut().poll_shutdown(cx))?;
                    self.state = State::Done;
                }
                State::Done => return Poll::Ready(Ok(())),
            }
        }
    }
}

fn written(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        other => other,
    }
}
