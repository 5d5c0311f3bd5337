//! Asking servers whether they are well.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, HOST, USER_AGENT};
use http::{HeaderValue, Request, StatusCode, Version};
use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio::task::{AbortHandle, LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::Failure;
use super::connect::{Local, open};
use super::socket::{Opened, Socket, Wanted, secure};
use crate::random;
use crate::server::Phase;
use crate::snapshot::{Fleet, Health, Server, Snapshots};

/// Checks the servers of the current snapshot, on one thread of its own, until the drain is over.
///
/// # Errors
///
/// When the thread or its runtime can't be started.
pub(crate) fn start(
    snapshots: &Arc<Snapshots>,
    mut drain: watch::Receiver<Phase>,
) -> io::Result<()> {
    let snapshots = Arc::clone(snapshots);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = move || {
        let ended = async move {
            let follow = spawn_local(follow(snapshots));
            // A drain that nobody can end any more has ended.
            let _ = drain.wait_for(|phase| *phase == Phase::Ended).await;
            follow.abort();
        };
        LocalSet::new().block_on(&runtime, ended);
    };
    thread::Builder::new().name("health".into()).spawn(work)?;
    Ok(())
}

/// Keeps one task for each server that is checked.
async fn follow(snapshots: Arc<Snapshots>) {
    let mut changes = snapshots.changes();
    let mut tasks: HashMap<(usize, usize), Task> = HashMap::new();
    loop {
        changes.borrow_and_update();
        let snapshot = snapshots.current();
        let mut before = std::mem::take(&mut tasks);
        for fleet in snapshot.fleets.iter().filter(|fleet| fleet.health.is_some()) {
            for (index, server) in fleet.servers.iter().enumerate() {
                // Both are held by the task, so that nothing else can stand where they stand.
                let key = (Arc::as_ptr(fleet).addr(), index);
                let task = before.remove(&key);
                let task = task.unwrap_or_else(|| Task::start(fleet, server));
                tasks.insert(key, task);
            }
        }
        // What is left is of fleets that are gone.
        drop((before, snapshot));
        if changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The checks of one server, until this is dropped.
struct Task {
    _fleet: Arc<Fleet>,
    _task: Aborted,
}

impl Task {
    fn start(fleet: &Arc<Fleet>, server: &Server) -> Self {
        let (fleet, server) = (Arc::clone(fleet), server.clone());
        let task = spawn_local(keep_checking(Arc::clone(&fleet), server));
        Self { _fleet: fleet, _task: Aborted(task.abort_handle()) }
    }
}

async fn keep_checking(fleet: Arc<Fleet>, server: Server) {
    let Some(health) = &fleet.health else { return };
    let state = &server.state;
    let mut series = Series { well: state.is_healthy(), length: 0, first: !state.is_known() };
    loop {
        let result = match timeout(health.timeout, check(&fleet, &server, health)).await {
            Ok(result) => result,
            Err(_) => Err(Unwell::Late),
        };
        if let Some(well) = series.add(result.is_ok(), health)
            && server.state.checked(well, &fleet)
        {
            tell(&fleet, &server, result.err());
        }
        sleep(random::jitter(health.interval.max(LEAST_PAUSE))).await;
    }
}

/// A mistake in a configuration must not become a flood.
const LEAST_PAUSE: Duration = Duration::from_millis(10);

fn tell(fleet: &Fleet, server: &Server, reason: Option<Unwell>) {
    let (fleet, server) = (&*fleet.name, &*server.address);
    match reason {
        None => tracing::info!(fleet, server, "the server is healthy"),
        Some(reason) => tracing::warn!(fleet, server, ?reason, "the server is unhealthy"),
    }
}

/// Why a check is bad.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "the fields are there to be logged")]
enum Unwell {
    Late,
    Connection(Failure),
    Status(StatusCode),
    Broken,
}

async fn check(fleet: &Fleet, server: &Server, health: &Health) -> Result<(), Unwell> {
    let socket = open(&server.address, server.address.parse().ok()).await;
    let socket = socket.map_err(Unwell::Connection)?;
    let opened = secure(socket, &fleet.transport, &server.address, Wanted::Any);
    let Opened { socket, http2 } = opened.await.map_err(Unwell::Connection)?;
    let request = request(fleet, server, health, http2).map_err(|_| Unwell::Broken)?;
    let status = ask(socket, http2, request).await;
    let status = status.map_err(|_| Unwell::Broken)?;
    let well = match health.expect.as_slice() {
        [] => status.is_success(),
        expected => expected.contains(&status),
    };
    if well { Ok(()) } else { Err(Unwell::Status(status)) }
}

fn request(
    fleet: &Fleet,
    server: &Server,
    health: &Health,
    http2: bool,
) -> Result<Request<Empty<Bytes>>, http::Error> {
    let host = health.host.as_deref().unwrap_or(&server.address);
    let request = Request::get(&*health.path)
        .header(USER_AGENT, HeaderValue::from_static("fingerpost-health"));
    let request = if http2 {
        let scheme = if fleet.transport.tls.is_some() { "https" } else { "http" };
        request.uri(format!("{scheme}://{host}{}", health.path)).version(Version::HTTP_2)
    } else {
        request.header(HOST, host).header(CONNECTION, HeaderValue::from_static("close"))
    };
    request.body(Empty::new())
}

/// Asks on a connection of its own, which ends with the response's header: the content says nothing more.
async fn ask(
    socket: Socket,
    http2: bool,
    request: Request<Empty<Bytes>>,
) -> hyper::Result<StatusCode> {
    let socket = TokioIo::new(socket);
    let response = if http2 {
        let (mut sender, connection) = http2::handshake(Local, socket).await?;
        let connection = Aborted(spawn_local(connection).abort_handle());
        let response = sender.send_request(request).await;
        drop(connection);
        response
    } else {
        let (mut sender, connection) = http1::handshake(socket).await?;
        let connection = Aborted(spawn_local(connection).abort_handle());
        let response = sender.send_request(request).await;
        drop(connection);
        response
    };
    Ok(response?.status())
}

/// A task that ends when nobody waits for it any more.
struct Aborted(AbortHandle);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Checks in a row that say the same, against what has been said before.
#[derive(Debug)]
struct Series {
    well: bool,
    /// How many of the last ones say otherwise.
    length: u32,
    /// None has been made yet: nothing is known, and the first one decides.
    first: bool,
}

impl Series {
    /// Adds a result; a verdict, if there is one.
    fn add(&mut self, well: bool, health: &Health) -> Option<bool> {
        let first = std::mem::replace(&mut self.first, false);
        if well == self.well {
            self.length = 0;
            return first.then_some(well);
        }
        self.length += 1;
        let needed = if well { health.healthy } else { health.unhealthy };
        if !first && self.length < needed {
            return None;
        }
        (self.well, self.length) = (well, 0);
        Some(well)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_checks_in_a_row() {
        let health = Health::new("/");
        let mut series = Series { well: true, length: 0, first: true };
        for (well, want) in [
            (true, Some(true)),
            (false, None),
            (false, None),
            (true, None),
            (false, None),
            (false, None),
            (false, Some(false)),
            (true, None),
            (false, None),
            (true, None),
            (true, Some(true)),
        ] {
            assert_eq!(series.add(well, &health), want, "{series:?}");
        }
        let mut series = Series { well: true, length: 0, first: true };
        assert_eq!(series.add(false, &health), Some(false));
    }
}
