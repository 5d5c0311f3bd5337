//! The binary as it runs: start, reload by signal and by file, drain, and what it says of bad input.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a step that fails ends the test"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use wire::secure::{Pem, Trust};

mod wire {
    #[expect(dead_code, reason = "shared with the wire tests")]
    pub(crate) mod client;
    #[expect(dead_code, reason = "shared with the wire tests")]
    pub(crate) mod secure;
}

/// A running proxy, whose log is read line by line.
struct Proxy {
    child: Child,
    log: Receiver<String>,
    seen: String,
    address: SocketAddr,
    file: PathBuf,
    _folder: TempDir,
}

impl Proxy {
    fn start(config: &str) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_fingerpost")).arg("run"), config)
    }

    /// Starts with no more than `descriptors` files and sockets.
    fn start_with_descriptors(descriptors: usize, config: &str) -> Self {
        let script = format!("ulimit -n {descriptors}; exec \"$0\" run \"$@\"");
        let binary = env!("CARGO_BIN_EXE_fingerpost");
        Self::start_by(Command::new("sh").args(["-c", &script, binary]), config)
    }

    fn start_by(command: &mut Command, config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fingerpost.toml");
        fs::write(&file, config).unwrap();
        let mut child = command
            .arg("--config")
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = lines(child.stdout.take().unwrap());
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut proxy = Self { child, log, seen: String::new(), address, file, _folder: folder };
        let line = proxy.wait_for("listening");
        let address = line.split("address=").nth(1).unwrap().trim();
        proxy.address = address.parse().unwrap();
        proxy
    }

    /// Reads the log until a line holds `text`.
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("no line with {text:?} in:\n{}", self.seen));
            self.seen.push_str(&line);
            if line.contains(text) {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    fn get(&self, target: &str) -> String {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(socket, "GET {target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        socket.read_to_string(&mut text).unwrap();
        text
    }

    fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

/// Reads lines on a thread, so that waiting for one has an end.
fn lines(out: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if sender.send(line + "\n").is_err() {
                return;
            }
        }
    });
    receiver
}

/// How long a line may take; a slow machine is no failure.
const PATIENCE: Duration = Duration::from_secs(30);

impl Drop for Proxy {
    fn drop(&mut self) {
        // It has ended already in most tests.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn config(body: &str) -> String {
    format!(
        "[listen]\nhttp = [\"127.0.0.1:0\"]\n[timeouts]\ndrain_grace = \"0s\"\n\
         [[routes]]\nhosts = [\"a.example\"]\nrespond = {{ status = 200, body = \"{body}\" }}\n"
    )
}

#[test]
fn a_hang_up_reads_the_file_again_and_a_bad_file_changes_nothing() {
    let mut proxy = Proxy::start(&config("one"));
    assert!(proxy.get("/").ends_with("one"));

    // In place, so that the watch may see it too: either way the file is read again.
    fs::write(&proxy.file, config("two")).unwrap();
    proxy.signal("HUP");
    proxy.wait_for("was read again");
    assert!(proxy.get("/").ends_with("two"));

    fs::write(&proxy.file, "[listen]\nhttp = 7\n[[routes]]\nhostz = []\n").unwrap();
    proxy.signal("HUP");
    proxy.wait_for("is not used");
    let first = proxy.wait_for("fingerpost.toml:2:8");
    assert!(first.contains("expected an array"), "{first}");
    proxy.wait_for("hostz");
    assert!(proxy.get("/").ends_with("two"));

    fs::write(&proxy.file, config("three")).unwrap();
    proxy.signal("HUP");
    proxy.wait_for("was read again");
    assert!(proxy.get("/").ends_with("three"));
}

/// Without a descriptor for one more, a client is told to come back; those that are there are served on.
#[test]
fn without_descriptors_clients_are_told_to_come_back() {
    let proxy = Proxy::start_with_descriptors(64, &config("one"));
    let ask = |socket: &mut TcpStream| {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = socket.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
        let mut text = [0; 1024];
        // A client that has sent when it is refused may see a reset.
        let read = socket.read(&mut text).unwrap_or(0);
        String::from_utf8_lossy(&text[..read]).into_owned()
    };
    let mut served = Vec::new();
    let mut refused = 0;
    for _ in 0..100 {
        let mut socket = TcpStream::connect(proxy.address).unwrap();
        let told = ask(&mut socket);
        if told.starts_with("HTTP/1.1 200 ") {
            served.push(socket);
        } else {
            assert!(told.is_empty() || told.contains("\r\nRetry-After: 1\r\n"), "{told}");
            refused += usize::from(!told.is_empty());
        }
    }
    assert!(served.len() > 10 && refused > 10, "{} {refused}", served.len());
    for socket in &mut served {
        assert!(ask(socket).ends_with("one"));
    }
    served.clear();
    let mut told = String::new();
    while !told.ends_with("one") {
        told = ask(&mut TcpStream::connect(proxy.address).unwrap());
    }
}

#[test]
fn a_replaced_file_is_read_without_a_signal() {
    let mut proxy = Proxy::start(&config("one"));
    let fresh = proxy.file.with_extension("new");
    fs::write(&fresh, config("two")).unwrap();
    fs::rename(&fresh, &proxy.file).unwrap();
    proxy.wait_for("was read again");
    assert!(proxy.get("/").ends_with("two"));
}

#[test]
fn a_file_without_its_claims_gives_nobody_back_unless_it_is_meant() {
    let head = "[listen]\nhttp = [\"127.0.0.1:0\"]\n[timeouts]\ndrain_grace = \"0s\"\n";
    let route = |host: &str, app: &str| {
        format!(
            "[[routes]]\nhosts = [\"{host}\"]\naccount = \"a\"\napp = \"{app}\"\n\
             respond = {{ status = 200, body = \"{app}\" }}\n"
        )
    };
    let half = format!("{head}{}{}", route("a.example", "old"), route("b.example", "new"));
    let whole = format!(
        "{half}[[claims]]\nhost = \"a.example\"\naccount = \"a\"\napp = \"old\"\n\
         paths = {{ b = \"b.example\" }}\n"
    );
    let mut proxy = Proxy::start(&whole);
    assert!(proxy.get("/b/x").ends_with("new"));

    fs::write(&proxy.file, &half).unwrap();
    proxy.wait_for("the claim of a.example is gone");
    assert!(proxy.get("/b/x").ends_with("new"));

    fs::write(&proxy.file, whole.replace("b = \"b.example\"", "")).unwrap();
    proxy.wait_for("was read again");
    assert!(proxy.get("/b/x").ends_with("old"), "an entry that is gone is meant");

    fs::write(&proxy.file, &whole).unwrap();
    proxy.wait_for("was read again");
    assert!(proxy.get("/b/x").ends_with("new"));
    fs::write(&proxy.file, &half).unwrap();
    proxy.signal("HUP");
    proxy.wait_for("was read again");
    assert!(proxy.get("/b/x").ends_with("old"));
}

#[test]
fn the_first_term_drains_and_the_second_ends_at_once() {
    let proxy = Proxy::start(&config("one"));
    assert!(proxy.get("/").ends_with("one"));
    proxy.signal("TERM");
    assert!(proxy.wait().success());

    // A request whose answer never comes keeps a drain waiting.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let text = format!(
        "[listen]\nhttp = [\"127.0.0.1:0\"]\n[timeouts]\ndrain_grace = \"0s\"\n\
         [fleets.silent]\nservers = [\"{address}\"]\n\
         [[routes]]\nhosts = [\"a.example\"]\nfleet = \"silent\"\n"
    );
    let mut proxy = Proxy::start(&text);
    let asked = proxy.address;
    let waiting = thread::spawn(move || {
        let mut socket = TcpStream::connect(asked).unwrap();
        socket.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").unwrap();
        // Cut, with or without a reset.
        socket.read_to_end(&mut Vec::new()).unwrap_or_default()
    });
    let (_upstream, _) = silent.accept().unwrap();
    proxy.signal("TERM");
    proxy.wait_for("draining");
    assert_eq!(proxy.child.try_wait().unwrap(), None, "it waits for the exchange");
    proxy.signal("TERM");
    proxy.wait_for("told to end at once");
    assert!(proxy.wait().success());
    waiting.join().unwrap();
}

#[test]
fn what_cannot_start_says_why_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let file = folder.path().join("taken.toml");
    fs::write(&file, format!("[listen]\nhttp = [\"{address}\"]\n")).unwrap();
    let bad = folder.path().join("bad.toml");
    fs::write(&bad, "[listen]\nhttp = 7\n").unwrap();
    let missing = folder.path().join("missing.toml");
    for (file, want) in
        [(file, "can't listen on"), (bad, ":2:8: listen.http"), (missing, "can't be read")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_fingerpost"))
            .args(["run", "--config"])
            .arg(&file)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn a_second_process_does_not_share_the_port() {
    let first = Proxy::start(&config("one"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("second.toml");
    fs::write(&file, config("two").replace("127.0.0.1:0", &first.address.to_string())).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fingerpost"))
        .args(["run", "--config"])
        .arg(&file)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("can't listen on"), "{text}");
    assert!(first.get("/").ends_with("one"));
}

#[test]
fn the_demo_proves_itself() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_fingerpost")).args(["demo", "--check"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("every step holds") && !text.contains("FAILED"), "{text}");
}

#[test]
fn new_certificates_are_served_and_bad_ones_change_nothing() {
    let (old, new, third) =
        (Pem::of(&["a.example"]), Pem::of(&["a.example"]), Pem::of(&["a.example"]));
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let replace = |path: &PathBuf, text: &str| {
        let fresh = path.with_extension("new");
        fs::write(&fresh, text).unwrap();
        fs::rename(&fresh, path).unwrap();
    };
    fs::write(&cert, &old.cert).unwrap();
    fs::write(&key, &old.key).unwrap();
    let body = "[[routes]]\nhosts = [\"a.example\"]\nrespond = { status = 200, body = \"one\" }\n";
    let mut proxy = Proxy::start(&format!(
        "[listen]\nhttp = []\nhttps = [\"127.0.0.1:0\"]\n\
         [[certificates]]\ncert = {cert:?}\nkey = {key:?}\n{body}"
    ));
    let serves = |proxy: &Proxy, pem: &Pem| {
        let mut stream = Trust::in_these(&[pem]).connect(proxy.address, "a.example").unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("one"), "{text}");
    };
    serves(&proxy, &old);
    let mut open = Trust::in_these(&[&old]).connect(proxy.address, "a.example").unwrap();

    // By the watch: the new certificate with the old key is none.
    replace(&cert, &new.cert);
    proxy.wait_for("the key does not belong to the first certificate");
    serves(&proxy, &old);
    replace(&key, &new.key);
    proxy.wait_for("was read again");
    serves(&proxy, &new);

    // Links are replaced by links, as certbot and Kubernetes do; the folder they lead to is not watched.
    let elsewhere = tempfile::tempdir().unwrap();
    let (third_cert, third_key) = (elsewhere.path().join("c"), elsewhere.path().join("k"));
    fs::write(&third_cert, &third.cert).unwrap();
    fs::write(&third_key, &third.key).unwrap();
    for (path, to) in [(&cert, &third_cert), (&key, &third_key)] {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink(to, path).unwrap();
    }
    proxy.wait_for("was read again");
    serves(&proxy, &third);

    // And by a signal, where no watch sees it.
    fs::write(&third_cert, &old.cert).unwrap();
    fs::write(&third_key, "nothing").unwrap();
    proxy.signal("HUP");
    proxy.wait_for("holds no private key");
    serves(&proxy, &third);
    fs::write(&third_key, &old.key).unwrap();
    proxy.signal("HUP");
    proxy.wait_for("was read again");
    serves(&proxy, &old);

    open.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("one"), "{text}");
}
