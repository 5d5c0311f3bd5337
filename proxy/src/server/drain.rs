//! The end of serving, in steps.

use std::time::Duration;

use tokio::sync::watch;

/// How far the end has come. It never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// Not begun.
    Serving,
    /// Connections are accepted and served; each response says that its connection closes.
    ///
    /// A load balancer has this long to notice that we are not ready.
    Draining,
    /// Another process accepts on the same sockets: ours are closed. Connections are served as before, and each
    /// response says that its connection closes.
    Leaving,
    /// Listeners accept what is queued, and close; idle connections close; exchanges finish.
    Closing,
    /// Whatever is still open is cut.
    Ended,
}

/// Tells every worker how far the end has come.
///
/// A clone is the same drain.
#[derive(Clone, Debug)]
pub struct Drain {
    phase: watch::Sender<Phase>,
    grace: Duration,
    deadline: Duration,
}

impl Drain {
    /// Makes a drain that serves on for `grace` and then waits up to `deadline` for exchanges.
    pub fn new(grace: Duration, deadline: Duration) -> Self {
        Self { phase: watch::Sender::new(Phase::Serving), grace, deadline }
    }

    /// Goes through all phases, as a first SIGTERM asks for.
    ///
    /// Returns at [`Phase::Ended`] (also when [`end`](Self::end) brings it about). Workers end by
    /// themselves as soon as they have nothing open, so that
    /// [`Serving::wait`](super::Serving::wait) usually returns earlier.
    pub async fn run(&self) {
        self.end_from(Phase::Draining, self.grace).await;
    }

    /// As [`run`](Self::run), where another process has taken the sockets over: listeners close at once.
    ///
    /// Connections that are idle have the grace, at least a second, to be told to close by a response: one that
    /// is closed just when its client asks again fails.
    pub async fn leave(&self) {
        self.end_from(Phase::Leaving, self.grace.max(FAREWELL)).await;
    }

    async fn end_from(&self, first: Phase, grace: Duration) {
        self.advance(first);
        let mut changes = self.phase.subscribe();
        for (pause, next) in [(grace, Phase::Closing), (self.deadline, Phase::Ended)] {
            let ended = changes.wait_for(|phase| *phase == Phase::Ended);
            if tokio::time::timeout(pause, ended).await.is_ok() {
                return;
            }
            self.advance(next);
        }
    }

    /// Ends at once, as a second SIGTERM asks for.
    pub fn end(&self) {
        self.advance(Phase::Ended);
    }

    /// How far the end has come; anything but [`Phase::Serving`] means not ready.
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Moves on to `phase`, unless it is past.
    fn advance(&self, phase: Phase) {
        self.phase.send_if_modified(|current| {
            let ahead = phase > *current;
            *current = phase.max(*current);
            ahead
        });
    }

    pub(super) fn changes(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }
}

/// How long connections live at least that another process can't take over.
const FAREWELL: Duration = Duration::from_secs(1);
