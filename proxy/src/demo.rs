//! A flip on this machine: two small applications, one hostname, and the proxy in front of them.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use fingerpost_claims::Name;
use fingerpost_control::{Grant, Role, create};
use fingerpost_registry::{SqliteStore, StoreOptions};

use crate::config::ConfigFile;
use crate::random::System;
use crate::run;
use app::App;
pub use check::check;

mod app;
mod check;
mod client;

/// The hostname that both applications are served under.
const HOST: &str = "demo.example";

/// The hostname of the application that accounts are moved to.
const TARGET: &str = "b.demo.example";

/// Where the map of [`HOST`] is published.
const PATHS: &str = "/api/cli/apps/demo/a/domains/demo.example/paths";

/// Serves until SIGTERM or SIGINT, after printing what to try.
///
/// # Errors
///
/// When a port can't be listened on, or a file can't be written.
pub fn serve() -> io::Result<()> {
    let listen = free_port(8080)?;
    let demo = Demo::new(listen, free_port(8081)?)?;
    println!("{}", demo.instructions());
    crate::logging::init(demo.config.config.log);
    run::run(&demo.config)
}

/// The applications, and the configuration in front of them.
struct Demo {
    listen: SocketAddr,
    door: SocketAddr,
    folder: PathBuf,
    config: ConfigFile,
    /// What the map is published with.
    token: String,
}

impl Demo {
    /// Starts the applications, and writes a configuration and a token; the proxy is to listen on `listen`, its
    /// write door on `door`.
    fn new(listen: SocketAddr, door: SocketAddr) -> io::Result<Self> {
        let (a, b) = (App::start("A")?, App::start("B")?);
        let folder = std::env::temp_dir().join(format!("fingerpost-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("fingerpost.toml");
        std::fs::write(&file, text(&folder, (listen, door), (a.address(), b.address())))?;
        let config = ConfigFile::load(&file);
        let config = config.map_err(|wrong| io::Error::other(wrong.to_string()))?;
        let token = token(&config)?;
        Ok(Self { listen, door, folder, config, token })
    }

    fn instructions(&self) -> String {
        let url = format!("http://{}", self.listen);
        let mut text = format!("App A serves {HOST}; its account b has moved to app B. Try:\n\n");
        for (path, note) in [
            ("/b/x", "B"),
            ("/bat", "A: another account"),
            ("/x/%2e%2e/b", "B: another spelling of /b"),
        ] {
            // Writing to a string does not fail.
            _ = writeln!(text, "  curl --path-as-is -H 'Host: {HOST}' {url}{path}   # {note}");
        }
        let Self { door, token, .. } = self;
        _ = write!(
            text,
            "\nGive b back to A, and move it again; a request after the answer sees it:\n\n  \
             TOKEN={token}\n  \
             MAP=http://{door}{PATHS}\n  \
             curl -X PUT -H \"Authorization: Bearer $TOKEN\" -H 'Prefer: wait=5' $MAP -d '{}'\n  \
             curl -X PUT -H \"Authorization: Bearer $TOKEN\" -H 'Prefer: wait=5' $MAP -d '{}'\n\n\
             Ctrl-C ends it.\n",
            map(&[]),
            map(&["b"]),
        );
        text
    }
}

/// The body that publishes a map in which `flipped` are served by B.
fn map(flipped: &[&str]) -> String {
    let entries: Vec<_> = flipped.iter().map(|name| format!("\"{name}\": \"{TARGET}\"")).collect();
    format!("{{\"paths\": {{{}}}}}", entries.join(", "))
}

fn text(
    folder: &Path,
    (listen, door): (SocketAddr, SocketAddr),
    (a, b): (SocketAddr, SocketAddr),
) -> String {
    let store = folder.join("claims.db");
    // A string of JSON is one of TOML.
    let store = serde_json::Value::from(store.to_string_lossy());
    format!(
        r#"# App A answers for every account of {HOST}, but for those that the claim's paths name.
[listen]
http = ["{listen}"]
admin = "{door}"

[store]
sqlite = {store}

[timeouts]
drain_grace = "0s"

[fleets.a]
servers = ["{a}"]
[fleets.b]
servers = ["{b}"]

[[routes]]
id = "a"
hosts = ["{HOST}"]
fleet = "a"
account = "demo"
app = "a"
legacy = "any"

[[routes]]
id = "b"
hosts = ["{TARGET}"]
fleet = "b"
account = "demo"
app = "b"

[[claims]]      # until a map is published
host = "{HOST}"
account = "demo"
app = "a"
paths = {{ b = "{TARGET}" }}
"#
    )
}

/// Makes a token for whoever publishes.
fn token(file: &ConfigFile) -> io::Result<String> {
    let none = || io::Error::other("the demo's configuration has a store");
    let store = file.config.store.as_ref().ok_or_else(none)?;
    let store = SqliteStore::open(&store.sqlite, &StoreOptions::default());
    let store = store.map_err(io::Error::other)?;
    let name = |text| Name::parse(text).map_err(io::Error::other);
    let (account, app) = (Some(name("demo")?), Some(name("a")?));
    let grant = Grant::new(Role::Publish, account, app, Some(name("the demo")?));
    let grant = grant.map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let made = runtime.block_on(create(&store, &System::new()?, &grant));
    Ok(made.map_err(io::Error::other)?.secret.to_string())
}

impl Drop for Demo {
    fn drop(&mut self) {
        // A folder that is left among the temporary ones harms nobody.
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The usual port of loopback, or another one where that is taken.
fn free_port(usual: u16) -> io::Result<SocketAddr> {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, usual));
    match TcpListener::bind(usual) {
        Ok(_) => Ok(usual),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
        }
        Err(error) => Err(error),
    }
}
