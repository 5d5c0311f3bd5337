//! A new connection to an upstream server.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::lease::{Lease, Line, NotedSocket, Traffic};
use super::shared::{MOST_STREAMS, Shared};
use super::{Failure, ServerPool};
use crate::snapshot::{Fleet, Http, Transport};

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
    let _turn = server.opening.lock().await;
    if let Some(lease) = server.take_shared() {
        return Ok(lease);
    }
    let (count, last) = server.opened.get();
    if let Some(failure) = last.filter(|_| count != before) {
        return Err(failure);
    }
    if !server.is_shared() {
        drop(_turn);
        return establish(server, fleet, now).await;
    }
    let result = establish(server, fleet, now).await;
    server.opened.set((count.wrapping_add(1), result.as_ref().err().copied()));
    result
}

async fn establish(server: &Rc<ServerPool>, fleet: &Fleet, now: u32) -> Result<Lease, Failure> {
    let opened = tokio::time::timeout(fleet.connect_timeout, async {
        let socket = open(&server.address, server.socket).await?;
        secure(socket, &server.transport, &server.address).await
    });
    let Opened { socket, http2 } = opened.await.map_err(|_| Failure::ConnectTimeout)??;
    server.chose_one.set(server.transport.http == Http::Auto && !http2);
    match (socket, http2) {
        (Socket::Plain(socket), false) => line(server, socket).await,
        (Socket::Secure(socket), false) => line(server, socket).await,
        (Socket::Plain(socket), true) => stream(server, socket, fleet, now).await,
        (Socket::Secure(socket), true) => stream(server, socket, fleet, now).await,
    }
}

/// A connection that is ready for HTTP.
pub(super) struct Opened {
    pub(super) socket: Socket,
    pub(super) http2: bool,
}

pub(super) enum Socket {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// Shakes hands, where the transport asks for it.
pub(super) async fn secure(
    socket: TcpStream,
    transport: &Transport,
    address: &str,
) -> Result<Opened, Failure> {
    // Requests go out as soon as they are written; without the option they still do, only later.
    let _ = socket.set_nodelay(true);
    let Some(tls) = &transport.tls else {
        let http2 = transport.http == Http::Two;
        return Ok(Opened { socket: Socket::Plain(socket), http2 });
    };
    let name = tls.name_of(address).ok_or(Failure::Certificate)?;
    let connector = TlsConnector::from(std::sync::Arc::clone(&tls.config));
    let socket = connector.connect(name, socket).await.map_err(|error| tls_failure(&error))?;
    let http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
    if transport.http == Http::Two && !http2 {
        return Err(Failure::NoHttp2);
    }
    Ok(Opened { socket: Socket::Secure(Box::new(socket)), http2 })
}

async fn line<S>(server: &Rc<ServerPool>, socket: S) -> Result<Lease, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let traffic = Rc::new(Traffic::default());
    let socket = NotedSocket::new(socket, Rc::clone(&traffic));
    let (sender, connection) =
        http1::Builder::new().handshake(socket).await.map_err(|_| Failure::Handshake)?;
    let task = spawn_local(async move {
        // What fails here fails at whoever holds the sender or the content.
        let _ = connection.await;
    });
    let line = Line::new(sender, traffic, Rc::clone(server), task.abort_handle());
    Ok(Lease::new(line, false))
}

async fn stream<S>(
    server: &Rc<ServerPool>,
    socket: S,
    fleet: &Fleet,
    now: u32,
) -> Result<Lease, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
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

fn tls_failure(error: &io::Error) -> Failure {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(_)) => Failure::Certificate,
        Some(rustls::Error::AlertReceived(_)) => Failure::Alert,
        Some(_) => Failure::Tls,
        None => Failure::Handshake,
    }
}
