//! Listening sockets, one of each address for every thread.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

pub(crate) use inherited::{Inherited, Shared};

mod inherited;

/// The sockets of all threads.
///
/// The kernel spreads connections over sockets that share a port (`SO_REUSEPORT`), and every thread
/// accepts on its own.
#[derive(Debug)]
pub struct Listeners {
    sets: Vec<Vec<Listener>>,
    addresses: Vec<SocketAddr>,
    /// Every socket has a queue of its own: while one is open, somebody must accept from it.
    shared: Vec<Shared>,
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
    /// Which of the addresses it is at.
    position: usize,
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
        Self::take_or_bind(http, https, threads, &mut Inherited::default())
    }

    /// As [`bind_all`](Self::bind_all), but an address whose sockets are inherited is not bound again: all of
    /// them are accepted from, spread over the threads, and a thread that gets none shares one.
    pub(crate) fn take_or_bind(
        http: &[SocketAddr],
        https: &[SocketAddr],
        threads: usize,
        inherited: &mut Inherited,
    ) -> io::Result<Self> {
        let threads = threads.max(1);
        let http = http.iter().map(|address| (*address, Scheme::Http));
        let https = https.iter().map(|address| (*address, Scheme::Https));
        let mut wanted = Vec::new();
        for (asked, scheme) in http.chain(https) {
            let taken = inherited.take(asked);
            if taken.is_empty() {
                claim(asked).map_err(|error| cannot_listen(asked, &error))?;
            }
            wanted.push((asked, scheme, taken));
        }
        let mut sets: Vec<Vec<Listener>> = std::iter::repeat_with(Vec::new).take(threads).collect();
        let (mut addresses, mut shared) = (Vec::new(), Vec::new());
        for (position, (asked, scheme, taken)) in wanted.into_iter().enumerate() {
            let door = Door { scheme, announced: false };
            let sockets = if taken.is_empty() {
                listen_all(asked, threads).map_err(|error| cannot_listen(asked, &error))?
            } else {
                taken
            };
            let Some(first) = sockets.first() else { continue };
            addresses.push(first.local_addr()?);
            for socket in &sockets {
                shared.push(Shared { asked, socket: socket.try_clone()? });
            }
            let more = (sockets.len()..threads).zip(sockets.iter().cycle());
            let more =
                more.map(|(_, socket)| socket.try_clone()).collect::<io::Result<Vec<_>>>()?;
            for (number, socket) in sockets.into_iter().chain(more).enumerate() {
                socket.set_nonblocking(true)?;
                if let Some(set) = sets.get_mut(number % threads) {
                    set.push(Listener { socket, door, position });
                }
            }
        }
        Ok(Self { sets, addresses, shared })
    }

    /// Takes sockets for HTTP that are open already, one set for each thread.
    pub fn from_sets(sets: Vec<Vec<TcpListener>>) -> Self {
        let door = Door { scheme: Scheme::Http, announced: false };
        let http = |(position, socket)| Listener { socket, door, position };
        let sets =
            sets.into_iter().map(|set| set.into_iter().enumerate().map(http).collect()).collect();
        Self { sets, addresses: Vec::new(), shared: Vec::new() }
    }

    /// Expects a PROXY protocol header on every connection to those of [`addresses`](Self::addresses) that stand
    /// at these positions.
    #[must_use]
    pub fn announced(mut self, positions: &[usize]) -> Self {
        for listener in self.sets.iter_mut().flatten() {
            listener.door.announced = positions.contains(&listener.position);
        }
        self
    }

    /// The addresses for HTTP, then those for HTTPS, ports filled in.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if !self.addresses.is_empty() {
            return Ok(self.addresses.clone());
        }
        let first = self.sets.first().into_iter().flatten();
        first.map(|listener| listener.socket.local_addr()).collect()
    }

    /// Every socket once more, for a process that takes over. As long as they are open, so are the queues: they
    /// are given once.
    pub(crate) fn share(&mut self) -> Vec<Shared> {
        std::mem::take(&mut self.shared)
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

fn listen_all(mut address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    let mut sockets = Vec::new();
    for _ in 0..count {
        let socket = listen(address)?;
        address = socket.local_addr()?;
        sockets.push(socket);
    }
    Ok(sockets)
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
