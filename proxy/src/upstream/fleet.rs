//! Which server of a fleet is asked.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::futures::Notified;

use super::budget::Budget;
use super::lease::Lease;
use super::pool::ServerPool;
use super::state::{FleetState, ServerState, Standing};
use crate::snapshot::Fleet;

/// A fleet, as one thread sees it.
#[derive(Debug)]
pub(crate) struct FleetPool {
    pub(crate) fleet: Arc<Fleet>,
    memory: Rc<Memory>,
    members: Vec<Member>,
    /// The sum of the weights.
    total: u32,
    /// What leads from one turn to the next, around all weights.
    stride: u32,
    chance: Rc<Chance>,
    pub(super) turn: u64,
}

/// What a thread knows of a fleet from one snapshot to the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) budget: Budget,
    /// Whose turn it is, among all weights.
    next: Cell<u32>,
}

/// One server of it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) pool: Rc<ServerPool>,
    pub(crate) state: Arc<ServerState>,
    weight: u32,
    /// The sum of the weights up to its own.
    upto: u32,
}

/// What a request gets that asks for a server.
#[derive(Debug)]
pub(crate) enum Choice {
    /// This one, by its position.
    Server(usize, Option<Ticket>),
    /// Every server that is up has as much to do as it may.
    Full,
    /// The fleet has no servers.
    Nobody,
}

impl FleetPool {
    pub(super) fn new(
        fleet: Arc<Fleet>,
        pools: impl Iterator<Item = Rc<ServerPool>>,
        memory: Rc<Memory>,
        chance: Rc<Chance>,
        turn: u64,
    ) -> Self {
        let mut total = 0_u32;
        let members = fleet.servers.iter().zip(pools).map(|(server, pool)| {
            let weight = server.weight.get();
            total = total.saturating_add(weight);
            Member { pool, state: Arc::clone(&server.state), weight, upto: total }
        });
        let members = members.collect();
        Self { fleet, memory, members, total, stride: stride(total), chance, turn }
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn member(&self, index: usize) -> Option<&Member> {
        self.members.get(index)
    }

    /// The retries that this thread has left.
    pub(crate) fn budget(&self) -> &Budget {
        &self.memory.budget
    }

    /// Counts the snapshots of the thread.
    pub(crate) const fn turn(&self) -> u64 {
        self.turn
    }

    /// The member that a connection goes to.
    pub(crate) fn index_of(&self, lease: &Lease) -> Option<usize> {
        self.members.iter().position(|member| lease.is_to(&member.pool))
    }

    /// Takes a place in the queue; `None` if it is full.
    pub(crate) fn queue_up(&self) -> Option<Queued<'_>> {
        let alone = self.fleet.state.waiting() == 0;
        let waits = self.fleet.state.wait(self.fleet.queue);
        // Not before it is known: dropping one makes room.
        waits.then(|| Queued { state: &self.fleet.state, may_look: alone })
    }

    /// Whether there is anything to choose, and so to know, about servers.
    pub(crate) fn is_one(&self) -> bool {
        self.members.len() == 1
    }

    /// A server that is not one of `tried`, unless there is no other.
    ///
    /// Of two that are drawn by weight the one with less to do for its weight. If all are down they are
    /// asked all the same: they may have come back, and no other answer is a better one.
    pub(crate) fn choose(&self, tried: &[usize]) -> Choice {
        if self.fleet.max_connections.is_some() && self.fleet.state.waiting() > 0 {
            // Who comes now doesn't overtake those who wait.
            return Choice::Full;
        }
        self.enter(tried)
    }

    /// As [`choose`](Self::choose), for one who has waited.
    pub(crate) fn enter(&self, tried: &[usize]) -> Choice {
        if let [only] = self.members.as_slice() {
            if self.fleet.max_connections.is_none() {
                return Choice::Server(0, None);
            }
            return match self.ticket(only) {
                Some(ticket) => Choice::Server(0, Some(ticket)),
                None => Choice::Full,
            };
        }
        // Another thread may take the last place between a look and an entry.
        for _ in 0..DRAWS {
            let Some(index) = self.draw(tried).or_else(|| self.search(tried)) else { break };
            let Some(member) = self.members.get(index) else { break };
            if let Some(ticket) = self.ticket(member) {
                return Choice::Server(index, Some(ticket));
            }
        }
        if self.members.is_empty() { Choice::Nobody } else { Choice::Full }
    }

    /// Takes the server whose turn it is or one that is drawn, both by weight. Constant time, and all that
    /// most requests need.
    fn draw(&self, tried: &[usize]) -> Option<usize> {
        let mut first: Option<(usize, &Member)> = None;
        for _ in 0..DRAWS {
            let index = match first {
                None => self.next(),
                // Of two the other one need not be drawn.
                Some((other, _)) if self.members.len() == 2 => 1 - other,
                Some(_) => self.at(self.chance.below(self.total)),
            };
            let member = self.members.get(index)?;
            if first.is_some_and(|(other, _)| other == index)
                || tried.contains(&index)
                || self.is_full(member)
            {
                continue;
            }
            match member.state.standing(&self.fleet) {
                Standing::Down => continue,
                // Nobody else will try it for a while.
                Standing::Trial => return Some(index),
                Standing::Up => (),
            }
            if self.chance.byte() > member.state.ramp(&self.fleet) {
                continue;
            }
            match first {
                None => first = Some((index, member)),
                Some((other, than)) => {
                    return Some(if member.is_freer(than) { index } else { other });
                }
            }
        }
        first.map(|(index, _)| index)
    }

    /// The position of the server that has this place among all weights.
    fn at(&self, place: u32) -> usize {
        self.members.partition_point(|member| member.upto <= place)
    }

    /// Whose turn it is.
    fn next(&self) -> usize {
        let place = self.memory.next.get().checked_rem(self.total).unwrap_or_default();
        let next = (u64::from(place) + u64::from(self.stride)) % u64::from(self.total.max(1));
        self.memory.next.set(u32::try_from(next).unwrap_or_default());
        self.at(place)
    }

    /// Looks at every server, when chance found none or few are left.
    fn search(&self, tried: &[usize]) -> Option<usize> {
        // Where all have failed, the last one is still the least likely to have come back.
        let tried = match tried {
            [.., last] if self.members.len() <= tried.len() => std::slice::from_ref(last),
            some => some,
        };
        let untried = || self.members.iter().enumerate().filter(|(at, _)| !tried.contains(at));
        let mut best: Option<(usize, &Member)> = None;
        let mut some_up = false;
        for (index, member) in untried() {
            if member.state.standing(&self.fleet) == Standing::Down {
                continue;
            }
            some_up = true;
            if !self.is_full(member) && best.is_none_or(|(_, than)| member.is_freer(than)) {
                best = Some((index, member));
            }
        }
        if some_up {
            return best.map(|(index, _)| index);
        }
        // All are down. Where to begin is drawn, so that not all try the same one.
        let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let begin = self.chance.below(count.max(1)) as usize;
        let open = || untried().filter(|(_, member)| !self.is_full(member));
        let next = open().find(|(index, _)| *index >= begin).or_else(|| open().next());
        next.map(|(index, _)| index)
    }

    fn is_full(&self, member: &Member) -> bool {
        self.fleet.max_connections.is_some_and(|most| member.state.in_flight() >= most.get())
    }

    fn ticket(&self, member: &Member) -> Option<Ticket> {
        let most = self.fleet.max_connections.map_or(u32::MAX, |most| most.get());
        let fleet = self.fleet.max_connections.map(|_| Arc::clone(&self.fleet));
        member.state.enter(most).then(|| Ticket { state: Arc::clone(&member.state), fleet })
    }
}

/// A step that visits all of `total` places, about 0.618 of them apart, so that the turns of a heavy server
/// lie between those of the others.
fn stride(total: u32) -> u32 {
    let gcd = |mut a: u32, mut b: u32| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = u64::from(total) * 618 / 1000;
    let from = u32::try_from(golden).unwrap_or(1).max(1);
    (from..=total).find(|step| gcd(*step, total) == 1).unwrap_or(1)
}

/// How often chance is asked before every server is looked at.
const DRAWS: usize = 8;

impl Member {
    /// Whether it has less to do than `than`, each for its weight.
    fn is_freer(&self, than: &Self) -> bool {
        let load = |one: &Self, weight: u32| u64::from(one.state.in_flight()) * u64::from(weight);
        load(self, than.weight) < load(than, self.weight)
    }
}

/// A request that waits for a server with room.
#[derive(Debug)]
pub(crate) struct Queued<'f> {
    state: &'f FleetState,
    may_look: bool,
}

impl<'f> Queued<'f> {
    /// Ready when it is its turn. It is in line as soon as this returns.
    pub(crate) fn told(&self) -> Pin<Box<Notified<'f>>> {
        let mut told = Box::pin(self.state.room().notified());
        told.as_mut().enable();
        told
    }

    /// Whether it may take what is free, instead of leaving it to those before it.
    pub(crate) const fn may_look(&self) -> bool {
        self.may_look
    }

    /// It has waited, and may look now.
    pub(crate) const fn heard(&mut self) {
        self.may_look = true;
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.state.waited();
    }
}

/// An exchange with a server that counts as one until this is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    state: Arc<ServerState>,
    /// The fleet, where somebody may wait for it to be over.
    fleet: Option<Arc<Fleet>>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.state.leave();
        if let Some(fleet) = &self.fleet {
            fleet.state.left();
        }
    }
}

/// Numbers that spread load: fast, and of no use to anybody who guesses them.
#[derive(Debug)]
pub(crate) struct Chance(Cell<u64>);

impl Default for Chance {
    fn default() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Self(Cell::new(RandomState::new().hash_one(0) | 1))
    }
}

impl Chance {
    /// A number below `bound`.
    fn below(&self, bound: u32) -> u32 {
        let high = self.next() >> 32;
        // The upper half of a product is as even as the number.
        u32::try_from((high * u64::from(bound)) >> 32).unwrap_or(0)
    }

    fn byte(&self) -> u8 {
        (self.next() >> 56) as u8
    }

    /// The generator `xorshift64*` (Vigna 2016).
    fn next(&self) -> u64 {
        let mut x = self.0.get();
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0.set(x);
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::snapshot::{Server, Transport};

    fn pool(weights: &[u32]) -> FleetPool {
        let server = |(index, weight): (usize, &u32)| {
            Server::new(format!("127.0.0.1:{index}")).with_weight(NonZeroU32::new(*weight).unwrap())
        };
        let fleet = Fleet::new("f", weights.iter().enumerate().map(server).collect());
        let pools = fleet
            .servers
            .iter()
            .map(|server| Rc::new(ServerPool::new(&server.address, Transport::default())));
        let pools: Vec<_> = pools.collect();
        FleetPool::new(Arc::new(fleet), pools.into_iter(), Rc::default(), Rc::default(), 1)
    }

    fn server(choice: Choice) -> (usize, Option<Ticket>) {
        match choice {
            Choice::Server(index, ticket) => (index, ticket),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn idle_servers_are_asked_by_weight() {
        for weights in [&[1, 1][..], &[3, 1], &[1, 2, 3, 4], &[100, 1], &[7], &[1000; 5]] {
            let pool = pool(weights);
            let total: u32 = weights.iter().sum();
            let mut counts = vec![0; weights.len()];
            for _ in 0..total {
                counts[server(pool.choose(&[])).0] += 1;
            }
            assert_eq!(counts, weights);
        }
    }

    #[test]
    fn the_freer_one_of_two_is_asked() {
        let pool = pool(&[1, 3]);
        let tickets: Vec<_> = (0..400).map(|_| server(pool.choose(&[]))).collect();
        let first = tickets.iter().filter(|(index, _)| *index == 0).count();
        assert_eq!(first, 100);
        drop(tickets);
        assert_eq!(pool.member(0).unwrap().state.in_flight(), 0);
    }

    /// However many are under way: the fullest of many servers has hardly more than the emptiest.
    #[test]
    fn load_is_even() {
        let pool = pool(&[1; 50]);
        let tickets: Vec<_> = (0..5_000).map(|_| server(pool.choose(&[]))).collect();
        let loads = (0..50).map(|index| pool.member(index).unwrap().state.in_flight());
        assert!(loads.clone().max().unwrap() <= 104 && loads.min().unwrap() >= 90);
        drop(tickets);
    }

    #[test]
    fn what_failed_is_not_asked_while_there_is_another() {
        let pool = pool(&[1, 1, 1]);
        for tried in [&[0][..], &[2, 1], &[0, 1, 2], &[2, 1, 0, 2]] {
            for _ in 0..20 {
                let index = server(pool.choose(tried)).0;
                assert_ne!(Some(&index), tried.last(), "{tried:?}");
                assert!(tried.len() > 2 || !tried.contains(&index), "{tried:?}");
            }
        }
    }

    #[test]
    fn servers_that_are_down_are_asked_only_if_all_are() {
        let pool = pool(&[1, 1, 1]);
        let fail = |index: usize| pool.member(index).unwrap().state.failed(&pool.fleet);
        fail(0);
        fail(2);
        assert!((0..20).all(|_| server(pool.choose(&[])).0 == 1));
        assert_ne!(server(pool.choose(&[1])).0, 1);
        fail(1);
        let asked: Vec<_> = (0..200).map(|_| server(pool.choose(&[])).0).collect();
        assert!((0..3).all(|index| asked.contains(&index)));
    }
}
