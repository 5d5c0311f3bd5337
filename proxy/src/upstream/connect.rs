//! A new connection to an upstream server.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use hyper::client::conn::http1::Parts;
use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::task::spawn_local;

use super::lease::{Lease, Line, NotedSocket, Switched, Traffic};
use super::shared::{MOST_STREAMS, Shared};
use super::socket::{Opened, Socket, Wanted, secure};
use super::{Failure, ServerPool};
use crate::snapshot::{Fleet, Http};

/// Connects to `server`, or joins a connection that carries many exchanges.
///
/// # Errors
///
/// Whatever happened, nothing of a request has been sent.
pub(crate) async fn connect(
    server: &Rc<ServerPool>,
    fleet: &Fleet,
    now: u32,
) -> Result<Lease, Failure> {
    if !server.is_shared() {
        return establish(server, fleet, now).await;
    }
    // One opens it, and all who have come meanwhile use it, or have failed as it has.
    let (before, _) = server.opened.get();
    let turn = server.opening.lock().await;
    if let Some(lease) = server.take_shared() {
        return Ok(lease);
    }
    let (count, last) = server.opened.get();
    if let Some(failure) = last.filter(|_| count != before) {
        return Err(failure);
    }
    if !server.is_shared() {
        drop(turn);
        return establish(server, fleet, now).await;
    }
    let result = establish(server, fleet, now).await;
    server.opened.set((count.wrapping_add(1), result.as_ref().err().copied()));
    drop(turn);
    result
}

/// Connects to `server` by HTTP/1.1, which a request needs that switches to another protocol.
///
/// # Errors
///
/// As [`connect`]; and where the server speaks nothing but HTTP/2.
pub(crate) async fn connect_one(server: &Rc<ServerPool>, fleet: &Fleet) -> Result<Lease, Failure> {
    if server.transport.http == Http::Two {
        return Err(Failure::OnlyHttp2);
    }
    line(server, dial(server, fleet, Wanted::One).await?.socket).await
}

async fn establish(server: &Rc<ServerPool>, fleet: &Fleet, now: u32) -> Result<Lease, Failure> {
    let Opened { socket, http2 } = dial(server, fleet, Wanted::Any).await?;
    server.chose_one.set(server.transport.http == Http::Auto && !http2);
    match http2 {
        true => stream(server, socket, fleet, now).await,
        false => line(server, socket).await,
    }
}

async fn dial(server: &ServerPool, fleet: &Fleet, wanted: Wanted) -> Result<Opened, Failure> {
    let opened = tokio::time::timeout(fleet.connect_timeout, async {
        let socket = open(&server.address, server.socket).await?;
        secure(socket, &server.transport, &server.address, wanted).await
    });
    opened.await.map_err(|_| Failure::ConnectTimeout)?
}

async fn line(server: &Rc<ServerPool>, socket: Socket) -> Result<Lease, Failure> {
    let traffic = Rc::new(Traffic::default());
    let socket = NotedSocket::new(socket, Rc::clone(&traffic));
    let (sender, mut connection) =
        http1::Builder::new().handshake(socket).await.map_err(|_| Failure::Handshake)?;
    let task = spawn_local({
        let traffic = Rc::clone(&traffic);
        async move {
            // What fails here fails at whoever holds the sender or the content.
            if (&mut connection).await.is_ok()
                && let Some(heir) = traffic.heir.take()
            {
                let Parts { io, read_buf, .. } = connection.into_parts();
                // Nobody has it any more if the server did not switch, or the client has gone.
                let _ = heir.send(Switched { socket: io, read: read_buf });
            }
        }
    });
    let line = Line::new(sender, traffic, Rc::clone(server), task.abort_handle());
    Ok(Lease::new(line, false))
}

async fn stream(
    server: &Rc<ServerPool>,
    socket: Socket,
    fleet: &Fleet,
    now: u32,
) -> Result<Lease, Failure> {
    let mut protocol = http2::Builder::new(Local);
    protocol
        .timer(TokioTimer::new())
        // A server that has vanished takes nothing down with it but what is under way.
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        // The connection's window holds all the streams' windows, so that no slow client stops the others.
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW * MOST_STREAMS)
        .max_header_list_size(HEADER);
    let (sender, connection) =
        protocol.handshake(TokioIo::new(socket)).await.map_err(|_| Failure::Handshake)?;
    spawn_local(async move {
        let _ = connection.await;
    });
    let shared = Shared::new(sender, now, fleet);
    let stream = shared.begin();
    server.share(shared);
    Ok(Lease::shared(stream, Rc::clone(server), false))
}

const PING: Duration = Duration::from_secs(20);
/// What a server may send of one response before a client has taken it.
const WINDOW: u32 = 128 * 1024;
/// A response's header, as large as one of HTTP/1.1 may be.
const HEADER: u32 = 256 * 1024;

/// Runs what belongs to a connection on the thread that owns it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local;

impl<F: Future<Output = ()> + 'static> Executor<F> for Local {
    fn execute(&self, task: F) {
        spawn_local(task);
    }
}

/// Connects to `socket`, or else to what `address` resolves to.
pub(super) async fn open(address: &str, socket: Option<SocketAddr>) -> Result<TcpStream, Failure> {
    match socket {
        Some(address) => TcpStream::connect(address).await.map_err(failure),
        None => {
            let mut addresses =
                tokio::net::lookup_host(address).await.map_err(|_| Failure::Resolve)?;
            let mut last = Failure::Resolve;
            loop {
                let Some(address) = addresses.next() else { return Err(last) };
                match TcpStream::connect(address).await {
                    Ok(socket) => return Ok(socket),
                    Err(error) => last = failure(error),
                }
            }
        }
    }
}

fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Failure::Refused,
        io::ErrorKind::TimedOut => Failure::ConnectTimeout,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Failure::Unroutable,
        _ => Failure::Connect,
    }
}
