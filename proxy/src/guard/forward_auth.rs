//! Another server that says who may pass.

use std::time::Duration;

use bytes::Bytes;
use fingerpost_authority::Authority;
use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, Version};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, spawn_local};

use super::Refusal;
use crate::headers;
use crate::server::Client;

/// A URL that is asked about every request, and what of its answer the application is told.
///
/// It is asked by GET with the request's header fields. An answer of 2xx lets the request pass; 3xx and 4xx go
/// to the client. Anything else, an error or a silence is 503: nobody passes because nobody was there to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardAuth {
    /// Host and port, for connecting.
    address: Box<str>,
    host: HeaderValue,
    path: PathAndQuery,
    copied: Vec<HeaderName>,
    timeout: Duration,
}

/// Why a URL can't be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AuthUrlError {
    /// It is no URL with a host.
    #[error("not a URL, such as \"http://127.0.0.1:9000/verify\"")]
    Malformed,
    /// It is not reached by plain HTTP.
    #[error("only http is supported: put the server on this machine or in a private network")]
    Scheme,
}

/// Fields that are about one message, or one connection.
const OWN: [HeaderName; 8] = [
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("max-forwards"),
];

/// More of an answer than anybody shows to a client.
const MOST: usize = 256 * 1024;

impl ForwardAuth {
    /// Asks `url` within `timeout`; an application gets the fields `copied` from its answer, and from nobody
    /// else.
    ///
    /// # Errors
    ///
    /// [`AuthUrlError`] for anything but `http://host[:port][/path][?query]`.
    pub fn new(
        url: &str,
        copied: Vec<HeaderName>,
        timeout: Duration,
    ) -> Result<Self, AuthUrlError> {
        let url: Uri = url.parse().map_err(|_| AuthUrlError::Malformed)?;
        match url.scheme_str() {
            Some("http") => {}
            Some(_) => return Err(AuthUrlError::Scheme),
            None => return Err(AuthUrlError::Malformed),
        }
        let written = url.authority().ok_or(AuthUrlError::Malformed)?.as_str();
        let authority =
            Authority::parse(written.as_bytes()).map_err(|_| AuthUrlError::Malformed)?;
        let address = format!("{}:{}", authority.host(), authority.port().unwrap_or(80));
        let host = written.parse().map_err(|_| AuthUrlError::Malformed)?;
        let path = url.path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Self { address: address.into(), host, path, copied, timeout })
    }

    /// Asks about a request; answers the fields that an application is to be told. `edited` tells whether the
    /// request's header is the one that an upstream gets already.
    pub(super) async fn ask(
        &self,
        client: &Client,
        parts: &Parts,
        edited: bool,
    ) -> Result<HeaderMap, Box<Refusal>> {
        let question = self.question(client, parts, edited)?;
        let answer = tokio::time::timeout(self.timeout, self.exchange(question)).await;
        match answer {
            Ok(Ok(Answer::Pass(identity))) => Ok(identity),
            Ok(Ok(Answer::Refuse(refusal))) => Err(refusal),
            Ok(Err(problem)) => Err(self.undecided(&problem)),
            Err(_) => Err(self.undecided(&Failure::Timeout)),
        }
    }

    /// Removes what a client says of itself under a name that is the other server's to set.
    ///
    /// Servers that take names for variables (CGI) see one name where `-`, `_` or `.` differ.
    pub(super) fn strip(&self, headers: &mut HeaderMap) {
        let mine = |name: &&HeaderName| self.copied.iter().any(|copied| same(copied, name));
        let unwanted: Vec<_> = headers.keys().filter(mine).cloned().collect();
        for name in unwanted {
            headers.remove(name);
        }
        // A trailer may be taken for a field; without this one, none is sent on.
        headers.remove(TRAILER);
    }

    fn question(
        &self,
        client: &Client,
        parts: &Parts,
        edited: bool,
    ) -> Result<Request<Empty<Bytes>>, Box<Refusal>> {
        let target = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let target = HeaderValue::try_from(target).map_err(|_| self.undecided(&Failure::Target))?;
        let method = parts.method.as_str().parse();
        let method = method.map_err(|_| self.undecided(&Failure::Target))?;
        let mut asked = parts.clone();
        if !edited {
            headers::edit_request(&mut asked, true, client.origin())?;
        }
        let fields = &mut asked.headers;
        for name in OWN {
            fields.remove(name);
        }
        self.strip(fields);
        fields.insert("x-forwarded-method", method);
        fields.insert("x-forwarded-uri", target);
        // What the client named stands in `X-Forwarded-Host`.
        fields.insert(HOST, self.host.clone());
        asked.method = Method::GET;
        asked.version = Version::HTTP_11;
        asked.uri = Uri::from(self.path.clone());
        Ok(Request::from_parts(asked, Empty::new()))
    }

    async fn exchange(&self, question: Request<Empty<Bytes>>) -> Result<Answer, Failure> {
        let socket = TcpStream::connect(&*self.address).await.map_err(|_| Failure::Connect)?;
        let _ = socket.set_nodelay(true);
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(socket)).await.map_err(|_| Failure::Exchange)?;
        let _task = Task(spawn_local(async move {
            // What fails here fails at the exchange.
            let _ = connection.await;
        }));
        let response = sender.send_request(question).await.map_err(|_| Failure::Exchange)?;
        let status = response.status();
        if status.is_success() {
            return Ok(Answer::Pass(self.identity(response.headers())));
        }
        if !status.is_redirection() && !status.is_client_error() {
            return Err(Failure::Status(status.as_u16()));
        }
        refuse(response).await.map(Answer::Refuse)
    }

    fn identity(&self, answered: &HeaderMap) -> HeaderMap {
        let mut identity = HeaderMap::new();
        for name in &self.copied {
            for value in answered.get_all(name) {
                identity.append(name, value.clone());
            }
        }
        identity
    }

    fn undecided(&self, failure: &Failure) -> Box<Refusal> {
        tracing::warn!(server = &*self.address, "who may pass is not known: {failure}");
        Refusal::undecided("nobody can say whether you may pass")
    }
}

enum Answer {
    Pass(HeaderMap),
    Refuse(Box<Refusal>),
}

/// Why nobody knows whether a request may pass.
#[derive(Debug, Error)]
enum Failure {
    #[error("no connection")]
    Connect,
    #[error("no usable answer")]
    Exchange,
    #[error("an answer with status {0}")]
    Status(u16),
    #[error("the answer is too large, or was cut")]
    Content,
    #[error("the request can't be described")]
    Target,
    #[error("no answer in time")]
    Timeout,
}

/// A connection that ends with whoever uses it.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The answer as a client gets it.
async fn refuse(response: Response<Incoming>) -> Result<Box<Refusal>, Failure> {
    let (mut parts, incoming) = response.into_parts();
    headers::edit_response(&mut parts, None, Version::HTTP_11).map_err(|_| Failure::Exchange)?;
    for name in [CONTENT_LENGTH, TRAILER] {
        parts.headers.remove(name);
    }
    let body = Limited::new(incoming, MOST).collect().await.map_err(|_| Failure::Content)?;
    let (status, headers, body) = (parts.status, parts.headers, body.to_bytes());
    Ok(Box::new(Refusal { status, headers, body }))
}

/// Whether two names are one to a server that makes variables of them.
fn same(one: &HeaderName, other: &HeaderName) -> bool {
    let fold = |byte: u8| if byte.is_ascii_alphanumeric() { byte } else { b'_' };
    one.as_str().bytes().map(fold).eq(other.as_str().bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_is_asked() {
        for (url, want) in [
            ("http://127.0.0.1:9000/verify?x=1", Ok("127.0.0.1:9000 /verify?x=1")),
            ("http://auth.example", Ok("auth.example:80 /")),
            ("http://[::1]:9000", Ok("[::1]:9000 /")),
            ("https://auth.example/", Err(AuthUrlError::Scheme)),
            ("auth.example:9000", Err(AuthUrlError::Malformed)),
            ("/verify", Err(AuthUrlError::Malformed)),
            ("http://", Err(AuthUrlError::Malformed)),
            ("http://user@auth.example/", Err(AuthUrlError::Malformed)),
            ("", Err(AuthUrlError::Malformed)),
        ] {
            let found = ForwardAuth::new(url, Vec::new(), Duration::from_secs(1));
            let found = found.map(|auth| format!("{} {}", auth.address, auth.path));
            assert_eq!(found, want.map(str::to_owned), "{url}");
        }
    }

    #[test]
    fn every_spelling_of_a_copied_field_is_stripped() {
        let copied = vec![HeaderName::from_static("x-user")];
        let auth = ForwardAuth::new("http://a.example", copied, Duration::from_secs(1)).unwrap();
        for (name, want) in [
            ("X-User", true),
            ("x-uSER", true),
            ("X_User", true),
            ("X.User", true),
            ("x!user", true),
            ("trailer", true),
            ("X-Users", false),
            ("X-User-Agent", false),
            ("XUser", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), "a".parse().unwrap());
            auth.strip(&mut headers);
            assert_eq!(headers.is_empty(), want, "{name}");
        }
    }
}
