//! The configuration file, from text to a checked model.
//!
//! 1. `toml` reads the text into a tree in which every value knows where it stands.
//! 2. `shape` compares the tree with the JSON Schema that `schema` generates from the types in
//!    `raw`: unknown keys, wrong types, missing keys.
//! 3. `serde` reads the tree into those types.
//! 4. `check` parses every value, compares them with each other, and builds the model.
//!
//! Each step goes on after an error where what follows can still be trusted, so that everything
//! that is wrong is reported at once.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;

pub use self::diagnostics::{Diagnostic, Diagnostics, Severity};
pub(crate) use self::model::digest;
pub use self::model::{
    Account, Certificate, Claim, Config, Fleet, Forwarding, Limits, Listen, Log, LogFormat,
    LogLevel, OnUnresolved, PathEntry, Route, Scope, Server, ServerError, Site, SiteOptions, Store,
    Timeouts,
};
use self::place::Place;
use self::raw::RawConfig;
use self::report::Report;

mod check;
mod defaults;
mod diagnostics;
mod duration;
mod facts;
mod later;
mod model;
mod place;
mod raw;
mod report;
pub mod schema;
mod shape;
mod suggest;

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// All that is wrong with it, errors and warnings; also that it can't be read or is not UTF-8.
    pub fn load(path: &Path) -> Result<Self, Diagnostics> {
        ConfigFile::load(path).map(|file| file.config)
    }

    /// Checks a text; the name stands for the file in diagnostics.
    ///
    /// # Errors
    ///
    /// All that is wrong with it, errors and warnings.
    ///
    /// # Complexity
    ///
    /// `n log n` in the size of the text.
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostics> {
        let (mut tree, syntax) = DeTable::parse_recoverable(text);
        let mut report = Report::new(text, tree.clone());
        let mut readable = true;
        for error in &syntax {
            let span = error.span().unwrap_or_default();
            let offset = span.start;
            // A key that is there twice spoils nothing else; anything else leaves parts unread.
            match text.get(span).filter(|_| error.message() == "duplicate key") {
                Some(key) => {
                    report.error_at(
                        offset,
                        &Place::root(),
                        format_args!("the key {key} is there twice"),
                    );
                }
                None => {
                    report.error_at(offset, &Place::root(), error.message());
                    readable = false;
                }
            }
        }
        if !readable {
            return Err(report.finish(name));
        }
        shape::check(tree.get_mut(), &schema::SCHEMA, &mut report);
        let raw = match RawConfig::deserialize(toml::Deserializer::from(tree)) {
            Ok(raw) => raw,
            Err(error) => {
                // The shape was checked: this is only reached if schema and types differ.
                report.error_at(error.span().map_or(0, |span| span.start), &Place::root(), error);
                return Err(report.finish(name));
            }
        };
        let mut config = check::check(raw, &mut report);
        let failed = report.has_errors();
        config.warnings = report.finish(name);
        if failed { Err(config.warnings) } else { Ok(config) }
    }
}

/// A configuration with the text that it was read from, so that a change is never missed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConfigFile {
    /// Where it was read.
    pub path: PathBuf,
    /// What stood there.
    pub text: Vec<u8>,
    /// What it means.
    pub config: Config,
}

impl ConfigFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// As [`Config::load`].
    pub fn load(path: &Path) -> Result<Self, Diagnostics> {
        let name = path.display().to_string();
        let text = std::fs::read(path)
            .map_err(|error| Diagnostics::unreadable(&name, format!("can't be read: {error}")))?;
        let config = Self::check(path, &text)?;
        Ok(Self { path: path.to_owned(), text, config })
    }

    /// Checks what was read from `path`.
    ///
    /// # Errors
    ///
    /// As [`Config::load`].
    pub fn check(path: &Path, text: &[u8]) -> Result<Config, Diagnostics> {
        let name = path.display().to_string();
        match std::str::from_utf8(text) {
            Ok(text) => Config::parse(&name, text),
            Err(_) => Err(not_utf8(&name, text)),
        }
    }
}

fn not_utf8(name: &str, bytes: &[u8]) -> Diagnostics {
    let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let before = bytes.get(..valid).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    Diagnostics::unreadable(name, format!("line {line} is not UTF-8, which a TOML file has to be"))
}
