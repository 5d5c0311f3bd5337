//! A client that sends a target as it stands.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Sends one request on a connection of its own.
pub(super) fn get(proxy: SocketAddr, host: &str, target: &str) -> io::Result<Reply> {
    let mut socket = TcpStream::connect(proxy)?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(socket, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no response but {text:?}")))?;
    Ok(Reply { status, body: body.to_owned() })
}
