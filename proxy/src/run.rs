//! A running proxy: listeners, reloads, and the end.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use crate::apply;
use crate::config::{Config, ConfigFile};
use crate::server::{Drain, Listeners, Serving, serve};
use crate::snapshot::Snapshots;
pub use reload::{Reloaded, Reloader};
use signals::Told;

mod reload;
mod signals;

/// A proxy that serves.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<SocketAddr>,
    serving: Serving,
    drain: Drain,
    snapshots: Arc<Snapshots>,
}

impl Running {
    /// Listens and serves as `config` says; `seed` keys the hashes of hosts and prefixes, which tenants
    /// choose.
    ///
    /// # Errors
    ///
    /// When an address can't be listened on, or a thread can't be started.
    pub fn start(config: &Config, seed: u64) -> io::Result<Self> {
        let snapshot = apply::snapshot(config, 1, seed).map_err(io::Error::other)?;
        let snapshots = Arc::new(Snapshots::new(snapshot));
        let listeners = Listeners::bind(&config.listen.http, threads(config))?;
        let addresses = listeners.addresses()?;
        let drain = Drain::new(config.timeouts.drain_grace, config.timeouts.drain_deadline);
        let serving = serve(listeners, &snapshots, &drain)?;
        Ok(Self { addresses, serving, drain, snapshots })
    }

    /// Where it listens, ports filled in.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The place to publish snapshots.
    #[must_use]
    pub fn snapshots(&self) -> &Arc<Snapshots> {
        &self.snapshots
    }

    /// Ends at once.
    ///
    /// # Errors
    ///
    /// When a worker panicked.
    pub fn stop(self) -> io::Result<()> {
        self.drain.end();
        self.serving.wait()
    }
}

/// Serves a configuration until SIGTERM; SIGHUP, or a change of the file, reads it again.
///
/// # Errors
///
/// When it can't be listened, a thread can't be started, or a worker panicked.
pub fn run(file: &ConfigFile) -> io::Result<()> {
    let told = Told::listen()?;
    let seed = random_seed()?;
    let running = Running::start(&file.config, seed)?;
    for address in running.addresses() {
        tracing::info!(%address, "listening");
    }
    let reloader = Reloader::new(file, Arc::clone(running.snapshots()), seed);
    told.until_drained(&file.path, reloader, running.drain, running.serving)
}

fn threads(config: &Config) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    config.limits.threads.map_or_else(cores, NonZeroUsize::get)
}

/// Asks the system for random bytes.
///
/// # Errors
///
/// When it has none to give.
pub fn random_seed() -> io::Result<u64> {
    let mut bytes = [0; 8];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}
