//! `explain`: which route a request takes, and why.

use std::io::{self, BufReader};
use std::path::Path;

use super::output::Output;
use crate::apply;
use crate::explain;

/// Offline routers answer the same whatever their seed.
const SEED: u64 = 0;

pub(super) fn lines(path: &Path) -> Output {
    Output::of_config(path, |config| {
        let answered = apply::router(config, &apply::rows(config), SEED)
            .map_err(io::Error::other)
            .and_then(|router| {
                let input = BufReader::with_capacity(256 * 1024, io::stdin().lock());
                explain::lines(&router, input, io::stdout().lock())
            });
        match answered {
            Ok(()) => Output::default(),
            // A reader that has gone away (`| head`) is no failure.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Output::default(),
            Err(error) => Output::failure(format!("fingerpost: explain: {error}\n")),
        }
    })
}

pub(super) fn one(path: &Path, host: &str, target: &str, json: bool) -> Output {
    Output::of_config(path, |config| match apply::router(config, &apply::rows(config), SEED) {
        Err(conflicts) => Output::failure(format!("{conflicts}\n")),
        Ok(router) => {
            let answer = explain::one(&router, host, target);
            if json {
                Output::json(&serde_json::json!(answer))
            } else {
                Output::new(answer.to_string())
            }
        }
    })
}
