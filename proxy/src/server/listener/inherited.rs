//! Sockets that another process has opened.

use std::io;
use std::net::{SocketAddr, TcpListener};

/// A listening socket, with the address that a configuration asked for: port 0 has become another since.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) asked: SocketAddr,
    pub(crate) socket: TcpListener,
}

/// The sockets that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Inherited(Vec<(SocketAddr, Shared)>);

impl Inherited {
    /// # Errors
    ///
    /// What the system says of something that is no such socket.
    pub(crate) fn new(sockets: impl IntoIterator<Item = Shared>) -> io::Result<Self> {
        let with_address = |shared: Shared| Ok((shared.socket.local_addr()?, shared));
        Ok(Self(sockets.into_iter().map(with_address).collect::<io::Result<_>>()?))
    }

    /// The addresses of those that nobody has taken.
    pub(crate) fn left(&self) -> impl Iterator<Item = SocketAddr> {
        self.0.iter().map(|(bound, _)| *bound)
    }

    /// Takes every socket of one address: the first that was asked for as `wanted`, or is bound to it.
    pub(crate) fn take(&mut self, wanted: SocketAddr) -> Vec<TcpListener> {
        let fits =
            |(bound, shared): &&(SocketAddr, Shared)| shared.asked == wanted || *bound == wanted;
        let Some(address) = self.0.iter().find(fits).map(|(bound, _)| *bound) else {
            return Vec::new();
        };
        let taken = self.0.extract_if(.., |(bound, _)| *bound == address);
        taken.map(|(_, shared)| shared.socket).collect()
    }
}
