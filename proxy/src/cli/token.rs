//! `token`: credentials of the write door.

use std::fmt::Write as _;
use std::path::Path;

use fingerpost_claims::Name;
use fingerpost_control::{Grant, Listed, Role, create, list, revoke};
use fingerpost_registry::{SqliteStore, StoreOptions};

use super::output::Output;
use super::{TokenCommand, TokenCreateArgs};
use crate::config::{Config, Store};
use crate::random::System;

pub(super) fn token(command: &TokenCommand) -> Output {
    match command {
        TokenCommand::Create(args) => match grant(args) {
            Ok(grant) => with_store(&args.store.config, |store| make(store, &grant)),
            Err(error) => Output::failure(format!("fingerpost: token: {error}\n")),
        },
        TokenCommand::List(args) => with_store(&args.store.config, |store| {
            let listed = block_on(list(store))?.map_err(|error| chain(&error))?;
            Ok(if args.json {
                Output::json(&as_json(&listed))
            } else {
                Output::new(as_text(&listed))
            })
        }),
        TokenCommand::Revoke(args) => with_store(&args.store.config, |store| {
            let ambient = System::new().map_err(|error| error.to_string())?;
            let revoked = block_on(revoke(store, &ambient, &args.id))?;
            let revoked = revoked.map_err(|error| chain(&error))?;
            Ok(Output::new(format!("revoked {}\n", row(&revoked))))
        }),
    }
}

fn grant(args: &TokenCreateArgs) -> Result<Grant, String> {
    let name = |text: &Option<String>, what| {
        let parsed = text.as_deref().map(Name::parse).transpose();
        parsed.map_err(|error| format!("--{what}: {error}"))
    };
    let role: Role = args.role.parse().map_err(|error| format!("--role: {error}"))?;
    let (account, app) = (name(&args.account, "account")?, name(&args.app, "app")?);
    Grant::new(role, account, app, name(&args.name, "name")?).map_err(|error| error.to_string())
}

fn make(store: &SqliteStore, grant: &Grant) -> Result<Output, String> {
    let ambient = System::new().map_err(|error| error.to_string())?;
    let made = block_on(create(store, &ambient, grant))?.map_err(|error| chain(&error))?;
    Ok(Output {
        out: format!("{}\n", made.secret),
        err: format!("token {} is shown this once; only its hash is stored\n", made.id),
        failed: false,
    })
}

/// Opens the store of a configuration: the same file that a running proxy has open.
fn with_store(path: &Path, verb: impl FnOnce(&SqliteStore) -> Result<Output, String>) -> Output {
    Output::of_config(path, |config| {
        let done = store_of(config).and_then(|store| verb(&store));
        done.unwrap_or_else(|error| Output::failure(format!("fingerpost: token: {error}\n")))
    })
}

fn store_of(config: &Config) -> Result<SqliteStore, String> {
    let none = "the configuration has no claim store: write [store] or listen.admin";
    let Store { sqlite } = config.store.as_ref().ok_or(none)?;
    // A new file beside rows of an older one would be taken for a store that has forgotten everything.
    let registry = config.store.as_ref().map(Store::registry).filter(|path| path.exists());
    if let (false, Some(registry)) = (sqlite.exists(), registry) {
        let (sqlite, registry) = (sqlite.display(), registry.display());
        return Err(format!("{sqlite} is gone; put it back, or remove {registry} to begin anew"));
    }
    SqliteStore::open(sqlite, &StoreOptions::default()).map_err(|error| error.to_string())
}

fn block_on<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.map(|runtime| runtime.block_on(future)).map_err(|error| error.to_string())
}

fn as_text(listed: &[Listed]) -> String {
    let mut text = String::new();
    for token in listed {
        // Writing to a string does not fail.
        _ = writeln!(text, "{}", row(token));
    }
    text
}

fn row(token: &Listed) -> String {
    let created = token.created.as_deref().unwrap_or("-");
    let Some(grant) = &token.grant else {
        return format!("{}  {created}  can't be read, and grants nothing", token.id);
    };
    let or_dash = |name: Option<&Name>| name.map_or_else(|| "-".to_owned(), ToString::to_string);
    let (account, app) = (or_dash(grant.account()), or_dash(grant.app()));
    let name = or_dash(grant.name());
    format!("{}  {created}  {:<8}  {account}  {app}  {name}", token.id, grant.role())
}

fn as_json(listed: &[Listed]) -> serde_json::Value {
    let token = |token: &Listed| {
        let grant = token.grant.as_ref();
        serde_json::json!({
            "id": token.id,
            "created": token.created,
            "role": grant.map(|grant| grant.role().as_str()),
            "account": grant.and_then(Grant::account).map(Name::as_str),
            "app": grant.and_then(Grant::app).map(Name::as_str),
            "name": grant.and_then(Grant::name).map(Name::as_str),
        })
    };
    listed.iter().map(token).collect()
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
