//! What is noted of one exchange: a line for the access log, and numbers for the metrics.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use fingerpost_authority::Host;
use fingerpost_router::Match;
use http::StatusCode;
use http::request::Parts;
use http_body::Frame;

use crate::access::Record;
use crate::entry::Entry;
use crate::metrics::Meter;
use crate::server::Client;
use crate::snapshot::Snapshot;

/// What is noted of one exchange; nothing where nobody has asked. When it is dropped, the exchange is over.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    record: Option<Box<Record>>,
    meter: Option<Meter>,
}

impl Observer {
    /// Begins with the request as it was received.
    pub(crate) fn begin(client: &Rc<Client>, parts: &Parts) -> Self {
        let record = client.settings().access_log.then(|| Record::begin(client, parts));
        Self { record, meter: client.worker().meter() }
    }

    /// Notes the host that the request is decided by.
    pub(crate) fn set_host(&mut self, host: Option<&Host>) {
        if let Some(record) = &mut self.record {
            record.set_host(host.map(Host::as_str));
        }
    }

    /// Notes the route that it has found; of several the last one counts.
    pub(crate) fn set_match(&mut self, snapshot: &Snapshot, matched: &Match<'_, '_, Arc<Entry>>) {
        if let Some(record) = &mut self.record {
            record.set_entry(matched.value());
        }
        if let Some(meter) = &mut self.meter {
            meter.set_match(snapshot.generation, matched);
        }
    }

    /// Notes the response that begins.
    pub(crate) fn set_status(&mut self, status: StatusCode) {
        if let Some(record) = &mut self.record {
            record.set_status(status);
        }
        if let Some(meter) = &mut self.meter {
            meter.set_status(status);
        }
    }

    /// Notes a part of the response's content, or its end.
    pub(crate) fn add(&mut self, frame: Option<&Frame<Bytes>>) {
        if let Some(record) = &mut self.record {
            match frame {
                Some(frame) => record.add(frame.data_ref().map_or(0, Bytes::len)),
                None => record.complete(),
            }
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            record.write();
        }
    }
}
