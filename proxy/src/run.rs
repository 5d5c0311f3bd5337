//! A running proxy: listeners, reloads, and the end.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use crate::admin::Admin;
use crate::agent::{Agent, AgentOptions};
use crate::config::{Config, ConfigFile};
use crate::random;
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
    admin: Option<Admin>,
    agent: Agent,
}

impl Running {
    /// Listens and serves as `config` says; `seed` keys the hashes of hosts and prefixes, which tenants
    /// choose.
    ///
    /// # Errors
    ///
    /// When an address can't be listened on, a file can't be used, or a thread can't be started.
    pub fn start(config: &Config, seed: u64) -> io::Result<Self> {
        Self::start_with(config, seed, AgentOptions::default())
    }

    /// As [`start`](Self::start), with the agent's times given.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_with(config: &Config, seed: u64, options: AgentOptions) -> io::Result<Self> {
        // Bound first, so that a second process on the same files ends before it touches them.
        let listeners =
            Listeners::bind_all(&config.listen.http, &config.listen.https, threads(config))?
                .announced(&config.listen.announced());
        let addresses = listeners.addresses()?;
        let drain = Drain::new(config.timeouts.drain_grace, config.timeouts.drain_deadline);
        let agent = Agent::start(config.clone(), seed, drain.clone(), options)?;
        let admin = config.listen.admin.map(|address| Admin::start(address, &agent)).transpose()?;
        let serving = serve(listeners, agent.snapshots(), &drain)?;
        Ok(Self { addresses, serving, drain, admin, agent })
    }

    /// Where it listens for HTTP, then for HTTPS, ports filled in.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where the admin listener is, the port filled in.
    #[must_use]
    pub fn admin(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Admin::address)
    }

    /// The snapshots that are served.
    #[must_use]
    pub fn snapshots(&self) -> &Arc<Snapshots> {
        self.agent.snapshots()
    }

    /// What follows claims and configuration.
    #[must_use]
    pub fn agent(&self) -> &Agent {
        &self.agent
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
/// When it can't be listened, a file can't be used, a thread can't be started, or a worker panicked.
pub fn run(file: &ConfigFile) -> io::Result<()> {
    let told = Told::listen()?;
    let running = Running::start(&file.config, random_seed()?)?;
    let plain = file.config.listen.http.len();
    for (position, address) in running.addresses().iter().enumerate() {
        let scheme = if position < plain { "http" } else { "https" };
        tracing::info!(scheme, %address, "listening");
    }
    if let Some(address) = running.admin() {
        tracing::info!(%address, "the admin listener is open");
    }
    let reloader = Reloader::new(file, running.agent.handle());
    let Running { serving, drain, admin, agent, .. } = running;
    let ended = told.until_drained(reloader, drain, serving);
    // Claims are taken until nothing is served any more.
    drop((admin, agent));
    ended
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
    random::bytes().map(u64::from_ne_bytes)
}
