//! Which version of HTTP a client begins with, where no handshake has said so.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

/// What every HTTP/2 connection begins with (RFC 9113 section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Looks at the first bytes, which stay where they are.
///
/// A preface that comes in pieces is looked at again after a while: the socket stays readable meanwhile.
pub(super) async fn is_http2(socket: &TcpStream) -> bool {
    let mut seen = [0; PREFACE.len()];
    loop {
        let Ok(length @ 1..) = socket.peek(&mut seen).await else { return false };
        let seen = seen.get(..length).unwrap_or_default();
        if !PREFACE.starts_with(seen) || seen == PREFACE {
            return seen == PREFACE;
        }
        sleep(Duration::from_millis(5)).await;
    }
}
