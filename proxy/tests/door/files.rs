//! What a box does when its files are gone, spoiled or new.

use std::fs;
use std::io;

use fingerpost::agent::AgentOptions;
use fingerpost::config::Config;
use fingerpost::run::Running;
use fingerpost_control::Role;

use super::world::{CLAIM, Files, QUICK, ROUTES, World, lose};

const APP: &str = "tickets/classic";
const HOST: &str = "tickets.example";
const MAP: &str = "{\"paulca\": \"next.tickets.example\"}";

fn start(files: &Files, routes: &str) -> io::Result<Running> {
    Running::start_with(&files.config(routes), 7, AgentOptions::default())
}

/// A box that has served a map, and a catch-all, and has ended.
fn ended(files: &Files) -> String {
    let token = files.token(Role::Person, Some("tickets"), None);
    let world = World::start(files, ROUTES);
    let body = "{\"host\": \"tickets.example\"}";
    assert_eq!(world.ask(&token, "POST /api/cli/apps/tickets/classic/domains", body).status, 201);
    let body = "{\"host\": \"pages.example\", \"catchall\": true}";
    assert_eq!(world.ask(&token, "POST /api/cli/apps/tickets/go/domains", body).status, 201);
    assert_eq!(world.put(&token, APP, HOST, MAP).status, 200);
    world.running.stop().unwrap();
    token
}

#[test]
fn a_box_starts_from_its_registry_while_the_claim_store_is_gone_or_spoiled() {
    for spoil in [
        Files::lose_claims as fn(&Files),
        |files| fs::write(files.claims(), "no database").unwrap(),
        |files| {
            files.lose_claims();
            fs::create_dir(files.claims()).unwrap();
        },
        // A new store is not the one that was served.
        |files| {
            files.lose_claims();
            drop(files.store());
        },
    ] {
        let files = Files::new();
        let token = ended(&files);
        spoil(&files);
        let world = World::start_with(&files, ROUTES, QUICK);
        // Several looks at the store find the same.
        std::thread::sleep(QUICK.poll * 10);
        assert_eq!(world.served(HOST, "/paulca"), "go");
        assert_eq!(world.served(HOST, "/bob"), "classic");
        assert_eq!(world.served("x.pages.example", "/"), "go");
        assert_eq!(world.put(&token, APP, HOST, "{}").status, 503, "nothing can be published");
        assert_eq!(world.served(HOST, "/paulca"), "go");

        // What is in the configuration counts still: a route that is gone takes its rows with it.
        let without = ROUTES.replace("next.tickets.example", "moved.tickets.example");
        world.running.agent().handle().reload(files.config(&without)).unwrap();
        assert_eq!(world.served(HOST, "/paulca"), "classic");
    }
}

#[test]
fn a_store_that_comes_back_is_followed_again() {
    let files = Files::new();
    let token = ended(&files);
    let kept = files.folder.path().join("kept.db");
    // The store's thread closes its file when nobody has the store any more; then there is no log.
    while files.claims().with_extension("db-wal").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    fs::copy(files.claims(), &kept).unwrap();
    files.lose_claims();
    let world = World::start_with(&files, ROUTES, QUICK);
    assert_eq!(world.served(HOST, "/paulca"), "go");
    fs::rename(&kept, files.claims()).unwrap();
    let started = tokio::time::Instant::now();
    while world.put(&token, APP, HOST, "{}").status != 200 {
        assert!(started.elapsed().as_secs() < 20, "the store is never opened");
    }
    assert_eq!(world.served(HOST, "/paulca"), "classic");
}

#[test]
fn nothing_is_served_where_nothing_is_known() {
    // The store of a first start can't be used.
    let files = Files::new();
    fs::write(files.claims(), "no database").unwrap();
    let error = start(&files, ROUTES).unwrap_err().to_string();
    assert!(error.contains("the claim store can't be used"), "{error}");

    // Registry and store are spoiled: neither is touched.
    let files = Files::new();
    ended(&files);
    fs::write(files.registry(), "no database").unwrap();
    lose(&files.registry().with_extension("registry-wal"));
    files.lose_claims();
    for _ in 0..2 {
        let error = start(&files, ROUTES).unwrap_err().to_string();
        assert!(error.contains("the registry is spoiled"), "{error}");
        assert!(!files.claims().exists());
    }
}

#[test]
fn a_spoiled_registry_is_built_anew_from_the_claims() {
    let files = Files::new();
    ended(&files);
    lose(&files.registry());
    fs::write(files.registry(), "no database, and not empty either").unwrap();
    let world = World::start(&files, ROUTES);
    assert_eq!(world.served(HOST, "/paulca"), "go");
    let names: Vec<_> = fs::read_dir(files.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.contains(".registry.spoiled-")), "{names:?}");
}

#[test]
fn a_lost_registry_is_built_anew_from_the_claims() {
    let files = Files::new();
    ended(&files);
    lose(&files.registry());
    let world = World::start(&files, ROUTES);
    assert_eq!(world.served(HOST, "/paulca"), "go");
    assert!(files.registry().exists());
}

#[test]
fn a_configuration_and_claims_never_race() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let both = [ROUTES, CLAIM].concat();
    let world = World::start(&files, &both);
    assert_eq!(world.put(&token, APP, HOST, MAP).status, 200);
    let agent = world.running.agent().handle();
    let without = ROUTES.replace("next.tickets.example", "moved.tickets.example");
    for round in 0..10 {
        agent.reload(files.config(&without)).unwrap();
        assert_eq!(world.served(HOST, "/paulca"), "classic");
        // Published while its target is gone: it counts from when that is back.
        let map = format!(
            "{{\"paulca\": \"next.tickets.example\", \"r{round}\": \"next.tickets.example\"}}"
        );
        assert_eq!(world.put(&token, APP, HOST, &map).status, 200);
        assert_eq!(world.served(HOST, &format!("/r{round}")), "classic");
        agent.reload(files.config(&both)).unwrap();
        assert_eq!(world.served(HOST, "/paulca"), "go");
        assert_eq!(world.served(HOST, &format!("/r{round}")), "go");
        assert_eq!(world.served(HOST, "/configured"), "classic", "a published map won");
    }
}

#[test]
fn without_an_admin_listener_no_file_is_written() {
    let text = "[listen]\nhttp = [\"127.0.0.1:0\"]\n";
    let config = Config::parse("fingerpost.toml", text).unwrap();
    assert_eq!(config.store, None);
    let with = format!("{text}admin = \"127.0.0.1:0\"\n");
    let store = Config::parse("fingerpost.toml", &with).unwrap().store.unwrap();
    assert_eq!(store.sqlite.to_str(), Some("fingerpost.db"));
    assert_eq!(store.registry().to_str(), Some("fingerpost.db.registry"));
}
