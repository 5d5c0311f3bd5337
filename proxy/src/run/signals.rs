//! What makes a running proxy read its configuration again, or end.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
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
            let (changes, watching) = watch(&reloader.files());
            let reloads = tokio::spawn(reload(reloader, hangups, changes, watching));
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
    mut reloader: Reloader,
    mut hangups: Signal,
    mut changes: mpsc::UnboundedReceiver<()>,
    mut watching: Watching,
) {
    // A file may have changed before it was watched.
    settle(&reloader.files()).await;
    reloader.reload_if_changed();
    loop {
        watching.follow(&reloader.files());
        let told = tokio::select! {
            hangup = hangups.recv() => hangup,
            change = changes.recv() => {
                if change.is_some() {
                    settle(&reloader.files()).await;
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
        settle(&reloader.files()).await;
        reloader.reload();
    }
}

/// Waits until the files have said the same for a while: one that is written in place is empty, or half
/// there, in between, and half a configuration may be a valid one.
async fn settle(paths: &[PathBuf]) {
    let read = || paths.iter().map(|path| std::fs::read(path).ok()).collect::<Vec<_>>();
    let mut seen = read();
    loop {
        sleep(REST).await;
        let now = read();
        if now == seen {
            return;
        }
        seen = now;
    }
}

/// Tells whether a file may be whole after an event: its writer has closed it, it was given its name, or
/// it is a link, which has no half.
fn is_whole(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Modify(ModifyKind::Name(_)) => true,
        EventKind::Create(_) => event.paths.iter().any(|path| path.is_symlink()),
        _ => false,
    }
}

/// An editor writes a file in several steps.
const REST: Duration = Duration::from_millis(50);

/// Keeps folders watched, and the channel of their changes open.
struct Watching {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    _sender: mpsc::UnboundedSender<()>,
}

/// Watches the folders of `files`, since files are replaced rather than written.
///
/// Where that fails, SIGHUP remains.
fn watch(files: &[PathBuf]) -> (mpsc::UnboundedReceiver<()>, Watching) {
    let (sender, changes) = mpsc::unbounded_channel();
    let told = sender.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| is_whole(&event)) {
            // The receiver is gone when the process ends.
            _ = told.send(());
        }
    });
    if let Err(error) = &watcher {
        tracing::warn!(%error, "can't watch files: changes need SIGHUP");
    }
    let folders = BTreeSet::new();
    let mut watching = Watching { watcher: watcher.ok(), folders, _sender: sender };
    watching.follow(files);
    (changes, watching)
}

impl Watching {
    /// Watches the folders that are not watched yet.
    fn follow(&mut self, files: &[PathBuf]) {
        let Some(watcher) = &mut self.watcher else { return };
        for folder in files.iter().map(|file| folder(file)) {
            if self.folders.insert(folder.to_owned())
                && let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive)
            {
                let folder = folder.display();
                tracing::warn!(%error, "can't watch {folder}: changes need SIGHUP");
            }
        }
    }
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
