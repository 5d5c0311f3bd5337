//! A client on a connection that is kept.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A client on a connection that is kept.
pub(crate) struct Client {
    socket: TcpStream,
    request: Vec<u8>,
    buffer: [u8; 4096],
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { socket, request: Vec::new(), buffer: [0; 4096] }
    }

    /// Asks for a path; the content of the answer, which tells the application, or the head where it is no 200.
    pub(crate) fn get(
        &mut self,
        host: &str,
        path: std::fmt::Arguments<'_>,
    ) -> Result<&str, String> {
        self.request.clear();
        _ = write!(self.request, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let failed = |error: std::io::Error| error.to_string();
        self.socket.write_all(&self.request).map_err(failed)?;
        let mut filled = 0;
        loop {
            let read = self.socket.read(&mut self.buffer[filled..]).map_err(failed)?;
            if read == 0 {
                return Err("closed".to_owned());
            }
            filled += read;
            let text = std::str::from_utf8(&self.buffer[..filled]).map_err(|e| e.to_string())?;
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
            });
            if length.is_none_or(|length: usize| body.len() < length) {
                continue;
            }
            if !head.starts_with("HTTP/1.1 200 ") {
                return Err(text.to_owned());
            }
            // The borrow checker wants it taken again.
            let body = filled - body.len();
            return std::str::from_utf8(&self.buffer[body..filled]).map_err(|e| e.to_string());
        }
    }
}
