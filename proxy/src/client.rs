//! A client of an admin listener, for the command line.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use bytes::Bytes;
use fingerpost_authority::Authority;
use http::header::{AUTHORIZATION, CONNECTION, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

/// An admin listener, and the token to ask it with.
pub(crate) struct AdminClient {
    authority: String,
    address: (String, u16),
    token: HeaderValue,
}

/// What an admin listener answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl AdminClient {
    /// Reads the URL of a listener, `http://host:port`.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL or the token, in words.
    pub(crate) fn new(url: &str, token: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{url:?} is not a URL: {error}"))?;
        if uri.scheme_str() != Some("http") {
            return Err(format!("{url:?} must begin with http://: the admin listener has no TLS"));
        }
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let parsed = Authority::parse(authority.as_bytes());
        let parsed = parsed.map_err(|error| format!("{url:?} names no host: {error}"))?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(format!("{url:?} must be a scheme, a host and a port only"));
        }
        let mut token = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "the token holds a byte that no token has".to_owned())?;
        token.set_sensitive(true);
        let host = parsed.host().as_str().trim_matches(['[', ']']).to_owned();
        Ok(Self { authority, address: (host, parsed.port().unwrap_or(80)), token })
    }

    /// Asks, and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &str,
        fields: &[(HeaderName, &'static str)],
        body: impl Into<Bytes>,
    ) -> io::Result<Answer> {
        let mut request = Request::new(Full::new(body.into()));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(io::Error::other)?;
        let headers = request.headers_mut();
        headers.insert(HOST, self.authority.parse().map_err(io::Error::other)?);
        headers.insert(AUTHORIZATION, self.token.clone());
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        add(headers, fields);
        let (host, port) = &self.address;
        let mut addresses = (host.as_str(), *port).to_socket_addrs()?;
        let address = addresses.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let socket = TcpStream::connect_timeout(&address, Duration::from_secs(10))?;
        socket.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let asked = runtime.block_on(async { timeout(PATIENCE, send(socket, request)).await });
        asked.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// Reads a document.
    ///
    /// # Errors
    ///
    /// What the listener refused, or why there is no answer, in words.
    pub(crate) fn get(&self, path: &str) -> Result<serde_json::Value, String> {
        let answer = self.ask(Method::GET, path, &[], Bytes::new());
        let answer = answer.map_err(|error| format!("{}: {error}", self.authority))?;
        let document: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if answer.status.is_success() {
            return Ok(document);
        }
        let text = |key| document.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let detail = [text("title"), text("detail")].join(": ");
        Err(format!("{} answered {}: {detail}", self.authority, answer.status.as_u16()))
    }
}

/// Longer than the longest wait that the door grants.
const PATIENCE: Duration = Duration::from_secs(90);

fn add(headers: &mut HeaderMap, fields: &[(HeaderName, &'static str)]) {
    for (name, value) in fields {
        headers.insert(name.clone(), HeaderValue::from_static(value));
    }
}

async fn send(socket: TcpStream, request: Request<Full<Bytes>>) -> io::Result<Answer> {
    let socket = TokioIo::new(tokio::net::TcpStream::from_std(socket)?);
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(socket).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    connection.abort();
    Ok(Answer { status, body })
}

/// Writes a text as the value of a query parameter.
pub(crate) fn query(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
