//! Connections that are more than we can serve.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{SockRef, Socket};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::listener::Scheme;

/// What a client is told; one that speaks TLS or HTTP/2 sees its connection close.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
Content-Type: application/problem+json\r\nContent-Length: 93\r\n\r\n\
{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"too many clients\"}";

/// Tells a client to come back, and closes.
///
/// What it sends is read for a while first: else the kernel's reset would overtake the answer.
pub(super) async fn refuse(socket: TcpStream, scheme: Scheme) {
    if scheme == Scheme::Https || socket.try_write(BUSY).is_err() {
        return;
    }
    let _ = SockRef::from(&socket).shutdown(Shutdown::Write);
    let mut scratch = [0; 4096];
    let read = async {
        for _ in 0..16 {
            if socket.readable().await.is_err() {
                return;
            }
            match socket.try_read(&mut scratch) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    };
    let _ = timeout(Duration::from_secs(1), read).await;
}

/// Descriptors that are kept for the time when there are no others.
///
/// One is enough, but another thread may take it in the moment in which it is free: it comes back when some
/// connection ends.
#[derive(Debug)]
pub(super) struct Spare(RefCell<Vec<File>>);

const SPARES: usize = 8;

impl Spare {
    pub(super) fn new() -> Self {
        Self(RefCell::new((0..SPARES).map_while(|_| open()).collect()))
    }

    /// Gives a descriptor to the client that has waited longest, to tell it to come back; false if there is
    /// none, or no client.
    pub(super) fn refuse_one(&self, listener: &impl AsFd, scheme: Scheme) -> bool {
        let mut spare = self.0.borrow_mut();
        let had = spare.pop().is_some();
        let refused = had && accept(listener).is_ok_and(|socket| tell(&socket, scheme).is_ok());
        let missing = SPARES - spare.len();
        spare.extend((0..missing).map_while(|_| open()));
        refused
    }
}

fn accept(listener: &impl AsFd) -> io::Result<Socket> {
    SockRef::from(listener).accept().map(|(socket, _)| socket)
}

/// There is room in a new socket, and what has come is read, so that closing resets nothing.
fn tell(mut socket: &Socket, scheme: Scheme) -> io::Result<()> {
    if scheme == Scheme::Http {
        socket.set_nonblocking(true)?;
        let _ = socket.write(BUSY);
        let _ = socket.shutdown(Shutdown::Write);
        let _ = socket.read(&mut [0; 16 * 1024]);
    }
    Ok(())
}

fn open() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Whether the process, or the system, has no descriptor left.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_answer_is_as_long_as_it_says() {
        let (head, body) = str::from_utf8(BUSY).unwrap().split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("\r\nContent-Length: {}", body.len())), "{}", body.len());
    }

    #[test]
    fn the_spare_descriptor_comes_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let spare = Spare::new();
        assert!(!spare.refuse_one(&listener, Scheme::Http));
        for _ in 0..2 {
            let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            assert!(spare.refuse_one(&listener, Scheme::Http));
            let mut told = Vec::new();
            client.read_to_end(&mut told).unwrap();
            assert_eq!(told, BUSY);
        }
    }
}
