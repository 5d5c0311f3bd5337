//! What can go wrong with an upstream server.

use std::fmt;

use crate::problem::Problem;

/// A failure, told in the words of RFC 9209 section 2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The fleet has no servers.
    NoServer,
    /// The server's name has no address.
    Resolve,
    /// Nobody listens.
    Refused,
    /// No way there.
    Unroutable,
    /// The connection took too long to be established.
    ConnectTimeout,
    /// It could not be established for another reason: ours, mostly.
    Connect,
    /// It ended before anything was sent.
    Handshake,
    /// Its certificate can't be trusted.
    Certificate,
    /// It refused the handshake of TLS.
    Alert,
    /// The handshake of TLS failed.
    Tls,
    /// It does not speak HTTP/2, which it has to.
    NoHttp2,
    /// It speaks HTTP/2 only, over which it can't be asked to switch protocols.
    OnlyHttp2,
    /// It ended before the response was complete.
    Terminated,
    /// The response is not HTTP.
    Protocol,
    /// The response's header is too large.
    HeaderSize,
    /// The response took too long.
    ResponseTimeout,
    /// The content stopped coming.
    BodyTimeout,
    /// The exchange took too long in all.
    RequestTimeout,
    /// Every server has as much to do as it may, and as many wait as may.
    QueueFull,
    /// No server had room for too long.
    QueueTimeout,
}

impl Failure {
    /// Reads the failure out of an error that a connection gave.
    pub(crate) fn of(error: &hyper::Error) -> Self {
        if error.is_parse_too_large() {
            Self::HeaderSize
        } else if error.is_parse() {
            Self::Protocol
        } else {
            Self::Terminated
        }
    }

    /// What the client is told.
    pub(crate) const fn problem(self) -> Problem {
        match self {
            Self::NoServer => Problem::UNAVAILABLE,
            Self::Resolve => {
                Problem::bad_gateway("dns_error", "the upstream's name has no address")
            }
            Self::Refused => {
                Problem::bad_gateway("connection_refused", "the upstream refused the connection")
            }
            Self::Unroutable => {
                Problem::bad_gateway("destination_ip_unroutable", "no route to the upstream")
            }
            Self::ConnectTimeout => {
                Problem::timeout("connection_timeout", "the upstream took too long to connect")
            }
            Self::Connect => {
                Problem::bad_gateway("proxy_internal_error", "no connection to the upstream")
            }
            Self::Handshake | Self::Terminated => {
                Problem::bad_gateway("connection_terminated", "the upstream closed the connection")
            }
            Self::Certificate => Problem::bad_gateway(
                "tls_certificate_error",
                "the upstream's certificate can't be trusted",
            ),
            Self::Alert => {
                Problem::bad_gateway("tls_alert_received", "the upstream refused the TLS handshake")
            }
            Self::Tls => Problem::bad_gateway(
                "tls_protocol_error",
                "the TLS handshake with the upstream failed",
            ),
            Self::NoHttp2 => {
                Problem::bad_gateway("http_protocol_error", "the upstream does not speak HTTP/2")
            }
            Self::OnlyHttp2 => Problem::bad_gateway(
                "http_upgrade_failed",
                "the upstream speaks HTTP/2 only, and no WebSockets over it",
            ),
            Self::Protocol => {
                Problem::bad_gateway("http_protocol_error", "the upstream's response is malformed")
            }
            Self::HeaderSize => Problem::bad_gateway(
                "http_response_header_section_size",
                "the upstream's response header is too large",
            ),
            Self::ResponseTimeout => {
                Problem::timeout("http_response_timeout", "the upstream took too long to respond")
            }
            Self::BodyTimeout => Problem::timeout(
                "http_response_timeout",
                "the upstream took too long to send its response's content",
            ),
            Self::RequestTimeout => {
                Problem::timeout("http_response_timeout", "the exchange took too long")
            }
            Self::QueueFull => Problem::busy("too many requests wait for the upstream"),
            Self::QueueTimeout => Problem::busy("the upstream had no room for too long"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.problem().detail)
    }
}
