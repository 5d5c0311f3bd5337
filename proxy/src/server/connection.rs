//! Serving one client connection.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use hyper::rt::Write;
use hyper::server::conn::http1::{self, Parts};
use hyper::service::service_fn;
use tokio::net::TcpStream;

use super::Phase;
use super::announced::{self, Announced, Ends};
use super::census::Counted;
use super::client::{Client, Link};
use super::listener::{Door, Scheme};
use super::socket::{ClientSocket, Wire};
use super::watch::{Stage, Watch};
use super::worker::Worker;
use super::{handshake, http2, preface};
use crate::headers::Origin;
use crate::request;

/// Serves requests until the connection ends, for whichever reason.
///
/// It counts as long as this runs.
pub(super) async fn serve(
    worker: Rc<Worker>,
    mut socket: TcpStream,
    door: Door,
    watch: Rc<Watch>,
    mut counted: Counted,
) {
    let Door { scheme, announced } = door;
    let (Ok(mut peer), Ok(mut local)) = (socket.peer_addr(), socket.local_addr()) else { return };
    let _ = socket.set_nodelay(true);
    let settings = worker.decide(|snapshot, _| Arc::clone(&snapshot.settings));
    if announced {
        watch.begin(Stage::Head, worker.now(), settings.header_timeout);
        match handshake::in_time(&worker, &watch, announced::read(&mut socket)).await {
            Some(Ok(Announced::Passed(ends))) => Ends { client: peer, local } = ends,
            Some(Ok(Announced::Own)) => {}
            Some(Err(error)) => return tracing::debug!(%peer, %error, "connection closed"),
            None => return,
        }
        watch.end();
    }
    let origin = Origin::new(peer, local, scheme, &settings);
    if !origin.trusted() && !counted.belongs_to(origin.peer(), settings.admission) {
        return worker.refuse(socket, scheme);
    }
    let link = |served| Link::new(Rc::clone(&worker), origin, Arc::clone(&settings), served);
    // A future is as large as the largest of its branches, and most connections are idle ones without TLS.
    match scheme {
        Scheme::Http if !settings.http2.prior_knowledge => {
            let client = Client::new(link(None), watch);
            drop((worker, settings));
            http1(socket, &client).await;
        }
        Scheme::Http => {
            let sniffed = Box::pin(async {
                watch.begin(Stage::Head, worker.now(), settings.header_timeout);
                handshake::in_time(&worker, &watch, preface::is_http2(&socket)).await
            });
            let Some(http2) = sniffed.await else { return };
            begin(socket, http2, link(None), watch).await;
        }
        Scheme::Https => {
            let accepted = Box::pin(handshake::accept(&worker, socket, &settings, &watch)).await;
            let Some((socket, served)) = accepted else { return };
            let http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
            begin(socket, http2, link(Some(served)), watch).await;
        }
    }
}

async fn begin(socket: impl Wire, http2: bool, link: Rc<Link>, watch: Rc<Watch>) {
    if http2 {
        Box::pin(http2::serve(socket, link, watch)).await;
    } else {
        Box::pin(async { http1(socket, &Client::new(link, watch)).await }).await;
    }
}

async fn http1(socket: impl Wire, client: &Rc<Client>) {
    let mut protocol = http1::Builder::new();
    // The worker's clock does what hyper's timer would, for less.
    protocol.header_read_timeout(None);
    protocol.max_header_size(client.settings().max_header_size);
    protocol.max_buf_size(buffer_size(client.settings().max_header_size));
    let headers = client.settings().admission.headers;
    if headers != HYPERS_HEADERS {
        protocol.max_headers(headers);
    }
    let service = service_fn({
        let client = Rc::clone(client);
        move |request| request::answer(Rc::clone(&client), request)
    });
    let socket = ClientSocket::new(socket, Rc::clone(client));
    let mut connection = protocol.serve_connection(socket, service);
    let ended = poll_fn(|cx| {
        client.watch().register(cx.waker());
        // What has come is read first: a connection is idle only if nothing has.
        if let Poll::Ready(ended) = Pin::new(&mut connection).poll(cx) {
            return Poll::Ready(ended.is_ok());
        }
        if client.worker().phase() >= Phase::Closing {
            client.close_soon();
        }
        match client.expired() {
            Some(Stage::Head | Stage::Client) => Poll::Ready(false),
            _ => Poll::Pending,
        }
    });
    if !ended.await {
        return;
    }
    let Parts { io: mut socket, read_buf, .. } = connection.into_parts();
    match client.take_tunnel() {
        Some(tunnel) => Box::pin(tunnel.run(client, socket, read_buf)).await,
        // Where an upgrade was offered and not taken, hyper leaves the closing to us.
        None => {
            poll_fn(|cx| match client.expired() {
                Some(_) => Poll::Ready(()),
                None => Pin::new(&mut socket).poll_shutdown(cx).map(drop),
            })
            .await
        }
    }
}

/// As many are parsed without an allocation.
const HYPERS_HEADERS: usize = 100;

/// hyper's buffer has a least size, and a header has to fit into it.
fn buffer_size(header: usize) -> usize {
    header.max(8 * 1024).saturating_mul(2)
}
