//! What is known of this box on other threads.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fingerpost_authority::HostPattern;
use fingerpost_claims::{BoxFuture, ClaimStore, Name, Reconciler, StoreError};
use fingerpost_control::{Ambient as _, Explained, LiveView, Node, Snapshot};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::late::LateStore;
use super::nodes;
use crate::config::Config;
use crate::explain;
use crate::listing::Listing;
use crate::metrics::{self, Metrics};
use crate::random::System;
use crate::server::{Drain, Phase};
use crate::snapshot::Snapshots;

/// What is known of this box on other threads: the state of the last pass, and what of it is in use.
pub(super) struct Live {
    name: Name,
    snapshots: Arc<Snapshots>,
    store: Option<Arc<LateStore>>,
    state: Mutex<State>,
    /// The serial that is on disk and in use.
    applied: watch::Sender<Option<u64>>,
    drain: Drain,
    metrics: Arc<Metrics>,
}

/// The state of the last pass.
#[derive(Debug)]
pub(super) struct State {
    pub(super) config: Arc<Config>,
    pub(super) reconciler: Reconciler,
    /// The serial that the claims are of; `None` where they are not read, but remembered.
    pub(super) serial: Option<u64>,
    pub(super) fingerprint: String,
}

impl Live {
    pub(super) fn new(
        name: Name,
        snapshots: Arc<Snapshots>,
        store: Option<Arc<LateStore>>,
        state: State,
        drain: Drain,
    ) -> Self {
        let (state, applied) = (Mutex::new(state), watch::Sender::new(None));
        Self { name, snapshots, store, state, applied, drain, metrics: Arc::default() }
    }

    pub(super) fn snapshots(&self) -> &Arc<Snapshots> {
        &self.snapshots
    }

    pub(super) fn store(&self) -> Option<Arc<dyn ClaimStore>> {
        self.store.as_ref().map(|store| Arc::clone(store) as Arc<dyn ClaimStore>)
    }

    pub(super) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// All metrics as text.
    pub(super) fn metrics_text(&self) -> String {
        let generation = self.snapshots.current().generation;
        let state = self.state();
        let paths = &state.reconciler.rows().paths;
        let entries = paths.iter().map(|(host, rows)| (host.clone(), rows.len())).collect();
        let mut unresolved: BTreeMap<_, usize> = BTreeMap::new();
        for claim in state.reconciler.report().claims() {
            for entry in &claim.entries {
                *unresolved.entry((claim.host.clone(), entry.code.as_str())).or_default() += 1;
            }
        }
        drop(state);
        let unresolved =
            unresolved.into_iter().map(|((host, code), count)| (host, code, count)).collect();
        self.metrics.render(&metrics::Live { generation, entries, unresolved })
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn applied(&self) -> &watch::Sender<Option<u64>> {
        &self.applied
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A pass that panicked ends the agent, and its half-made state with it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn others(&self) -> Result<BTreeMap<Name, Node>, StoreError> {
        let listed = match &self.store {
            Some(store) => nodes::list(&**store).await?,
            None => Vec::new(),
        };
        Ok(listed.into_iter().map(|node| (node.name.clone(), node)).collect())
    }

    /// Those of the other boxes that have not applied `serial`.
    async fn lagging(&self, serial: u64) -> Result<Vec<String>, StoreError> {
        let others = self.others().await?.into_values();
        let lag = others.filter(|node| node.name != self.name && node.serial < serial);
        Ok(lag.map(|node| node.name.to_string()).collect())
    }

    async fn wait(&self, serial: u64, patience: Duration) -> Result<Vec<String>, StoreError> {
        let deadline = Instant::now().checked_add(patience).unwrap_or_else(far);
        let mut applied = self.applied.subscribe();
        let here = {
            let waited = timeout_at(deadline, applied.wait_for(|at| *at >= Some(serial))).await;
            matches!(waited, Ok(Ok(_)))
        };
        loop {
            let mut lagging = self.lagging(serial).await?;
            if lagging.is_empty() && here {
                return Ok(lagging);
            }
            let now = Instant::now();
            if now >= deadline {
                if !here {
                    lagging.insert(0, self.name.to_string());
                }
                return Ok(lagging);
            }
            sleep_until(deadline.min(now + LOOK)).await;
        }
    }
}

/// How often the other boxes' records are read while somebody waits for them.
const LOOK: Duration = Duration::from_millis(50);

fn far() -> Instant {
    Instant::now() + Duration::from_secs(86_400)
}

impl LiveView for Live {
    fn look(&self, visit: &mut dyn FnMut(&fingerpost_control::Live<'_>)) {
        let state = self.state();
        let Some(serial) = state.serial else { return };
        visit(&fingerpost_control::Live {
            serial,
            facts: state.reconciler.facts(),
            claims: state.reconciler.claims(),
            report: state.reconciler.report(),
        });
    }

    fn is_control_plane(&self, account: &Name, app: &Name) -> bool {
        let config = Arc::clone(&self.state().config);
        let is =
            |written: &Option<Arc<str>>, name: &Name| written.as_deref() == Some(name.as_str());
        config.sites.iter().map(|site| &site.options).any(|options| {
            options.control_plane && is(&options.account, account) && is(&options.app, app)
        })
    }

    fn is_ready(&self) -> bool {
        self.drain.phase() == Phase::Serving
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let snapshot = self.snapshots.current();
        let state = self.state();
        let rows = state.reconciler.rows();
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Some(Snapshot {
            serial: self.applied.borrow().unwrap_or_default(),
            generation: snapshot.generation,
            fingerprint: state.fingerprint.clone(),
            counts: vec![
                ("sites", count(snapshot.router.site_count())),
                ("routes", count(snapshot.router.routes().count())),
                ("fleets", count(snapshot.fleets.len())),
                ("claims", count(state.reconciler.claims().len())),
                ("aliases", count(rows.aliases.len())),
                ("wildcards", count(rows.wildcards.len())),
                ("hosts_with_paths", count(rows.paths.len())),
                ("paths", count(rows.paths.values().map(|rows| rows.len()).sum())),
            ],
        })
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, StoreError>> {
        Box::pin(async move {
            let mut nodes = self.others().await?;
            // What this box says of itself is never late.
            let serial = self.applied.borrow().unwrap_or_default();
            let (name, seen) = (self.name.clone(), Some(System.now()));
            nodes.insert(name.clone(), Node { name, serial, seen });
            Ok(nodes.into_values().collect())
        })
    }

    fn wait_applied(
        &self,
        serial: u64,
        patience: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(self.wait(serial, patience))
    }

    fn routes(&self) -> Vec<u8> {
        let snapshot = self.snapshots.current();
        let state = self.state();
        let rows = state.reconciler.rows();
        let listing = Listing::new(&state.config, rows, &snapshot.router);
        drop(state);
        serde_json::to_vec(&listing).unwrap_or_default()
    }

    fn explain(&self, line: &[u8]) -> Result<Explained, String> {
        let snapshot = self.snapshots.current();
        let (answer, site) = explain::line(&snapshot.router, line)?;
        let config = Arc::clone(&self.state().config);
        let site = site.and_then(|name| HostPattern::from_written(&name).ok());
        let options = site.and_then(|site| config.site(&site)).map(|site| &site.options);
        let name = |text: Option<&Arc<str>>| Name::parse(text?).ok();
        Ok(Explained {
            line: serde_json::to_vec(&answer).unwrap_or_default(),
            account: name(options.and_then(|options| options.account.as_ref())),
            app: name(options.and_then(|options| options.app.as_ref())),
        })
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("name", &self.name).finish_non_exhaustive()
    }
}
