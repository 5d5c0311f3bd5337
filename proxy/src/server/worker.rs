//! One thread that serves.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::{Rc, Weak};
use std::sync::{self, Arc};
use std::time::Duration;

use fingerpost_router::Reader;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::Phase;
use super::census::Census;
use super::connection;
use super::lasting::Lasting;
use super::listener::{Door, Listener, Scheme};
use super::shed::{self, Spare};
use super::watch::{Clock, Watch};
use crate::guard::Gate;
use crate::metrics::{self, Meter, Meters};
use crate::snapshot::{Settings, Snapshot, Snapshots};
use crate::upstream::{FleetPool, Pools};

/// What the connections of a thread share, without a lock.
#[derive(Debug)]
pub(crate) struct Worker {
    snapshots: RefCell<Reader<Snapshot>>,
    pools: RefCell<Pools>,
    meters: Option<Meters>,
    gate: Arc<Gate>,
    census: Arc<Census>,
    spare: Spare,
    /// Connections that are being told to come back.
    refusing: Cell<usize>,
    clock: Clock,
    phase: Cell<Phase>,
    connections: RefCell<Vec<Weak<Watch>>>,
    lasting: RefCell<Vec<Weak<Lasting>>>,
    /// The snapshot that `lasting` was compared with.
    reviewed: RefCell<sync::Weak<Snapshot>>,
    open: Cell<usize>,
    closed: Notify,
    entered: Notify,
}

impl Worker {
    fn new(snapshots: &Snapshots, meters: Option<Meters>) -> Self {
        Self {
            snapshots: RefCell::new(snapshots.reader()),
            pools: RefCell::default(),
            meters,
            gate: Arc::clone(snapshots.gate()),
            census: Arc::clone(snapshots.census()),
            spare: Spare::new(),
            refusing: Cell::new(0),
            clock: Clock::default(),
            phase: Cell::new(Phase::Serving),
            connections: RefCell::default(),
            lasting: RefCell::default(),
            reviewed: RefCell::default(),
            open: Cell::new(0),
            closed: Notify::new(),
            entered: Notify::new(),
        }
    }

    /// Runs `decide` on the current snapshot, which is not held beyond it.
    pub(crate) fn decide<R>(&self, decide: impl FnOnce(&Arc<Snapshot>, &mut Pools) -> R) -> R {
        let mut snapshots = self.snapshots.borrow_mut();
        decide(snapshots.current(), &mut self.pools.borrow_mut())
    }

    /// Whether the snapshot that `fleet` was found in is still the current one.
    pub(crate) fn is_current(&self, fleet: &FleetPool) -> bool {
        self.decide(|snapshot, pools| pools.is_of(snapshot, fleet))
    }

    /// Begins to measure an exchange, where somebody wants to know.
    pub(crate) fn meter(&self) -> Option<Meter> {
        self.meters.as_ref().map(Meters::begin)
    }

    /// What guards remember.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) fn now(&self) -> u32 {
        self.clock.now()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Lets go of an old snapshot, also when no request comes that would.
    fn refresh(&self) {
        self.decide(|snapshot, pools| {
            pools.turn_to(snapshot);
            self.review(snapshot);
        });
    }

    /// Has an exchange compared with every new snapshot, as long as somebody holds it.
    pub(super) fn follow(&self, lasting: &Rc<Lasting>) {
        self.lasting.borrow_mut().push(Rc::downgrade(lasting));
    }

    fn review(&self, snapshot: &Arc<Snapshot>) {
        if self.reviewed.borrow().as_ptr() == Arc::as_ptr(snapshot) {
            return;
        }
        self.reviewed.replace(Arc::downgrade(snapshot));
        for lasting in self.lasting.borrow().iter().filter_map(Weak::upgrade) {
            lasting.review(snapshot, self.now());
        }
    }

    fn tick(&self, now: Duration, tick: Duration) {
        self.clock.set(now);
        let tick = u32::try_from(tick.as_millis()).unwrap_or(u32::MAX);
        sweep(&self.connections, |watch| watch.check(self.now(), tick));
        sweep(&self.lasting, |lasting| lasting.check(self.now()));
        self.pools.borrow_mut().expire(self.now());
    }

    fn enter(&self, phase: Phase) {
        self.phase.set(phase);
        self.entered.notify_one();
        for watch in &*self.connections.borrow() {
            if let Some(watch) = watch.upgrade() {
                watch.wake();
            }
        }
    }

    fn accept(self: &Rc<Self>, socket: TcpStream, door: Door) {
        let limits = self.decide(|snapshot, _| snapshot.settings.admission);
        match self.census.admit(limits) {
            Some(counted) => {
                let watch = self.watch();
                let worker = Rc::clone(self);
                self.spawn(connection::serve(worker, socket, door, watch, counted));
            }
            None => self.refuse(socket, door.scheme),
        }
    }

    /// Tells a client to come back, if not too many are being told so already.
    pub(super) fn refuse(self: &Rc<Self>, socket: TcpStream, scheme: Scheme) {
        if self.refusing.get() >= MOST_REFUSING {
            return;
        }
        self.refusing.set(self.refusing.get() + 1);
        let worker = Rc::clone(self);
        self.spawn(async move {
            shed::refuse(socket, scheme).await;
            worker.refusing.set(worker.refusing.get() - 1);
        });
    }

    /// A wait that is looked at once a tick, as long as somebody holds it.
    pub(super) fn watch(&self) -> Rc<Watch> {
        let watch = Rc::new(Watch::new());
        self.connections.borrow_mut().push(Rc::downgrade(&watch));
        watch
    }

    /// Runs what serves a connection, which counts as open until that ends, by a panic too.
    fn spawn(self: &Rc<Self>, connection: impl Future<Output = ()> + 'static) {
        let open = Open::begin(self);
        spawn_local(async move {
            connection.await;
            drop(open);
        });
    }
}

/// Visits those that somebody still holds, and forgets the others.
fn sweep<T>(list: &RefCell<Vec<Weak<T>>>, visit: impl Fn(&T)) {
    list.borrow_mut().retain(|item| item.upgrade().inspect(|item| visit(item)).is_some());
}

/// Each takes a second at most.
const MOST_REFUSING: usize = 64;

/// One of a worker's open connections.
struct Open(Rc<Worker>);

impl Open {
    fn begin(worker: &Rc<Worker>) -> Self {
        worker.open.set(worker.open.get() + 1);
        Self(Rc::clone(worker))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        self.0.closed.notify_one();
    }
}

/// Serves on `sockets` until the drain is over; what is open then is cut.
pub(super) fn run(
    runtime: &Runtime,
    sockets: Vec<Listener>,
    snapshots: &Snapshots,
    drain: watch::Receiver<Phase>,
    thread: Option<Arc<metrics::Thread>>,
) {
    let tasks = LocalSet::new();
    tasks.block_on(runtime, work(sockets, snapshots, drain, thread.map(Meters::new)));
}

async fn work(
    sockets: Vec<Listener>,
    snapshots: &Snapshots,
    mut drain: watch::Receiver<Phase>,
    meters: Option<Meters>,
) {
    let worker = Rc::new(Worker::new(snapshots, meters));
    spawn_local(keep_time(Rc::clone(&worker)));
    spawn_local(keep_current(Rc::clone(&worker), snapshots.changes()));
    let listeners: Vec<_> = sockets
        .into_iter()
        .map(|socket| spawn_local(listen(Rc::clone(&worker), socket, drain.clone())))
        .collect();

    let follow = spawn_local({
        let (worker, mut drain) = (Rc::clone(&worker), drain.clone());
        async move {
            while drain.changed().await.is_ok() {
                let phase = *drain.borrow_and_update();
                worker.enter(phase);
            }
        }
    });
    let finished = async {
        for listener in listeners {
            // A listener that panicked is a listener that is closed.
            let _ = listener.await;
        }
        while worker.open.get() > 0 {
            worker.closed.notified().await;
        }
    };
    let mut ended = std::pin::pin!(drain.wait_for(|phase| *phase == Phase::Ended));
    let mut finished = std::pin::pin!(finished);
    std::future::poll_fn(|cx| {
        if ended.as_mut().poll(cx).is_ready() {
            std::task::Poll::Ready(())
        } else {
            finished.as_mut().poll(cx)
        }
    })
    .await;
    follow.abort();
}

/// Accepts until the drain closes the listener, and then whatever is queued.
async fn listen(worker: Rc<Worker>, listener: Listener, mut drain: watch::Receiver<Phase>) {
    let Listener { socket, door, .. } = listener;
    let listener = match tokio::net::TcpListener::from_std(socket) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "can't listen"),
    };
    {
        let mut closing = std::pin::pin!(drain.wait_for(|phase| *phase >= Phase::Leaving));
        loop {
            let accepted = std::future::poll_fn(|cx| {
                if closing.as_mut().poll(cx).is_ready() {
                    return std::task::Poll::Ready(None);
                }
                listener.poll_accept(cx).map(Some)
            });
            match accepted.await {
                None => break,
                Some(Ok((socket, _))) => worker.accept(socket, door),
                Some(Err(error)) if shed::is_exhausted(&error) => {
                    tracing::error!(%error, "clients are told to come back");
                    while worker.spare.refuse_one(&listener, door.scheme) {}
                    sleep(EXHAUSTED).await;
                }
                Some(Err(error)) => pause_after(&error).await,
            }
        }
    }
    let Ok(listener) = listener.into_std() else { return };
    while let Ok((socket, _)) = listener.accept() {
        if socket.set_nonblocking(true).is_ok()
            && let Ok(socket) = TcpStream::from_std(socket)
        {
            worker.accept(socket, door);
        }
    }
}

/// How long those wait who come while there is no descriptor: they are told then.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// A connection that was reset in the queue says nothing; anything else (no descriptors, no memory)
/// gets better by waiting only.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    if !matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    ) {
        tracing::error!(%error, "can't accept connections");
        sleep(Duration::from_millis(500)).await;
    }
}

async fn keep_time(worker: Rc<Worker>) {
    let start = Instant::now();
    loop {
        let mut tick = worker.decide(|snapshot, _| tick(&snapshot.settings, snapshot));
        if worker.phase() >= Phase::Closing {
            tick = tick.min(CLOSING_TICK);
        }
        // Cut short when the phase changes, so that closing begins with fine ticks.
        let _ = tokio::time::timeout(tick, worker.entered.notified()).await;
        worker.tick(start.elapsed(), tick);
    }
}

/// How long an idle connection stays open when the listeners have closed.
const CLOSING_TICK: Duration = Duration::from_millis(50);

/// Fine enough for the shortest limit; rare enough to cost an idle thread nothing.
fn tick(settings: &Settings, snapshot: &Snapshot) -> Duration {
    let ours = [
        settings.header_timeout,
        settings.keep_alive_timeout,
        settings.body_timeout,
        settings.websocket_timeout,
    ];
    let fleets = snapshot
        .fleets
        .iter()
        .flat_map(|fleet| [fleet.response_timeout, fleet.body_timeout, fleet.idle_timeout]);
    let shortest = ours.into_iter().chain(fleets).min().unwrap_or(Duration::MAX);
    (shortest / 4).clamp(Duration::from_millis(5), Duration::from_secs(1))
}

async fn keep_current(worker: Rc<Worker>, mut changes: watch::Receiver<u64>) {
    let mut every = interval(Duration::from_secs(1));
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let told = tokio::time::timeout(Duration::from_secs(1), changes.changed()).await;
        worker.refresh();
        if matches!(told, Ok(Err(_))) {
            // Nobody is left who could publish; the rare look remains.
            every.tick().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use fingerpost_router::Router;

    use super::*;

    #[test]
    fn a_panic_leaves_nothing_open() {
        let router = Router::builder(0).build().unwrap();
        let snapshots = Snapshots::new(Snapshot::new(router, Vec::new(), 1, Arc::default()));
        let worker = Rc::new(Worker::new(&snapshots, None));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let closed = async {
            worker.spawn(async {});
            worker.spawn(async { panic!("a connection's task panics, on purpose") });
            assert_eq!(worker.open.get(), 2);
            while worker.open.get() > 0 {
                worker.closed.notified().await;
            }
        };
        let patience = Duration::from_secs(10);
        let in_time = async { tokio::time::timeout(patience, closed).await };
        assert!(LocalSet::new().block_on(&runtime, in_time).is_ok());
    }
}
