//! The beginning of a TLS connection.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustls::server::Acceptor;
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::Phase;
use super::watch::{Stage, Watch};
use super::worker::Worker;
use crate::snapshot::Settings;
use crate::tls::Served;

/// Shakes hands within the time for a header; `None` where that fails.
///
/// A client that asks for a name without a certificate is told so (RFC 6066 section 3).
pub(super) async fn accept(
    worker: &Worker,
    socket: TcpStream,
    settings: &Settings,
    watch: &Watch,
) -> Option<(TlsStream<TcpStream>, Arc<Served>)> {
    watch.begin(Stage::Head, worker.now(), settings.header_timeout);
    let shaken = in_time(worker, watch, shake(socket, settings)).await?;
    watch.end();
    shaken
}

async fn shake(
    socket: TcpStream,
    settings: &Settings,
) -> Option<(TlsStream<TcpStream>, Arc<Served>)> {
    let start = LazyConfigAcceptor::new(Acceptor::default(), socket).await.ok()?;
    let name = start.client_hello().server_name().map(str::to_owned);
    let certificates = settings.certificates.as_ref();
    let Some(served) = certificates.and_then(|all| all.choose(name.as_deref())) else {
        tracing::debug!(name, "no certificate for a handshake");
        // Nothing was written before it: there is room.
        let _ = start.io.try_write(&UNRECOGNIZED_NAME);
        return None;
    };
    let config = Arc::clone(&served.config);
    Some((start.into_stream(config).await.ok()?, Arc::clone(served)))
}

/// The record of a fatal `unrecognized_name` alert (RFC 8446 sections 5.1 and 6.2).
const UNRECOGNIZED_NAME: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// When the listeners have closed, a handshake has this long to end.
const CLOSING: Duration = Duration::from_secs(1);

/// Waits for `future` as long as `watch` lets it.
pub(super) async fn in_time<F: Future>(
    worker: &Worker,
    watch: &Watch,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut cut_short = false;
    poll_fn(|cx| {
        watch.register(cx.waker());
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        if worker.phase() >= Phase::Closing && !cut_short {
            cut_short = true;
            watch.begin(Stage::Head, worker.now(), CLOSING);
        }
        match watch.expired() {
            Some(_) => Poll::Ready(None),
            None => Poll::Pending,
        }
    })
    .await
}
