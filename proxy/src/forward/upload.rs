//! A request's content on its way to an upstream.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use thiserror::Error;

use super::expect::Gate;
use super::trailers;
use crate::server::{Client, Stage};

/// The content, shared by whoever sends it and whoever may have to send it again.
#[derive(Debug)]
pub(crate) struct Inbound {
    client: Rc<Client>,
    incoming: RefCell<Incoming>,
    gate: RefCell<Option<Gate>>,
    progress: Cell<Progress>,
    /// The response has begun, so that its own pace is what counts.
    answered: Cell<bool>,
    response_timeout: Cell<Duration>,
    /// How many more bytes there may be.
    left: Cell<u64>,
}

/// How much of the content an upstream has been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nothing.
    Untouched,
    /// Some.
    Partly,
    /// Everything.
    Complete,
    /// It is malformed, or the client has gone.
    Failed,
    /// There is more of it than may be.
    TooLarge,
}

impl Inbound {
    pub(crate) fn new(client: &Rc<Client>, incoming: Incoming) -> Rc<Self> {
        Rc::new(Self {
            client: Rc::clone(client),
            incoming: RefCell::new(incoming),
            gate: RefCell::default(),
            progress: Cell::new(Progress::Untouched),
            answered: Cell::new(false),
            response_timeout: Cell::default(),
            left: Cell::new(u64::MAX),
        })
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.get()
    }

    /// Allows so many bytes from here on; false if there will be more.
    pub(crate) fn allow(&self, most: u64) -> bool {
        self.left.set(most);
        self.incoming.borrow().size_hint().lower() <= most
    }

    /// Prepares for an attempt: the time for a response begins when the last byte has gone.
    pub(super) fn prepare(&self, response_timeout: Duration) {
        self.response_timeout.set(response_timeout);
        self.gate.replace(None);
    }

    pub(super) fn hold_back(&self, gate: Gate) {
        self.gate.replace(Some(gate));
    }

    /// Notes that the response's header has come.
    pub(super) fn answered(&self) {
        self.answered.set(true);
    }

    fn watch(&self, stage: Stage) {
        if !self.answered.get() {
            let limit = match stage {
                Stage::Upload => self.client.settings().body_timeout,
                _ => self.response_timeout.get(),
            };
            self.client.begin(stage, limit);
        }
    }

    fn fits(&self, frame: &Frame<Bytes>) -> bool {
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        let left = self.left.get().checked_sub(length);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, UploadError>>> {
        let mut gate = self.gate.borrow_mut();
        if let Some(held) = &mut *gate {
            ready!(held.poll_open(cx));
            *gate = None;
        }
        let mut incoming = self.incoming.borrow_mut();
        let Poll::Ready(frame) = Pin::new(&mut *incoming).poll_frame(cx) else {
            self.watch(Stage::Upload);
            return Poll::Pending;
        };
        self.watch(Stage::Response);
        let (progress, frame) = match frame {
            Some(Ok(frame)) if !self.fits(&frame) => (Progress::TooLarge, Some(Err(UploadError))),
            Some(Ok(frame)) => {
                let last = frame.is_trailers() || incoming.is_end_stream();
                let progress = if last { Progress::Complete } else { Progress::Partly };
                (progress, Some(Ok(trailers::filtered(frame))))
            }
            Some(Err(_)) => (Progress::Failed, Some(Err(UploadError))),
            None => (Progress::Complete, None),
        };
        self.progress.set(progress);
        Poll::Ready(frame)
    }
}

/// What hyper sends: [`Inbound`], or nothing.
#[derive(Debug)]
pub(crate) struct Upload(pub(super) Option<Rc<Inbound>>);

/// The content can't be sent on, for a reason that [`Inbound::progress`] tells the dispatcher.
#[derive(Clone, Copy, Debug, Error)]
#[error("the request's content is malformed or incomplete")]
pub(crate) struct UploadError;

impl Body for Upload {
    type Data = Bytes;
    type Error = UploadError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UploadError>>> {
        match &self.0 {
            Some(inbound) => inbound.poll(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|inbound| inbound.incoming.borrow().is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Some(inbound) => inbound.incoming.borrow().size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}
