//! A new connection to an upstream server.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use hyper::client::conn::http1::{self, Parts};
use tokio::net::TcpStream;

use super::lease::{Lease, Line, NotedSocket, Switched, Traffic};
use super::{Failure, ServerPool};

/// Connects to `server`.
///
/// # Errors
///
/// Whatever happened, nothing of a request has been sent.
pub(crate) async fn connect(server: &Rc<ServerPool>, limit: Duration) -> Result<Lease, Failure> {
    let socket = match tokio::time::timeout(limit, open(server)).await {
        Ok(opened) => opened?,
        Err(_) => return Err(Failure::ConnectTimeout),
    };
    // Requests go out as soon as they are written; without the option they still do, only later.
    let _ = socket.set_nodelay(true);
    let traffic = Rc::new(Traffic::default());
    let socket = NotedSocket::new(socket, Rc::clone(&traffic));
    let (sender, mut connection) =
        http1::Builder::new().handshake(socket).await.map_err(|_| Failure::Handshake)?;
    let task = tokio::task::spawn_local({
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

async fn open(server: &ServerPool) -> Result<TcpStream, Failure> {
    match server.socket {
        Some(address) => TcpStream::connect(address).await.map_err(failure),
        None => {
            let mut addresses =
                tokio::net::lookup_host(&*server.address).await.map_err(|_| Failure::Resolve)?;
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
