//! Processes that write the same map at the same time.

use std::io::Read;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use fingerpost_claims::{Journal, TailQuery};
use fingerpost_control::Role;
use serde_json::json;
use tokio::time::Instant;

use super::process::Process;
use super::world::{CLAIM, Files, ROUTES, ask, block_on};

const HOST: &str = "tickets.example";
const PROCESSES: usize = 8;
const UPDATES: usize = 200;
/// What a writing process is told: the door, the token, and its number.
const TOLD: &str = "FINGERPOST_TEST_WRITER";

/// Each reads the map, adds an entry of its own and writes on the condition that nobody else has: every one counts.
#[test]
#[ignore = "eight processes take half a minute"]
fn read_modify_writes_of_eight_processes_lose_nothing() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let process = Process::start(&files, &[ROUTES, CLAIM].concat());
    let line = format!("PUT /api/cli/apps/tickets/classic/domains/{HOST}/paths");
    assert_eq!(ask(process.door, &token, &line, "{\"paths\": {}}").status, 200);
    let started = Instant::now();
    let writers: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let told = format!("{} {token} {number}", process.door);
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "writers::one_of_them", "--ignored", "--nocapture", "--quiet"])
                .env(TOLD, told)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        let mut said = String::new();
        writer.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(writer.wait().unwrap().success(), "{said}");
        print!(
            "{}",
            said.lines().filter(|line| line.contains("conflicts")).collect::<String>() + "\n"
        );
    }
    println!("{} updates in {:?}", PROCESSES * UPDATES, started.elapsed());

    let line = format!("GET /api/cli/apps/tickets/classic/domains/{HOST}");
    let claim = ask(process.door, &token, &line, "").json();
    let map = claim["paths"].as_object().unwrap();
    assert_eq!(map.len(), PROCESSES * UPDATES);
    for (number, update) in (0..PROCESSES).flat_map(|n| (0..UPDATES).map(move |u| (n, u))) {
        assert!(map.contains_key(&format!("n{number}-{update}")), "{number} {update}");
    }
    let query = TailQuery { topic: Some(HOST), before: None, limit: 10_000 };
    let audit = block_on(files.store().tail(Journal::Audit, query)).unwrap();
    assert_eq!(audit.len(), PROCESSES * UPDATES + 1, "each is told of once, and the first map");
}

#[test]
#[ignore = "run in processes of its own by the test above"]
fn one_of_them() {
    let Some(told) = std::env::var_os(TOLD) else { return };
    let told = told.into_string().unwrap();
    let [door, token, number] = told.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let door: SocketAddr = door.parse().unwrap();
    let path = format!("/api/cli/apps/tickets/classic/domains/{HOST}");
    let (mut update, mut conflicts) = (0, 0);
    while update < UPDATES {
        let read = ask(door, token, &format!("GET {path}"), "");
        let mut map = read.json()["paths"].clone();
        map[format!("n{number}-{update}")] = json!("next.tickets.example");
        let line = format!("PUT {path}/paths\nIf-Match: {}", read.field("etag").unwrap());
        match ask(door, token, &line, &json!({ "paths": map }).to_string()).status {
            200 => update += 1,
            412 => conflicts += 1,
            other => panic!("{other}"),
        }
    }
    println!("{number}: {conflicts} conflicts");
}
