//! Why a request gets no host.

use core::fmt;
use std::error::Error;

use crate::AuthorityError;

/// A request that [`select`](crate::select) refuses, with the answer it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected {
    reason: Reason,
    close: bool,
    cause: Option<AuthorityError>,
}

/// One reason for each rule of [`select`](crate::select).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    NoHost,
    ManyHosts,
    InvalidHost,
    NotChunked,
    UnknownCoding,
    InvalidTarget,
    Scheme,
    Userinfo,
    TargetAuthority,
    AuthorityForm,
    AsteriskForm,
    AbsoluteInHttp2,
    InvalidAuthority,
    NoAuthority,
    AuthorityAndHost,
    Method,
    Misdirected,
}

impl Rejected {
    pub(crate) fn new(reason: Reason) -> Self {
        Self { reason, close: false, cause: None }
    }

    pub(crate) fn closing(self, close: bool) -> Self {
        Self { close, ..self }
    }

    pub(crate) fn because(self, cause: AuthorityError) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// Tells the status code of the answer: 400, 405, 421 or 501.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.reason {
            Reason::UnknownCoding => 501,
            Reason::Method => 405,
            Reason::Misdirected => 421,
            _ => 400,
        }
    }

    /// Must the connection close after the answer? Only ever in HTTP/1, where what follows on it cannot be
    /// trusted: HTTP/2 refuses the stream alone.
    #[must_use]
    pub fn close(&self) -> bool {
        self.close
    }

    /// Tells the reason, the same words for every request that breaks the rule.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self.reason {
            Reason::NoHost => "no Host field",
            Reason::ManyHosts => "more than one Host field",
            Reason::InvalidHost => "invalid Host field",
            Reason::NotChunked => "Transfer-Encoding is not exactly one chunked",
            Reason::UnknownCoding => "unknown transfer coding",
            Reason::InvalidTarget => "invalid request-target",
            Reason::Scheme => "scheme of the request-target is neither http nor https",
            Reason::Userinfo => "user information in the request-target",
            Reason::TargetAuthority => "invalid authority in the request-target",
            Reason::AuthorityForm => "authority-form without CONNECT",
            Reason::AsteriskForm => "asterisk-form without OPTIONS",
            Reason::AbsoluteInHttp2 => "absolute-form in :path",
            Reason::InvalidAuthority => "invalid :authority",
            Reason::NoAuthority => "neither :authority nor a Host field",
            Reason::AuthorityAndHost => ":authority and Host field differ",
            Reason::Method => "method not served",
            Reason::Misdirected => "host is not among the names of this connection's certificate",
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl Error for Rejected {
    /// The part of the authority that is wrong, and where, if that is why.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}
