//! A proxy that runs as its configuration says.

use std::net::SocketAddr;

use fingerpost::config::Config;
use fingerpost::run::Running;

use super::client::{Client, Reply};
use super::upstream::Upstream;

pub(crate) struct Guarded {
    running: Option<Running>,
    fleets: String,
}

impl Guarded {
    /// Starts with a fleet `old` of `upstream`, a fleet `new` of `next`, and what `text` says.
    pub(crate) fn start(old: &Upstream, new: &Upstream, text: &str) -> Self {
        Self::start_listening("", old, new, text)
    }

    /// The same, with more in `[listen]`.
    pub(crate) fn start_listening(
        listen: &str,
        old: &Upstream,
        new: &Upstream,
        text: &str,
    ) -> Self {
        let fleets = format!(
            "[listen]\nhttp = [\"127.0.0.1:0\"]\n{listen}\
             [fleets.old]\nservers = [\"{}\"]\n[fleets.new]\nservers = [\"{}\"]\n",
            old.address, new.address
        );
        let running = Running::start(&parse(&fleets, text), 7).unwrap();
        Self { running: Some(running), fleets }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().addresses()[0]
    }

    /// The address for HTTPS, where there is one.
    pub(crate) fn https(&self) -> SocketAddr {
        *self.running.as_ref().unwrap().addresses().last().unwrap()
    }

    /// Serves another configuration from now on.
    pub(crate) fn reload(&self, text: &str) {
        let handle = self.running.as_ref().unwrap().agent().handle();
        handle.reload(parse(&self.fleets, text)).unwrap();
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address())
    }

    /// Asks on a connection of its own.
    pub(crate) fn ask(&self, request: impl AsRef<[u8]>) -> Reply {
        self.client().ask(request)
    }

    /// Asks from another address of this machine.
    pub(crate) fn ask_from(&self, from: &str, request: impl AsRef<[u8]>) -> Reply {
        Client::connect_from(from, self.address()).ask(request)
    }
}

fn parse(fleets: &str, text: &str) -> Config {
    Config::parse("fingerpost.toml", &format!("{fleets}{text}")).unwrap_or_else(|errors| {
        panic!("{errors}");
    })
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().unwrap();
        }
    }
}
