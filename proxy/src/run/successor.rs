//! The process that takes over from this one.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::signal::unix::Signal;
use tokio::time::{sleep, timeout};

use super::manager;
use super::passing::{self, READY, VARIABLE};
use crate::server::Shared;

/// How the next process is started: as this one was.
#[derive(Debug)]
pub(super) struct Successor {
    program: io::Result<PathBuf>,
    arguments: Vec<OsString>,
}

impl Successor {
    /// Remembers where the binary is, before somebody replaces it.
    pub(super) fn new() -> Self {
        let arguments: Vec<_> = std::env::args_os().collect();
        let program = std::env::current_exe().map(|running| {
            // A path may lead through a link to the version in use, which the system's word for us does not.
            let written =
                arguments.first().map(Path::new).filter(|path| path.components().count() > 1);
            let written = written.and_then(|path| std::path::absolute(path).ok());
            let same = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == running);
            written.filter(same).unwrap_or(running)
        });
        Self { program, arguments }
    }

    /// Waits until another process, which was asked for by a signal, serves on every one of the sockets. One that
    /// fails is reported, and changes nothing.
    pub(super) async fn takes_over(&self, asked: &mut Signal, sockets: &[Shared]) {
        while asked.recv().await.is_some() {
            manager::reloading();
            match self.start(sockets).await {
                Ok(process) => {
                    manager::succeeded_by(process);
                    tracing::info!(process, "another process serves from now on");
                    return;
                }
                Err(error) => {
                    manager::ready();
                    tracing::error!(%error, "no other process takes over, this one serves on");
                }
            }
        }
        std::future::pending().await
    }

    async fn start(&self, sockets: &[Shared]) -> io::Result<u32> {
        if std::process::id() == 1 {
            return Err(io::Error::other(
                "a container ends with its first process: replace the container",
            ));
        }
        let program = self.program.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
        tracing::info!("starting {} to take over", program.display());
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(program)
            .arg0(self.arguments.first().map_or(program.as_os_str(), OsString::as_os_str))
            .args(self.arguments.iter().skip(1))
            .env_remove("LISTEN_FDS")
            .env_remove("LISTEN_PID")
            .env_remove("LISTEN_FDNAMES")
            .env(VARIABLE, std::process::id().to_string())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        let mut starting = Starting(Some(child));
        passing::send(&ours, sockets)?;
        ours.set_nonblocking(true)?;
        let mut ours = tokio::net::UnixStream::from_std(ours)?;
        let mut answer = [0; READY.len()];
        match timeout(PATIENCE, ours.read_exact(&mut answer)).await {
            Err(_) => Err(io::Error::other(format!("it was not ready after {PATIENCE:?}"))),
            Ok(Ok(_)) if answer == READY => {
                let child = starting.0.take();
                Ok(child.map_or(0, |child| child.id()))
            }
            Ok(_) => Err(starting.end().await),
        }
    }
}

/// A process that is killed unless it takes over.
struct Starting(Option<Child>);

impl Starting {
    /// Says how it has ended, or ends it.
    async fn end(&mut self) -> io::Error {
        let words = |status: ExitStatus| {
            io::Error::other(format!("it has ended before it was ready: {status}"))
        };
        for _ in 0..100 {
            match self.0.as_mut().map(Child::try_wait) {
                Some(Ok(None)) => sleep(Duration::from_millis(10)).await,
                Some(Ok(Some(status))) => return words(status),
                Some(Err(error)) => return error,
                None => break,
            }
        }
        io::Error::other("it has closed its standard input")
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself.
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// How long another process may take to be ready: it reads every claim.
const PATIENCE: Duration = Duration::from_secs(60);
