//! Requests that are sent a second time, and those that never are.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::forwarding::reply_of;
use super::proxy::{Plan, get};
use super::upstream::{Heard, Upstream};

/// Answers the first request on every connection; then, on the first connection, waits for the next
/// request and closes without an answer to it.
fn stale(reset: bool, part: &'static str) -> Upstream {
    Upstream::run(move |peer| {
        while peer.request().is_some() {
            if peer.number == 0 {
                peer.send(reply_of("first"));
                peer.request();
                peer.send(part);
                if reset {
                    peer.reset();
                }
                return;
            }
            peer.send(reply_of("again"));
        }
    })
}

fn request(method: &str, body: &str) -> String {
    let length =
        if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{method} / HTTP/1.1\r\nHost: a.example\r\n{length}\r\n{body}")
}

/// retry-stale-pooled-post: one retry on a new connection, for idempotent requests only, and only if
/// nothing has come back.
#[test]
fn retries_what_is_idempotent() {
    for (method, body, part, want) in [
        ("GET", "", "", Some("again")),
        ("HEAD", "", "", Some("")),
        ("PUT", "", "", Some("again")),
        ("DELETE", "", "", Some("again")),
        ("OPTIONS", "", "", Some("again")),
        ("POST", "", "", None),
        ("PATCH", "", "", None),
        ("POST", "act on it", "", None),
        ("PUT", "act on it", "", None),
        ("GET", "", "HTTP/1.1 2", None),
    ] {
        for reset in [false, true] {
            let upstream = stale(reset, part);
            let proxy = Plan::to(&[&upstream]).start();
            let mut client = proxy.client();
            assert_eq!(client.ask(get("/", "")).text(), "first");
            let reply = client.send(request(method, body)).reply_to(method);
            match want {
                Some(want) => {
                    assert_eq!((reply.status, reply.text()), (200, want), "{method}");
                    assert_eq!(upstream.requests(), 3, "{method}");
                }
                None => {
                    assert_eq!(reply.status, 502, "{method} {body:?}");
                    let proxy_status = reply.field("proxy-status").unwrap();
                    assert!(proxy_status.contains("connection_terminated"), "{proxy_status}");
                    assert_eq!(upstream.requests(), 2, "{method} {body:?}");
                }
            }
        }
    }
}

/// A new connection that dies is no stale one: what it may have done is not done again.
#[test]
fn does_not_retry_on_a_new_connection() {
    let upstream = Upstream::run(|peer| {
        peer.request();
    });
    let proxy = Plan::to(&[&upstream]).start();
    assert_eq!(proxy.ask(get("/", "")).status, 502);
    assert_eq!(upstream.requests(), 1);
}

/// One retry, not two.
#[test]
fn retries_once() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        if peer.number < 2 {
            peer.send(reply_of("first"));
            peer.request();
        }
    });
    let proxy = Plan::to(&[&upstream]).start();
    // Two idle connections, both of which die at the next request.
    let (mut one, mut two) = (proxy.client(), proxy.client());
    one.send(get("/", ""));
    two.send(get("/", ""));
    assert_eq!((one.reply().status, two.reply().status), (200, 200));
    let idle = (0..2).filter(|_| matches!(upstream.heard(), Heard::Request { .. })).count();
    assert_eq!(idle, 2);
    assert_eq!(one.ask(get("/", "")).status, 502);
    assert_eq!(upstream.requests(), 2);
}

/// A connection that the upstream closed while it was idle costs nobody anything, POST included.
#[test]
fn forgets_connections_that_were_closed_while_idle() {
    let (close, closing) = channel::<()>();
    let closing = Mutex::new(closing);
    let upstream = Upstream::run(move |peer| {
        let (_, body) = peer.request().unwrap();
        peer.send(reply_of(&format!("{}{body}", peer.number)));
        if peer.number == 0 {
            let _ = closing.lock().unwrap().recv();
        } else {
            peer.wait_for_end();
        }
    });
    let proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    assert_eq!(client.ask(request("POST", "x")).text(), "0x");
    drop(close);
    while upstream.heard() != (Heard::End { connection: 0 }) {}
    assert_eq!(client.ask(request("POST", "y")).text(), "1y");
}

/// A request is looked up again before it is sent again: a flip in between decides.
#[test]
fn looks_up_again_before_a_retry() {
    let new = Upstream::fixed(reply_of("new"));
    let (publish, publishing) = channel::<()>();
    let (published, wait) = channel::<()>();
    let (publish, wait) = (Mutex::new(publish), Mutex::new(wait));
    let old = Upstream::run(move |peer| {
        while peer.request().is_some() {
            if peer.number > 0 {
                peer.send(reply_of("the legacy application"));
                continue;
            }
            peer.send(reply_of("old"));
            if peer.request().is_some() {
                publish.lock().unwrap().send(()).unwrap();
                wait.lock().unwrap().recv().unwrap();
            }
            return;
        }
    });
    let plan = || Plan::to(&[&old]).and("next.example", &new);
    let proxy = plan().start();
    let mut client = proxy.client();
    assert_eq!(client.ask(get("/moved/x", "")).text(), "old");
    client.send(get("/moved/x", "X-Original-URL: /y\r\n"));
    publishing.recv().unwrap();
    proxy.snapshots.publish(plan().mapped().generation(2).snapshot());
    published.send(()).unwrap();
    assert_eq!(client.reply().text(), "new");
    assert_eq!(old.requests(), 2);
    assert!(new.head().starts_with("GET /moved/x "));
}

/// A server that takes no connection until the one that fills its queue has been accepted.
fn full() -> (TcpListener, TcpStream) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket.listen(0).unwrap();
    let listener = TcpListener::from(socket);
    let filler = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener, filler)
}

/// Whether nothing is there to be read, or accepted, by now.
fn is_nothing<T>(result: std::io::Result<T>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// A request that waits for a connection is looked up again before it is sent: a flip in between
/// decides, and any other change costs no second connection.
#[test]
fn looks_up_again_after_a_slow_connect() {
    let new = Upstream::fixed(reply_of("new"));
    for (what, flips, connects, want) in [
        ("a flip", true, true, "new"),
        ("a flip of a host that can't be reached any more", true, false, "new"),
        ("another host's flip", false, true, "old"),
    ] {
        let (old, _filler) = full();
        let plan = || {
            let mut plan = Plan::to_addresses(&[old.local_addr().unwrap()]);
            plan.fleets[0].connect_timeout = Duration::from_secs(if connects { 9 } else { 2 });
            plan.and("next.example", &new)
        };
        let proxy = plan().start();
        let mut client = proxy.client();
        client.send(request("POST", "act on it").replace("POST /", "POST /moved/x"));
        // What comes later on the one thread is answered later.
        for _ in 0..2 {
            assert_eq!(proxy.ask(get("/healthz", "")).status, 200, "{what}");
        }
        let next = if flips { plan().mapped() } else { plan() };
        proxy.snapshots.publish(next.generation(2).snapshot());
        let mut connection = connects.then(|| {
            old.accept().unwrap();
            old.accept().unwrap().0
        });
        if let Some(connection) = connection.as_mut().filter(|_| !flips) {
            let mut request = [0; 1024];
            assert!(connection.read(&mut request).unwrap() > 0, "{what}");
            connection.write_all(reply_of("old").as_bytes()).unwrap();
        }
        assert_eq!(client.reply().text(), want, "{what}");
        if let Some(mut connection) = connection {
            connection.set_nonblocking(true).unwrap();
            assert!(is_nothing(connection.read(&mut [0])), "{what}");
            old.set_nonblocking(true).unwrap();
            assert!(is_nothing(old.accept()), "{what}");
        }
    }
    assert_eq!(new.requests(), 2);
}
