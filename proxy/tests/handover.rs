//! One process that takes over from another while clients connect.

#![expect(clippy::unwrap_used, reason = "a step that fails ends the test")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tempfile::TempDir;

/// A proxy and those that came after it: all write to one log.
struct Proxy {
    first: Child,
    process: u32,
    log: Receiver<String>,
    seen: String,
    address: SocketAddr,
    file: PathBuf,
    _folder: TempDir,
}

impl Proxy {
    fn start(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fingerpost.toml");
        fs::write(&file, config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpost"));
        command.args(["run", "--config"]).arg(&file);
        Self::spawn(folder, file, command)
    }

    fn spawn(folder: TempDir, file: PathBuf, mut command: Command) -> Self {
        let mut first = command.stdout(Stdio::piped()).spawn().unwrap();
        let (sender, log) = channel();
        let lines = BufReader::new(first.stdout.take().unwrap()).lines().map_while(Result::ok);
        thread::spawn(move || lines.map(|line| sender.send(line)).all(|sent| sent.is_ok()));
        let (process, address) = (first.id(), SocketAddr::from(([127, 0, 0, 1], 0)));
        let seen = String::new();
        let mut started = Self { first, process, log, seen, address, file, _folder: folder };
        started.address = started.wait_for("listening").parse().unwrap();
        started
    }

    /// Reads the log until a line holds `text`; gives what stands behind its last `=`.
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self.log.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("no line with {text:?} in:\n{}", self.seen));
            self.seen.push_str(&line);
            self.seen.push('\n');
            if line.contains(text) {
                return line.rsplit('=').next().unwrap().trim().to_owned();
            }
        }
    }

    fn signal(&self, name: &str) {
        let process = self.process.to_string();
        assert!(Command::new("kill").args(["-s", name, &process]).status().unwrap().success());
    }

    fn configure(&self, config: &str) {
        let fresh = self.file.with_extension("new");
        fs::write(&fresh, config).unwrap();
        fs::rename(&fresh, &self.file).unwrap();
    }

    /// Hands over, and waits until the process before has ended.
    fn hand_over(&mut self) {
        self.signal("USR2");
        self.process = self.wait_for("another process serves from now on").parse().unwrap();
        self.wait_for("ended");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        _ = Command::new("kill").args(["-s", "KILL", &self.process.to_string()]).status();
        _ = self.first.kill();
        _ = self.first.wait();
    }
}

/// Clients that connect anew for every request.
struct Load {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    threads: Vec<JoinHandle<Vec<String>>>,
}

impl Load {
    fn start(address: SocketAddr, clients: usize, pause: Duration) -> Self {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let client = |_| {
            let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
            thread::spawn(move || {
                let mut failed = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    match get(address) {
                        Ok(text) if text.starts_with("HTTP/1.1 200") => {}
                        Ok(text) => failed.push(text),
                        Err(error) => failed.push(error.to_string()),
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(pause);
                }
                failed
            })
        };
        let threads = (0..clients).map(client).collect();
        Self { stop, done, threads }
    }

    fn wait_for(&self, requests: u64) {
        let goal = self.done.load(Ordering::Relaxed) + requests;
        while self.done.load(Ordering::Relaxed) < goal {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// How many were asked, and what came of those that failed.
    fn end(self) -> (u64, Vec<String>) {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        (self.done.load(Ordering::Relaxed), failed)
    }
}

fn get(address: SocketAddr) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    socket.read_to_string(&mut text)?;
    Ok(text)
}

fn config(more: &str, threads: usize, body: &str) -> String {
    format!(
        "[listen]\nhttp = [\"127.0.0.1:0\"{more}]\n[limits]\nthreads = {threads}\n[timeouts]\n\
         drain_grace = \"0s\"\n\
         [[routes]]\nhosts = [\"a.example\"]\nrespond = {{ status = 200, body = \"{body}\" }}\n"
    )
}

#[test]
fn no_connection_is_refused_while_another_process_takes_over() {
    let mut proxy = Proxy::start(&config("", 2, "one"));
    let load = Load::start(proxy.address, 4, Duration::from_millis(2));
    load.wait_for(500);
    proxy.hand_over();
    load.wait_for(500);
    let (asked, failed) = load.end();
    assert_eq!(failed, Vec::<String>::new(), "of {asked}");
    assert!(proxy.first.wait().unwrap().success());
    // And once more, from a process that was handed its sockets.
    let load = Load::start(proxy.address, 4, Duration::from_millis(2));
    load.wait_for(200);
    proxy.hand_over();
    load.wait_for(200);
    assert_eq!(load.end().1, Vec::<String>::new());
}

#[test]
fn every_queue_is_accepted_from_when_threads_or_addresses_change() {
    let mut proxy = Proxy::start(&config("", 3, "one"));
    for (more, threads, body) in
        [("", 1, "two"), (", \"127.0.0.1:0\"", 4, "three"), ("", 2, "four")]
    {
        proxy.configure(&config(more, threads, body));
        let load = Load::start(proxy.address, 4, Duration::from_millis(2));
        proxy.hand_over();
        load.wait_for(200);
        assert_eq!(load.end().1, Vec::<String>::new());
        for _ in 0..50 {
            assert!(get(proxy.address).unwrap().ends_with(body));
        }
    }
}

#[test]
fn one_that_cannot_start_changes_nothing() {
    let mut proxy = Proxy::start(&config("", 2, "one"));
    proxy.configure("[listen]\nhttp = 7\n");
    proxy.signal("USR2");
    proxy.wait_for("no other process takes over, this one serves on");
    assert!(proxy.seen.contains("before it was ready: exit status: 1"), "{}", proxy.seen);
    assert!(get(proxy.address).unwrap().ends_with("one"));
    proxy.configure(&config("", 2, "two"));
    proxy.hand_over();
    assert!(get(proxy.address).unwrap().ends_with("two"));
}

#[test]
fn an_open_connection_is_answered_and_told_to_close() {
    let mut proxy = Proxy::start(&config("", 1, "one"));
    let mut socket = TcpStream::connect(proxy.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text = [0; 1024];
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").unwrap();
    assert!(socket.read(&mut text).unwrap() > 0);
    proxy.signal("USR2");
    proxy.process = proxy.wait_for("another process serves from now on").parse().unwrap();
    proxy.wait_for("draining");
    // The worker hears of it a moment later.
    let mut answer = String::new();
    while !answer.contains("connection: close") {
        socket.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").unwrap();
        let length = socket.read(&mut text).unwrap();
        answer = String::from_utf8_lossy(text.get(..length).unwrap()).into_owned();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    proxy.wait_for("ended");
}

#[test]
fn the_admin_listener_and_the_files_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("claims.db");
    let text = config("]\nadmin = \"127.0.0.1:0\" #", 2, "one");
    let text = format!("{}[store]\nsqlite = {store:?}\n", text.replace("#]", "#"));
    let mut proxy = Proxy::start(&text);
    let admin: SocketAddr = proxy.wait_for("the admin listener is open").parse().unwrap();
    let load = Load::start(proxy.address, 2, Duration::from_millis(2));
    for _ in 0..2 {
        proxy.hand_over();
        let metrics = get_path(admin, "/metrics");
        assert!(metrics.contains("fingerpost_snapshot_generation 1"), "{metrics}");
        assert!(get_path(admin, "/readyz").starts_with("HTTP/1.1 200"));
    }
    assert_eq!(load.end().1, Vec::<String>::new());
    assert!(!proxy.seen.contains("can't be"), "{}", proxy.seen);
}

/// systemd's protocol: sockets from number 3 on, and a datagram for each step.
#[test]
fn a_service_manager_passes_sockets_and_is_told_of_every_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fingerpost.toml");
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let config = |body| config("", 2, body).replace("127.0.0.1:0", &address.to_string());
    fs::write(&file, config("one")).unwrap();
    let told = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    told.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let next = || {
        let mut text = [0; 256];
        let length = told.recv(&mut text).unwrap();
        String::from_utf8_lossy(text.get(..length).unwrap()).into_owned()
    };
    let mut command = Command::new("sh");
    command
        .args(["-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" run --config \"$1\" 3<&0 </dev/null"])
        .arg(env!("CARGO_BIN_EXE_fingerpost"))
        .arg(&file)
        .env("NOTIFY_SOCKET", folder.path().join("notify"))
        .stdin(Stdio::from(OwnedFd::from(socket)));
    let mut proxy = Proxy::spawn(folder, file, command);
    assert_eq!(proxy.address, address);
    assert_eq!(next(), "READY=1\n");
    assert!(get(address).unwrap().ends_with("one"));

    proxy.configure(&config("two"));
    proxy.signal("HUP");
    assert!(next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(next(), "READY=1\n");
    assert!(get(address).unwrap().ends_with("two"));

    proxy.hand_over();
    assert!(next().starts_with("RELOADING=1\n"));
    assert_eq!(next(), format!("MAINPID={}\nREADY=1\n", proxy.process));
    assert!(get(address).unwrap().ends_with("two"));
    proxy.signal("TERM");
    assert_eq!(next(), "STOPPING=1\n");
    proxy.wait_for("ended");
}

fn get_path(address: SocketAddr, path: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

#[test]
#[ignore = "takes half a minute, and a machine that does nothing else"]
fn nothing_fails_in_twenty_reloads_and_a_hand_over_at_2000_requests_a_second() {
    let mut proxy = Proxy::start(&config("", 2, "one"));
    let load = Load::start(proxy.address, 16, Duration::from_micros(7_000));
    for number in 0..20 {
        proxy.configure(&config("", 2, &format!("body-{number}")));
        proxy.signal("HUP");
        proxy.wait_for("was read again");
        load.wait_for(1_000);
    }
    proxy.hand_over();
    load.wait_for(4_000);
    let (asked, failed) = load.end();
    println!("{asked} requests, {} failed", failed.len());
    assert_eq!(failed, Vec::<String>::new());
}
