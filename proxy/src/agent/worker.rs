//! The agent's loop: one pass after another.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use fingerpost_authority::Host;
use fingerpost_claims::{
    ClaimSet, ClaimStore, Name, Reconciler, Rows, RowsDiff, StoreError, Watch,
};
use fingerpost_router::Conflicts;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::AgentOptions;
use super::first::{First, open, words};
use super::keep::Keep;
use super::late::{LateError, LateStore};
use super::live::{Live, State};
use super::read::{Fresh, Known};
use super::remember::remember;
use super::{nodes, pass};
use crate::apply;
use crate::config::Config;
use crate::random::jitter;
use crate::server::Drain;
use crate::snapshot::Snapshots;

/// What the agent is told to do.
#[derive(Debug)]
pub(super) enum Command {
    /// Serve another configuration.
    Reload { config: Box<Config>, done: Sender<Result<u64, Conflicts>> },
    /// Stop following.
    End,
}

/// The agent's own: the registry, and what is served by it.
pub(super) struct Worker {
    live: Arc<Live>,
    store: Option<Arc<LateStore>>,
    keep: Keep,
    known: Known,
    /// The rows of the snapshot in use.
    served: Rows,
    /// The serial that this box has served last, in this process or before: a store that knows none is another
    /// one, and is not believed.
    last: Option<u64>,
    seed: u64,
    generation: u64,
    options: AgentOptions,
    /// What was logged last of the store, so that a long failure is logged once.
    trouble: Option<String>,
    /// Whether the last pass is not served yet.
    behind: bool,
    /// Whether that is since the registry can't be written, which was logged.
    stuck: bool,
}

impl Worker {
    /// Makes the first pass, and the first snapshot.
    pub(super) async fn start(
        config: Config,
        seed: u64,
        drain: Drain,
        options: AgentOptions,
    ) -> io::Result<Self> {
        let name = Name::parse(&config.box_name).map_err(io::Error::other)?;
        let store = config.store.as_ref().map(|store| Arc::new(LateStore::new(&store.sqlite)));
        let (mut keep, kept) = open(&config, store.as_deref()).await?;
        let last = kept.serial;
        let first = First::read(&config, store.as_deref(), &kept).await?;
        let First { reconciler, pass, known, trouble } = first;
        pass::log(reconciler.report(), &pass, None);
        let rows = reconciler.rows().clone();
        let local = apply::local(&config);
        let kept = keep.keep(&|| rows.clone(), &pass.diff, Some(&local), known.serial);
        if let Err(fault) = &kept {
            tracing::error!(%fault, "the registry can't be written: nothing is reported as applied");
        }
        let generation = 1;
        let snapshot =
            apply::snapshot(&config, &rows, generation, seed).map_err(io::Error::other)?;
        let state = State {
            config: Arc::new(config),
            reconciler,
            serial: known.serial,
            fingerprint: keep.fingerprint(),
        };
        let snapshots = Arc::new(Snapshots::new(snapshot));
        let live = Arc::new(Live::new(name, snapshots, store.clone(), state, drain));
        let behind = kept.is_err();
        let served = rows;
        let mut worker = Self {
            live,
            store,
            keep,
            known,
            served,
            last,
            seed,
            generation,
            options,
            trouble,
            behind,
            stuck: false,
        };
        if !behind {
            worker.report();
        }
        Ok(worker)
    }

    pub(super) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Follows until told to end.
    pub(super) async fn run(mut self, mut commands: UnboundedReceiver<Command>) {
        let mut watch = self.watch();
        // At once: somebody may have published since the first pass.
        let mut poll = Instant::now();
        let mut list = Instant::now() + jitter(self.options.list);
        loop {
            let look = tokio::select! {
                command = commands.recv() => match command {
                    Some(Command::Reload { config, done }) => {
                        // Whoever asked may be gone.
                        _ = done.send(self.reload(*config));
                        continue;
                    }
                    Some(Command::End) | None => return,
                },
                told = watch.changed(), if self.options.push => {
                    if told.is_err() {
                        // Until the next list; looking goes on.
                        watch = Box::new(Silence);
                    }
                    Look::Changes
                }
                () = sleep_until(poll) => Look::Changes,
                () = sleep_until(list) => Look::Everything,
            };
            let everything = matches!(look, Look::Everything);
            if everything {
                list = Instant::now() + jitter(self.options.list);
            }
            poll = Instant::now() + jitter(self.options.poll);
            if self.follow(look).await || everything {
                watch = self.watch();
            }
        }
    }

    fn watch(&self) -> Box<dyn Watch> {
        match &self.store {
            Some(store) => store.watch(),
            None => Box::new(Silence),
        }
    }

    /// Reads what has changed and serves by it; says whether the store was opened on the way.
    async fn follow(&mut self, look: Look) -> bool {
        let Some(store) = self.store.clone() else { return false };
        let was_open = store.is_open();
        let opened = match store.open(self.last).await {
            Ok(()) => Ok(()),
            Err(LateError::NotNow(reason)) => Err(reason),
            Err(error @ LateError::Broken(_)) => Err(error.to_string()),
        };
        if let Err(reason) = opened {
            self.in_trouble(&reason);
            return false;
        }
        let fresh = match look {
            Look::Changes => self.known.changes(&*store).await,
            Look::Everything => self.known.list(&*store).await.map(Some),
        };
        match fresh {
            Ok(fresh) => {
                if self.trouble.take().is_some() {
                    tracing::info!("the claim store can be read again");
                }
                if let Some(fresh) = fresh {
                    self.take(fresh);
                }
                if self.behind {
                    self.serve(&RowsDiff::default(), Instant::now());
                }
            }
            Err(error) => self.in_trouble(&words(&error)),
        }
        !was_open
    }

    fn in_trouble(&mut self, reason: &str) {
        if self.trouble.as_deref() != Some(reason) {
            tracing::error!(
                "the claim store can't be read, what was read before is served: {reason}"
            );
            self.trouble = Some(reason.to_owned());
        }
    }

    /// Reconciles what was read, and serves by it.
    fn take(&mut self, fresh: Fresh) {
        let began = Instant::now();
        let first = self.known.serial.is_none();
        let serial = fresh.serial;
        let mut state = self.live.state();
        let (pass, hosts) = if first {
            // Until now there were remembered rows; from here on there are claims.
            let mut claims = ClaimSet::new();
            for (key, body) in fresh.changes() {
                claims.set(key, body);
            }
            let (reconciler, pass) = Reconciler::new(state.config.facts(), claims, &self.served);
            state.reconciler = reconciler;
            (pass, None)
        } else {
            let hosts: BTreeSet<_> =
                fresh.changes().filter_map(|(key, _)| Host::parse(key).ok()).collect();
            (state.reconciler.update(fresh.changes()), Some(hosts))
        };
        state.serial = Some(serial);
        pass::log(state.reconciler.report(), &pass, hosts.as_ref());
        drop(state);
        self.known.took(fresh);
        self.serve(&pass.diff, began);
    }

    /// Keeps and publishes what the last pass has changed. What fails is tried again at the next look.
    fn serve(&mut self, diff: &RowsDiff, began: Instant) {
        let whole;
        let diff = if self.behind {
            whole = self.served.diff(self.live.state().reconciler.rows());
            &whole
        } else {
            diff
        };
        self.behind = true;
        let (live, serial) = (Arc::clone(&self.live), self.known.serial);
        let rows = || live.state().reconciler.rows().clone();
        if let Err(fault) = self.keep.keep(&rows, diff, None, serial) {
            if !self.stuck {
                tracing::error!(%fault, "the registry can't be written: what was before is served");
            }
            self.stuck = true;
            return;
        }
        if std::mem::take(&mut self.stuck) {
            tracing::info!("the registry can be written again");
        }
        if !diff.is_empty() && !self.publish(diff) {
            return;
        }
        if !diff.is_empty() {
            self.live.metrics().flipped(began.elapsed());
        }
        self.behind = false;
        self.live.state().fingerprint = self.keep.fingerprint();
        self.report();
    }

    fn publish(&mut self, diff: &RowsDiff) -> bool {
        let current = self.live.snapshots().current();
        let state = self.live.state();
        let generation = self.generation + 1;
        let next = apply::next(&current, diff, generation).or_else(|conflicts| {
            tracing::error!("rows that do not fit the snapshot before: {conflicts}");
            apply::snapshot(&state.config, state.reconciler.rows(), generation, self.seed)
        });
        match next {
            Ok(next) => {
                follow(&mut self.served, state.reconciler.rows(), diff);
                drop(state);
                self.live.snapshots().publish(next);
                self.generation = generation;
                true
            }
            Err(conflicts) => {
                tracing::error!("what was before is served, since this can't be: {conflicts}");
                false
            }
        }
    }

    /// Says what is on disk and in use.
    fn report(&mut self) {
        let Some(serial) = self.known.serial else { return };
        self.last = Some(serial);
        let before = self.live.applied().send_replace(Some(serial));
        if before == Some(serial) {
            return;
        }
        let Some(store) = self.store.clone() else { return };
        let name = self.live.name().clone();
        tokio::spawn(async move {
            // The next report tells the same and more.
            if let Err(error) = nodes::report(&*store, &name, serial).await {
                tracing::warn!(error = words(&error), serial, "what is applied can't be reported");
            }
        });
    }

    /// Serves another configuration, and the claims as they are.
    fn reload(&mut self, config: Config) -> Result<u64, Conflicts> {
        let began = Instant::now();
        let (reconciler, pass) = {
            let state = self.live.state();
            if state.serial.is_some() || self.store.is_none() {
                let claims = state.reconciler.claims().clone();
                Reconciler::new(config.facts(), claims, state.reconciler.rows())
            } else {
                remember(&config, &self.served)
            }
        };
        let generation = self.generation + 1;
        let rows = reconciler.rows().clone();
        let snapshot = apply::snapshot(&config, &rows, generation, self.seed)?;
        pass::log(reconciler.report(), &pass, None);
        let diff = self.served.diff(&rows);
        let local = apply::local(&config);
        let kept = self.keep.keep(&|| rows.clone(), &diff, Some(&local), self.known.serial);
        if let Err(fault) = &kept {
            // The file of the configuration is on disk already.
            tracing::error!(%fault, "the registry can't be written: nothing is reported as applied");
        }
        self.behind = kept.is_err();
        let mut state = self.live.state();
        state.config = Arc::new(config);
        state.reconciler = reconciler;
        state.fingerprint = self.keep.fingerprint();
        drop(state);
        self.served = rows;
        self.live.snapshots().publish(snapshot);
        self.generation = generation;
        if !self.behind {
            self.report();
        }
        self.live.metrics().reloaded(began.elapsed());
        Ok(generation)
    }
}

/// What to read.
#[derive(Clone, Copy, Debug)]
enum Look {
    Changes,
    Everything,
}

/// Nothing ever changes where there is no store.
#[derive(Debug)]
struct Silence;

impl Watch for Silence {
    fn changed(&mut self) -> fingerpost_claims::BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::pending())
    }
}

/// Makes `served` what `rows` are, where `diff` says that they differ.
fn follow(served: &mut Rows, rows: &Rows, diff: &RowsDiff) {
    for (host, row) in &diff.aliases {
        set(&mut served.aliases, host, row.clone());
    }
    for (host, row) in &diff.wildcards {
        set(&mut served.wildcards, host, row.clone());
    }
    let mut last = None;
    for (host, _, _) in &diff.paths {
        if last.replace(host) != Some(host) {
            // Shared, so that a large map is not copied for one of its rows.
            set(&mut served.paths, host, rows.paths.get(host).cloned());
        }
    }
}

fn set<V>(map: &mut std::collections::BTreeMap<Host, V>, host: &Host, value: Option<V>) {
    match value {
        Some(value) => _ = map.insert(host.clone(), value),
        None => _ = map.remove(host),
    }
}
