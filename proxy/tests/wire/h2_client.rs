//! A client that speaks HTTP/2, one step at a time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::client::PATIENCE;
use super::secure::Trust;

/// A connection.
pub(crate) struct H2 {
    runtime: Runtime,
    sender: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

/// A response with all that belongs to it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Response<()>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Option<HeaderMap>,
}

/// What was begun.
pub(crate) struct Begun {
    pub(crate) response: ResponseFuture,
    pub(crate) body: SendStream<Bytes>,
}

impl H2 {
    /// Begins with HTTP/2 without TLS.
    pub(crate) fn plain(address: SocketAddr) -> Self {
        Self::with(
            h2::client::Builder::new(),
            async move { TcpStream::connect(address).await.unwrap() },
        )
    }

    /// Chooses HTTP/2 in the handshake.
    pub(crate) fn secure(address: SocketAddr, trust: &Trust, name: &'static str) -> Self {
        Self::secure_with(h2::client::Builder::new(), address, trust, name)
    }

    pub(crate) fn secure_with(
        builder: h2::client::Builder,
        address: SocketAddr,
        trust: &Trust,
        name: &'static str,
    ) -> Self {
        let connector =
            TlsConnector::from(Arc::new(trust.clone().alpn(&["h2", "http/1.1"]).config));
        Self::with(builder, async move {
            let socket = TcpStream::connect(address).await.unwrap();
            let name = ServerName::try_from(name).unwrap();
            let stream = connector.connect(name, socket).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            stream
        })
    }

    fn with<S>(builder: h2::client::Builder, socket: impl Future<Output = S>) -> Self
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (sender, connection) = runtime.block_on(async {
            let (sender, connection) = builder.handshake(socket.await).await.unwrap();
            (sender, tokio::spawn(connection))
        });
        Self { runtime, sender, connection }
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, future).await.expect("in time") })
    }

    /// Sends a request's header; `ends` where no content follows.
    pub(crate) fn begin(&mut self, request: Request<()>, ends: bool) -> Result<Begun, h2::Error> {
        let sender = self.sender.clone();
        let mut sender = self.block_on(sender.ready())?;
        let (response, body) = sender.send_request(request, ends)?;
        Ok(Begun { response, body })
    }

    /// Reads a response to its end.
    pub(crate) fn finish(&self, begun: Begun) -> Result<Answer, h2::Error> {
        self.block_on(async {
            let (head, mut incoming) = begun.response.await?.into_parts();
            let mut body = Vec::new();
            while let Some(data) = incoming.data().await {
                let data = data?;
                let _ = incoming.flow_control().release_capacity(data.len());
                body.extend_from_slice(&data);
            }
            let trailers = incoming.trailers().await?;
            Ok(Answer { head: Response::from_parts(head, ()), body, trailers })
        })
    }

    /// Reads a response's header only.
    pub(crate) fn head(&self, begun: Begun) -> Result<Response<RecvStream>, h2::Error> {
        self.block_on(begun.response)
    }

    pub(crate) fn ask(&mut self, request: Request<()>) -> Result<Answer, h2::Error> {
        let begun = self.begin(request, true)?;
        self.finish(begun)
    }

    pub(crate) fn get(&mut self, uri: &str) -> Answer {
        self.ask(get(uri)).unwrap()
    }

    pub(crate) fn send(&mut self, begun: &mut Begun, data: impl Into<Bytes>, ends: bool) {
        begun.body.send_data(data.into(), ends).unwrap();
    }

    /// Lets the connection work for a while.
    pub(crate) fn pause(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    /// Waits for the end of the connection, with the error that ended it.
    pub(crate) fn end(self) -> Result<(), h2::Error> {
        drop(self.sender);
        let connection = self.connection;
        let ended = async { tokio::time::timeout(PATIENCE, connection).await };
        self.runtime.block_on(ended).expect("in time").unwrap()
    }

    /// Whether the connection has ended or takes no more requests.
    pub(crate) fn takes_no_more(&mut self) -> bool {
        let sender = self.sender.clone();
        self.block_on(async {
            match sender.ready().await {
                Ok(mut sender) => {
                    sender.send_request(get("https://a.example/healthz"), true).is_err()
                }
                Err(_) => true,
            }
        })
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.status().as_u16()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub(crate) fn get(uri: &str) -> Request<()> {
    Request::get(uri).version(http::Version::HTTP_2).body(()).unwrap()
}

pub(crate) fn post(uri: &str) -> Request<()> {
    Request::post(uri).version(http::Version::HTTP_2).body(()).unwrap()
}
