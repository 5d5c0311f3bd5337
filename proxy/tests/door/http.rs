//! One request on a connection of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Sends `head`, a request line and fields, with a body; nothing where nobody listens.
pub(crate) fn try_send(address: SocketAddr, head: &str, body: &str) -> Option<Reply> {
    let mut socket = TcpStream::connect(address).ok()?;
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (line, fields) = head.split_once('\n').unwrap_or((head, ""));
    let fields: String = fields.lines().map(|field| format!("{field}\r\n")).collect();
    let length = body.len();
    write!(
        socket,
        "{line} HTTP/1.1\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .ok()?;
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunk(body)
    } else {
        body.to_owned()
    };
    Some(Reply { status, head: head.to_owned(), body })
}

pub(crate) fn send(address: SocketAddr, head: &str, body: &str) -> Reply {
    try_send(address, head, body).expect("an answer")
}

fn unchunk(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&after[..size]);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    whole
}
