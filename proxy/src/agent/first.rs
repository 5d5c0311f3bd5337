//! What a box serves when it starts.

use std::io;

use fingerpost_claims::{ClaimSet, Pass, Reconciler, StoreError};

use super::keep::{Keep, KeepError, Kept};
use super::late::{LateError, LateStore};
use super::read::Known;
use super::remember::remember;
use crate::config::Config;

/// Opens the registry; a spoiled one is replaced where the claim store has what it had.
pub(super) async fn open(config: &Config, store: Option<&LateStore>) -> io::Result<(Keep, Kept)> {
    let (Some(written), Some(store)) = (&config.store, store) else {
        return Ok((Keep::default(), Kept::default()));
    };
    let path = written.registry();
    match Keep::open(&path) {
        Ok(opened) => Ok(opened),
        Err(error @ KeepError::Spoiled(_)) => match store.open_existing().await {
            Ok(()) => Keep::begin_anew(&path).map_err(|error| io::Error::other(chain(&error))),
            Err(other) => Err(io::Error::other(format!("{}; and {other}", chain(&error)))),
        },
        Err(error) => Err(io::Error::other(chain(&error))),
    }
}

/// What the first pass leaves.
pub(super) struct First {
    pub(super) reconciler: Reconciler,
    pub(super) pass: Pass,
    pub(super) known: Known,
    /// Why the claim store could not be read.
    pub(super) trouble: Option<String>,
}

impl First {
    pub(super) async fn read(
        config: &Config,
        store: Option<&LateStore>,
        kept: &Kept,
    ) -> io::Result<Self> {
        let mut known = Known::default();
        let reason = match store {
            None => {
                let (reconciler, pass) =
                    Reconciler::new(config.facts(), ClaimSet::new(), &kept.rows);
                return Ok(Self { reconciler, pass, known, trouble: None });
            }
            Some(store) => match Self::claims(store, kept, &mut known).await {
                Ok(claims) => {
                    let (reconciler, pass) = Reconciler::new(config.facts(), claims, &kept.rows);
                    return Ok(Self { reconciler, pass, known, trouble: None });
                }
                Err(error @ LateError::Broken(_)) => {
                    return Err(io::Error::other(chain(&error)));
                }
                Err(LateError::NotNow(reason)) => reason,
            },
        };
        let Some(serial) = kept.serial else {
            return Err(io::Error::other(format!("the claim store can't be used: {reason}")));
        };
        tracing::error!(
            serial,
            "the claim store can't be read, what this box knew last is served: {reason}"
        );
        let (reconciler, pass) = remember(config, &kept.rows);
        Ok(Self { reconciler, pass, known, trouble: Some(reason) })
    }

    async fn claims(
        store: &LateStore,
        kept: &Kept,
        known: &mut Known,
    ) -> Result<ClaimSet, LateError> {
        store.open(kept.serial).await?;
        let fresh = known.list(store).await.map_err(|error| LateError::NotNow(words(&error)))?;
        let mut claims = ClaimSet::new();
        for (key, body) in fresh.changes() {
            claims.set(key, body);
        }
        known.took(fresh);
        Ok(claims)
    }
}

/// An error of the store with its causes.
pub(super) fn words(error: &StoreError) -> String {
    chain(error)
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
