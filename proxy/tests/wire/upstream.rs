//! Upstream servers that follow a script.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::client::{PATIENCE, field};

/// A server that tells what it received.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    heard: Receiver<Heard>,
}

/// A request, or the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Request { connection: usize, head: String, body: String },
    End { connection: usize },
}

/// The upstream's end of one connection.
pub(crate) struct Peer {
    pub(crate) number: usize,
    stream: TcpStream,
    buffer: Vec<u8>,
    tell: Sender<Heard>,
}

impl Upstream {
    /// Runs `script` for every connection.
    pub(crate) fn run(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, heard) = channel();
        let script = Arc::new(script);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                stream.set_nodelay(true).unwrap();
                let tell = tell.clone();
                let script = Arc::clone(&script);
                thread::spawn(move || {
                    let mut peer = Peer { number, stream, buffer: Vec::new(), tell };
                    script(&mut peer);
                    // Whoever hears of the end can rely on the connection being closed.
                    let Peer { tell, stream, .. } = peer;
                    drop(stream);
                    let _ = tell.send(Heard::End { connection: number });
                });
            }
        });
        Self { address, heard }
    }

    /// Answers every request with `response`, as it stands.
    pub(crate) fn fixed(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::run(move |peer| {
            while peer.request().is_some() {
                peer.send(&response);
            }
        })
    }

    /// Answers every request with what was received of it.
    pub(crate) fn echo() -> Self {
        Self::run(|peer| {
            while let Some((head, body)) = peer.request() {
                let content = format!("{head}{body}");
                peer.send(format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{content}",
                    content.len()
                ));
            }
        })
    }

    /// The next thing that it heard.
    pub(crate) fn heard(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).expect("the upstream hears something")
    }

    /// The next request's head.
    pub(crate) fn head(&self) -> String {
        match self.heard() {
            Heard::Request { head, .. } => head,
            end => panic!("{end:?}"),
        }
    }

    /// How many requests it heard of by now, and has not told.
    pub(crate) fn requests(&self) -> usize {
        self.heard.try_iter().filter(|heard| matches!(heard, Heard::Request { .. })).count()
    }

    /// Whether nothing else was heard so far.
    pub(crate) fn is_silent(&self) -> bool {
        self.heard.try_recv().is_err()
    }
}

impl Peer {
    /// Reads a request with its content (chunks as they came); `None` at the end.
    pub(crate) fn request(&mut self) -> Option<(String, String)> {
        let head = self.head()?;
        let body = if field(&head, "transfer-encoding").is_some() {
            self.until(b"0\r\n").and_then(|mut body| {
                while !body.ends_with("\r\n\r\n") {
                    body += &self.until(b"\r\n")?;
                }
                Some(body)
            })
        } else {
            let length = field(&head, "content-length").map_or(0, |length| length.parse().unwrap());
            self.take(length)
        };
        self.told(&head, body.as_deref().unwrap_or("(cut)"));
        Some((head, body?))
    }

    /// Reads a request's head only.
    pub(crate) fn head(&mut self) -> Option<String> {
        self.until(b"\r\n\r\n")
    }

    /// Reports a request that was read piece by piece.
    pub(crate) fn told(&self, head: &str, body: &str) {
        let heard = Heard::Request {
            connection: self.number,
            head: head.to_owned(),
            body: body.to_owned(),
        };
        let _ = self.tell.send(heard);
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    pub(crate) fn until(&mut self, end: &[u8]) -> Option<String> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                let bytes = self.buffer.drain(..at + end.len()).collect();
                return Some(String::from_utf8(bytes).unwrap());
            }
            if !self.fill() {
                return None;
            }
        }
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<String> {
        while self.buffer.len() < length {
            if !self.fill() {
                return None;
            }
        }
        Some(String::from_utf8(self.buffer.drain(..length).collect()).unwrap())
    }

    /// Takes bytes that are no text; `None` at the end.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < length {
            if !self.fill() {
                return None;
            }
        }
        Some(self.buffer.drain(..length).collect())
    }

    /// Waits until the proxy closes the connection; says what came before.
    pub(crate) fn wait_for_end(&mut self) -> String {
        while self.fill() {}
        String::from_utf8(std::mem::take(&mut self.buffer)).unwrap()
    }

    /// Closes with a reset.
    pub(crate) fn reset(&mut self) {
        let socket = socket2::SockRef::from(&self.stream);
        socket.set_linger(Some(std::time::Duration::ZERO)).unwrap();
        self.stream = TcpStream::connect(self.stream.local_addr().unwrap()).unwrap();
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn fill(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(read) => {
                self.buffer.extend_from_slice(&chunk[..read]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error}"),
        }
    }
}
