//! What makes a running proxy read its configuration again, or end.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::Reloader;
use crate::server::{Drain, Serving};

/// What is told to a running process, heard from now on.
pub(super) struct Told {
    runtime: Runtime,
    ends: Ends,
    hangups: Signal,
}

impl Told {
    /// Takes over the signals: from here on none of them ends the process by itself.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(super) fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let (ends, hangups) = (Ends::new()?, signal(SignalKind::hangup())?);
        drop(entered);
        Ok(Self { runtime, ends, hangups })
    }

    /// Serves until everything is drained: after SIGTERM or SIGINT, or at once after a second one.
    ///
    /// # Errors
    ///
    /// When a worker panicked.
    pub(super) fn until_drained(
        self,
        path: &Path,
        reloader: Reloader,
        drain: Drain,
        serving: Serving,
    ) -> io::Result<()> {
        let Self { runtime, mut ends, hangups } = self;
        let (drained, mut waited) = oneshot::channel();
        std::thread::Builder::new().name("drained".into()).spawn(move || {
            // Nobody is left to hear it when the process ends otherwise.
            _ = drained.send(serving.wait());
        })?;
        runtime.block_on(async {
            let (changes, watching) = watch(path);
            let reloads = tokio::spawn(reload(path.to_owned(), reloader, hangups, changes));
            tokio::select! {
                () = ends.next() => {}
                result = &mut waited => return result.unwrap_or(Ok(())),
            }
            tracing::info!("draining");
            let result = tokio::select! {
                result = &mut waited => result.unwrap_or(Ok(())),
                () = drain.run() => waited.await.unwrap_or(Ok(())),
                () = ends.next() => {
                    tracing::warn!("told to end at once");
                    drain.end();
                    waited.await.unwrap_or(Ok(()))
                }
            };
            reloads.abort();
            drop(watching);
            tracing::info!("ended");
            result
        })
    }
}

/// The signals that end a process.
struct Ends {
    terminate: Signal,
    interrupt: Signal,
}

impl Ends {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Reads the configuration again for each hang-up, and when its file has come to rest after a change.
async fn reload(
    path: PathBuf,
    mut reloader: Reloader,
    mut hangups: Signal,
    mut changes: mpsc::UnboundedReceiver<()>,
) {
    // The file may have changed before it was watched.
    settle(&path).await;
    reloader.reload_if_changed();
    loop {
        let told = tokio::select! {
            hangup = hangups.recv() => hangup,
            change = changes.recv() => {
                if change.is_some() {
                    settle(&path).await;
                    while changes.try_recv().is_ok() {}
                    reloader.reload_if_changed();
                    continue;
                }
                None
            }
        };
        if told.is_none() {
            return;
        }
        settle(&path).await;
        reloader.reload();
    }
}

/// Waits until a file has said the same for a while: one that is written in place is empty, or half
/// there, in between, and half a configuration may be a valid one.
async fn settle(path: &Path) {
    let mut seen = std::fs::read(path).ok();
    loop {
        sleep(REST).await;
        let now = std::fs::read(path).ok();
        if now == seen {
            return;
        }
        seen = now;
    }
}

/// Tells whether a file may be whole after an event: its writer has closed it, or it was given its name.
fn is_whole(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Name(_))
    )
}

/// An editor writes a file in several steps.
const REST: Duration = Duration::from_millis(50);

/// Keeps a folder watched, and the channel of its changes open.
struct Watching {
    _watcher: Option<RecommendedWatcher>,
    _sender: mpsc::UnboundedSender<()>,
}

/// Watches the folder of `path`, since files are replaced rather than written.
///
/// Where that fails, SIGHUP remains.
fn watch(path: &Path) -> (mpsc::UnboundedReceiver<()>, Watching) {
    let (sender, changes) = mpsc::unbounded_channel();
    let told = sender.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| is_whole(event.kind)) {
            // The receiver is gone when the process ends.
            _ = told.send(());
        }
    });
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let watching = watcher.and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    if let Err(error) = &watching {
        tracing::warn!(%error, "can't watch {}: changes need SIGHUP", folder.display());
    }
    (changes, Watching { _watcher: watching.ok(), _sender: sender })
}
