//! Reading the configuration again while requests are served.

use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::Instant;

use crate::agent::AgentHandle;
use crate::config::{Config, ConfigFile, Limits, Listen, Log, Store};

/// Publishes what a configuration file says now, whole or not at all.
#[derive(Debug)]
pub struct Reloader {
    path: PathBuf,
    agent: AgentHandle,
    /// What was read last, good or bad: a change that is none is not reported twice.
    text: Vec<u8>,
    fixed: Fixed,
}

/// What a running process cannot change.
#[derive(Debug, PartialEq)]
struct Fixed {
    box_name: Arc<str>,
    listen: Listen,
    store: Option<Store>,
    limits: Limits,
    log: Log,
}

/// What came of a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete: a file is new, the same, or unusable")]
pub enum Reloaded {
    /// A new snapshot serves.
    Published,
    /// The file says what it said before.
    Unchanged,
    /// The file can't be used; the snapshot before serves on.
    Refused,
}

impl Reloader {
    /// A reloader of a file that serves already.
    #[must_use]
    pub fn new(file: &ConfigFile, agent: AgentHandle) -> Self {
        let ConfigFile { path, text, config, .. } = file;
        let (path, text, fixed) = (path.clone(), text.clone(), Fixed::of(config));
        Self { path, agent, text, fixed }
    }

    /// Reads the file again if its text has changed.
    pub fn reload_if_changed(&mut self) -> Reloaded {
        match std::fs::read(&self.path) {
            Ok(text) if text != self.text => self.publish(text),
            // A file that is missing is about to be replaced: only SIGHUP makes that an error.
            _ => Reloaded::Unchanged,
        }
    }

    /// Reads the file and publishes what it says. An unusable one changes nothing and is reported.
    pub fn reload(&mut self) -> Reloaded {
        match std::fs::read(&self.path) {
            Ok(text) => self.publish(text),
            Err(error) => {
                let path = self.path.display();
                tracing::error!(%error, "{path} can't be read, what was read before serves on");
                Reloaded::Refused
            }
        }
    }

    fn publish(&mut self, text: Vec<u8>) -> Reloaded {
        let started = Instant::now();
        let path = self.path.display();
        let checked = ConfigFile::check(&self.path, &text);
        self.text = text;
        let config = match checked {
            Ok(config) => config,
            Err(diagnostics) => {
                tracing::error!(
                    "{path} is not used, what was read before serves on:\n{diagnostics}"
                );
                return Reloaded::Refused;
            }
        };
        let (warnings, fixed) = (config.warnings.clone(), Fixed::of(&config));
        let generation = match self.agent.reload(config) {
            Ok(generation) => generation,
            Err(error) => {
                tracing::error!("{path} is not used, what was read before serves on:\n{error}");
                return Reloaded::Refused;
            }
        };
        if !warnings.is_empty() {
            tracing::warn!("{warnings}");
        }
        if fixed != self.fixed {
            tracing::warn!(
                "{path}: changes of box, [listen], [store], [log] and of what a process has of \
                 [limits] need a restart"
            );
        }
        let seconds = started.elapsed().as_secs_f64();
        tracing::info!(generation, seconds, "{path} was read again");
        Reloaded::Published
    }
}

impl Fixed {
    fn of(config: &Config) -> Self {
        Self {
            box_name: Arc::clone(&config.box_name),
            listen: config.listen.clone(),
            store: config.store.clone(),
            limits: config.limits,
            log: config.log,
        }
    }
}
