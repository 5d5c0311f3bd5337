//! From HTTP to HTTPS, on hosts that are served there.

use super::proxy::{Plan, Proxy, get};
use super::secure::{Pem, Trust};
use super::upstream::Upstream;

fn redirecting(upstream: &Upstream, port: u16) -> Proxy {
    let pem = Pem::of(&["a.example", "*.w.example", "unrouted.example"]);
    let mut plan = Plan::to(&[upstream])
        .and("*.w.example", upstream)
        .and("plain.example", upstream)
        .secure(&[&pem], Some(0));
    plan.settings.https_redirect = Some(port);
    plan.settings.trusted_proxies = vec!["127.0.0.2".parse().unwrap()];
    plan.start()
}

#[test]
fn only_a_host_that_is_served_by_https_is_sent_there() {
    let upstream = Upstream::echo();
    let proxy = redirecting(&upstream, 443);
    for (host, target, want) in [
        ("a.example", "/", Some("https://a.example/")),
        ("A.Example.:80", "/x?y=%2F&z", Some("https://a.example/x?y=%2F&z")),
        ("a.example:8080", "//evil.test/..%2f?", Some("https://a.example//evil.test/..%2f?")),
        ("b.w.example", "/x", Some("https://b.w.example/x")),
        ("a.example", "http://b.w.example/y", Some("https://b.w.example/y")),
        ("c.b.w.example", "/x", None),
        ("plain.example", "/x", None),
        ("unrouted.example", "/x", None),
        ("evil.test", "/x", None),
        ("127.0.0.1", "/x", None),
        ("[::1]:80", "/x", None),
    ] {
        let reply = proxy.ask(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(reply.field("location").as_deref(), want, "{host} {target}");
        let other = if host == "plain.example" { 200 } else { 421 };
        assert_eq!(reply.status, if want.is_some() { 308 } else { other }, "{host} {target}");
    }
}

#[test]
fn the_port_that_clients_see_is_said_and_the_method_kept() {
    let upstream = Upstream::echo();
    let proxy = redirecting(&upstream, 8443);
    let mut client = proxy.client();
    let reply = client.ask("POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(reply.status, 308);
    assert_eq!(reply.field("location").as_deref(), Some("https://a.example:8443/x"));
    // Nobody has read the content.
    assert!(reply.closes());
    assert_eq!(proxy.ask("GET / HTTP/1.0\r\n\r\n").status, 404);
}

#[test]
fn what_every_host_serves_and_challenges_are_answered_by_http() {
    let upstream = Upstream::echo();
    let proxy = redirecting(&upstream, 443);
    for (target, want) in [
        ("/healthz", 200),
        ("/.well-known/acme-challenge/tok-_1", 200),
        ("/.well-known/acme-challenge/tok?x", 200),
        ("/.well-known/acme-challenge/", 308),
        ("/.well-known/acme-challenge/a/../../x", 308),
        ("/.well-known/acme-challenge/a%2Fb", 308),
        ("//.well-known/acme-challenge/tok", 308),
        ("/.Well-known/acme-challenge/tok", 308),
        ("/.well-known/other", 308),
    ] {
        assert_eq!(proxy.ask(get(target, "")).status, want, "{target}");
    }
    // A port says nothing about the host.
    let challenge = "GET /.well-known/acme-challenge/t HTTP/1.1\r\nHost: a.example:80\r\n\r\n";
    let reply = proxy.ask(challenge);
    assert!(reply.text().starts_with("GET /.well-known/acme-challenge/t HTTP/1.1"), "{reply:?}");
}

#[test]
fn https_is_not_redirected_nor_what_came_by_it() {
    let upstream = Upstream::echo();
    let pem = Pem::of(&["a.example"]);
    let mut plan = Plan::to(&[&upstream]).secure(&[&pem], None);
    plan.settings.https_redirect = Some(443);
    plan.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let proxy = plan.start();
    let mut client = proxy.secure_client(&Trust::in_these(&[&pem]), "a.example");
    assert_eq!(client.ask(get("/", "")).status, 200);
    // Only a trusted proxy is believed.
    for (proto, want) in [("https", 200), ("HTTPS", 200), ("http", 308), ("", 308)] {
        let lines = format!("X-Forwarded-Proto: {proto}\r\n");
        assert_eq!(proxy.ask(get("/", &lines)).status, want, "{proto}");
    }
    let untrusting = redirecting(&upstream, 443);
    assert_eq!(untrusting.ask(get("/", "X-Forwarded-Proto: https\r\n")).status, 308);
}
