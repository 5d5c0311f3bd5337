//! What may be published, and what comes of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use fingerpost_control::Role;
use serde_json::{Value, json};

use super::world::{CLAIM, Files, ROUTES, World, served};

const APP: &str = "tickets/classic";
const HOST: &str = "tickets.example";

#[test]
fn a_flip_is_live_before_its_answer() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let world = World::start(&files, &[ROUTES, CLAIM].concat());
    assert_eq!(world.served(HOST, "/configured/x"), "go", "the configuration's claim");
    for round in 0..20 {
        let flipped = format!(
            "{{\"paulca\": \"next.tickets.example\", \"r{round}\": \"next.tickets.example\"}}"
        );
        for (map, want) in [(flipped.as_str(), "go"), ("{}", "classic")] {
            let reply = world.put(&token, APP, HOST, map);
            assert_eq!(reply.status, 200, "{reply:?}");
            assert_eq!(reply.field("preference-applied"), Some("wait=20"));
            assert_eq!(world.served(HOST, "/paulca"), want);
            assert_eq!(world.served(HOST, "/bob/..//paulca.json"), want);
            assert_eq!(world.served(HOST, &format!("/r{round}")), want);
            assert_eq!(world.served(HOST, "/bob"), "classic");
            assert_eq!(world.served(HOST, "/configured"), "classic", "a published map won");
        }
    }
    // A map that is there already is live too, and moves nothing.
    let generation = world.running.snapshots().current().generation;
    let reply = world.put(&token, APP, HOST, "{}");
    assert_eq!((reply.status, &reply.json()["changed"]), (200, &json!(false)));
    assert_eq!(world.running.snapshots().current().generation, generation);
}

/// Clients ask all the time. Whatever begins after a flip was answered, and ends before the next one is asked for,
/// is served by the application that was answered; and nothing fails.
#[test]
fn under_load_nothing_is_served_by_the_application_before() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let world = World::start(&files, &[ROUTES, CLAIM].concat());
    assert_eq!(world.put(&token, APP, HOST, "{}").status, 200);
    // Even while a map is in use, odd while another is being published.
    let epoch = AtomicUsize::new(0);
    let (proxy, checked) = (world.proxy, AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let before = epoch.load(Ordering::SeqCst);
                    if before == usize::MAX {
                        return;
                    }
                    let by = served(proxy, HOST, "/paulca");
                    assert!(by == "go" || by == "classic", "{by}");
                    if before.is_multiple_of(2) && epoch.load(Ordering::SeqCst) == before {
                        assert_eq!(by, ["classic", "go"][before / 2 % 2]);
                        checked.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        for flip in 0..40 {
            epoch.fetch_add(1, Ordering::SeqCst);
            let map = ["{\"paulca\": \"next.tickets.example\"}", "{}"][flip % 2];
            assert_eq!(world.put(&token, APP, HOST, map).status, 200);
            epoch.fetch_add(1, Ordering::SeqCst);
            let goal = checked.load(Ordering::SeqCst) + 8;
            while checked.load(Ordering::SeqCst) < goal {
                std::thread::yield_now();
            }
        }
        epoch.store(usize::MAX, Ordering::SeqCst);
    });
}

#[test]
fn entries_that_are_refused_stay_with_the_origin_and_are_told_apart() {
    let files = Files::new();
    let token = files.token(Role::Person, Some("tickets"), None);
    let operator = files.token(Role::Operator, None, None);
    let world = World::start(&files, ROUTES);
    let attach = world.ask(
        &token,
        "POST /api/cli/apps/tickets/classic/domains",
        "{\"host\": \"tickets.example\"}",
    );
    assert_eq!(attach.status, 201, "{attach:?}");
    let map = r#"{"good": "next.tickets.example", "theirs": "other.example",
        "gone": "gone.example", "name": "alias.pages.example", ".well-known": "next.tickets.example"}"#;
    let reply = world.put(&token, APP, HOST, map);
    assert_eq!(reply.status, 200, "{reply:?}");
    for (path, want) in
        [("/good", "go"), ("/theirs", "classic"), ("/gone", "classic"), ("/name", "classic")]
    {
        assert_eq!(world.served(HOST, path), want, "{path}");
    }
    let codes = |token: &str| -> Vec<(String, String)> {
        let report = world.ask(token, "GET /api/report?host=tickets.example", "").json();
        let refused = report["claims"][0]["refused"].as_array().unwrap().clone();
        let word = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
        refused.iter().map(|entry| (word(entry, "prefix"), word(entry, "code"))).collect()
    };
    let row = |(prefix, code): &(&str, &str)| ((*prefix).to_owned(), (*code).to_owned());
    let known = [
        (".well-known", "reserved"),
        ("gone", "target_missing"),
        ("name", "target_missing"),
        ("theirs", "target_other_account"),
    ];
    assert_eq!(codes(&operator), known.iter().map(row).collect::<Vec<_>>());
    let seen = [
        (".well-known", "reserved"),
        ("gone", "target_unavailable"),
        ("name", "target_unavailable"),
        ("theirs", "target_unavailable"),
    ];
    assert_eq!(codes(&token), seen.iter().map(row).collect::<Vec<_>>());
}

/// The host-based migration: every customer on the legacy application, one of them on the new one.
#[test]
fn a_catch_all_serves_every_name_and_an_exact_claim_takes_one_away() {
    let files = Files::new();
    let token = files.token(Role::Person, Some("tickets"), None);
    let world = World::start(&files, ROUTES);
    assert_eq!(world.served("shop.pages.example", "/"), "404");
    let attach = |app: &str, body: &str| {
        let reply = world.ask(&token, &format!("POST /api/cli/apps/tickets/{app}/domains"), body);
        assert_eq!(reply.status, 201, "{reply:?}");
    };
    attach("classic", "{\"host\": \"pages.example\", \"catchall\": true}");
    world.wait_for("shop.pages.example", "/", "classic");
    assert_eq!(world.served("pages.example", "/"), "classic");
    assert_eq!(world.served("a.shop.pages.example", "/"), "404", "one label");

    attach("go", "{\"host\": \"shop.pages.example\"}");
    world.wait_for("shop.pages.example", "/", "go");
    assert_eq!(world.served("bike.pages.example", "/"), "classic");

    // A map of its own, beside the routes of the application.
    let reply =
        world.put(&token, "tickets/go", "shop.pages.example", "{\"old\": \"tickets.example\"}");
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(world.served("shop.pages.example", "/old"), "classic");
    assert_eq!(world.served("shop.pages.example", "/new"), "go");
    assert_eq!(world.served("next.tickets.example", "/old"), "go", "no map of the application");

    let line = "DELETE /api/cli/apps/tickets/go/domains/shop.pages.example\nPrefer: wait=20";
    assert_eq!(world.ask(&token, line, "").status, 428, "it has a map");
    let reply = world.ask(&token, &format!("{line}\nIf-Match: *"), "");
    assert_eq!(reply.status, 204, "{reply:?}");
    assert_eq!(world.served("shop.pages.example", "/old"), "classic");
    assert_eq!(world.served("shop.pages.example", "/new"), "classic");
}

#[test]
fn a_deleted_claim_gives_back_what_the_configuration_says() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let world = World::start(&files, &[ROUTES, CLAIM].concat());
    assert_eq!(world.put(&token, APP, HOST, "{\"x\": \"next.tickets.example\"}").status, 200);
    assert_eq!(world.served(HOST, "/configured"), "classic");
    assert_eq!(world.served(HOST, "/x"), "go");
    let line = format!("DELETE /api/cli/apps/{APP}/domains/{HOST}\nIf-Match: *\nPrefer: wait=20");
    assert_eq!(world.ask(&token, &line, "").status, 204);
    assert_eq!(world.served(HOST, "/configured"), "go");
    assert_eq!(world.served(HOST, "/x"), "classic");
}

#[test]
fn two_accounts_cannot_take_each_others_hosts() {
    let files = Files::new();
    let token = |account| files.token(Role::Person, Some(account), None);
    let (tickets, other) = (token("tickets"), token("other"));
    let world = World::start(&files, ROUTES);
    let attach = |token: &str, app: &str, host: &str| {
        let line = format!("POST /api/cli/apps/{app}/domains");
        world.ask(token, &line, &format!("{{\"host\": \"{host}\"}}")).status
    };
    assert_eq!(attach(&other, "other/web", "tickets.example"), 403, "a route of the other");
    assert_eq!(attach(&other, "other/web", "x.pages.example"), 403, "not allowed");
    assert_eq!(attach(&other, "tickets/classic", "tickets.example"), 403, "not its account");
    assert_eq!(attach(&tickets, "tickets/classic", "a.shared.example"), 201);
    assert_eq!(attach(&other, "other/web", "b.shared.example"), 201);
    assert_eq!(attach(&other, "other/web", "a.shared.example"), 409, "held");
    assert_eq!(attach(&tickets, "tickets/classic", "b.shared.example"), 409, "held");
    world.wait_for("a.shared.example", "/", "classic");
    world.wait_for("b.shared.example", "/", "other");
    let put = |token, app, host| world.put(token, app, host, "{}").status;
    assert_eq!(put(&other, "tickets/classic", "a.shared.example"), 403);
    assert_eq!(put(&other, "other/web", "a.shared.example"), 404);

    // Deleted and attached by the other: nothing of the first one's map comes along.
    let map = "{\"x\": \"next.tickets.example\"}";
    assert_eq!(world.put(&tickets, APP, "a.shared.example", map).status, 200);
    assert_eq!(world.served("a.shared.example", "/x"), "go");
    let line = format!("DELETE /api/cli/apps/{APP}/domains/a.shared.example\nIf-Match: *");
    assert_eq!(world.ask(&tickets, &line, "").status, 204);
    assert_eq!(attach(&other, "other/web", "a.shared.example"), 201);
    world.wait_for("a.shared.example", "/x", "other");
}
