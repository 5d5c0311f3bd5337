//! One value, from a thread to a future.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Makes a promise, and the future of what it is kept with: `None` when it is dropped instead.
pub(super) fn answer<T>() -> (Promise<T>, impl Future<Output = Option<T>>) {
    let slot = Arc::new(Slot(Mutex::new(State::Waiting(None))));
    let promise = Promise { slot: Arc::clone(&slot) };
    let answer = poll_fn(move |context| {
        let mut state = slot.lock();
        match &mut *state {
            State::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            State::Done(value) => Poll::Ready(value.take()),
        }
    });
    (promise, answer)
}

/// The sender's half.
pub(super) struct Promise<T> {
    slot: Arc<Slot<T>>,
}

struct Slot<T>(Mutex<State<T>>);

enum State<T> {
    Waiting(Option<Waker>),
    Done(Option<T>),
}

impl<T> Promise<T> {
    pub(super) fn keep(self, value: T) {
        self.slot.settle(Some(value));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.slot.settle(None);
    }
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Each state is stored by one assignment: a panic leaves none half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the first value and wakes whoever waits; a later one is dropped.
    fn settle(&self, value: Option<T>) {
        let mut state = self.lock();
        let State::Waiting(waker) = &mut *state else { return };
        let waker = waker.take();
        *state = State::Done(value);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
