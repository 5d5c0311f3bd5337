//! Servers that are spoken to by TLS.

use std::sync::Arc;

use fingerpost::snapshot::{Health, Http};
use fingerpost::tls::UpstreamTls;

use super::h2_upstream::{H2Upstream, trusting};
use super::proxy::{Plan, get};
use super::secure::Pem;
use super::upstream::Upstream;

fn plan(upstream: &H2Upstream, tls: &Arc<UpstreamTls>, http: Http) -> Plan {
    let mut plan = Plan::to_addresses(&[upstream.address]);
    plan.fleets[0].transport.http = http;
    plan.fleets[0].transport.tls = Some(Arc::clone(tls));
    plan
}

/// What is not proved is not served: another root, another name.
#[test]
fn verifies_always() {
    let (pem, other) = (Pem::of(&["app.internal", "127.0.0.1"]), Pem::of(&["app.internal"]));
    let upstream = H2Upstream::secure(&pem, &[]);
    for (trusted, name, want) in [
        (&pem, Some("app.internal"), Ok("one for app.internal")),
        // An address is no name to ask for (RFC 6066 section 3).
        (&pem, None, Ok("one for -")),
        (&other, Some("app.internal"), Err("tls_certificate_error")),
        (&pem, Some("other.internal"), Err("tls_certificate_error")),
    ] {
        let proxy = plan(&upstream, &trusting(trusted, name, Http::One), Http::One).start();
        let mut client = proxy.client();
        for _ in 0..2 {
            let reply = client.ask(get("/", ""));
            match want {
                Ok(content) => assert_eq!(reply.text(), content),
                Err(error) => {
                    assert_eq!(reply.status, 502);
                    let status = reply.field("proxy-status").unwrap();
                    assert_eq!(status, format!("fingerpost; error={error}"));
                }
            }
        }
    }
    // Two proxies got through, each with one connection.
    assert_eq!(upstream.world.count(), (2, 4));
}

#[test]
fn a_server_without_tls_is_not_served() {
    let pem = Pem::of(&["app.internal"]);
    let upstream = Upstream::run(|peer| {
        peer.bytes(16);
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        while peer.bytes(1).is_some() {}
    });
    let mut plan = Plan::to(&[&upstream]);
    plan.fleets[0].transport.tls = Some(trusting(&pem, Some("app.internal"), Http::One));
    let reply = plan.start().ask(get("/", ""));
    let status = reply.field("proxy-status");
    assert_eq!(status.as_deref(), Some("fingerpost; error=tls_protocol_error"));
}

#[test]
fn the_server_chooses_the_protocol() {
    let pem = Pem::of(&["app.internal"]);
    for (http, offered, want) in [
        (Http::One, &["h2", "http/1.1"][..], "one for app.internal"),
        (Http::One, &[], "one for app.internal"),
        (Http::Auto, &["h2", "http/1.1"], "GET https://a.example/x "),
        (Http::Auto, &["http/1.1"], "one for app.internal"),
        (Http::Auto, &[], "one for app.internal"),
        (Http::Two, &["h2"], "GET https://a.example/x "),
        (Http::Two, &[], r#"{"type""#),
    ] {
        let upstream = H2Upstream::secure(&pem, offered);
        let proxy = plan(&upstream, &trusting(&pem, Some("app.internal"), http), http).start();
        let mut client = proxy.client();
        for _ in 0..2 {
            let reply = client.ask(get("/x", ""));
            assert!(reply.text().contains(want), "{http:?} {offered:?} {}", reply.text());
        }
    }
}

/// Connections are used again only under the settings that they were made with.
#[test]
fn a_reload_of_other_settings_makes_other_connections() {
    let (pem, other) = (Pem::of(&["app.internal"]), Pem::of(&["app.internal"]));
    for http in [Http::One, Http::Two] {
        let upstream = H2Upstream::secure(&pem, if http == Http::Two { &["h2"] } else { &[] });
        let make = |pem| plan(&upstream, &trusting(pem, Some("app.internal"), http), http);
        let proxy = make(&pem).start();
        let mut client = proxy.client();
        assert_eq!(client.ask(get("/", "")).status, 200);
        proxy.snapshots.publish(make(&pem).generation(2).snapshot());
        assert_eq!(client.ask(get("/", "")).status, 200);
        assert_eq!(upstream.world.count(), (1, 2), "the same settings, read again");
        proxy.snapshots.publish(make(&other).generation(3).snapshot());
        assert_eq!(client.ask(get("/", "")).status, 502);
        assert_eq!(upstream.world.count(), (1, 2));
    }
}

/// Checks speak what requests speak.
#[test]
fn checks_speak_tls() {
    let pem = Pem::of(&["app.internal"]);
    for http in [Http::One, Http::Auto] {
        let upstream = H2Upstream::secure(&pem, &["h2"]);
        let tls = trusting(&pem, Some("app.internal"), http);
        let mut plan = plan(&upstream, &tls, http);
        plan.fleets[0].health = Some(Health::new("/healthz"));
        let _proxy = plan.start();
        if http == Http::Auto {
            while upstream.world.count().1 == 0 {
                std::thread::yield_now();
            }
        }
    }
}

/// A WebSocket is asked for by HTTP/1.1, whatever the server would choose; one that speaks nothing else than
/// HTTP/2 can't be asked, and is none the worse for it.
#[test]
fn asks_for_a_websocket_by_the_older_protocol() {
    let pem = Pem::of(&["app.internal"]);
    let websocket = get(
        "/x",
        "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    );
    for (http, want) in [(Http::Auto, "one for app.internal"), (Http::Two, "HTTP/2 only")] {
        let upstream = H2Upstream::secure(&pem, &["h2", "http/1.1"]);
        let proxy = plan(&upstream, &trusting(&pem, Some("app.internal"), http), http).start();
        let mut client = proxy.client();
        assert!(client.ask(get("/x", "")).text().contains("GET https://a.example/x "));
        let reply = client.ask(&websocket);
        assert!(reply.text().contains(want), "{}", reply.text());
        assert!(proxy.ask(get("/x", "")).text().contains("GET https://a.example/x "));
    }
}
