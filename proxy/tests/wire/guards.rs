//! Who is answered by a guarded route, and who is not, however it is asked for.

use super::client::{Client, Reply};
use super::guarded::Guarded;
use super::proxy::get;
use super::secure::{Pem, Trust};
use super::upstream::Upstream;

/// `/admin` of a host is for one address; the rest is for everybody.
const ADMIN: &str = r#"
[forwarding]
trusted_proxies = ["127.0.0.9"]
[[routes]]
hosts = ["a.example", "*.w.example"]
fleet = "old"
legacy = "any"
[[routes]]
hosts = ["a.example", "*.w.example"]
path = "/admin/{*rest}"
fleet = "old"
internal_only = ["127.0.0.2", "192.0.2.0/24"]
"#;

fn is_refused(reply: &Reply) -> bool {
    reply.status == 403
        && reply.field("content-type").as_deref() == Some("application/problem+json")
        && reply.field("proxy-status").as_deref() == Some("fingerpost; error=http_request_denied")
}

#[test]
fn only_the_networks_listed_are_answered() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start(&upstream, &upstream, ADMIN);
    for (from, path, want) in [
        ("127.0.0.1", "/", 200),
        ("127.0.0.1", "/admin", 403),
        ("127.0.0.1", "/admin/", 403),
        ("127.0.0.1", "/admin/x?y", 403),
        ("127.0.0.1", "/administrator", 200),
        ("127.0.0.2", "/admin/x", 200),
        ("127.0.0.3", "/admin/x", 403),
    ] {
        let reply = proxy.ask_from(from, get(path, ""));
        assert_eq!(reply.status, want, "{from} {path}");
        assert_eq!(is_refused(&reply), want == 403, "{}", reply.head);
    }
    // The connection lives on, unless it has content on it that nobody read.
    let mut client = proxy.client();
    assert!(!client.ask(get("/admin", "")).closes());
    let post = "POST /admin HTTP/1.1\r\nHost: a.example\r\nContent-Length: 28\r\n\r\n";
    let reply = client.ask(format!("{post}GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(is_refused(&reply) && reply.closes(), "{}", reply.head);
    assert!(client.is_closed());
}

/// No header field makes a client another one, unless a trusted proxy sends it.
#[test]
fn the_client_is_who_a_trusted_proxy_says() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start(&upstream, &upstream, ADMIN);
    for (from, lines, want) in [
        ("127.0.0.1", "X-Forwarded-For: 127.0.0.2\r\n", 403),
        ("127.0.0.1", "X-Real-IP: 127.0.0.2\r\nForwarded: for=127.0.0.2\r\n", 403),
        ("127.0.0.2", "X-Forwarded-For: 8.8.8.8\r\n", 200),
        ("127.0.0.9", "", 403),
        ("127.0.0.9", "X-Forwarded-For: 192.0.2.77\r\n", 200),
        ("127.0.0.9", "X-Forwarded-For: 8.8.8.8\r\n", 403),
        ("127.0.0.9", "X-Forwarded-For: 192.0.2.77, 8.8.8.8\r\n", 403),
        ("127.0.0.9", "X-Forwarded-For: 192.0.2.77\r\nX-Forwarded-For: 8.8.8.8\r\n", 403),
        ("127.0.0.9", "X-Forwarded-For: 8.8.8.8, 192.0.2.77, 127.0.0.9\r\n", 200),
        ("127.0.0.9", "X-Forwarded-For: 192.0.2.77, unknown\r\n", 403),
        ("127.0.0.9", "X_Forwarded_For: 192.0.2.77\r\n", 403),
        ("127.0.0.9", "Forwarded: for=192.0.2.77\r\n", 403),
        ("127.0.0.9", "Connection: X-Forwarded-For\r\nX-Forwarded-For: 8.8.8.8\r\n", 403),
    ] {
        let reply = proxy.ask_from(from, get("/admin", lines));
        assert_eq!(reply.status, want, "{from} {lines}");
    }
}

/// Whatever an application may read as the path of the guard never reaches it unguarded.
#[test]
fn no_spelling_of_the_path_steps_around() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start(&upstream, &upstream, ADMIN);
    for path in [
        "/admin/x",
        "//admin/x",
        "/./admin/x",
        "/x/../admin/x",
        "/x/%2e%2e/admin/x",
        "/x/..%2fadmin/x",
        "/%61dmin/x",
        "/%61%64%6d%69%6e",
        "/admin%2fx",
        "/admin%2Fx",
        "/admin;a=b/x",
        "/;a/admin/x",
        "/admin.json",
        "/ADMIN/x",
        "/Admin",
        "/%2561dmin/x",
        "/\\admin/x",
        "/%5cadmin/x",
        "/admin%00/x",
        "/admin%09",
        "/index.php/../admin/x",
        "http://a.example/admin/x",
        "http://A.EXAMPLE.:80//admin/x",
    ] {
        let reply = proxy.ask(get(path, ""));
        assert!([400, 403].contains(&reply.status), "{path}: {}", reply.head);
    }
    assert_eq!(upstream.requests(), 0);
    for path in ["/", "/adm/in", "/xadmin", "/x/admin", "/x?/admin"] {
        assert_eq!(proxy.ask(get(path, "")).status, 200, "{path}");
    }
}

#[test]
fn no_spelling_of_the_host_steps_around() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start(&upstream, &upstream, ADMIN);
    for host in
        ["a.example", "A.EXAMPLE", "a.example.", "a.example:8080", "a.example.:", "B.w.example.:1"]
    {
        let reply = proxy.ask(format!("GET /admin HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.status, 403, "{host}");
        let target = format!("GET http://{host}/admin HTTP/1.1\r\nHost: x.example\r\n\r\n");
        assert_eq!(proxy.ask(target).status, 403, "{host}");
    }
    for host in ["", "a.example,a.example", "a.example a.example", "a.example..", "a.example/admin"]
    {
        let reply = proxy.ask(format!("GET /admin HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.status, 400, "{host}");
    }
    let two = "GET /admin HTTP/1.1\r\nHost: b.example\r\nHost: a.example\r\n\r\n";
    assert_eq!(proxy.ask(two).status, 400);
    assert_eq!(upstream.requests(), 0);
}

/// A prefix hit takes the target's entry whole: its guards count, and the origin's don't.
const MAPPED: &str = r#"
[[site]]
hosts = ["a.example"]
account = "t"
app = "old"
legacy = "rails"
routes = [{ fleet = "old" }]
[[site]]
hosts = ["next.example"]
account = "t"
app = "new"
internal_only = ["127.0.0.2"]
routes = [{ fleet = "new" }, { path = "/open", fleet = "new", internal_only = false }]
[[claims]]
host = "a.example"
account = "t"
app = "old"
catchall = true
paths = { moved = "next.example" }
"#;

#[test]
fn the_guards_of_a_prefix_are_those_of_its_target() {
    let (old, new) = (Upstream::echo(), Upstream::echo());
    let proxy = Guarded::start(&old, &new, MAPPED);
    for path in
        ["/moved", "/moved/x", "//moved/x", "/%6doved", "/MOVED", "/moved.json", "/x/../moved"]
    {
        let reply = proxy.ask(get(path, ""));
        assert!([400, 403].contains(&reply.status), "{path}: {}", reply.head);
    }
    assert_eq!((old.requests(), new.requests()), (0, 0));
    assert_eq!(proxy.ask_from("127.0.0.2", get("/moved/x", "")).status, 200);
    assert_eq!(new.requests(), 1);
    assert_eq!(proxy.ask(get("/other", "")).status, 200);
    // The host that is an alias by the claim's catch-all has the same map and the same target.
    let alias = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x.a.example\r\n\r\n");
    assert_eq!(proxy.ask(alias("/moved/x")).status, 403);
    assert_eq!(proxy.ask(alias("/other")).status, 200);
    // Without the map the target's own guards count as well, and one route is open.
    let direct = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: next.example\r\n\r\n");
    assert_eq!(proxy.ask(direct("/x")).status, 403);
    assert_eq!(proxy.ask(direct("/open")).status, 200);
    assert_eq!(new.requests(), 1);
}

/// A site's guard is that of all routes of its hosts, also of those that stand elsewhere in the file.
#[test]
fn a_site_guards_the_routes_that_are_written_elsewhere() {
    let upstream = Upstream::echo();
    let text = r#"
[[routes]]
hosts = ["a.example", "b.example"]
fleet = "old"
[[site]]
hosts = ["a.example"]
internal_only = ["127.0.0.2"]
"#;
    let proxy = Guarded::start(&upstream, &upstream, text);
    assert_eq!(proxy.ask(get("/", "")).status, 403);
    assert_eq!(proxy.ask("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n").status, 200);
}

/// A connection that was open before sees the guard with its next request, and one that waits for its
/// application is answered by what it was decided by.
#[test]
fn a_reload_closes_a_route_at_once() {
    let upstream = Upstream::echo();
    let open = "[[routes]]\nhosts = [\"a.example\"]\nfleet = \"old\"\n";
    let closed = format!("{open}internal_only = [\"127.0.0.2\"]\n");
    let proxy = Guarded::start(&upstream, &upstream, open);
    let mut client = proxy.client();
    for _ in 0..20 {
        assert_eq!(client.ask(get("/", "")).status, 200);
        proxy.reload(&closed);
        assert_eq!(client.ask(get("/", "")).status, 403);
        proxy.reload(open);
    }
}

/// What is retried is decided anew: a guard that came meanwhile holds.
#[test]
fn a_retry_meets_the_guard_that_came_meanwhile() {
    let (told, hear) = std::sync::mpsc::channel::<()>();
    let told = std::sync::Mutex::new(told);
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let upstream = Upstream::run(move |peer| {
        if peer.number > 0 {
            peer.request();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            return;
        }
        // An idle connection that dies with a request on it: it would be sent again.
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        peer.head();
        told.lock().unwrap().send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
    });
    let open = "[[routes]]\nhosts = [\"a.example\"]\nfleet = \"old\"\n";
    let proxy = Guarded::start(&upstream, &upstream, open);
    let mut client = proxy.client();
    assert_eq!(client.ask(get("/", "")).status, 200);
    client.send(get("/", ""));
    hear.recv().unwrap();
    proxy.reload(&format!("{open}internal_only = [\"127.0.0.2\"]\n"));
    go.send(()).unwrap();
    assert_eq!(client.reply().status, 403);
    // Nothing came over a second connection.
    upstream.head();
    assert_eq!(upstream.requests(), 0);
}

/// The listener for HTTP decides by the same entries: it sends clients away, or asks as the other one does.
#[test]
fn the_plain_listener_steps_around_nothing() {
    let upstream = Upstream::echo();
    let folder = tempfile::tempdir().unwrap();
    let pem = Pem::of(&["a.example"]);
    let [cert, key] = [("cert.pem", &pem.cert), ("key.pem", &pem.key)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    });
    let text = format!(
        r#"
[[certificates]]
cert = {cert:?}
key = {key:?}
[[routes]]
path = "/status"
scope = "every-host"
fleet = "old"
internal_only = ["127.0.0.2"]
[[site]]
hosts = ["a.example", "plain.example"]
internal_only = ["127.0.0.2"]
routes = [{{ fleet = "old" }}]
"#
    );
    let listen = "https = [\"127.0.0.1:0\"]\nredirect_http = true\n";
    let proxy = Guarded::start_listening(listen, &upstream, &upstream, &text);
    let challenge = "/.well-known/acme-challenge/token";
    for (host, path, want) in [
        ("a.example", "/x", 308),
        ("A.example.:80", "//x", 308),
        ("a.example", challenge, 403),
        ("a.example", "/status", 403),
        ("plain.example", "/x", 403),
        ("plain.example", challenge, 403),
        ("other.example", "/status", 403),
    ] {
        let reply = proxy.ask(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.status, want, "{host} {path}");
    }
    let trust = Trust::in_these(&[&pem]);
    let mut secure = Client::over_tls(trust.connect(proxy.https(), "a.example").unwrap());
    for path in ["/x", "/status", challenge] {
        assert_eq!(secure.ask(get(path, "")).status, 403, "{path}");
    }
    assert_eq!(upstream.requests(), 0);
    assert_eq!(proxy.ask_from("127.0.0.2", get(challenge, "")).status, 200);
}

#[test]
fn a_client_that_asks_too_often_has_to_wait() {
    let upstream = Upstream::echo();
    let text = r#"
[[routes]]
hosts = ["a.example"]
fleet = "old"
rate_limit = { requests = 1, per = "1h", burst = 3 }
[[routes]]
hosts = ["a.example"]
path = "/free"
fleet = "old"
"#;
    let proxy = Guarded::start(&upstream, &upstream, text);
    for _ in 0..3 {
        assert_eq!(proxy.ask(get("/x", "")).status, 200);
    }
    // Neither another connection nor another spelling nor a reload is another client.
    proxy.reload(text);
    for path in ["/x", "//x", "/y"] {
        let reply = proxy.ask(get(path, "X-Forwarded-For: 192.0.2.1\r\n"));
        assert_eq!(reply.status, 429, "{path}");
        let wait: u32 = reply.field("retry-after").unwrap().parse().unwrap();
        assert!((3500..=3600).contains(&wait), "{wait}");
    }
    assert_eq!(proxy.ask(get("/free", "")).status, 200);
    assert_eq!(proxy.ask_from("127.0.0.2", get("/x", "")).status, 200);
    proxy.reload(&text.replace("rate_limit", "# rate_limit"));
    assert_eq!(proxy.ask(get("/x", "")).status, 200);
}
