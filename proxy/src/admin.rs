//! The admin listener: the write door and the read API, on a thread of their own.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use fingerpost_control::Control;
use tokio::sync::oneshot;

use crate::agent::Agent;
use crate::background::give_way;
use crate::metrics::MEDIA_TYPE;
use crate::random::System;

/// The admin listener; it closes when this is dropped.
#[derive(Debug)]
pub struct Admin {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The longest that a client may wait for a change to be in use everywhere.
const MAX_WAIT: Duration = Duration::from_secs(60);

impl Admin {
    /// Listens on `address` and serves what `agent` knows.
    ///
    /// # Errors
    ///
    /// When the address can't be listened on, there is no claim store, or no source of random numbers.
    pub fn start(address: SocketAddr, agent: &Agent) -> io::Result<Self> {
        let none = || io::Error::other("an admin listener needs a claim store");
        let control = Control {
            store: agent.store().ok_or_else(none)?,
            view: agent.view(),
            ambient: Arc::new(System::new()?),
            max_wait: MAX_WAIT,
        };
        let metrics = agent.metrics_text();
        let cannot = |error| io::Error::other(format!("can't listen on {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(cannot)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new().name("admin".to_owned()).spawn(move || {
            give_way();
            runtime.block_on(async {
                tokio::select! {
                    served = serve(listener, control, metrics) => {
                        if let Err(error) = served {
                            tracing::error!(%error, "the admin listener has ended");
                        }
                    }
                    _ = ended => {}
                }
            });
        })?;
        Ok(Self { address, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens, the port filled in.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve(
    listener: TcpListener,
    control: Control,
    metrics: impl Fn() -> String + Clone + Send + Sync + 'static,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // Open, as scrapers expect it on a listener that only the operator reaches.
    let metrics = axum::routing::get(async move || ([(CONTENT_TYPE, MEDIA_TYPE)], metrics()));
    axum::serve(listener, fingerpost_control::router(control).route("/metrics", metrics)).await
}

impl Drop for Admin {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // One that panicked has said so.
            _ = thread.join();
        }
    }
}
