//! Serving one client connection.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use hyper::server::conn::http1;
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
    match scheme {
        Scheme::Http => {
            let http2 = settings.http2.prior_knowledge && {
                watch.begin(Stage::Head, worker.now(), settings.header_timeout);
                let Some(http2) =
                    handshake::in_time(&worker, &watch, preface::is_http2(&socket)).await
                else {
                    return;
                };
                http2
            };
            begin(socket, http2, Link::new(worker, origin, settings, None), watch).await;
        }
        Scheme::Https => {
            let Some((socket, served)) =
                handshake::accept(&worker, socket, &settings, &watch).await
            else {
                return;
            };
            let http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
            begin(socket, http2, Link::new(worker, origin, settings, Some(served)), watch).await;
        }
    }
}

async fn begin(socket: impl Wire, http2: bool, link: Rc<Link>, watch: Rc<Watch>) {
    if http2 {
        http2::serve(socket, link, watch).await;
    } else {
        http1(socket, &Client::new(link, watch)).await;
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
    let mut connection = pin!(protocol.serve_connection(socket, service));
    poll_fn(|cx| {
        client.watch().register(cx.waker());
        // What has come is read first: a connection is idle only if nothing has.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if client.worker().phase() >= Phase::Closing {
            client.close_soon();
        }
        match client.expired() {
            Some(Stage::Head | Stage::Client) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
}

/// As many are parsed without an allocation.
const HYPERS_HEADERS: usize = 100;

/// hyper's buffer has a least size, and a header has to fit into it.
fn buffer_size(header: usize) -> usize {
    header.max(8 * 1024).saturating_mul(2)
}
