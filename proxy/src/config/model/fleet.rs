//! A pool of upstream servers.

use std::fmt::{self, Display, Formatter};
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use fingerpost_authority::{Host, WrittenHostError};
use http::StatusCode;
use thiserror::Error;

use crate::snapshot::{Health, Transport};

/// A named pool of servers of one application.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The name.
    pub name: Arc<str>,
    /// The servers, at least one.
    pub servers: Vec<Server>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a server may take from the end of a request to the header of its response.
    pub response_timeout: Duration,
    /// How long the body of a response may pause.
    pub body_timeout: Duration,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
    /// How long an exchange may take in all.
    pub request_timeout: Option<Duration>,
    /// After how many failures in a row a server is passed over; 0 is never.
    pub max_fails: u32,
    /// For how long it is.
    pub fail_timeout: Duration,
    /// Statuses of responses that count as failures.
    pub fail_statuses: Vec<StatusCode>,
    /// How long the share of a server that came back grows.
    pub slow_start: Duration,
    /// Retries in percent of the requests.
    pub retry_budget: u32,
    /// Exchanges that a server is given at once.
    pub max_connections: Option<NonZeroU32>,
    /// Requests that may wait for room.
    pub queue: u32,
    /// How long they may.
    pub queue_timeout: Duration,
    /// How servers are asked whether they are well.
    pub health: Option<Health>,
    /// How they are spoken to.
    pub transport: Transport,
}

/// The address of an upstream server: `host ":" port`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    host: Host,
    port: u16,
    weight: NonZeroU32,
}

impl Server {
    /// The host: a name that is resolved when connecting, or an IP address.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, never 0.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How much it is given beside the others.
    pub fn weight(&self) -> NonZeroU32 {
        self.weight
    }

    pub(crate) fn with_weight(self, weight: NonZeroU32) -> Self {
        Self { weight, ..self }
    }
}

impl Display for Server {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl FromStr for Server {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        if let Some((scheme, rest)) = text.split_once("://") {
            let (scheme, rest) = (scheme.to_owned(), rest.trim_end_matches('/').to_owned());
            return Err(ServerError::Scheme { scheme, rest });
        }
        if let Some((_, path)) = text.split_once('/') {
            return Err(ServerError::Path(format!("/{path}")));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => return Err(ServerError::NoPort(text.to_owned())),
        };
        let port = match port.parse::<u16>() {
            Ok(port) if port > 0 && port.to_string().len() == text.len() - host.len() - 1 => port,
            _ => return Err(ServerError::Port(port.to_owned())),
        };
        let host = Host::from_written(host).map_err(ServerError::Host)?;
        Ok(Self { host, port, weight: NonZeroU32::MIN })
    }
}

/// Why a text is no server address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The host is none.
    #[error("the host is wrong")]
    Host(#[source] WrittenHostError),
    /// There is no port.
    #[error("a server needs a port, as in \"{0}:80\"")]
    NoPort(String),
    /// There is a path.
    #[error("a server is host:port, without the path {0:?}: paths are forwarded as they came")]
    Path(String),
    /// The port is none.
    #[error("{0:?} is not a port from 1 to 65535")]
    Port(String),
    /// There is a scheme.
    #[error("a server is host:port, without {scheme}://; write {rest:?}")]
    Scheme {
        /// The scheme.
        scheme: String,
        /// What follows it.
        rest: String,
    },
}
