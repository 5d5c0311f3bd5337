//! `run`: serve.

use std::path::Path;

use super::output::Output;
use crate::{logging, run};

pub(super) fn run(path: &Path) -> Output {
    Output::of_config(path, |config| {
        logging::init(config.log);
        if !config.warnings.is_empty() {
            tracing::warn!("{}", config.warnings);
        }
        match run::run(path, config) {
            Ok(()) => Output::default(),
            Err(error) => Output::failure(format!("fingerpost: {error}\n")),
        }
    })
}
