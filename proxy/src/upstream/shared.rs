//! A connection that carries many exchanges at once (HTTP/2).

use std::cell::Cell;
use std::rc::Rc;

use hyper::client::conn::http2::SendRequest;

use super::pool::millis;
use crate::forward::Upload;
use crate::snapshot::Fleet;

/// The connection. It ends when nobody holds its sender and no exchange is under way.
#[derive(Debug)]
pub(super) struct Shared {
    sender: SendRequest<Upload>,
    streams: Cell<u32>,
    /// When its last exchange ended, and how long it is kept from then on.
    since: Cell<u32>,
    timeout: Cell<u32>,
    /// It has given reason to believe that it is dead: no exchange begins on it any more.
    retired: Cell<bool>,
}

/// One exchange on it.
#[derive(Debug)]
pub(super) struct Stream {
    shared: Rc<Shared>,
    pub(super) sender: SendRequest<Upload>,
}

/// Exchanges on one connection, which is what common servers allow; for more there are more connections.
pub(super) const MOST_STREAMS: u32 = 100;

impl Shared {
    pub(super) fn new(sender: SendRequest<Upload>, now: u32, fleet: &Fleet) -> Rc<Self> {
        Rc::new(Self {
            sender,
            streams: Cell::new(0),
            since: Cell::new(now),
            timeout: Cell::new(millis(fleet.idle_timeout)),
            retired: Cell::new(false),
        })
    }

    /// Whether one more exchange can begin on it.
    pub(super) fn has_room(&self) -> bool {
        self.lives() && self.streams.get() < MOST_STREAMS
    }

    fn lives(&self) -> bool {
        !self.retired.get() && !self.sender.is_closed()
    }

    /// Whether it is worth keeping.
    pub(super) fn is_kept(&self, now: u32) -> bool {
        let idle =
            self.streams.get() == 0 && now.wrapping_sub(self.since.get()) >= self.timeout.get();
        self.lives() && !idle
    }

    pub(super) fn begin(self: &Rc<Self>) -> Stream {
        self.streams.set(self.streams.get() + 1);
        Stream { shared: Rc::clone(self), sender: self.sender.clone() }
    }
}

impl Stream {
    /// Lets no other exchange begin on its connection.
    pub(super) fn retire(&self) {
        self.shared.retired.set(true);
    }

    /// Notes the end of the exchange, and how long `fleet` wants the connection kept.
    pub(super) fn ended(&self, fleet: &Fleet, now: u32) {
        self.shared.since.set(now);
        self.shared.timeout.set(millis(fleet.idle_timeout));
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.streams.set(self.shared.streams.get() - 1);
    }
}
