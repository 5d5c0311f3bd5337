//! One line for each exchange, where the configuration asks for it.
//!
//! Nothing here runs while the access log is off: a request then carries no [`Record`].

use std::rc::Rc;
use std::time::Duration;

use http::request::Parts;
use http::{Method, StatusCode, Uri, Version};
use tokio::time::Instant;

use crate::entry::Entry;
use crate::server::Client;
use std::sync::Arc;

/// What the line will say.
#[derive(Debug)]
pub(crate) struct Record {
    client: Rc<Client>,
    started: Instant,
    method: Method,
    target: Uri,
    version: Version,
    /// The host that the request was decided by.
    host: Option<String>,
    entry: Option<Arc<Entry>>,
    status: StatusCode,
    bytes: u64,
    complete: bool,
}

impl Record {
    /// Begins a record with the request as it was received.
    pub(crate) fn begin(client: &Rc<Client>, parts: &Parts) -> Box<Self> {
        Box::new(Self {
            client: Rc::clone(client),
            started: Instant::now(),
            method: parts.method.clone(),
            target: parts.uri.clone(),
            version: parts.version,
            host: None,
            entry: None,
            status: StatusCode::OK,
            bytes: 0,
            complete: false,
        })
    }

    pub(crate) fn set_host(&mut self, host: Option<&str>) {
        self.host = host.map(str::to_owned);
    }

    pub(crate) fn set_entry(&mut self, entry: &Arc<Entry>) {
        self.entry = Some(Arc::clone(entry));
    }

    pub(crate) fn set_status(&mut self, status: StatusCode) {
        self.status = status;
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    pub(crate) fn complete(&mut self) {
        self.complete = true;
    }

    /// Writes the line. Its fields are those of the event, so that a subscriber decides the format.
    pub(crate) fn write(&self) {
        let entry = self.entry.as_deref();
        tracing::info!(
            target: "fingerpost::access",
            client = self.client.address(),
            host = self.host,
            method = self.method.as_str(),
            path = self.target.path(),
            query = self.target.query(),
            version = ?self.version,
            status = self.status.as_u16(),
            bytes = self.bytes,
            seconds = rounded(self.started.elapsed()),
            route = entry.map(|entry| &*entry.id),
            account = entry.and_then(|entry| entry.account.as_deref()),
            app = entry.and_then(|entry| entry.app.as_deref()),
            // A response to HEAD is complete without the content that it describes.
            complete = self.complete || self.method == Method::HEAD,
        );
    }
}

/// Seconds, to the microsecond.
fn rounded(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e6
}
