//! A box with a legacy application, a new one, and another account.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

use fingerpost::agent::AgentOptions;
use fingerpost::config::Config;
use fingerpost::random::System;
use fingerpost::run::Running;
use fingerpost_claims::{ClaimStore, Name};
use fingerpost_control::{Grant, Role, create};
use fingerpost_registry::{SqliteStore, StoreOptions};
use tempfile::TempDir;

use super::http::{Reply, send};

pub(crate) const ROUTES: &str = r#"
[[routes]]
id = "classic"
hosts = ["tickets.example"]
respond = { body = "classic" }
account = "tickets"
app = "classic"
legacy = "rails"
[[routes]]
id = "go"
hosts = ["next.tickets.example"]
respond = { body = "go" }
account = "tickets"
app = "go"
[[routes]]
id = "other"
hosts = ["other.example"]
respond = { body = "other" }
account = "other"
app = "web"
[accounts.tickets]
may_claim = ["pages.example", "*.pages.example", "*.shared.example"]
[accounts.other]
may_claim = ["*.shared.example"]
"#;

/// A claim of the configuration.
pub(crate) const CLAIM: &str = r#"
[[claims]]
host = "tickets.example"
account = "tickets"
app = "classic"
paths = { configured = "next.tickets.example" }
"#;

/// Files of a box, which outlive the process.
pub(crate) struct Files {
    pub(crate) folder: TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn claims(&self) -> PathBuf {
        self.folder.path().join("claims.db")
    }

    pub(crate) fn registry(&self) -> PathBuf {
        self.folder.path().join("claims.db.registry")
    }

    pub(crate) fn text(&self, routes: &str) -> String {
        let claims = self.claims();
        format!(
            "[listen]\nhttp = [\"127.0.0.1:0\"]\nadmin = \"127.0.0.1:0\"\n\
             [store]\nsqlite = {:?}\n[timeouts]\ndrain_grace = \"0s\"\n{routes}",
            claims.to_str().unwrap()
        )
    }

    pub(crate) fn config(&self, routes: &str) -> Config {
        Config::parse("fingerpost.toml", &self.text(routes)).unwrap()
    }

    pub(crate) fn token(&self, role: Role, account: Option<&str>, app: Option<&str>) -> String {
        let store = self.store();
        let name = |text: &str| Name::parse(text).unwrap();
        let grant = Grant::new(role, account.map(name), app.map(name), None).unwrap();
        let made = block_on(create(&*store, &System::new().unwrap(), &grant));
        made.unwrap().secret.to_string()
    }

    /// The store, opened a second time: as another process has it.
    pub(crate) fn store(&self) -> Arc<dyn ClaimStore> {
        Arc::new(SqliteStore::open(&self.claims(), &StoreOptions::default()).unwrap())
    }

    /// The claim store's file with its log, gone.
    pub(crate) fn lose_claims(&self) {
        lose(&self.claims());
    }
}

pub(crate) fn lose(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        // There may be no log.
        _ = std::fs::remove_file(name);
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A running box.
pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) proxy: SocketAddr,
    pub(crate) door: SocketAddr,
}

/// A look at the store so often that a test need not wait for it.
pub(crate) const QUICK: AgentOptions =
    AgentOptions { poll: Duration::from_millis(20), list: Duration::from_secs(300), push: true };

impl World {
    pub(crate) fn start(files: &Files, routes: &str) -> Self {
        Self::start_with(files, routes, AgentOptions::default())
    }

    pub(crate) fn start_with(files: &Files, routes: &str, options: AgentOptions) -> Self {
        let running = Running::start_with(&files.config(routes), 7, options).unwrap();
        let (proxy, door) = (running.addresses()[0], running.admin().unwrap());
        Self { running, proxy, door }
    }

    /// Which application answers.
    pub(crate) fn served(&self, host: &str, path: &str) -> String {
        served(self.proxy, host, path)
    }

    /// Waits until an application answers; how long is no matter of the test.
    pub(crate) fn wait_for(&self, host: &str, path: &str, want: &str) {
        let started = Instant::now();
        while self.served(host, path) != want {
            assert!(started.elapsed() < Duration::from_secs(20), "{host}{path} is never {want}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn ask(&self, token: &str, line: &str, body: &str) -> Reply {
        ask(self.door, token, line, body)
    }

    /// Publishes a map, and waits for it.
    pub(crate) fn put(&self, token: &str, app: &str, host: &str, paths: &str) -> Reply {
        let line = format!("PUT /api/cli/apps/{app}/domains/{host}/paths\nPrefer: wait=20");
        self.ask(token, &line, &format!("{{\"paths\": {paths}}}"))
    }
}

pub(crate) fn ask(door: SocketAddr, token: &str, line: &str, body: &str) -> Reply {
    send(door, &head(token, line), body)
}

pub(crate) fn head(token: &str, line: &str) -> String {
    let (line, fields) = line.split_once('\n').unwrap_or((line, ""));
    format!("{line}\nHost: box\nAuthorization: Bearer {token}\n{fields}")
}

/// Which application answers, or the status where none does.
pub(crate) fn served(proxy: SocketAddr, host: &str, path: &str) -> String {
    let reply = send(proxy, &format!("GET {path}\nHost: {host}"), "");
    if reply.status == 200 { reply.body } else { reply.status.to_string() }
}
