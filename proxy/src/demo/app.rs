//! A small application that says who it is.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::task::LocalSet;

/// An application on a port of its own, on a thread that ends with the process.
pub(super) struct App {
    address: SocketAddr,
}

impl App {
    /// Starts an application that answers every request with its name and the request's target.
    pub(super) fn start(name: &'static str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new()
            .name(format!("app-{name}"))
            .spawn(move || LocalSet::new().block_on(&runtime, accept(listener, name)))?;
        Ok(Self { address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn accept(listener: TcpListener, name: &'static str) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (socket, _) = listener.accept().await?;
        let service = service_fn(move |request: Request<Incoming>| async move {
            let (method, target) = (request.method(), request.uri());
            let body = format!("app {name}: {method} {target}\n");
            Ok::<_, Infallible>(Response::new(body))
        });
        tokio::task::spawn_local(async move {
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service);
            // The proxy closes its connections when it likes.
            connection.await.unwrap_or_default();
        });
    }
}
