//! A socket to an upstream server, with TLS or without.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Failure;
use crate::snapshot::{Http, Transport};

/// The socket.
#[derive(Debug)]
pub(super) enum Socket {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// A connection that is ready for HTTP.
pub(super) struct Opened {
    pub(super) socket: Socket,
    pub(super) http2: bool,
}

/// Which versions of HTTP will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those of the transport.
    Any,
    /// HTTP/1.1.
    One,
}

/// Shakes hands, where the transport asks for it.
///
/// # Errors
///
/// A server that does not prove who it is, or does not speak what it has to.
pub(super) async fn secure(
    socket: TcpStream,
    transport: &Transport,
    address: &str,
    wanted: Wanted,
) -> Result<Opened, Failure> {
    // Requests go out as soon as they are written; without the option they still do, only later.
    let _ = socket.set_nodelay(true);
    let Some(tls) = &transport.tls else {
        let http2 = transport.http == Http::Two;
        return Ok(Opened { socket: Socket::Plain(socket), http2 });
    };
    let name = tls.name_of(address).ok_or(Failure::Certificate)?;
    let config = match wanted {
        Wanted::Any => &tls.config,
        Wanted::One => &tls.config_one,
    };
    let connector = TlsConnector::from(Arc::clone(config));
    let socket = connector.connect(name, socket).await.map_err(|error| failure(&error))?;
    let http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
    if transport.http == Http::Two && !http2 {
        return Err(Failure::NoHttp2);
    }
    Ok(Opened { socket: Socket::Secure(Box::new(socket)), http2 })
}

fn failure(error: &io::Error) -> Failure {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(_)) => Failure::Certificate,
        Some(rustls::Error::AlertReceived(_)) => Failure::Alert,
        Some(_) => Failure::Tls,
        None => Failure::Handshake,
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Self::Secure(socket) => Pin::new(socket).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(cx, buf),
            Self::Secure(socket) => Pin::new(socket).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Self::Secure(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Secure(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_write_vectored(),
            Self::Secure(socket) => socket.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Self::Secure(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
        }
    }
}
