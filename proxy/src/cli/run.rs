//! `run`: serve.

use std::path::Path;

use super::output::Output;
use crate::config::ConfigFile;
use crate::{logging, run};

pub(super) fn run(path: &Path) -> Output {
    let file = match ConfigFile::load(path) {
        Ok(file) => file,
        Err(diagnostics) => return Output::failure(diagnostics.to_string()),
    };
    logging::init(file.config.log);
    if !file.config.warnings.is_empty() {
        tracing::warn!("{}", file.config.warnings);
    }
    match run::run(&file) {
        Ok(()) => Output::default(),
        Err(error) => Output::failure(format!("fingerpost: {error}\n")),
    }
}
