//! What a scraper reads.

use fingerpost_control::Role;

use super::http::send;
use super::world::{CLAIM, Files, ROUTES, World};

const HOST: &str = "tickets.example";

/// The value of one series, by its whole name.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    Some(line.parse().unwrap())
}

#[test]
fn a_scraper_reads_requests_maps_and_flips() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let world = World::start(&files, &[ROUTES, CLAIM].concat());
    let map = r#"{"paulca": "next.tickets.example", "gone": "nowhere.example"}"#;
    assert_eq!(world.put(&token, "tickets/classic", HOST, map).status, 200);
    let rows = [
        (HOST, "/paulca", "go"),
        (HOST, "/paulca/x", "go"),
        (HOST, "/bob", "classic"),
        ("TICKETS.example.:80", "/bob", "classic"),
        ("next.tickets.example", "/", "go"),
        ("made-up.example", "/secret-account", "404"),
        (HOST, "/%zz", "400"),
    ];
    for (host, path, want) in rows {
        assert_eq!(world.served(host, path), want, "{host}{path}");
    }
    let reply = send(world.door, "GET /metrics\nHost: box", "");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.field("content-type"), Some("text/plain; version=0.0.4"));
    let text = &reply.body;
    let rows = [
        (r#"fingerpost_requests_total{route="go",host="tickets.example",code="200"}"#, 2.0),
        (r#"fingerpost_requests_total{route="classic",host="tickets.example",code="200"}"#, 2.0),
        (r#"fingerpost_requests_total{route="go",host="next.tickets.example",code="200"}"#, 1.0),
        (r#"fingerpost_requests_total{route="_other",host="_other",code="404"}"#, 1.0),
        (r#"fingerpost_requests_total{route="_other",host="_other",code="400"}"#, 1.0),
        (r#"fingerpost_route_hits_total{host="tickets.example",via="prefix"}"#, 2.0),
        (r#"fingerpost_route_hits_total{host="tickets.example",via="exact"}"#, 2.0),
        (r#"fingerpost_route_hits_total{host="next.tickets.example",via="exact"}"#, 1.0),
        ("fingerpost_request_duration_seconds_count", 7.0),
        (r#"fingerpost_request_duration_seconds_bucket{le="+Inf"}"#, 7.0),
        (r#"fingerpost_map_entries{host="tickets.example"}"#, 1.0),
        ("fingerpost_snapshot_generation", 2.0),
        ("fingerpost_flip_seconds_count", 1.0),
        ("fingerpost_reload_seconds_count", 0.0),
        (r#"fingerpost_unresolved_entries{host="tickets.example",code="target_missing"}"#, 1.0),
    ];
    for (series, want) in rows {
        assert_eq!(value(text, series), Some(want), "{series}\n{text}");
    }
    for secret in ["made-up", "secret-account", "account=", "paulca"] {
        assert!(!text.contains(secret), "{secret} is a label");
    }
    assert_eq!(world.served(HOST, "/bob"), "classic");
    let text = send(world.door, "GET /metrics\nHost: box", "").body;
    let series = r#"fingerpost_requests_total{route="classic",host="tickets.example",code="200"}"#;
    assert_eq!(value(&text, series), Some(3.0));
}
