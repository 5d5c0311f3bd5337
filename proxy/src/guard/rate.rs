//! How many requests one client may make of a route.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// So many requests in so much time, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Nanoseconds that one request costs.
    cost: u64,
    /// Nanoseconds that may be owed.
    most: u64,
}

impl RateLimit {
    /// Allows `requests` in each `per`, evenly spread, and `burst` of them at once.
    pub fn new(requests: NonZeroU32, per: Duration, burst: NonZeroU32) -> Self {
        let per = u64::try_from(per.as_nanos()).unwrap_or(u64::MAX);
        let cost = (per / u64::from(requests.get())).max(1);
        Self { cost, most: cost.saturating_mul(burst.get().into()) }
    }
}

/// What clients owe, each for the requests that it has made of a route.
///
/// A client's debt is the time at which it has none any more (GCRA: a bucket that leaks, kept as one number).
/// A fixed number of debts is kept; where more are owed, the smallest is forgotten first. A set of clients
/// falls together by a hash that nobody else knows. The debts outlive a reload of the configuration.
#[derive(Debug, Default)]
pub(super) struct Rates {
    hasher: RandomState,
    /// Allocated for the first request that is counted.
    sets: OnceLock<Box<[Mutex<Set>]>>,
}

type Set = [Debt; WAYS];

/// The debt of one client for one route; the default owes nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Debt {
    whose: u64,
    /// Nanoseconds since the process started.
    until: u64,
}

/// Sets of debts, and debts in a set: 64 Ki debts in a bit more than 1 MiB.
const SETS: usize = 8192;
const WAYS: usize = 8;

impl Rates {
    /// Counts a request at `now`, the time since the process started.
    ///
    /// # Errors
    ///
    /// How long the client has to wait, if it was too much; then it is not counted.
    pub(super) fn count(
        &self,
        route: &str,
        client: IpAddr,
        limit: RateLimit,
        now: Duration,
    ) -> Result<(), Duration> {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let whose = self.hasher.hash_one((route, block(client)));
        let sets = self.sets.get_or_init(|| (0..SETS).map(|_| Mutex::default()).collect());
        let Some(set) = sets.get(whose as usize % SETS) else { return Ok(()) };
        let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
        let found = set.iter().position(|debt| debt.whose == whose);
        let debt = match found.and_then(|at| set.get_mut(at)) {
            Some(debt) => debt,
            None => {
                let Some(least) = set.iter_mut().min_by_key(|debt| debt.until) else {
                    return Ok(());
                };
                *least = Debt { whose, until: 0 };
                least
            }
        };
        let until = debt.until.max(now).saturating_add(limit.cost);
        let over = (until - now).saturating_sub(limit.most);
        if over > 0 {
            return Err(Duration::from_nanos(over));
        }
        debt.until = until;
        Ok(())
    }
}

/// What one client has: an address, and of IPv6 the network of 64 bits, in which it can take any.
pub(crate) fn block(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(requests: u32, per: u64, burst: u32) -> RateLimit {
        let some = |number| NonZeroU32::new(number).unwrap();
        RateLimit::new(some(requests), Duration::from_millis(per), some(burst))
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let (rates, client) = (Rates::default(), "192.0.2.1".parse().unwrap());
        let two = limit(10, 1000, 2);
        let wait = |millis| Err(Duration::from_millis(millis));
        for (at, want) in [
            (0, Ok(())),
            (0, Ok(())),
            (0, wait(100)),
            (40, wait(60)),
            (100, Ok(())),
            (100, wait(100)),
            (1000, Ok(())),
            (1000, Ok(())),
            (1000, wait(100)),
        ] {
            assert_eq!(rates.count("a", client, two, Duration::from_millis(at)), want, "{at}");
        }
        // Another route, and another client, have their own.
        let now = Duration::from_secs(1);
        assert_eq!(rates.count("b", client, two, now), Ok(()));
        assert_eq!(rates.count("a", "192.0.2.2".parse().unwrap(), two, now), Ok(()));
    }

    #[test]
    fn a_network_of_64_bits_is_one_client() {
        let (rates, one) = (Rates::default(), limit(1, 1000, 1));
        for (client, want) in [
            ("2001:db8:0:1::1", true),
            ("2001:db8:0:1:ffff::2", false),
            ("2001:db8:0:2::1", true),
            ("192.0.2.1", true),
            ("::ffff:192.0.2.1", false),
            ("192.0.2.3", true),
        ] {
            let counted = rates.count("a", client.parse().unwrap(), one, Duration::ZERO);
            assert_eq!(counted.is_ok(), want, "{client}");
        }
    }

    /// As many clients as there may be cost no more memory, and none of them gets more than its share of those
    /// that are remembered.
    #[test]
    fn a_flood_of_clients_is_forgotten_smallest_debt_first() {
        let (rates, victim) = (Rates::default(), "192.0.2.1".parse().unwrap());
        let slow = limit(1, 3_600_000, 20);
        for _ in 0..20 {
            assert_eq!(rates.count("a", victim, slow, Duration::ZERO), Ok(()));
        }
        for number in 0..200_000_u32 {
            let client = IpAddr::from(number.to_be_bytes());
            let _ = rates.count("a", client, slow, Duration::ZERO);
        }
        assert!(rates.count("a", victim, slow, Duration::ZERO).is_err());
    }
}
