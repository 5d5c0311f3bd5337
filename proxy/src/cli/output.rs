//! What a verb prints.

use std::path::Path;

use crate::config::Config;

/// What goes to standard output and standard error, and whether the process fails.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) out: String,
    pub(super) err: String,
    pub(super) failed: bool,
}

impl Output {
    pub(super) fn new(out: String) -> Self {
        Self { out, ..Self::default() }
    }

    pub(super) fn failure(err: String) -> Self {
        Self { err, failed: true, ..Self::default() }
    }

    /// Reads a configuration and prints what `verb` makes of it.
    pub(super) fn of_config(path: &Path, verb: impl FnOnce(&Config) -> Self) -> Self {
        match Config::load(path) {
            Ok(config) => verb(&config),
            Err(diagnostics) => Self::failure(diagnostics.to_string()),
        }
    }

    /// Prints JSON for machines.
    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self::new(format!("{value:#}\n"))
    }
}
