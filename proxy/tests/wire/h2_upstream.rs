//! Upstream servers that speak HTTP/2, or TLS, or both.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use fingerpost::snapshot::Http;
use fingerpost::tls::{Roots, UpstreamTls};

use super::secure::Pem;

/// A server that answers by the path that is asked for.
pub(crate) struct H2Upstream {
    pub(crate) address: SocketAddr,
    pub(crate) world: Arc<World>,
    _runtime: Runtime,
}

/// What it counts and what it waits for.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) connections: AtomicUsize,
    pub(crate) requests: AtomicUsize,
    /// It says GOAWAY after each answer.
    pub(crate) leaves: bool,
    /// Requests for `/held` are answered when there is a permit.
    pub(crate) go: Option<Semaphore>,
}

impl World {
    pub(crate) fn count(&self) -> (usize, usize) {
        (self.connections.load(Ordering::SeqCst), self.requests.load(Ordering::SeqCst))
    }
}

impl H2Upstream {
    pub(crate) fn plain(world: World) -> Self {
        Self::run(world, None)
    }

    /// Speaks TLS with a certificate, and what of these protocols the client wants.
    pub(crate) fn secure(pem: &Pem, protocols: &[&str]) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_slice(pem.key.as_bytes()).unwrap();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![pem.der()], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self::run(World::default(), Some(TlsAcceptor::from(Arc::new(config))))
    }

    fn run(world: World, tls: Option<TlsAcceptor>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let world = Arc::new(world);
        let all = Arc::clone(&world);
        runtime.spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                let (world, tls) = (Arc::clone(&all), tls.clone());
                tokio::spawn(async move {
                    let Some(tls) = tls else {
                        world.connections.fetch_add(1, Ordering::SeqCst);
                        return two(socket, world).await;
                    };
                    // A client that doesn't trust us is none.
                    let Ok(socket) = tls.accept(socket).await else { return };
                    world.connections.fetch_add(1, Ordering::SeqCst);
                    let name = socket.get_ref().1.server_name().unwrap_or("-").to_owned();
                    if socket.get_ref().1.alpn_protocol() == Some(b"h2") {
                        two(socket, world).await;
                    } else {
                        one(socket, world, &name).await;
                    }
                });
            }
        });
        Self { address, world, _runtime: runtime }
    }
}

/// HTTP/1.1, enough for requests without content.
async fn one(mut socket: impl AsyncRead + AsyncWrite + Unpin, world: Arc<World>, name: &str) {
    let mut head = Vec::new();
    while let Ok(byte) = socket.read_u8().await {
        head.push(byte);
        if head.ends_with(b"\r\n\r\n") {
            world.requests.fetch_add(1, Ordering::SeqCst);
            let content = format!("one for {name}");
            let length = content.len();
            let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{content}");
            socket.write_all(reply.as_bytes()).await.unwrap();
            head.clear();
        }
    }
}

async fn two(socket: impl AsyncRead + AsyncWrite + Unpin, world: Arc<World>) {
    let Ok(mut connection) = h2::server::handshake(socket).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        world.requests.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(answer(request, respond, Arc::clone(&world)));
        if world.leaves {
            connection.graceful_shutdown();
        }
    }
}

async fn answer(request: Request<RecvStream>, respond: SendResponse<Bytes>, world: Arc<World>) {
    // A stream that the proxy resets is its own affair.
    let _ = reply(request, respond, world).await;
}

async fn reply(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    world: Arc<World>,
) -> Result<(), h2::Error> {
    let (parts, mut incoming) = request.into_parts();
    let field = |name: &str| parts.headers.get(name).map_or("-", |value| value.to_str().unwrap());
    let trailers = |status: &'static str| {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.parse().unwrap());
        trailers
    };
    let ok = || Response::builder().header("content-type", "application/grpc");
    match parts.uri.path() {
        "/echo" => {
            let mut body = respond.send_response(ok().body(()).unwrap(), false)?;
            while let Some(data) = incoming.data().await {
                let data = data?;
                let _ = incoming.flow_control().release_capacity(data.len());
                body.send_data(data, false)?;
            }
            let mut last = trailers("5");
            if let Some(sent) = incoming.trailers().await? {
                last.insert("x-sent", sent["x-sent"].clone());
            }
            body.send_trailers(last)?;
        }
        "/trailers-only" => {
            let response = ok().header("grpc-status", "7").body(()).unwrap();
            respond.send_response(response, true)?;
        }
        "/refused" if world.requests.load(Ordering::SeqCst) == 1 => {
            respond.send_reset(Reason::REFUSED_STREAM);
        }
        "/broken" => respond.send_reset(Reason::INTERNAL_ERROR),
        "/cut" => {
            let mut body = respond.send_response(ok().body(()).unwrap(), false)?;
            body.send_data(Bytes::from_static(b"hal"), false)?;
            tokio::time::sleep(Duration::from_millis(50)).await;
            body.send_reset(Reason::INTERNAL_ERROR);
        }
        path => {
            if let (Some(go), "/held") = (&world.go, path) {
                go.acquire().await.unwrap().forget();
            }
            let content = format!(
                "{} {} te={} host={} connection={} x-forwarded-host={}",
                parts.method,
                parts.uri,
                field("te"),
                field("host"),
                field("connection"),
                field("x-forwarded-host"),
            );
            let mut body = respond.send_response(Response::new(()), false)?;
            body.send_data(Bytes::from(content), true)?;
        }
    }
    Ok(())
}

/// What a fleet trusts, and asks for.
pub(crate) fn trusting(pem: &Pem, name: Option<&'static str>, http: Http) -> Arc<UpstreamTls> {
    let roots = Arc::new(Roots::read(pem.cert.as_bytes()).unwrap());
    let name = name.map(|name| ServerName::try_from(name).unwrap());
    Arc::new(UpstreamTls::new(roots, name, http))
}
