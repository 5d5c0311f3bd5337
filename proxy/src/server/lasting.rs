//! Exchanges that may go on for ever, and the end that a flip makes of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use fingerpost_authority::Host;
use fingerpost_router::Lookup;
use http::Uri;

use super::worker::Worker;
use crate::entry::{Action, Entry};
use crate::snapshot::{Fleet, Snapshot};

/// A WebSocket or an event stream, and what it was decided by.
///
/// Each new snapshot is asked again where it would go. One that would go elsewhere is cut when its site's
/// `flip_drain` has passed, unless it would go where it is again by then: the application that an account
/// was moved away from doesn't answer for it any longer than that.
#[derive(Debug)]
pub(crate) struct Lasting {
    host: Option<Host>,
    target: Uri,
    fleet: Arc<str>,
    /// The route; `None` where the decision was outdated before the response came.
    route: Option<Arc<str>>,
    patience: u32,
    /// When it was seen to be elsewhere.
    moved: Cell<Option<u32>>,
    cut: Cell<bool>,
    task: RefCell<Option<Waker>>,
}

/// For an exchange whose route is not known any more.
const PATIENCE: Duration = Duration::from_secs(30);

impl Lasting {
    /// Follows an exchange whose response has begun, on a server of `fleet`.
    pub(crate) fn begin(
        worker: &Worker,
        host: Option<Host>,
        target: Uri,
        fleet: &Fleet,
    ) -> Rc<Self> {
        let lasting = worker.decide(|snapshot, _| {
            let mut lasting = Self {
                host,
                target,
                fleet: Arc::clone(&fleet.name),
                route: None,
                patience: millis(PATIENCE),
                moved: Cell::new(None),
                cut: Cell::new(false),
                task: RefCell::new(None),
            };
            let entry =
                lasting.find(snapshot).map(|entry| (Arc::clone(&entry.id), entry.flip_drain));
            match entry {
                Some((route, patience)) => {
                    (lasting.route, lasting.patience) = (Some(route), millis(patience));
                }
                None => lasting.moved.set(Some(worker.now())),
            }
            Rc::new(lasting)
        });
        worker.follow(&lasting);
        lasting
    }

    /// The entry of this fleet that a snapshot would choose.
    fn find<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Entry> {
        let lookup = Lookup {
            host: self.host.as_ref(),
            path: self.target.path().as_bytes(),
            query: self.target.query().map(str::as_bytes),
        };
        let entry = snapshot.router.lookup(&lookup).ok()??.value();
        let Action::Forward(id) = &entry.action else { return None };
        let fleet = snapshot.fleets.get(id.index())?;
        (fleet.name == self.fleet).then_some(entry)
    }

    /// Asks a new snapshot.
    pub(super) fn review(&self, snapshot: &Snapshot, now: u32) {
        let found = self.find(snapshot).map(|entry| &entry.id);
        if found.is_some() && found == self.route.as_ref() {
            self.moved.set(None);
        } else if self.moved.get().is_none() {
            self.moved.set(Some(now));
        }
    }

    /// Cuts it when its time has passed.
    pub(super) fn check(&self, now: u32) {
        let Some(since) = self.moved.get() else { return };
        if !self.cut.get() && now.wrapping_sub(since) >= self.patience {
            self.cut.set(true);
            if let Some(task) = self.task.take() {
                task.wake();
            }
        }
    }

    /// Whether it has to end; if not, the task is woken when it has to.
    pub(crate) fn is_cut(&self, waker: &Waker) -> bool {
        if self.cut.get() {
            return true;
        }
        let mut task = self.task.borrow_mut();
        if !task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *task = Some(waker.clone());
        }
        false
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
