//! The scripted proof: each step is printed, and the first that fails ends it.

use http::{HeaderName, Method, StatusCode};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::time::Instant;

use super::client::{Reply, get};
use super::{Demo, HOST, PATHS, map};
use crate::client::AdminClient;
use crate::run::{Running, random_seed};

/// Paths of the account that moves.
const MOVED: [&str; 5] = ["/b", "/b/", "/b/x", "/b/x/../y", "/b?x=1"];

/// Paths of everybody else.
const OTHERS: [&str; 7] = ["/", "/bat", "/bb/b", "/a/b", "/x?b", "/a-b", "/bat/../a"];

/// What some server reads as `/b`.
const ODD: [&str; 34] = [
    "//b",
    "///b/x",
    "/./b",
    "/x/../b",
    "/x/%2e%2e/b",
    "/x/.%2E/b",
    "/%2e/b",
    "/%62",
    "/%62/x",
    "/b%2fx",
    "/x%2f..%2fb",
    "/%2fb",
    "/B",
    "/B/x",
    "/b.json",
    "/b;x=1",
    "/;/b",
    "/x/..;/b",
    "/%5cb",
    "/x%5c..%5cb",
    "/b%20",
    "/b%3fx",
    "/b%23x",
    "/%2562",
    "//x/b",
    "/index.php/b",
    "/x.php/../b",
    "/_next/data/1/b.json",
    "/b%00",
    "/%zz/../b",
    "/b%0a",
    "/\\b",
    "/b\\x",
    "http://demo.example/b",
];

/// Runs the proof.
///
/// # Errors
///
/// The first step that does not hold, or that something can't be started.
pub fn check() -> io::Result<()> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let demo = Demo::new(any, any)?;
    let running = Running::start(&demo.config.config, random_seed()?)?;
    let proxy = *running.addresses().first().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let door = running.admin().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let steps = Steps { proxy };

    println!("{HOST} is served by app A; its account b has moved to app B");
    steps.all_from('B', &MOVED)?;
    steps.all_from('A', &OTHERS)?;
    steps.never_from_a(&ODD)?;

    println!("the map is published without b");
    publish(&demo, door, &[])?;
    steps.all_from('A', &MOVED)?;
    steps.all_from('A', &OTHERS)?;

    println!("the map is published with b again");
    publish(&demo, door, &["b"])?;
    steps.all_from('B', &MOVED)?;
    steps.all_from('A', &OTHERS)?;
    steps.never_from_a(&ODD)?;

    running.stop()?;
    println!("every step holds");
    Ok(())
}

/// Publishes a map through the write door; when that answers, requests are routed by it.
fn publish(demo: &Demo, door: SocketAddr, flipped: &[&str]) -> io::Result<()> {
    let client = AdminClient::new(&format!("http://{door}"), &demo.token);
    let client = client.map_err(io::Error::other)?;
    let wait = [(HeaderName::from_static("prefer"), "wait=10")];
    let started = Instant::now();
    let answer = client.ask(Method::PUT, PATHS, &wait, map(flipped))?;
    let took = started.elapsed();
    if answer.status != StatusCode::OK {
        let body = String::from_utf8_lossy(&answer.body);
        return Err(io::Error::other(format!("the map was not published: {body}")));
    }
    println!("  live after {:.1} ms", took.as_secs_f64() * 1e3);
    Ok(())
}

struct Steps {
    proxy: SocketAddr,
}

impl Steps {
    fn all_from(&self, app: char, targets: &[&str]) -> io::Result<()> {
        for target in targets {
            let reply = get(self.proxy, HOST, target)?;
            let holds = reply.status == 200 && served_by(&reply) == Some(app);
            step(holds, target, &reply, &format!("from app {app}"))?;
        }
        Ok(())
    }

    fn never_from_a(&self, targets: &[&str]) -> io::Result<()> {
        for target in targets {
            let reply = get(self.proxy, HOST, target)?;
            let holds = served_by(&reply) == Some('B') || (400..500).contains(&reply.status);
            step(holds, target, &reply, "from app B, or refused")?;
        }
        Ok(())
    }
}

fn served_by(reply: &Reply) -> Option<char> {
    reply.body.strip_prefix("app ")?.chars().next()
}

fn step(holds: bool, target: &str, reply: &Reply, want: &str) -> io::Result<()> {
    let got = match served_by(reply) {
        Some(app) => format!("app {app}"),
        None => format!("{}", reply.status),
    };
    let mark = if holds { "ok    " } else { "FAILED" };
    println!("  {mark} GET {target:<24} {got}");
    if holds { Ok(()) } else { Err(io::Error::other(format!("GET {target} was to be {want}"))) }
}
