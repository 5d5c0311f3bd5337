//! `routes`: what each host serves.

use std::path::Path;

use super::output::Output;
use crate::apply;
use crate::listing::Listing;

/// Offline routers answer the same whatever their seed.
const SEED: u64 = 0;

pub(super) fn routes(path: &Path, json: bool) -> Output {
    Output::of_config(path, |config| {
        let rows = apply::rows(config);
        match apply::router(config, &rows, SEED) {
            Ok(router) => print(&Listing::new(config, &rows, &router), json),
            Err(conflicts) => Output::failure(format!("{conflicts}\n")),
        }
    })
}

pub(super) fn print(listing: &Listing, json: bool) -> Output {
    if json { Output::json(&serde_json::json!(listing)) } else { Output::new(listing.to_string()) }
}
