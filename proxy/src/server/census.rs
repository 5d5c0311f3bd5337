//! How many connections there are, on all threads together.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::guard::block;
use crate::snapshot::Admission;

/// The connections of a process, counted.
#[derive(Debug, Default)]
pub(crate) struct Census(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: u32,
    /// Only of those that were counted by it: nobody else costs memory.
    by_client: HashMap<IpAddr, u32>,
}

/// One connection, as long as it counts.
#[derive(Debug)]
pub(super) struct Counted {
    census: Arc<Census>,
    client: Option<IpAddr>,
}

impl Census {
    /// Counts one more connection; `None` if there are enough.
    pub(super) fn admit(self: &Arc<Self>, limits: Admission) -> Option<Counted> {
        let mut counts = self.counts();
        if counts.all >= limits.connections {
            return None;
        }
        counts.all += 1;
        drop(counts);
        Some(Counted { census: Arc::clone(self), client: None })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    /// Counts it as one of `client` too; false if that one has enough.
    pub(super) fn belongs_to(&mut self, client: IpAddr, limits: Admission) -> bool {
        let Some(most) = limits.connections_per_address else { return true };
        let client = block(client);
        let mut counts = self.census.counts();
        let count = counts.by_client.entry(client).or_default();
        if *count >= most {
            return false;
        }
        *count += 1;
        drop(counts);
        self.client = Some(client);
        true
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.census.counts();
        counts.all -= 1;
        if let Some(client) = self.client
            && let Some(count) = counts.by_client.get_mut(&client)
        {
            *count -= 1;
            if *count == 0 {
                counts.by_client.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_is_forgotten() {
        let census = Arc::new(Census::default());
        let limits =
            Admission { connections: 3, connections_per_address: Some(1), ..Admission::default() };
        let [one, other] = ["2001:db8::1", "192.0.2.1"].map(|client| client.parse().unwrap());
        let mut first = census.admit(limits).unwrap();
        assert!(first.belongs_to(one, limits));
        let mut second = census.admit(limits).unwrap();
        // Another address of the same network.
        assert!(!second.belongs_to("2001:db8::2".parse().unwrap(), limits));
        assert!(second.belongs_to(other, limits));
        let third = census.admit(limits).unwrap();
        assert!(census.admit(limits).is_none());
        drop(first);
        assert!(census.admit(limits).unwrap().belongs_to(one, limits));
        drop((second, third));
        let counts = census.counts();
        assert_eq!((counts.all, counts.by_client.len()), (0, 0));
    }
}
