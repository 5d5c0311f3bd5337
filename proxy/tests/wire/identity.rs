//! Clients that have to prove who they are.

use std::time::Duration;

use fingerpost::guard::PasswordHash;
use tokio::time::Instant;

use super::guarded::Guarded;
use super::proxy::get;
use super::upstream::{Peer, Upstream};

/// `ann` has the password `hunter2`, and `bob` has `secret`.
fn basic() -> String {
    let ann = PasswordHash::make(b"hunter2", b"sixteen bytes...").unwrap();
    format!(
        r#"
[limits]
threads = 1
[[site]]
hosts = ["a.example"]
routes = [{{ fleet = "old" }}, {{ path = "/open", fleet = "old", auth = false }}]
[site.auth.basic]
realm = "the office"
[site.auth.basic.users]
ann = "{}"
bob = "{}"
"#,
        ann.as_str(),
        bcrypt::hash("secret", 4).unwrap()
    )
}

/// A GET with a user and a password.
fn as_user(path: &str, credentials: &str) -> String {
    use base64ct::{Base64, Encoding as _};
    let token = Base64::encode_string(credentials.as_bytes());
    get(path, &format!("Authorization: Basic {token}\r\n"))
}

#[test]
fn a_user_with_the_right_password_passes() {
    let upstream = Upstream::echo();
    let proxy = Guarded::start(&upstream, &upstream, &basic());
    for (credentials, want) in [
        ("ann:hunter2", 200),
        ("ann:hunter2", 200),
        ("bob:secret", 200),
        ("ann:hunter3", 401),
        ("ann:hunter2 ", 401),
        ("ann:", 401),
        ("Ann:hunter2", 401),
        ("bob:hunter2", 401),
        ("eve:hunter2", 401),
        ("eve:secret", 401),
        (":", 401),
        ("annhunter2", 401),
    ] {
        let reply = proxy.ask(as_user("/x", credentials));
        assert_eq!(reply.status, want, "{credentials}");
        if want == 401 {
            let challenge = r#"Basic realm="the office", charset="UTF-8""#;
            assert_eq!(reply.field("www-authenticate").as_deref(), Some(challenge));
        } else {
            // The application is told as well.
            assert!(reply.text().contains("authorization: Basic "), "{}", reply.text());
        }
    }
    let twice = as_user("/x", "ann:hunter2").replace("\r\n\r\n", "\r\nAuthorization: x\r\n\r\n");
    for request in [get("/x", ""), get("//x", "Authorization: Bearer x\r\n"), twice] {
        assert_eq!(proxy.ask(&request).status, 401, "{request}");
    }
    assert_eq!(proxy.ask(get("/open", "")).status, 200);
    // Content of one who may not pass is not taken for a request.
    let smuggled = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\nGET / HTT";
    assert!(proxy.ask(smuggled).closes());
}

/// A password that was good is worth nothing as soon as the file says another.
#[test]
fn a_changed_password_holds_at_once() {
    let upstream = Upstream::echo();
    let text = basic();
    let proxy = Guarded::start(&upstream, &upstream, &text);
    let mut client = proxy.client();
    assert_eq!(client.ask(as_user("/x", "ann:hunter2")).status, 200);
    let other = PasswordHash::make(b"hunter3", b"sixteen bytes...").unwrap();
    let old = text.lines().find(|line| line.starts_with("ann = ")).unwrap();
    proxy.reload(&text.replace(old, &format!("ann = {:?}", other.as_str())));
    assert_eq!(client.ask(as_user("/x", "ann:hunter2")).status, 401);
    assert_eq!(client.ask(as_user("/x", "ann:hunter3")).status, 200);
    let gone = text.replace(old, "");
    proxy.reload(&gone);
    assert_eq!(client.ask(as_user("/x", "ann:hunter3")).status, 401);
}

/// The one thread that serves goes on while a password is checked, and a known one doesn't wait for that.
#[test]
fn checking_a_password_holds_up_nobody() {
    let upstream = Upstream::echo();
    let slow = bcrypt::hash("secret", 12).unwrap();
    let text = basic();
    let bob = text.lines().find(|line| line.starts_with("bob = ")).unwrap();
    let proxy =
        Guarded::start(&upstream, &upstream, &text.replace(bob, &format!("bob = {slow:?}")));
    assert_eq!(proxy.ask(as_user("/", "ann:hunter2")).status, 200);
    let begin = Instant::now();
    let mut waiting = proxy.client();
    waiting.send(as_user("/", "bob:secret"));
    let (mut other, mut known) = (proxy.client(), proxy.client());
    assert_eq!(other.ask(get("/open", "")).status, 200);
    assert_eq!(known.ask(as_user("/", "ann:hunter2")).status, 200);
    let others = begin.elapsed();
    assert_eq!(waiting.reply().status, 200);
    assert!(others < begin.elapsed() / 2, "{others:?} of {:?}", begin.elapsed());
}

/// Everything under `a.example` asks `auth` about its clients.
fn forward(auth: &str) -> String {
    format!(
        r#"
[[site]]
hosts = ["a.example"]
routes = [{{ fleet = "old" }}]
[site.auth.forward]
url = "http://{auth}/verify?x=1"
copy_headers = ["X-User", "X-Groups"]
timeout = "300ms"
"#
    )
}

fn answers(response: &'static str) -> Upstream {
    Upstream::fixed(response)
}

#[test]
fn another_server_lets_pass_and_says_who_it_is() {
    let upstream = Upstream::echo();
    let auth = answers("HTTP/1.1 204 No Content\r\nX-User: ann\r\nX-Other: x\r\n\r\n");
    let proxy = Guarded::start(&upstream, &upstream, &forward(&auth.address.to_string()));
    let lines = "Cookie: session=1\r\nX-User: root\r\nx-USER: root\r\nX_User: root\r\n\
                 X.User: root\r\nX-Groups: wheel\r\nConnection: X-User\r\nContent-Length: 2\r\n\
                 X-Forwarded-Uri: /free\r\nX-Forwarded-Method: GET\r\n";
    let request = get("/x//y?q=%2F", lines).replace("GET ", "POST ") + "hi";
    let reply = proxy.ask(&request);
    assert_eq!(reply.status, 200, "{}", reply.head);
    let told = reply.text().to_ascii_lowercase();
    assert!(told.contains("x-user: ann\r\n") && told.ends_with("hi"), "{told}");
    for unwanted in ["root", "wheel", "x-other", "x-forwarded-uri"] {
        assert!(!told.contains(unwanted), "{unwanted}: {told}");
    }
    let asked = auth.head().to_ascii_lowercase();
    assert!(asked.starts_with("get /verify?x=1 http/1.1\r\n"), "{asked}");
    for line in [
        format!("host: {}", auth.address),
        "cookie: session=1".to_owned(),
        "x-forwarded-method: post".to_owned(),
        "x-forwarded-uri: /x//y?q=%2f".to_owned(),
        "x-forwarded-host: a.example".to_owned(),
        "x-forwarded-proto: http".to_owned(),
        "x-forwarded-for: 127.0.0.1".to_owned(),
    ] {
        assert_eq!(asked.matches(&format!("\r\n{line}\r\n")).count(), 1, "{line}: {asked}");
    }
    for unwanted in ["root", "wheel", "content-length", "transfer-encoding", "/free"] {
        assert!(!asked.contains(unwanted), "{unwanted}: {asked}");
    }
}

#[test]
fn what_another_server_refuses_goes_to_the_client() {
    let upstream = Upstream::echo();
    for (response, want) in [
        (
            "HTTP/1.1 302 Found\r\nLocation: https://login.example/\r\nSet-Cookie: a=1\r\n\
             Set-Cookie: b=2\r\nContent-Length: 3\r\nKeep-Alive: x\r\n\r\nfor",
            302,
        ),
        (
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nTransfer-Encoding: chunked\r\n\
             \r\n3\r\nfor\r\n0\r\n\r\n",
            401,
        ),
        ("HTTP/1.1 403 Forbidden\r\nConnection: X-Secret\r\nX-Secret: 1\r\n\r\nfor", 403),
        ("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 3\r\n\r\nfor", 429),
    ] {
        let auth = Upstream::run(move |peer: &mut Peer| {
            peer.request();
            peer.send(response);
        });
        let proxy = Guarded::start(&upstream, &upstream, &forward(&auth.address.to_string()));
        let reply = proxy.ask(get("/", ""));
        assert_eq!((reply.status, reply.text()), (want, "for"), "{}", reply.head);
        assert_eq!(
            reply.field("keep-alive").or_else(|| reply.field("x-secret")),
            None,
            "{}",
            reply.head
        );
        if want == 302 {
            assert_eq!(reply.field("set-cookie").as_deref(), Some("a=1|b=2"));
            assert_eq!(reply.field("location").as_deref(), Some("https://login.example/"));
        }
        let mut client = proxy.client();
        client.send(get("/", "").replace("GET ", "HEAD "));
        assert_eq!(client.reply_to("HEAD").status, want);
        assert_eq!(client.ask(get("/", "")).status, want);
    }
    assert_eq!(upstream.requests(), 0);
}

/// Nobody passes because there was nobody to ask.
#[test]
fn without_an_answer_nobody_passes() {
    let upstream = Upstream::echo();
    for response in [
        "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nfo",
        "HTTP/1.1 200",
        "200 OK\r\n\r\n",
        "",
    ] {
        let auth = Upstream::run(move |peer: &mut Peer| {
            peer.request();
            peer.send(response);
        });
        let proxy = Guarded::start(&upstream, &upstream, &forward(&auth.address.to_string()));
        let reply = proxy.ask(get("/", "X-User: root\r\n"));
        assert_eq!(reply.status, 503, "{response:?}");
        assert_eq!(reply.field("retry-after").as_deref(), Some("1"));
    }
    let silent = Upstream::run(|peer: &mut Peer| {
        peer.request();
        std::thread::sleep(Duration::from_secs(2));
        peer.send("HTTP/1.1 200 OK\r\n\r\n");
    });
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.address.to_string(), dead.to_string()] {
        let proxy = Guarded::start(&upstream, &upstream, &forward(&address));
        assert_eq!(proxy.ask(get("/", "")).status, 503, "{address}");
    }
    assert_eq!(upstream.requests(), 0);
}

/// The answer of a server that was asked before a reload is not the answer of the one that is asked since.
#[test]
fn a_reload_while_somebody_is_asked_asks_the_new_one() {
    let upstream = Upstream::echo();
    let (told, hear) = std::sync::mpsc::channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (told, wait) = (std::sync::Mutex::new(told), std::sync::Mutex::new(wait));
    let before = Upstream::run(move |peer: &mut Peer| {
        peer.request();
        told.lock().unwrap().send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        peer.send("HTTP/1.1 200 OK\r\nX-User: ann\r\nContent-Length: 0\r\n\r\n");
    });
    let after = answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    let text = forward(&before.address.to_string()).replace("300ms", "10s");
    let proxy = Guarded::start(&upstream, &upstream, &text);
    let mut client = proxy.client();
    client.send(get("/", ""));
    hear.recv().unwrap();
    proxy.reload(&forward(&after.address.to_string()));
    go.send(()).unwrap();
    assert_eq!(client.reply().status, 403);
    assert_eq!(upstream.requests(), 0);
}
