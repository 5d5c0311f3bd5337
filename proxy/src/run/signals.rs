//! What makes a running proxy read its configuration again, or end.

use std::io;
use std::path::Path;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::Reloader;
use crate::server::{Drain, Serving};

/// Serves until everything is drained: after SIGTERM or SIGINT, or at once after a second one.
pub(super) fn until_drained(
    path: &Path,
    reloader: Reloader,
    drain: Drain,
    serving: Serving,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (drained, waited) = oneshot::channel();
    std::thread::Builder::new().name("drained".into()).spawn(move || {
        // Nobody is left to hear it when the process ends otherwise.
        _ = drained.send(serving.wait());
    })?;
    runtime.block_on(async {
        let (changes, watcher) = watch(path);
        let hangups = signal(SignalKind::hangup())?;
        let reloads = tokio::spawn(reload(reloader, hangups, changes));
        let mut ends = Ends::new()?;
        let mut waited = waited;
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
        drop(watcher);
        tracing::info!("ended");
        result
    })
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
    mut reloader: Reloader,
    mut hangups: Signal,
    mut changes: mpsc::UnboundedReceiver<()>,
) {
    // The file may have changed before it was watched.
    reloader.reload_if_changed();
    loop {
        tokio::select! {
            hangup = hangups.recv() => {
                if hangup.is_none() {
                    return;
                }
                reloader.reload();
            }
            change = changes.recv() => {
                if change.is_none() {
                    return;
                }
                while let Ok(Some(())) = timeout(REST, changes.recv()).await {}
                reloader.reload_if_changed();
            }
        }
    }
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
        if event.is_ok_and(|event| !event.kind.is_access()) {
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
