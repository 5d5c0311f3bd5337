//! A client that writes bytes and reads responses.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use socket2::{Domain, Socket, Type};

/// Far more than anything takes; a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Client {
    stream: Stream,
    buffer: Vec<u8>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(buffer),
            Self::Tls(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).unwrap())
    }

    /// Connects so that the kernel keeps little of what it receives.
    pub(crate) fn connect_narrowly(address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&address.into()).unwrap();
        Self::over(socket.into())
    }

    /// Connects from another address of this machine.
    pub(crate) fn connect_from(from: &str, address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        let from = SocketAddr::new(from.parse().unwrap(), 0);
        socket.bind(&from.into()).unwrap();
        socket.connect(&address.into()).unwrap();
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: Stream::Plain(stream), buffer: Vec::new() }
    }

    /// Speaks over a connection on which hands were shaken.
    pub(crate) fn over_tls(stream: StreamOwned<ClientConnection, TcpStream>) -> Self {
        Self { stream: Stream::Tls(Box::new(stream)), buffer: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// Gives up a read that takes longer.
    pub(crate) fn limit_reads(&self, time: Duration) {
        self.stream.socket().set_read_timeout(Some(time)).unwrap();
    }

    /// Whether nothing comes, and the connection stays open, for as long as a read may take.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let quiet = self.stream.read(&mut [0]);
        matches!(quiet, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Gives up a write that takes longer.
    pub(crate) fn limit_writes(&self, time: Duration) {
        self.stream.socket().set_write_timeout(Some(time)).unwrap();
    }

    /// Writes what the peer may have stopped to read.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    pub(crate) fn finish_sending(&self) {
        self.stream.socket().shutdown(Shutdown::Write).unwrap();
    }

    /// Sends a request and reads its response.
    pub(crate) fn ask(&mut self, request: impl AsRef<[u8]>) -> Reply {
        self.send(request).reply()
    }

    pub(crate) fn reply(&mut self) -> Reply {
        self.reply_to("GET")
    }

    pub(crate) fn reply_to(&mut self, method: &str) -> Reply {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new() };
        if method == "HEAD" || status == 204 || status == 304 || status < 200 {
            return reply;
        }
        reply.body = if reply.field("transfer-encoding").as_deref() == Some("chunked") {
            self.chunks()
        } else if let Some(length) = reply.field("content-length") {
            self.take(length.parse().unwrap())
        } else {
            self.rest()
        };
        reply
    }

    /// The next head, with its empty line.
    pub(crate) fn head(&mut self) -> String {
        String::from_utf8(self.until(b"\r\n\r\n")).unwrap()
    }

    /// Content in chunks, with chunk lines and trailers, as it came.
    fn chunks(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let line = self.until(b"\r\n");
            let size = std::str::from_utf8(&line).unwrap().trim_end();
            let size = usize::from_str_radix(size, 16).unwrap();
            all.extend_from_slice(&line);
            if size == 0 {
                loop {
                    let line = self.until(b"\r\n");
                    all.extend_from_slice(&line);
                    if line == b"\r\n" {
                        return all;
                    }
                }
            }
            all.extend_from_slice(&self.take(size + 2));
        }
    }

    pub(crate) fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return self.buffer.drain(..at + end.len()).collect();
            }
            assert!(self.fill(), "closed in {:?}", String::from_utf8_lossy(&self.buffer));
        }
    }

    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            assert!(self.fill(), "closed in {:?}", String::from_utf8_lossy(&self.buffer));
        }
        self.buffer.drain(..length).collect()
    }

    /// Everything up to the end of the connection, which may be a reset.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.buffer)
    }

    /// Whether the connection ends cleanly with nothing more on it.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.rest().is_empty()
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
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&self.buffer)),
        }
    }
}

impl Reply {
    /// The values of a field, joined.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        field(&self.head, name)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn closes(&self) -> bool {
        self.field("connection").is_some_and(|value| value.contains("close"))
    }
}

/// The values of a field in a head, joined with `|`.
pub(crate) fn field(head: &str, name: &str) -> Option<String> {
    let values: Vec<_> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .filter(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
        .collect();
    (!values.is_empty()).then(|| values.join("|"))
}
