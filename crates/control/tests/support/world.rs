//! A box with a store, seen through the door.

#![allow(dead_code, reason = "each file of tests uses its part")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use fingerpost_authority::{Host, HostPattern};
use fingerpost_claims::{
    BoxFuture, Claim, ClaimSet, ClaimStore, Collection, Facts, Limits, LocalRoute, MemoryStore,
    Name, PageQuery, PathMap, Reach, Reconciler, Rows, SiteFacts, StoreError,
};
use fingerpost_control::{
    Ambient, Control, Explained, Grant, Live, LiveView, Node, Role, Snapshot, create,
};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

pub(crate) const APP: &str = "/api/cli/apps/tickets/classic/domains";
pub(crate) const CLAIM: &str = "/api/cli/apps/tickets/classic/domains/tickets.example";
pub(crate) const PATHS: &str = "/api/cli/apps/tickets/classic/domains/tickets.example/paths";

pub(crate) fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// What the box serves:
///
/// | host | account | app |
/// |---|---|---|
/// | tickets.example | tickets | classic |
/// | next.tickets.example | tickets | go |
/// | later.tickets.example (not ready) | tickets | go |
/// | other.example | rival | web |
/// | cp.example | tickets | control (marked `control_plane`) |
///
/// `tickets` may claim `*.pages.example`; the configuration gives it `config.example` with a map,
/// and `bare.example`, which it could not claim by itself.
pub(crate) fn facts(limits: Limits) -> Facts {
    let mut facts = Facts::new(limits);
    let routes = [
        ("tickets.example", "tickets", "classic", false),
        ("next.tickets.example", "tickets", "go", false),
        ("later.tickets.example", "tickets", "go", true),
        ("other.example", "rival", "web", false),
        ("cp.example", "tickets", "control", false),
    ];
    for (text, account, app, unready) in routes {
        let (account, app) = (Some(name(account)), Some(name(app)));
        let site = SiteFacts { legacy_unset: text == "tickets.example", ..SiteFacts::default() };
        let route = LocalRoute { account, app, unready, site, ..LocalRoute::default() };
        facts.add_route(host(text), route);
    }
    // What serves everybody else serves tickets.example, too, by another name and under shared routes.
    for (fleet, pattern) in [
        ("classic", "tickets.example"),
        ("classic", "old.example"),
        ("go", "next.tickets.example"),
        ("classic", "*"),
    ] {
        facts.add_fleet(fleet, HostPattern::from_written(pattern).unwrap());
    }
    for account in ["tickets", "rival"] {
        facts.allow(name(account), HostPattern::from_written("**.pages.example").unwrap());
        facts.allow(name(account), HostPattern::from_written("pages.example").unwrap());
    }
    facts.allow(name("tickets"), HostPattern::from_written("config.example").unwrap());
    let config = host("config.example");
    let map = [("old", Some("next.tickets.example")), ("older", Some("next.tickets.example"))];
    let (map, _) = PathMap::check(&config, map);
    let mut claim = Claim::attach(config, name("tickets"), name("classic"), Reach::default());
    claim.set_paths(map, None, &Limits::default()).unwrap();
    facts.add_config_claim(claim);
    let (account, app, reach) = (name("tickets"), name("classic"), Reach::default());
    facts.add_config_claim(Claim::attach(host("bare.example"), account, app, reach));
    facts
}

/// A clock that stands still but for what a test does, and numbers that never repeat.
#[derive(Debug)]
pub(crate) struct Still(AtomicU64);

impl Ambient for Still {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_796_083_199)
    }

    fn random(&self) -> [u8; 32] {
        let mut random = [0; 32];
        random[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        random
    }
}

/// A box that applies what is stored when it is waited for, or told to.
#[derive(Debug)]
pub(crate) struct TestView {
    store: Arc<dyn ClaimStore>,
    state: RwLock<(u64, Reconciler)>,
    pub(crate) lagging: Mutex<Result<Vec<String>, StoreError>>,
    pub(crate) ready: AtomicBool,
    pub(crate) waited: Mutex<Vec<Duration>>,
}

impl TestView {
    fn new(store: Arc<dyn ClaimStore>, limits: Limits) -> Self {
        let (reconciler, _) = Reconciler::new(facts(limits), ClaimSet::new(), &Rows::default());
        Self {
            store,
            state: RwLock::new((0, reconciler)),
            lagging: Mutex::new(Ok(Vec::new())),
            ready: AtomicBool::new(true),
            waited: Mutex::default(),
        }
    }

    /// Takes over what is stored.
    pub(crate) async fn sync(&self) {
        let serial = self.store.serial().await.unwrap();
        let page = self.store.list(Collection::Claims, PageQuery::default()).await.unwrap();
        assert_eq!(page.next, None);
        let mut claims = ClaimSet::new();
        for (key, record) in page.records {
            claims.set(&key, Some(&record.body));
        }
        let mut state = self.state.write().unwrap();
        state.1.set_claims(claims);
        state.0 = serial;
    }
}

impl LiveView for TestView {
    fn look(&self, visit: &mut dyn FnMut(&Live<'_>)) {
        let state = self.state.read().unwrap();
        let (serial, reconciler) = &*state;
        visit(&Live {
            serial: *serial,
            facts: reconciler.facts(),
            claims: reconciler.claims(),
            report: reconciler.report(),
        });
    }

    fn is_control_plane(&self, account: &Name, app: &Name) -> bool {
        (account.as_str(), app.as_str()) == ("tickets", "control")
    }

    fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let (fingerprint, counts) = ("00ff".to_owned(), vec![("hosts", 5), ("routes", 5)]);
        self.is_ready().then_some(Snapshot { serial: 1, generation: 2, fingerprint, counts })
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<Node>, StoreError>> {
        let node = |text, seen| Node { name: name(text), serial: 1, seen };
        Box::pin(async move {
            self.lagging.lock().unwrap().clone()?;
            Ok(vec![node("b", None), node("a", Some(UNIX_EPOCH))])
        })
    }

    fn wait_applied(
        &self,
        _serial: u64,
        patience: Duration,
    ) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async move {
            self.waited.lock().unwrap().push(patience);
            self.sync().await;
            self.lagging.lock().unwrap().clone()
        })
    }

    fn explain(&self, line: &[u8]) -> Result<Explained, String> {
        let line: Value = serde_json::from_slice(line).unwrap();
        if line["target"].is_null() {
            return Err("there is neither a target nor a target_hex".to_owned());
        }
        let state = self.state.read().unwrap();
        let asked = line["host"][0].as_str().unwrap_or_default();
        let route = Host::parse(asked).ok().and_then(|host| state.1.facts().route(&host).cloned());
        let (account, app) = route.map(|route| (route.account, route.app)).unwrap_or_default();
        Ok(Explained { line: line.to_string().into_bytes(), account, app })
    }
}

/// Tokens of every kind.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) operator: String,
    pub(crate) person: String,
    pub(crate) publish: String,
    pub(crate) instance: String,
    /// A service of the whole account.
    pub(crate) account: String,
    /// A service of the app that is marked `control_plane`.
    pub(crate) control: String,
    pub(crate) rival: String,
}

pub(crate) struct World {
    pub(crate) store: Arc<dyn ClaimStore>,
    pub(crate) view: Arc<TestView>,
    pub(crate) ambient: Arc<Still>,
    pub(crate) router: Router,
    pub(crate) tokens: Tokens,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new()), Limits::default()).await
    }

    pub(crate) async fn over(store: Arc<dyn ClaimStore>, limits: Limits) -> Self {
        let view = Arc::new(TestView::new(Arc::clone(&store), limits));
        let ambient = Arc::new(Still(AtomicU64::new(1)));
        let max_wait = Duration::from_secs(30);
        let router = fingerpost_control::router(Control {
            store: Arc::clone(&store),
            view: Arc::<TestView>::clone(&view),
            ambient: Arc::<Still>::clone(&ambient),
            max_wait,
        });
        let token = async |role, account: Option<&str>, app: Option<&str>| {
            let label = Some(name("test"));
            let grant = Grant::new(role, account.map(name), app.map(name), label).unwrap();
            create(&*store, &*ambient, &grant).await.unwrap().secret.to_string()
        };
        let tickets = Some("tickets");
        let tokens = Tokens {
            operator: token(Role::Operator, None, None).await,
            person: token(Role::Person, tickets, None).await,
            publish: token(Role::Publish, tickets, Some("classic")).await,
            instance: token(Role::Instance, tickets, Some("classic")).await,
            account: token(Role::Publish, tickets, None).await,
            control: token(Role::Publish, tickets, Some("control")).await,
            rival: token(Role::Person, Some("rival"), None).await,
        };
        Self { store, view, ambient, router, tokens }
    }

    /// A world with a claim of tickets.example, which the box has read.
    pub(crate) async fn with_claim() -> Self {
        let world = Self::new().await;
        world.attach_tickets().await;
        world
    }

    pub(crate) async fn attach_tickets(&self) {
        let got = self.post(&self.tokens.publish, APP, r#"{"host":"tickets.example"}"#).await;
        assert_eq!(got.status, 201, "{got:?}");
        self.view.sync().await;
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Got {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Got { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// `fields` are lines of a header.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        token: &str,
        fields: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Got {
        let mut request = Request::builder().method(Method::try_from(method).unwrap()).uri(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (key, value) in fields {
            request = request.header(*key, *value);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Got {
        self.call("GET", path, token, &[], Body::empty()).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: &str) -> Got {
        self.call("POST", path, token, &[], body.to_owned()).await
    }

    pub(crate) async fn put(&self, token: &str, path: &str, body: &str) -> Got {
        self.call("PUT", path, token, &[], body.to_owned()).await
    }

    /// Everything that is stored, as one text.
    pub(crate) async fn everything(&self) -> String {
        let mut all = format!("serial {}\n", self.store.serial().await.unwrap());
        for collection in Collection::ALL {
            let page = self.store.list(collection, PageQuery::default()).await.unwrap();
            for (key, record) in page.records {
                let body = String::from_utf8_lossy(&record.body).into_owned();
                all += &format!("{collection} {key} {:?} {body}\n", record.version);
            }
        }
        for journal in [fingerpost_claims::Journal::Audit, fingerpost_claims::Journal::History] {
            let query = fingerpost_claims::TailQuery { limit: usize::MAX, ..Default::default() };
            for row in self.store.tail(journal, query).await.unwrap() {
                let body = String::from_utf8_lossy(&row.body).into_owned();
                all += &format!("{journal:?} {} {} {body}\n", row.number, row.topic);
            }
        }
        all
    }

    pub(crate) async fn rows(&self, journal: fingerpost_claims::Journal) -> Vec<Value> {
        let query = fingerpost_claims::TailQuery { limit: 1000, ..Default::default() };
        let rows = self.store.tail(journal, query).await.unwrap();
        rows.iter().map(|row| serde_json::from_slice(&row.body).unwrap()).collect()
    }
}

/// An answer.
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn field(&self, key: &str) -> String {
        let field = self.headers.get(key);
        field.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    /// What every answer of ours is like.
    pub(crate) fn check(&self) {
        assert_eq!(self.field("cache-control"), "private, no-cache", "{self:?}");
        assert_eq!(self.field("x-content-type-options"), "nosniff", "{self:?}");
        if self.status < 400 {
            return;
        }
        assert_eq!(self.field("content-type"), "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["type"], "about:blank", "{self:?}");
        assert_eq!(problem["status"], self.status, "{self:?}");
        let status = StatusCode::from_u16(self.status).unwrap();
        assert_eq!(problem["title"], status.canonical_reason().unwrap(), "{self:?}");
        assert!(problem["code"].is_string() && problem["detail"].is_string(), "{self:?}");
        match self.status {
            401 => assert!(self.field("www-authenticate").starts_with("Bearer "), "{self:?}"),
            405 => assert!(!self.field("allow").is_empty(), "{self:?}"),
            422 => {
                let errors = problem["errors"].as_array().unwrap();
                let pointers: BTreeSet<_> =
                    errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
                assert!(!errors.is_empty() && pointers.len() == errors.len(), "{self:?}");
            }
            503 => assert_eq!(self.field("retry-after"), "1", "{self:?}"),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Got {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.body))
    }
}
