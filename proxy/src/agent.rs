//! The box's agent: it follows claims and the configuration, and publishes what is routed by them.
//!
//! One thread owns the registry and every snapshot, so that claims and configuration never race. A pass goes one
//! way: what has changed in the claim store, reconciled, kept in the registry, made into a snapshot, published,
//! reported as applied. Each step begins when the one before it has ended well; nothing is reported that is not on
//! disk and in use.
//!
//! The store tells of changes of this process at once; its serial is also polled, and now and then every claim is
//! listed, so that what was not told is found. A store that can't be read changes nothing: an error is never an
//! empty table.

use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fingerpost_claims::ClaimStore;
use fingerpost_control::LiveView;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use self::live::Live;
use self::worker::{Command, Worker};
use crate::background::give_way;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::server::Drain;
use crate::snapshot::Snapshots;

mod first;
mod keep;
mod late;
mod live;
mod nodes;
mod pass;
mod read;
mod remember;
mod worker;

/// The agent of this box, on a thread of its own; it ends when this is dropped.
#[derive(Debug)]
pub struct Agent {
    live: Arc<Live>,
    handle: AgentHandle,
    thread: Option<JoinHandle<()>>,
}

/// How often the agent looks by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "written out by callers")]
pub struct AgentOptions {
    /// The pause between two looks at the store's serial (2 s); each is up to a quarter longer.
    pub poll: Duration,
    /// The pause between two lists of every claim (5 min); each is up to a quarter longer.
    pub list: Duration,
    /// Whether the store may tell of changes. Without it they are found by looking only.
    pub push: bool,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self { poll: Duration::from_secs(2), list: Duration::from_secs(300), push: true }
    }
}

impl Agent {
    /// Opens the files, makes a first pass and builds the first snapshot, then follows.
    ///
    /// Where the store can't be read, what the registry knows is served.
    ///
    /// # Errors
    ///
    /// When there is nothing that is known to be right: a registry that can't be used, or none with a store that
    /// can't be.
    pub fn start(
        config: Config,
        seed: u64,
        drain: Drain,
        options: AgentOptions,
    ) -> io::Result<Self> {
        let (commands, orders) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (started, start) = mpsc::channel();
        let thread = thread::Builder::new().name("agent".to_owned()).spawn(move || {
            // The store's own thread is started from here, and gives way too.
            give_way();
            runtime.block_on(async {
                // Whoever asked waits for it.
                match Worker::start(config, seed, drain, options).await {
                    Ok(worker) => {
                        _ = started.send(Ok(Arc::clone(worker.live())));
                        worker.run(orders).await;
                    }
                    Err(error) => _ = started.send(Err(error)),
                }
            });
        })?;
        let live = start.recv().map_err(|_| gone())??;
        Ok(Self { live, handle: AgentHandle(commands), thread: Some(thread) })
    }

    /// Where the snapshots are published.
    #[must_use]
    pub fn snapshots(&self) -> &Arc<Snapshots> {
        self.live.snapshots()
    }

    /// What this process counts and times.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        self.live.metrics()
    }

    /// Writes all metrics as text.
    pub(crate) fn metrics_text(&self) -> impl Fn() -> String + Clone + Send + Sync + 'static {
        let live = Arc::clone(&self.live);
        move || live.metrics_text()
    }

    /// The claim store, if there is one.
    #[must_use]
    pub fn store(&self) -> Option<Arc<dyn ClaimStore>> {
        self.live.store()
    }

    /// What the write door is told of this box.
    #[must_use]
    pub fn view(&self) -> Arc<dyn LiveView> {
        Arc::clone(&self.live) as Arc<dyn LiveView>
    }

    /// Something to reload by.
    #[must_use]
    pub fn handle(&self) -> AgentHandle {
        self.handle.clone()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended by itself, with a panic that was printed.
        _ = self.handle.0.send(Command::End);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// Reaches the agent from other threads.
#[derive(Clone, Debug)]
pub struct AgentHandle(UnboundedSender<Command>);

impl AgentHandle {
    /// Serves another configuration from now on, and waits until it does; answers the generation of the snapshot.
    ///
    /// # Errors
    ///
    /// When it can't be built; then nothing has changed.
    pub fn reload(&self, config: Config) -> io::Result<u64> {
        let (done, answer) = mpsc::channel();
        self.0.send(Command::Reload { config: Box::new(config), done }).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?.map_err(io::Error::other)
    }
}

fn gone() -> io::Error {
    io::Error::other("the agent has ended")
}
