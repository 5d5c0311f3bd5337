//! Reading the configuration again while requests are served.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fingerpost_authority::Host;
use tokio::time::Instant;

use crate::agent::AgentHandle;
use crate::config::{Certificate, Config, ConfigFile, Limits, Listen, Log, Store, digest};

/// Publishes what a configuration file says now, whole or not at all.
#[derive(Debug)]
pub struct Reloader {
    path: PathBuf,
    agent: AgentHandle,
    /// What was read last, good or bad: a change that is none is not reported twice.
    text: Vec<u8>,
    /// The files of certificates that it named when it was last usable, and what they held then.
    files: Vec<(PathBuf, Digest)>,
    /// The hosts of which some account has moved away.
    moved: Vec<Host>,
    fixed: Fixed,
}

/// Who wants a file to be read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// An operator, who knows that it is whole.
    BySomebody,
    /// Nobody: it has changed.
    ByTheFile,
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
        let (moved, files) = (moved(config), files(config));
        Self { path, agent, text, files, moved, fixed }
    }

    /// Every file that is read: the configuration and those of its certificates.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let files = self.files.iter().map(|(path, _)| path.clone());
        std::iter::once(self.path.clone()).chain(files).collect()
    }

    /// Reads the file again if its text has changed, or that of a certificate.
    ///
    /// One in which a claim is missing that has moved accounts is refused: it may be half written, and
    /// would give every one of them back. Entries that are missing from a claim are taken as meant.
    pub fn reload_if_changed(&mut self) -> Reloaded {
        match std::fs::read(&self.path) {
            Ok(text) if text != self.text || self.files_changed() => {
                self.publish(text, Asked::ByTheFile)
            }
            // A file that is missing is about to be replaced: only SIGHUP makes that an error.
            _ => Reloaded::Unchanged,
        }
    }

    /// Reads the file and publishes what it says. An unusable one changes nothing and is reported.
    pub fn reload(&mut self) -> Reloaded {
        match std::fs::read(&self.path) {
            Ok(text) => self.publish(text, Asked::BySomebody),
            Err(error) => {
                let path = self.path.display();
                tracing::error!(%error, "{path} can't be read, what was read before serves on");
                Reloaded::Refused
            }
        }
    }

    fn files_changed(&self) -> bool {
        self.files.iter().any(|(path, before)| digest_of(path) != *before)
    }

    fn publish(&mut self, text: Vec<u8>, asked: Asked) -> Reloaded {
        let started = Instant::now();
        let path = self.path.display();
        // Before they are checked: one that changes meanwhile is read once more.
        for (path, before) in &mut self.files {
            *before = digest_of(path);
        }
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
        if asked == Asked::ByTheFile
            && let Some(host) = self.moved.iter().find(|host| config.claim(host).is_none())
        {
            tracing::error!(
                "{path} is not used: the claim of {host} is gone with all its paths, as in a file that \
                 is half written. Send SIGHUP if that is meant"
            );
            return Reloaded::Refused;
        }
        let (warnings, fixed, moved) =
            (config.warnings.clone(), Fixed::of(&config), moved(&config));
        let named = files(&config);
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
        self.moved = moved;
        self.files = named;
        let seconds = started.elapsed().as_secs_f64();
        tracing::info!(generation, seconds, "{path} was read again");
        Reloaded::Published
    }
}

/// What a file held; `None` for one that can't be read.
type Digest = Option<u64>;

fn digest_of(path: &Path) -> Digest {
    std::fs::read(path).ok().map(|text| digest(&text))
}

fn files(config: &Config) -> Vec<(PathBuf, Digest)> {
    let files = config.certificates.iter().flat_map(|certificate| {
        let Certificate { cert, key, digests: [of_cert, of_key], .. } = certificate;
        [(cert.clone(), Some(*of_cert)), (key.clone(), Some(*of_key))]
    });
    files.collect()
}

fn moved(config: &Config) -> Vec<Host> {
    let moved = config.claims.iter().filter(|claim| !claim.paths.is_empty());
    moved.map(|claim| claim.host.clone()).collect()
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
