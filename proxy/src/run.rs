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
use crate::server::{Drain, Inherited, Listeners, Serving, Shared, serve};
use crate::snapshot::Snapshots;
pub use reload::{Reloaded, Reloader};
use signals::{Served, Told};
use successor::Successor;

mod manager;
mod passing;
mod reload;
mod signals;
mod successor;

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
        let (running, _) = Self::take_over(config, seed, options, &mut Inherited::default())?;
        Ok(running)
    }

    /// As [`start_with`](Self::start_with), on the sockets that are inherited; also gives every socket for a
    /// process that takes over from this one.
    fn take_over(
        config: &Config,
        seed: u64,
        options: AgentOptions,
        inherited: &mut Inherited,
    ) -> io::Result<(Self, Vec<Shared>)> {
        // Bound first, so that a second process on the same files ends before it touches them.
        let (http, https) = (&config.listen.http, &config.listen.https);
        let mut listeners = Listeners::take_or_bind(http, https, threads(config), inherited)?
            .announced(&config.listen.announced());
        let addresses = listeners.addresses()?;
        let mut shared = listeners.share();
        let drain = Drain::new(config.timeouts.drain_grace, config.timeouts.drain_deadline);
        let agent = Agent::start(config.clone(), seed, drain.clone(), options)?;
        let mut admin = None;
        if let Some(asked) = config.listen.admin {
            let socket = match inherited.take(asked).into_iter().next() {
                Some(socket) => socket,
                None => Admin::bind(asked)?,
            };
            shared.push(Shared { asked, socket: socket.try_clone()? });
            admin = Some(Admin::start_on(socket, &agent)?);
        }
        // Without an admin listener nobody can ask.
        let metrics = admin.as_ref().map(|_| &**agent.metrics());
        let serving = serve(listeners, agent.snapshots(), &drain, metrics)?;
        Ok((Self { addresses, serving, drain, admin, agent }, shared))
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

/// Serves a configuration until SIGTERM; SIGHUP, or a change of the file, reads it again. After SIGUSR2 another
/// process of the binary that is there then takes over.
///
/// # Errors
///
/// When it can't be listened, a file can't be used, a thread can't be started, or a worker panicked.
pub fn run(file: &ConfigFile) -> io::Result<()> {
    let (mut inherited, predecessor) = passing::inherited()?;
    let successor = Successor::new();
    let told = Told::listen()?;
    let (running, shared) =
        Running::take_over(&file.config, random_seed()?, AgentOptions::default(), &mut inherited)?;
    for address in inherited.left() {
        tracing::warn!(%address, "a socket that was passed is not named in [listen], and is closed");
    }
    // Whoever passed it still accepts what is queued there.
    drop(inherited);
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
    if let Some(predecessor) = predecessor {
        // It also tells the service manager, which believes nobody else yet.
        predecessor.tell_ready();
    } else {
        manager::ready();
    }
    // Claims are taken until nothing is served any more, unless another process takes them.
    told.until_drained(reloader, Served { drain, serving, admin, agent, shared, successor })
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
