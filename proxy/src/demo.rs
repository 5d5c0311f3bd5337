//! A flip on this machine: two small applications, one hostname, and the proxy in front of them.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use crate::config::ConfigFile;
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

/// Serves until SIGTERM or SIGINT, after printing what to try.
///
/// # Errors
///
/// When a port can't be listened on, or the configuration can't be written.
pub fn serve() -> io::Result<()> {
    let demo = Demo::new(free_port()?)?;
    let file = demo.write(&["b"])?;
    println!("{}", demo.instructions());
    crate::logging::init(file.config.log);
    run::run(&file)
}

/// The applications, and the configuration in front of them.
struct Demo {
    a: App,
    b: App,
    listen: SocketAddr,
    folder: PathBuf,
    file: PathBuf,
}

impl Demo {
    /// Starts the applications; the proxy is to listen on `listen`.
    fn new(listen: SocketAddr) -> io::Result<Self> {
        let (a, b) = (App::start("A")?, App::start("B")?);
        let folder = std::env::temp_dir().join(format!("fingerpost-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("fingerpost.toml");
        Ok(Self { a, b, listen, folder, file })
    }

    /// Writes the configuration in which `flipped` are served by B.
    fn write(&self, flipped: &[&str]) -> io::Result<ConfigFile> {
        // Replaced in one step, as a deployment would, so that no half of it is ever read.
        let fresh = self.folder.join("fingerpost.toml.new");
        std::fs::write(&fresh, self.text(flipped))?;
        std::fs::rename(&fresh, &self.file)?;
        ConfigFile::load(&self.file)
            .map_err(|diagnostics| io::Error::other(diagnostics.to_string()))
    }

    fn text(&self, flipped: &[&str]) -> String {
        let Self { a, b, listen, .. } = self;
        let paths: Vec<_> = flipped.iter().map(|name| format!("{name} = \"{TARGET}\"")).collect();
        let (a, b, paths) = (a.address(), b.address(), paths.join(", "));
        format!(
            r#"# App A answers for every account of {HOST}, but for those that the claim's paths name.
[listen]
http = ["{listen}"]

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

[[claims]]
host = "{HOST}"
account = "demo"
app = "a"
paths = {{ {paths} }}
"#
        )
    }

    fn instructions(&self) -> String {
        let (url, file) = (format!("http://{}", self.listen), self.file.display());
        let mut text = format!("App A serves {HOST}; its account b has moved to app B. Try:\n\n");
        for (path, note) in [
            ("/b/x", "B"),
            ("/bat", "A: another account"),
            ("/x/%2e%2e/b", "B: another spelling of /b"),
        ] {
            // Writing to a string does not fail.
            _ = writeln!(text, "  curl --path-as-is -H 'Host: {HOST}' {url}{path}   # {note}");
        }
        let _ = write!(
            text,
            "\nGive b back to A, and move it again; requests see it at once:\n\n  \
             sed -i 's/^paths.*/paths = {{ }}/' {file}\n  \
             sed -i 's/^paths.*/paths = {{ b = \"{TARGET}\" }}/' {file}\n\n\
             Ctrl-C ends it.\n"
        );
        text
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // A folder that is left among the temporary ones harms nobody.
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Port 8080 of loopback, or another one where that is taken.
fn free_port() -> io::Result<SocketAddr> {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
    match TcpListener::bind(usual) {
        Ok(_) => Ok(usual),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
        }
        Err(error) => Err(error),
    }
}
