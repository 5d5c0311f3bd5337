//! The serial as this process knows it, and those who wait for it to move.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use fingerpost_claims::{BoxFuture, StoreError, Watch};

/// The serial as this process knows it.
#[derive(Debug)]
pub(super) struct Serial(Mutex<State>);

#[derive(Debug)]
struct State {
    serial: u64,
    waiting: Vec<Waker>,
}

impl Serial {
    pub(super) const fn new(serial: u64) -> Self {
        Self(Mutex::new(State { serial, waiting: Vec::new() }))
    }

    /// Takes note of a serial that was read or written.
    pub(super) fn observe(&self, serial: u64) {
        let mut state = self.lock();
        if state.serial != serial {
            state.serial = serial;
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    pub(super) fn watch(this: &Arc<Self>) -> Box<dyn Watch> {
        Box::new(SerialWatch { seen: this.lock().serial, serial: Arc::clone(this) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves a serial, and wakers that are woken once too often at worst.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct SerialWatch {
    serial: Arc<Serial>,
    seen: u64,
}

impl Watch for SerialWatch {
    fn changed(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(poll_fn(|context| {
            let mut state = self.serial.lock();
            if state.serial != self.seen {
                self.seen = state.serial;
                return Poll::Ready(Ok(()));
            }
            if !state.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                state.waiting.push(context.waker().clone());
            }
            Poll::Pending
        }))
    }
}
