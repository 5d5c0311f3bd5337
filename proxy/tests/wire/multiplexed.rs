//! Servers that are spoken to by HTTP/2.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use fingerpost::snapshot::{Fleet, Http, Server};
use http::HeaderMap;
use tokio::sync::Semaphore;

use super::h2_client::{H2, post};
use super::h2_upstream::{H2Upstream, World};
use super::proxy::{Plan, get};
use super::upstream::Upstream;

fn plan(upstream: &H2Upstream) -> Plan {
    let mut plan = Plan::to_addresses(&[upstream.address]);
    plan.fleets[0].transport.http = Http::Two;
    plan.settings.http2.prior_knowledge = true;
    plan
}

#[test]
fn passes_requests_on() {
    let upstream = H2Upstream::plain(World::default());
    let proxy = plan(&upstream).start();
    let mut client = proxy.client();
    let reply =
        client.ask(get("/a//b?c=%2F", "TE: trailers, gzip\r\nConnection: x, te\r\nX: y\r\n"));
    let content = "GET http://a.example/a//b?c=%2F te=trailers host=- connection=- x-forwarded-host=a.example";
    assert!(reply.text().contains(content), "{}", reply.text());
    assert_eq!(reply.field("via").as_deref(), Some("2.0 fingerpost"));
    // Content of any framing, after an expectation too.
    for framing in [
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue\r\nContent-Length: 5",
    ] {
        let head = format!("POST /echo HTTP/1.1\r\nHost: a.example\r\n{framing}\r\n\r\n");
        // The answer begins before the content is complete, and so its connection ends with it.
        let mut client = proxy.client();
        client.send(head);
        if framing.starts_with("Expect") {
            assert!(client.head().starts_with("HTTP/1.1 100 "));
        }
        let chunked = framing.starts_with("Transfer");
        client.send(if chunked { "5\r\nhello\r\n0\r\n\r\n" } else { "hello" });
        assert!(client.reply().text().contains("hello"), "{framing}");
    }
    assert_eq!(upstream.world.count(), (1, 4));
}

/// One connection carries what many clients ask for at once.
#[test]
fn shares_a_connection() {
    let world = World { go: Some(Semaphore::new(0)), ..World::default() };
    let upstream = H2Upstream::plain(world);
    let proxy = plan(&upstream).start();
    let mut clients: Vec<_> = (0..50).map(|_| proxy.client()).collect();
    for client in &mut clients {
        client.send(get("/held", ""));
    }
    while upstream.world.count().1 < 50 {
        std::thread::yield_now();
    }
    upstream.world.go.as_ref().unwrap().add_permits(50);
    assert!(clients.iter_mut().all(|client| client.reply().status == 200));
    assert_eq!(upstream.world.count(), (1, 50));
    // What it carries is limited: for more there is another one.
    let mut clients: Vec<_> = (0..150).map(|_| proxy.client()).collect();
    for client in &mut clients {
        client.send(get("/held", ""));
    }
    while upstream.world.count().1 < 200 {
        std::thread::yield_now();
    }
    upstream.world.go.as_ref().unwrap().add_permits(150);
    assert!(clients.iter_mut().all(|client| client.reply().status == 200));
    assert_eq!(upstream.world.count(), (2, 200));
}

/// grpc-te-trailers: both directions at once, trailers, and a response that is nothing but trailers.
#[test]
fn carries_grpc() {
    let upstream = H2Upstream::plain(World::default());
    let proxy = plan(&upstream).start();
    let mut client = H2::plain(proxy.address);
    let request = |path: &str| {
        let mut request = post(&format!("http://a.example{path}"));
        request.headers_mut().insert("te", "trailers".parse().unwrap());
        request.headers_mut().insert("content-type", "application/grpc".parse().unwrap());
        request
    };
    let mut call = client.begin(request("/echo"), false).unwrap();
    client.send(&mut call, "one", false);
    let h2_response = client.block_on(&mut call.response).unwrap();
    assert_eq!(h2_response.headers()["content-type"], "application/grpc");
    let mut incoming = h2_response.into_body();
    for message in ["one", "two", "three"] {
        assert_eq!(client.block_on(incoming.data()).unwrap().unwrap(), message);
        let next = match message {
            "one" => "two",
            "two" => "three",
            _ => break,
        };
        client.send(&mut call, next, false);
    }
    let mut sent = HeaderMap::new();
    sent.insert("x-sent", "yes".parse().unwrap());
    call.body.send_trailers(sent).unwrap();
    assert!(client.block_on(incoming.data()).is_none());
    let trailers = client.block_on(incoming.trailers()).unwrap().unwrap();
    assert_eq!(
        (&trailers["grpc-status"], &trailers["x-sent"]),
        (&"5".parse().unwrap(), &"yes".parse().unwrap())
    );

    let answer = client.ask(request("/trailers-only")).unwrap();
    assert_eq!(answer.head.headers()["grpc-status"], "7");
    assert!(answer.body.is_empty() && answer.trailers.is_none());

    let begun = client.begin(request("/cut"), true).unwrap();
    assert!(client.finish(begun).is_err());
    // The connection to the server is as good as before.
    assert_eq!(client.ask(request("/te")).unwrap().text().split(' ').nth(2), Some("te=trailers"));
    assert_eq!(upstream.world.count().0, 1);
}

/// A stream that the server refused was not begun: it is sent again, whatever the method. One that it
/// broke off is an answer.
#[test]
fn sends_again_what_was_refused() {
    for (path, method, want, requests) in [
        ("/refused", "POST", 200, 2),
        ("/refused", "GET", 200, 2),
        ("/broken", "POST", 502, 1),
        ("/broken", "GET", 502, 1),
    ] {
        let upstream = H2Upstream::plain(World::default());
        let proxy = plan(&upstream).start();
        let reply = proxy.ask(format!("{method} {path} HTTP/1.1\r\nHost: a.example\r\n\r\n"));
        assert_eq!(reply.status, want, "{method} {path}");
        assert_eq!(upstream.world.count().1, requests, "{method} {path}");
    }
}

/// A server that leaves after each answer loses no request.
#[test]
fn follows_a_server_that_leaves() {
    let upstream = H2Upstream::plain(World { leaves: true, ..World::default() });
    let proxy = plan(&upstream).start();
    let mut client = proxy.client();
    for _ in 0..20 {
        let reply = client.ask("POST /x HTTP/1.1\r\nHost: a.example\r\n\r\n");
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
    assert!(upstream.world.connections.load(Ordering::SeqCst) > 1);
}

/// A connection that ends with a stream before ours took nothing: the other server does.
#[test]
fn sends_again_what_came_after_the_last_stream() {
    let other = H2Upstream::plain(World::default());
    for (last, method, want) in
        [(0_u8, "POST", 200), (0, "GET", 200), (1, "POST", 502), (1, "GET", 200)]
    {
        let leaves = Upstream::run(move |peer| {
            let Some(preface) = peer.bytes(24) else { return };
            assert!(preface.starts_with(b"PRI * HTTP/2.0"));
            peer.send([0, 0, 0, 4, 0, 0, 0, 0, 0]);
            loop {
                let Some(frame) = peer.bytes(9) else { return };
                let length = usize::from(frame[1]) * 256 + usize::from(frame[2]);
                let Some(_) = peer.bytes(length) else { return };
                if frame[3] == 1 {
                    break;
                }
            }
            // GOAWAY with the last stream, and no error.
            peer.send([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, last, 0, 0, 0, 0]);
        });
        let mut fleet = Fleet::new("main", Vec::new());
        fleet.servers =
            [leaves.address, other.address].map(|address| Server::new(address.to_string())).into();
        fleet.transport.http = Http::Two;
        let mut plan = Plan::to(&[]);
        plan.fleets[0] = fleet;
        let proxy = plan.start();
        let reply = proxy.ask(format!("{method} /x HTTP/1.1\r\nHost: a.example\r\n\r\n"));
        assert_eq!(reply.status, want, "{last} {method}");
    }
}

/// Large content goes both ways with back-pressure, and a client that takes nothing stops no other.
#[test]
fn a_slow_client_stops_nobody() {
    let upstream = H2Upstream::plain(World::default());
    let proxy = plan(&upstream).start();
    let mut slow = super::client::Client::connect_narrowly(proxy.address);
    let length = 8 << 20;
    slow.send(format!(
        "POST /echo HTTP/1.1\r\nHost: a.example\r\nContent-Length: {length}\r\n\r\n"
    ));
    // As much as fits into everything between; then nothing moves any more.
    let uploader = std::thread::spawn(move || {
        slow.try_send(Bytes::from(vec![b'x'; length]));
        slow
    });
    let mut client = proxy.client();
    for _ in 0..50 {
        assert_eq!(client.ask(get("/", "")).status, 200);
    }
    assert_eq!(upstream.world.connections.load(Ordering::SeqCst), 1);
    drop(proxy);
    drop(uploader.join().unwrap());
}
