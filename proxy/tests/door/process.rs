//! The binary, as a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::world::Files;

/// A running box. It is killed when this is dropped, with no time to end.
pub(crate) struct Process {
    child: Child,
    pub(crate) proxy: SocketAddr,
    pub(crate) door: SocketAddr,
}

impl Process {
    /// Starts the binary on a box's files, and waits until it listens.
    pub(crate) fn start(files: &Files, routes: &str) -> Self {
        let file = files.folder.path().join("fingerpost.toml");
        fs::write(&file, files.text(routes)).unwrap();
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

    /// The seconds of processor time that it has used, by the names of its threads.
    #[cfg(target_os = "linux")]
    pub(crate) fn processor_time(&self) -> Vec<(String, f64)> {
        let mut by_name = std::collections::BTreeMap::<_, f64>::new();
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap() {
            let stat = fs::read_to_string(thread.unwrap().path().join("stat")).unwrap();
            let (name, fields) = stat.rsplit_once(") ").unwrap();
            let name =
                name.split_once('(').unwrap().1.trim_end_matches(|c: char| c.is_ascii_digit());
            let ticks: f64 =
                fields.split(' ').skip(11).take(2).map(|n| n.parse::<f64>().unwrap()).sum();
            // 100 a second, on every system that is in use.
            *by_name.entry(name.to_owned()).or_default() += ticks / 100.0;
        }
        by_name.into_iter().collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL; it may be dead already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
