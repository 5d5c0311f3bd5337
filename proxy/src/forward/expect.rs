//! `Expect: 100-continue`, end to end (RFC 9110 section 10.1.1).

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Request;
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

/// Holds a request's content back until the upstream asks for it.
///
/// hyper's server sends a 100 when the content is first asked for. So the client hears it when the
/// upstream has said it, and an upstream that refuses by the header alone costs no content at all.
#[derive(Debug)]
pub(crate) struct Gate {
    told: oneshot::Receiver<()>,
    patience: Pin<Box<Sleep>>,
    shut: bool,
}

/// An upstream that has never heard of 100 gets the content after a while.
const PATIENCE: Duration = Duration::from_secs(1);

impl Gate {
    /// Makes a gate that the response to `request` opens.
    pub(super) fn before<B>(request: &mut Request<B>) -> Self {
        let (tell, told) = oneshot::channel();
        let tell = Mutex::new(Some(tell));
        hyper::ext::on_informational(request, move |response| {
            if response.status() == http::StatusCode::CONTINUE
                && let Ok(mut tell) = tell.lock()
                && let Some(tell) = tell.take()
            {
                // Nobody listens when the content flows already.
                let _ = tell.send(());
            }
        });
        Self { told, patience: Box::pin(sleep(PATIENCE)), shut: false }
    }

    /// Ready when the content may flow.
    pub(super) fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.shut {
            return Poll::Pending;
        }
        match Pin::new(&mut self.told).poll(cx) {
            Poll::Ready(Ok(())) => return Poll::Ready(()),
            Poll::Ready(Err(_)) => {
                // The response's header has come without a 100: nobody wants the content.
                self.shut = true;
                return Poll::Pending;
            }
            Poll::Pending => (),
        }
        self.patience.as_mut().poll(cx)
    }
}
