//! Waiting for a server that has room.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::History;
use crate::server::Client;
use crate::upstream::{Choice, Failure, FleetPool};

/// Waits until a server of the fleet has room; then the request is to be looked up again, since what it
/// was decided by may be of the past. A place that was found is kept in `history` until then.
///
/// # Errors
///
/// [`Failure::QueueFull`] and [`Failure::QueueTimeout`].
pub(super) async fn wait(
    client: &Client,
    fleet: &FleetPool,
    history: &mut History,
) -> Result<(), Failure> {
    let mut place = fleet.queue_up().ok_or(Failure::QueueFull)?;
    let deadline = history.wait_until(fleet.fleet.queue_timeout);
    loop {
        // A place that falls free from here on is noted, also if nobody waits for it yet.
        let told = place.told();
        // Whoever came before is told first; a look by the clock finds what nobody tells.
        if place.may_look()
            && let Choice::Server(index, ticket) = fleet.enter(history.tried())
        {
            history.found_place(fleet, index, ticket);
            return Ok(());
        }
        let now = Instant::now();
        if now >= deadline {
            return Err(Failure::QueueTimeout);
        }
        let _ = timeout_at(deadline.min(now + LOOK), told).await;
        place.heard();
        if !client.worker().is_current(fleet) {
            return Ok(());
        }
    }
}

/// How often a waiting request looks by itself: servers also come back without anybody leaving.
const LOOK: Duration = Duration::from_millis(50);
