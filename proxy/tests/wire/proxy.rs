//! A proxy with a few routes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use fingerpost::entry::{Action, Entry, FleetId, Redirect, Response};
use fingerpost::redirect::Template;
use fingerpost::server::{Drain, Listeners, Serving, serve};
use fingerpost::snapshot::{Fleet, Server, Settings, Snapshot, Snapshots};
use fingerpost::tls::{Certificates, MinVersion};
use fingerpost_authority::HostPattern;
use fingerpost_router::{Owner, PathPattern, RouteOptions, Router, UnknownHost};
use http::StatusCode;

use super::client::{Client, Reply};
use super::secure::{Pem, Trust};
use super::upstream::Upstream;

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    /// The address for HTTPS, of a plan that has certificates.
    pub(crate) https: SocketAddr,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) drain: Drain,
    pub(crate) serving: Option<Serving>,
}

/// Routes and limits. `a.example` forwards to fleet 0; others are added by name.
pub(crate) struct Plan {
    pub(crate) fleets: Vec<Fleet>,
    pub(crate) settings: Settings,
    pub(crate) generation: u64,
    pub(crate) flip_drain: Duration,
    hosts: Vec<(HostPattern, FleetId)>,
    mapped: bool,
}

impl Plan {
    pub(crate) fn to(upstreams: &[&Upstream]) -> Self {
        Self::to_addresses(&upstreams.iter().map(|upstream| upstream.address).collect::<Vec<_>>())
    }

    pub(crate) fn to_addresses(addresses: &[SocketAddr]) -> Self {
        let servers = addresses.iter().map(|address| Server::new(address.to_string())).collect();
        let mut fleet = Fleet::new("main", servers);
        // As long as a test may take, so that nothing depends on time that isn't about it.
        fleet.idle_timeout = Duration::from_secs(60);
        Self {
            fleets: vec![fleet],
            settings: Settings::default(),
            generation: 1,
            flip_drain: Duration::from_secs(30),
            hosts: vec![(HostPattern::from_written("a.example").unwrap(), FleetId::new(0))],
            mapped: false,
        }
    }

    /// Serves HTTPS with these certificates, at an address of its own.
    pub(crate) fn secure(mut self, pems: &[&Pem], default: Option<usize>) -> Self {
        let identities = pems.iter().map(|pem| pem.identity());
        let all = Certificates::new(identities, default, MinVersion::Tls12);
        self.settings.certificates = Some(Arc::new(all));
        self
    }

    /// Makes `next.example` forward to another fleet, with one server.
    pub(crate) fn and(mut self, host: &str, upstream: &Upstream) -> Self {
        let id = FleetId::new(self.fleets.len());
        let server = Server::new(upstream.address.to_string());
        self.fleets.push(Fleet::new(host, vec![server]));
        self.hosts.push((HostPattern::from_written(host).unwrap(), id));
        self
    }

    /// Gives `a.example` a prefix map: `moved` is served by `next.example`.
    pub(crate) fn mapped(mut self) -> Self {
        self.mapped = true;
        self
    }

    pub(crate) fn generation(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    pub(crate) fn snapshot(self) -> Snapshot {
        let mut builder = Router::builder(7);
        builder.unknown_host(UnknownHost::Reject);
        for (host, fleet) in self.hosts {
            let mut entry = Entry::new(host.to_string(), host.to_string(), Action::Forward(fleet));
            entry.flip_drain = self.flip_drain;
            let path = PathPattern::parse("/{*rest}").unwrap();
            builder.route(Owner::Host(host), path, RouteOptions::forwarding(), Arc::new(entry));
        }
        let mut local = |path: &str, action| {
            let entry = Arc::new(Entry::new(path, "_shared", action));
            let path = PathPattern::parse(path).unwrap();
            builder.route(Owner::EveryHost, path, RouteOptions::answering(), entry);
        };
        local("/healthz", Action::Respond(Response::new(StatusCode::OK, "ok")));
        local("/empty", Action::Respond(Response::new(StatusCode::NO_CONTENT, "")));
        for (path, to) in
            [("/secure/{*rest}", "https://{host}{uri}"), ("/old/{*rest}", "/new/{rest}?{query}")]
        {
            local(path, Action::Redirect(Redirect::new(Template::parse(to).unwrap())));
        }
        if self.mapped {
            let (host, next) = ("a.example".parse().unwrap(), "next.example".parse().unwrap());
            builder.prefix(host, "moved".parse().unwrap(), Some(next));
        }
        let fleets = self.fleets.into_iter().map(Arc::new).collect();
        Snapshot::new(builder.build().unwrap(), fleets, self.generation, Arc::new(self.settings))
    }

    pub(crate) fn start(self) -> Proxy {
        self.start_with_grace(Duration::ZERO)
    }

    pub(crate) fn start_with_grace(self, grace: Duration) -> Proxy {
        let any = ["127.0.0.1:0".parse().unwrap()];
        let https = if self.settings.certificates.is_some() { &any[..] } else { &[] };
        let listeners = Listeners::bind_all(&any, https, 1).unwrap();
        self.start_on(listeners, grace)
    }

    pub(crate) fn start_on(self, listeners: Listeners, grace: Duration) -> Proxy {
        let snapshots = Arc::new(Snapshots::new(self.snapshot()));
        let addresses = listeners.addresses().unwrap();
        let (address, https) = (addresses[0], *addresses.last().unwrap());
        let drain = Drain::new(grace, Duration::from_secs(5));
        let serving = serve(listeners, &snapshots, &drain, None).unwrap();
        Proxy { address, https, snapshots, drain, serving: Some(serving) }
    }
}

impl Proxy {
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// A connection by TLS on which `name` is asked for.
    pub(crate) fn secure_client(&self, trust: &Trust, name: &str) -> Client {
        Client::over_tls(trust.connect(self.https, name).unwrap())
    }

    /// Asks on a connection of its own.
    pub(crate) fn ask(&self, request: impl AsRef<[u8]>) -> Reply {
        self.client().ask(request)
    }

    /// Lets a drain run to its end on a thread of its own.
    pub(crate) fn begin_drain(&self) {
        let drain = self.drain.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime.unwrap().block_on(drain.run());
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.drain.end();
        if let Some(serving) = self.serving.take() {
            serving.wait().unwrap();
        }
    }
}

/// A GET for `path` on `a.example`, with more header lines.
pub(crate) fn get(path: &str, lines: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a.example\r\n{lines}\r\n")
}
