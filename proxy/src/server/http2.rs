//! Serving a client connection that carries many exchanges at once.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use tokio::task::spawn_local;

use super::Phase;
use super::client::{Client, Link};
use super::socket::{ClientSocket, Wire};
use super::watch::{Stage, Watch};
use crate::request;

/// Serves requests until the connection ends, for whichever reason.
pub(super) async fn serve(socket: impl Wire, link: Rc<Link>, watch: Rc<Watch>) {
    let streams = Streams::new(Client::new(link, watch));
    let client = &streams.client;
    let settings = client.settings();
    let mut protocol = http2::Builder::new(Spawner(Rc::clone(&streams)));
    protocol
        .max_concurrent_streams(settings.http2.max_concurrent_streams)
        .max_header_list_size(u32::try_from(settings.max_header_size).unwrap_or(u32::MAX))
        .max_local_error_reset_streams(settings.http2.max_resets as usize)
        .max_send_buf_size(SEND_BUFFER)
        .enable_connect_protocol();
    let service = service_fn({
        let streams = Rc::clone(&streams);
        move |request| {
            let streams = Rc::clone(&streams);
            // The stream's task runs this, and has said which stream it is.
            async move { request::answer(streams.current(), request).await }
        }
    });
    let socket = ClientSocket::new(socket, Rc::clone(client));
    let mut connection = pin!(protocol.serve_connection(socket, service));
    poll_fn(|cx| {
        client.watch().register(cx.waker());
        if connection.as_mut().poll(cx).is_ready() || streams.is_abused() {
            return Poll::Ready(());
        }
        match streams.next() {
            Next::Serve => Poll::Pending,
            Next::Leave => {
                connection.as_mut().graceful_shutdown();
                // What says so is written now.
                connection.as_mut().poll(cx).map(drop)
            }
            Next::Cut => Poll::Ready(()),
        }
    })
    .await;
}

/// Bytes of a response that wait for a client to make room: each stream has as many.
const SEND_BUFFER: usize = 64 * 1024;

/// A client that is told to leave, and has nothing under way, has this long to hear it.
const FAREWELL: Duration = Duration::from_secs(5);

/// What a connection does after it has done what it could.
enum Next {
    Serve,
    /// It takes no more streams (RFC 9113 section 6.8), and ends with the last of them.
    Leave,
    Cut,
}

/// The streams of one connection.
#[derive(Debug)]
pub(super) struct Streams {
    /// The connection itself, which waits for streams.
    client: Rc<Client>,
    /// The stream whose task runs.
    current: RefCell<Option<Rc<Client>>>,
    open: Cell<u32>,
    /// A stream has ended that was to be the last.
    retiring: Cell<bool>,
    leaving: Cell<bool>,
    /// How many more streams were given up than were answered.
    resets: Cell<u32>,
}

impl Streams {
    fn new(client: Rc<Client>) -> Rc<Self> {
        Rc::new(Self {
            client,
            current: RefCell::default(),
            open: Cell::new(0),
            retiring: Cell::new(false),
            leaving: Cell::new(false),
            resets: Cell::new(0),
        })
    }

    fn current(&self) -> Rc<Client> {
        let current = self.current.borrow().clone();
        current.unwrap_or_else(|| self.client.stream())
    }

    /// Whether the client gives up streams faster than it lets us answer them: each costs us a request to an
    /// upstream, and costs the client nothing (CVE-2023-44487).
    fn is_abused(&self) -> bool {
        self.resets.get() > self.client.settings().http2.max_resets
    }

    fn next(&self) -> Next {
        let phase = self.client.worker().phase();
        if phase >= Phase::Closing && !self.leaving.get() {
            self.client.close_soon();
        }
        let expired = self.client.expired() == Some(Stage::Head);
        if self.leaving.get() {
            return if expired { Next::Cut } else { Next::Serve };
        }
        let busy = self.open.get() > 0;
        let spent = self.retiring.get() || self.client.is_spent();
        let leaves = expired || spent || (busy && phase >= Phase::Closing);
        if !leaves {
            return Next::Serve;
        }
        self.leaving.set(true);
        if !busy {
            self.client.begin(Stage::Head, FAREWELL.min(self.client.settings().body_timeout));
        }
        Next::Leave
    }

    fn begin(self: &Rc<Self>) -> Stream {
        self.client.request_came();
        self.open.set(self.open.get() + 1);
        Stream { streams: Rc::clone(self), client: self.client.stream() }
    }

    fn end(&self, answered: bool) {
        let resets = self.resets.get();
        self.resets.set(if answered { resets.saturating_sub(1) } else { resets + 1 });
        self.open.set(self.open.get() - 1);
        if self.client.worker().phase() != Phase::Serving {
            self.retiring.set(true);
        }
        if self.open.get() == 0 {
            if self.leaving.get() {
                // The end of what was sent may still be on its way.
                self.client.begin(Stage::Head, self.client.settings().body_timeout);
            } else {
                self.client.await_request();
            }
        }
        self.client.watch().wake();
    }
}

/// One stream, as long as its task lives.
struct Stream {
    streams: Rc<Streams>,
    client: Rc<Client>,
}

impl Stream {
    /// Runs a stream's task to its end, or until the client has taken nothing of it for too long.
    async fn run(self, task: impl Future<Output = ()>) {
        let Self { streams, client } = &self;
        let mut task = pin!(task);
        poll_fn(|cx| {
            client.watch().register(cx.waker());
            streams.current.replace(Some(Rc::clone(client)));
            let polled = task.as_mut().poll(cx);
            streams.current.take();
            match client.expired() {
                Some(Stage::Client) => Poll::Ready(()),
                _ => polled,
            }
        })
        .await;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.streams.end(self.client.is_answered());
    }
}

/// Runs what a connection's streams need on its own thread.
#[derive(Clone)]
struct Spawner(Rc<Streams>);

impl<F: Future<Output = ()> + 'static> Executor<F> for Spawner {
    fn execute(&self, task: F) {
        spawn_local(self.0.begin().run(task));
    }
}
