//! A process that is killed while it publishes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use fingerpost_control::Role;

use super::http::try_send;
use super::world::{CLAIM, Files, ROUTES, head, served};

const HOST: &str = "tickets.example";
const ROUNDS: usize = 6;

struct Process {
    child: Child,
    proxy: SocketAddr,
    door: SocketAddr,
}

impl Process {
    fn start(files: &Files) -> Self {
        let file = files.folder.path().join("fingerpost.toml");
        fs::write(&file, files.text(&[ROUTES, CLAIM].concat())).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_fingerpost"))
            .args(["run", "--config"])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // Read on, so that the process never waits for us.
                _ = sender.send(line);
            }
        });
        let address = |text: &str| loop {
            let line = lines.recv_timeout(Duration::from_secs(60)).expect("a line of the log");
            if line.contains(text) {
                let address = line.split("address=").nth(1).unwrap();
                return address.split_whitespace().next().unwrap().parse().unwrap();
            }
        };
        let proxy = address(" listening");
        let door = address("the admin listener is open");
        Self { child, proxy, door }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL; it may be dead already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn what_is_served_after_a_kill_is_the_last_acknowledged_map_or_the_one_in_flight() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let mut next = 1;
    for round in 0..ROUNDS {
        let process = Process::start(&files);
        let acknowledged = Arc::new(AtomicUsize::new(next - 1));
        let publisher = {
            let (acknowledged, token, door) =
                (Arc::clone(&acknowledged), token.clone(), process.door);
            thread::spawn(move || {
                let line = format!(
                    "PUT /api/cli/apps/tickets/classic/domains/{HOST}/paths\nPrefer: wait=20"
                );
                for number in next.. {
                    let map = format!("{{\"paths\": {{\"n{number}\": \"next.tickets.example\"}}}}");
                    match try_send(door, &head(&token, &line), &map) {
                        Some(reply) if reply.status == 200 => {
                            acknowledged.store(number, Ordering::SeqCst);
                        }
                        _ => return number,
                    }
                }
                unreachable!("it is killed before")
            })
        };
        thread::sleep(Duration::from_millis(40 + 37 * u64::try_from(round).unwrap()));
        drop(process);
        let in_flight = publisher.join().unwrap();
        let acknowledged = acknowledged.load(Ordering::SeqCst);
        assert_eq!(in_flight, acknowledged + 1);

        // Every other time the claims are gone: what was acknowledged is in the registry.
        let kept = files.folder.path().join("kept");
        let names = ["claims.db", "claims.db-wal", "claims.db-shm"];
        if round % 2 == 1 {
            fs::create_dir(&kept).unwrap();
            for name in names {
                _ = fs::rename(files.folder.path().join(name), kept.join(name));
            }
        }
        let again = Process::start(&files);
        let live: Vec<_> = (acknowledged.saturating_sub(1)..=in_flight + 1)
            .filter(|number| served(again.proxy, HOST, &format!("/n{number}")) == "go")
            .collect();
        if in_flight > 1 {
            assert!(
                live == [acknowledged] || live == [in_flight],
                "round {round}: {live:?} of {acknowledged}, {in_flight}"
            );
        }
        drop(again);
        if round % 2 == 1 {
            for name in names {
                _ = fs::rename(kept.join(name), files.folder.path().join(name));
            }
            fs::remove_dir(&kept).unwrap();
        }
        next = in_flight + 1;
    }
    assert!(next > ROUNDS, "something was published: {next}");
}
