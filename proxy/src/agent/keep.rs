//! The registry of this box, seen from the agent.

use std::path::Path;

use fingerpost_claims::{Rows, RowsDiff};
use fingerpost_control::Ambient as _;
use fingerpost_registry::{
    Diff, Fault, FaultKind, Local, OpenError, Options, Registry, Tables, set_aside,
};

use crate::random::System;

/// The registry, or nothing where nothing is kept.
#[derive(Debug, Default)]
pub(super) struct Keep {
    registry: Option<Registry>,
    local: Local,
    /// Whether the file may hold something else than was last given to it.
    unsure: bool,
}

/// What a box knew when it ended.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) rows: Rows,
    pub(super) serial: Option<u64>,
}

/// Why a registry was not opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    /// What it holds is not what was written.
    #[error("the registry is spoiled")]
    Spoiled(#[source] OpenError),
    /// It may be opened another time, or by another version.
    #[error("the registry can't be opened")]
    Unopened(#[source] OpenError),
    /// It can't be moved out of the way.
    #[error("the spoiled registry can't be set aside")]
    Stuck(#[source] Fault),
}

impl Keep {
    /// Opens the file, or creates it.
    pub(super) fn open(path: &Path) -> Result<(Self, Kept), KeepError> {
        let opened = Registry::open(path, &Options::default()).map_err(|error| match error {
            OpenError::Altered { .. } => KeepError::Spoiled(error),
            OpenError::Fault(ref fault) if fault.kind() == FaultKind::Corrupt => {
                KeepError::Spoiled(error)
            }
            error => KeepError::Unopened(error),
        });
        let (registry, Tables { local, rows, serial }) = opened?;
        Ok((Self { registry: Some(registry), local, unsure: false }, Kept { rows, serial }))
    }

    /// Sets a spoiled file aside and begins a new one: only for somebody who can read the claim store, which has
    /// everything that it had.
    pub(super) fn begin_anew(path: &Path) -> Result<(Self, Kept), KeepError> {
        let since = System.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let suffix = format!("spoiled-{}", since.as_secs());
        let aside = set_aside(path, &suffix).map_err(KeepError::Stuck)?;
        tracing::error!("{} was spoiled, and is now {}", path.display(), aside.display());
        Self::open(path)
    }

    /// Keeps rows that have changed by `diff`, and what the configuration says. On disk when this returns.
    pub(super) fn keep(
        &mut self,
        rows: &dyn Fn() -> Rows,
        diff: &RowsDiff,
        local: Option<&Local>,
        serial: Option<u64>,
    ) -> Result<(), Fault> {
        let Some(registry) = &mut self.registry else { return Ok(()) };
        let diff = if self.unsure {
            let old = registry.tables()?;
            let local = local.unwrap_or(&self.local).clone();
            let serial = serial.or(old.serial);
            Diff::between(&old, &Tables { local, rows: rows(), serial })
        } else {
            let of_local = local.map(|local| Diff::of_local(&self.local, local));
            Diff { rows: diff.clone(), serial, ..of_local.unwrap_or_default() }
        };
        self.unsure = true;
        registry.apply(&diff)?;
        self.unsure = false;
        if let Some(local) = local {
            self.local = local.clone();
        }
        Ok(())
    }

    pub(super) fn fingerprint(&self) -> String {
        self.registry
            .as_ref()
            .map(|registry| registry.fingerprint().to_string())
            .unwrap_or_default()
    }
}
