//! Listening sockets, one of each address for every thread.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// The sockets of all threads.
///
/// The kernel spreads connections over sockets that share a port (`SO_REUSEPORT`), and every thread
/// accepts on its own.
#[derive(Debug)]
pub struct Listeners {
    sets: Vec<Vec<Listener>>,
}

/// What is spoken on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// How connections of a socket begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Door {
    pub(super) scheme: Scheme,
    /// A proxy in front says first whose connection it is.
    pub(super) announced: bool,
}

/// One socket of one thread.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) door: Door,
}

impl Listeners {
    /// Listens for HTTP on every one of `addresses` with `threads` sockets (at least one).
    ///
    /// # Errors
    ///
    /// As [`bind_all`](Self::bind_all).
    pub fn bind(addresses: &[SocketAddr], threads: usize) -> io::Result<Self> {
        Self::bind_all(addresses, &[], threads)
    }

    /// Listens for HTTP and HTTPS with `threads` sockets (at least one) for each address.
    ///
    /// Port 0 is chosen once, for all threads.
    ///
    /// # Errors
    ///
    /// What the system says, with the address.
    pub fn bind_all(http: &[SocketAddr], https: &[SocketAddr], threads: usize) -> io::Result<Self> {
        let http = http.iter().map(|address| (*address, Scheme::Http));
        let https = https.iter().map(|address| (*address, Scheme::Https));
        let mut addresses: Vec<_> = http.chain(https).collect();
        for (address, _) in &addresses {
            claim(*address).map_err(|error| cannot_listen(*address, &error))?;
        }
        let mut sets = Vec::new();
        for _ in 0..threads.max(1) {
            let mut set = Vec::new();
            for (address, scheme) in &mut addresses {
                let socket = listen(*address).map_err(|error| cannot_listen(*address, &error))?;
                *address = socket.local_addr()?;
                let door = Door { scheme: *scheme, announced: false };
                set.push(Listener { socket, door });
            }
            sets.push(set);
        }
        Ok(Self { sets })
    }

    /// Takes sockets for HTTP that are open already, one set for each thread.
    pub fn from_sets(sets: Vec<Vec<TcpListener>>) -> Self {
        let door = Door { scheme: Scheme::Http, announced: false };
        let http = |socket| Listener { socket, door };
        Self { sets: sets.into_iter().map(|set| set.into_iter().map(http).collect()).collect() }
    }

    /// Expects a PROXY protocol header on every connection to those of [`addresses`](Self::addresses) that stand
    /// at these positions.
    #[must_use]
    pub fn announced(mut self, positions: &[usize]) -> Self {
        for (position, listener) in self.sets.iter_mut().flat_map(|set| set.iter_mut().enumerate())
        {
            listener.door.announced = positions.contains(&position);
        }
        self
    }

    /// The addresses for HTTP, then those for HTTPS, ports filled in.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let first = self.sets.first().into_iter().flatten();
        first.map(|listener| listener.socket.local_addr()).collect()
    }

    pub(super) fn into_sets(self) -> Vec<Vec<Listener>> {
        self.sets
    }
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("can't listen on {address}: {error}"))
}

/// Fails where somebody listens already: sockets that share a port would both be given connections, and
/// a process that was forgotten would go on answering by what it read last.
fn claim(address: SocketAddr) -> io::Result<()> {
    TcpListener::bind(address).map(drop)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// The kernel takes the smaller of this and `net.core.somaxconn`.
const BACKLOG: i32 = 4096;
