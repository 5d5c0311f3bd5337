//! Times and limits of HTTP/2, and its end.

use std::time::Duration;

use super::client::Client;
use super::h2_client::{H2, get, post};
use super::proxy::{Plan, Proxy};
use super::secure::{Pem, Trust};
use super::upstream::Upstream;

fn secure(plan: Plan, grace: Duration) -> (Proxy, Trust) {
    let pem = Pem::of(&["a.example"]);
    let trust = Trust::in_these(&[&pem]);
    (plan.secure(&[&pem], None).start_with_grace(grace), trust)
}

/// Speaks raw frames without TLS.
fn raw(proxy: &Proxy) -> Client {
    let mut client = proxy.client();
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").send(frame(4, 0, 0, b""));
    client
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// The field block of `GET http://a.example/`, without compression.
fn block(path: &str) -> Vec<u8> {
    let mut block = vec![0x82, 0x86];
    for (index, value) in [(4, path), (1, "a.example")] {
        block.extend([index, u8::try_from(value.len()).unwrap()]);
        block.extend_from_slice(value.as_bytes());
    }
    block
}

/// Reads to the end; the error code of a GOAWAY on the way.
fn goaway(client: &mut Client) -> Option<u32> {
    let bytes = client.rest();
    let mut rest = &bytes[..];
    let mut code = None;
    while rest.len() >= 9 {
        let length = usize::from(rest[1]) << 8 | usize::from(rest[2]);
        let Some(payload) = rest.get(9..9 + length) else { break };
        if rest[3] == 7 {
            code = Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
        rest = &rest[9 + length..];
    }
    code
}

#[test]
fn each_stream_has_its_own_time() {
    let upstream = Upstream::run(|peer| {
        while let Some((head, _)) = peer.request() {
            if head.contains("/slow") {
                peer.wait_for_end();
            } else {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            }
        }
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.fleets[0].response_timeout = Duration::from_millis(300);
    plan.settings.body_timeout = Duration::from_millis(200);
    plan.settings.keep_alive_timeout = Duration::from_millis(100);
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let slow = client.begin(get("https://a.example/slow"), true).unwrap();
    let stalled = client.begin(post("https://a.example/up"), false).unwrap();
    for _ in 0..4 {
        assert_eq!(client.get("https://a.example/").status(), 200);
        client.pause(Duration::from_millis(30));
    }
    assert_eq!(client.finish(stalled).unwrap().status(), 408);
    assert_eq!(client.finish(slow).unwrap().status(), 504);
    assert_eq!(client.get("https://a.example/").status(), 200);
    // Nothing is under way now.
    client.end().unwrap();
}

#[test]
fn a_response_may_pause_for_as_long_as_its_fleet_says() {
    let upstream = Upstream::run(|peer| {
        while let Some((head, _)) = peer.request() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha");
            if head.contains("/stuck") {
                peer.wait_for_end();
            }
            std::thread::sleep(Duration::from_millis(300));
            peer.send("lf");
        }
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.fleets[0].body_timeout = Duration::from_millis(600);
    plan.settings.keep_alive_timeout = Duration::from_millis(100);
    plan.settings.body_timeout = Duration::from_millis(100);
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(client.get("https://a.example/").text(), "half");
    let error = client.ask(get("https://a.example/stuck")).unwrap_err();
    assert!(error.is_reset(), "{error:?}");
}

#[test]
fn a_client_that_takes_nothing_loses_the_stream_only() {
    let content = "x".repeat(1 << 20);
    let upstream = Upstream::fixed(format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{content}",
        content.len()
    ));
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.body_timeout = Duration::from_millis(200);
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut builder = h2::client::Builder::new();
    builder.initial_connection_window_size(1 << 20);
    let mut client = H2::secure_with(builder, proxy.https, &trust, "a.example");
    let begun = client.begin(get("https://a.example/"), true).unwrap();
    // Its window is never opened.
    let response = client.head(begun).unwrap();
    client.pause(Duration::from_millis(700));
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
    let mut body = response.into_body();
    let error = loop {
        match client.block_on(body.data()) {
            Some(Ok(_)) => (),
            Some(Err(error)) => break error,
            None => panic!("it ended as if it were whole"),
        }
    };
    assert!(error.is_reset(), "{error:?}");
}

#[test]
fn an_idle_connection_is_told_to_leave() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.keep_alive_timeout = Duration::from_millis(100);
    plan.settings.header_timeout = Duration::from_millis(100);
    plan.settings.http2.prior_knowledge = true;
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(client.get("https://a.example/").status(), 200);
    client.end().unwrap();
    // One that never asks, and one that never says that it has heard.
    H2::secure(proxy.https, &trust, "a.example").end().unwrap();
    assert_eq!(goaway(&mut raw(&proxy)), Some(0));
    // One whose header never ends.
    let mut client = raw(&proxy);
    client.send(frame(1, 1, 1, &block("/")[..3]));
    assert_eq!(goaway(&mut client), Some(0));
}

#[test]
fn a_drain_lets_exchanges_finish_and_takes_no_more() {
    let upstream = Upstream::run(|peer| {
        while peer.request().is_some() {
            std::thread::sleep(Duration::from_millis(300));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let (mut proxy, trust) = secure(Plan::to(&[&upstream]), Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    let mut idle = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(idle.get("https://a.example/healthz").status(), 200);
    let begun = client.begin(get("https://a.example/"), true).unwrap();
    upstream.head();
    proxy.begin_drain();
    idle.end().unwrap();
    let answer = client.finish(begun).unwrap();
    assert_eq!((answer.status(), answer.text()), (200, "ok"));
    assert!(!answer.head.headers().contains_key("connection"));
    assert!(client.takes_no_more());
    client.end().unwrap();
    proxy.serving.take().unwrap().wait().unwrap();
}

#[test]
fn a_grace_serves_on_and_sends_clients_away_after_an_answer() {
    let upstream = Upstream::echo();
    let (proxy, trust) = secure(Plan::to(&[&upstream]), Duration::from_secs(3));
    let mut idle = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(idle.get("https://a.example/").status(), 200);
    proxy.begin_drain();
    std::thread::sleep(Duration::from_millis(200));
    // It was idle when the drain began, and is answered once more.
    assert_eq!(idle.get("https://a.example/").status(), 200);
    idle.end().unwrap();
    let mut new = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(new.get("https://a.example/").status(), 200);
    new.end().unwrap();
}

#[test]
fn a_client_that_only_gives_up_is_let_go() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.wait_for_end();
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.http2.max_resets = 20;
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    // One that gives up often, but lets as many be answered, is none.
    for _ in 0..30 {
        drop(client.begin(get("https://a.example/"), true).unwrap());
        assert_eq!(client.get("https://a.example/healthz").status(), 200);
    }
    let mut asked = 0;
    while let Ok(begun) = client.begin(get("https://a.example/"), true) {
        drop(begun);
        client.pause(Duration::from_millis(5));
        asked += 1;
        assert!(asked < 200, "it goes on");
    }
    assert!(asked >= 20, "{asked}");
}

#[test]
fn floods_end_the_connection() {
    let upstream = Upstream::run(|peer| {
        peer.request();
        peer.wait_for_end();
    });
    let flood = |name: &str, frames: &dyn Fn(u32) -> Vec<u8>, want: Option<u32>| {
        let mut plan = Plan::to(&[&upstream]);
        plan.settings.http2.prior_knowledge = true;
        plan.settings.http2.max_resets = 100;
        plan.settings.header_timeout = Duration::from_secs(2);
        let proxy = plan.start();
        let mut client = raw(&proxy);
        for number in 0..5_000 {
            if !client.try_send(frames(number)) {
                break;
            }
        }
        let code = goaway(&mut client);
        assert!(want.is_none() || code.is_none() || code == want, "{name}: {code:?}");
    };
    let stream = |number: u32| 2 * number + 1;
    let rapid = |number| {
        [frame(1, 5, stream(number), &block("/")), frame(3, 0, stream(number), &[0, 0, 0, 8])]
            .concat()
    };
    flood("rapid reset", &rapid, Some(11));
    // Each is malformed: a header field of a connection.
    let malformed = |number| {
        let mut block = block("/");
        block.extend_from_slice(b"\x00\x0aconnection\x01x");
        frame(1, 5, stream(number), &block)
    };
    flood("made to reset", &malformed, Some(11));
    let continuation = |number| {
        if number == 0 { frame(1, 1, 1, &block("/")) } else { frame(9, 0, 1, b"\x00\x01a\x01b") }
    };
    flood("continuation", &continuation, Some(11));
    let empty = |number| {
        if number == 0 {
            frame(1, 4, 1, &block("/"))
        } else {
            [0, 0, 0, 0, 0, 0, 0, 0, 1].repeat(20)
        }
    };
    flood("empty data", &empty, Some(11));
}

#[test]
fn pings_and_settings_that_nobody_reads_answers_to_take_no_memory() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.http2.prior_knowledge = true;
    let proxy = plan.start();
    // What is not read is not answered either: the client's own writes stop before a GiB.
    let mut client = raw(&proxy);
    client.limit_writes(Duration::from_millis(300));
    let pings = frame(6, 0, 0, &[0; 8]).repeat(10_000);
    let sent = (0..6_000).take_while(|_| client.try_send(&pings)).count();
    assert!(sent < 1_000, "{sent}");
}

#[test]
fn a_header_that_is_too_large_is_431_on_its_stream() {
    let upstream = Upstream::echo();
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.max_header_size = 16 * 1024;
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(client.get("https://a.example/").status(), 200);
    let mut request = get("https://a.example/");
    request.headers_mut().insert("cookie", "c".repeat(15 * 1024).parse().unwrap());
    assert_eq!(client.ask(request).unwrap().status(), 200);
    let mut request = get("https://a.example/");
    request.headers_mut().insert("cookie", "c".repeat(20 * 1024).parse().unwrap());
    assert_eq!(client.ask(request).unwrap().status(), 431);
    assert_eq!(client.get("https://a.example/").status(), 200);
}

#[test]
fn streams_beyond_the_limit_wait() {
    let upstream = Upstream::run(|peer| {
        while peer.request().is_some() {
            std::thread::sleep(Duration::from_millis(100));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.settings.http2.max_concurrent_streams = 4;
    let (proxy, trust) = secure(plan, Duration::ZERO);
    let mut client = H2::secure(proxy.https, &trust, "a.example");
    assert_eq!(client.get("https://a.example/healthz").status(), 200);
    let mut begun = Vec::new();
    for _ in 0..12 {
        begun.push(client.begin(get("https://a.example/"), true).unwrap());
    }
    for begun in begun {
        assert_eq!(client.finish(begun).unwrap().text(), "ok");
    }
}
