//! A process that is killed while it publishes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fingerpost_control::Role;

use super::http::try_send;
use super::process::Process;
use super::world::{CLAIM, Files, ROUTES, head, served};

const HOST: &str = "tickets.example";

#[test]
fn what_is_served_after_a_kill_is_the_last_acknowledged_map_or_the_one_in_flight() {
    kill_while_it_publishes(6);
}

#[test]
#[ignore = "a hundred rounds of the test above take a minute"]
fn a_hundred_kills() {
    kill_while_it_publishes(100);
}

/// Kills the box in the middle of a stream of maps, round after round, and looks at what it left.
fn kill_while_it_publishes(rounds: usize) {
    let routes = [ROUTES, CLAIM].concat();
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let mut next = 1;
    for round in 0..rounds {
        let process = Process::start(&files, &routes);
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
        // Never the same moment twice: 263 is a prime.
        thread::sleep(Duration::from_millis(40 + 37 * u64::try_from(round).unwrap() % 263));
        drop(process);
        let in_flight = publisher.join().unwrap();
        let acknowledged = acknowledged.load(Ordering::SeqCst);
        assert_eq!(in_flight, acknowledged + 1);
        for file in [files.claims(), files.registry()] {
            assert_eq!(integrity(&file), "ok", "round {round}: {}", file.display());
        }

        // Every other time the claims are gone: what was acknowledged is in the registry.
        let kept = files.folder.path().join("kept");
        let names = ["claims.db", "claims.db-wal", "claims.db-shm"];
        if round % 2 == 1 {
            fs::create_dir(&kept).unwrap();
            for name in names {
                _ = fs::rename(files.folder.path().join(name), kept.join(name));
            }
        }
        let again = Process::start(&files, &routes);
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
    println!("{rounds} kills among {next} maps");
    assert!(next > rounds, "something was published: {next}");
}

/// What SQLite says of a file that nobody has open. It is asked of a copy: opening a file mends it, and that is
/// for the box to do.
fn integrity(file: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(file, &copy).unwrap();
    let with_log = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    // There may be no log.
    _ = fs::copy(with_log(file), with_log(&copy));
    let database = rusqlite::Connection::open(&copy).unwrap();
    database.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap()
}
