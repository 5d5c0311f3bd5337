//! Listening, and the threads that serve what comes in.

mod announced;
mod census;
mod client;
mod connection;
mod drain;
mod handshake;
mod http2;
mod lasting;
mod listener;
mod preface;
mod shed;
mod socket;
mod watch;
mod worker;

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(crate) use census::Census;
pub(crate) use client::Client;
pub use drain::{Drain, Phase};
pub(crate) use lasting::Lasting;
pub use listener::Listeners;
pub(crate) use listener::{Inherited, Scheme, Shared};
pub(crate) use watch::Stage;

use crate::metrics::Metrics;
use crate::snapshot::Snapshots;
use crate::upstream::health;

/// Serves on `listeners` until `drain` is over, on one thread for each set of sockets.
///
/// Each thread runs a single-threaded runtime. A connection, the upstream connections that it uses
/// and everything else that a request touches stay on the thread that accepted it. Requests are counted where
/// `metrics` are given.
///
/// # Errors
///
/// When a thread or its runtime can't be started; those started before are told to end.
pub fn serve(
    listeners: Listeners,
    snapshots: &Arc<Snapshots>,
    drain: &Drain,
    metrics: Option<&Metrics>,
) -> io::Result<Serving> {
    let started = start(listeners, snapshots, drain, metrics);
    if started.is_err() {
        drain.end();
    }
    started
}

fn start(
    listeners: Listeners,
    snapshots: &Arc<Snapshots>,
    drain: &Drain,
    metrics: Option<&Metrics>,
) -> io::Result<Serving> {
    let mut serving = Serving { threads: Vec::new() };
    for (number, sockets) in listeners.into_sets().into_iter().enumerate() {
        let (snapshots, changes) = (Arc::clone(snapshots), drain.changes());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = metrics.map(Metrics::thread);
        let worker = thread::Builder::new().name(format!("worker-{number}"));
        serving.threads.push(worker.spawn(move || {
            worker::run(&runtime, sockets, &snapshots, changes, thread);
        })?);
    }
    health::start(snapshots, drain.changes())?;
    let (snapshots, changes) = (Arc::clone(snapshots), drain.changes());
    let sweeper = thread::Builder::new().name("sweeper".into());
    sweeper.spawn(move || {
        // Every second, what request threads have let go of is freed here instead of there.
        while changes.has_changed().is_ok() && *changes.borrow() != Phase::Ended {
            thread::sleep(Duration::from_secs(1));
            snapshots.sweep();
        }
    })?;
    Ok(serving)
}

/// The threads that serve.
#[derive(Debug)]
pub struct Serving {
    threads: Vec<JoinHandle<()>>,
}

impl Serving {
    /// Waits until every thread has drained.
    ///
    /// # Errors
    ///
    /// When one of them panicked.
    pub fn wait(self) -> io::Result<()> {
        let mut result = Ok(());
        for thread in self.threads {
            if thread.join().is_err() {
                result = Err(io::Error::other("a worker thread panicked"));
            }
        }
        result
    }
}
