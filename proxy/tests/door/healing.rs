//! Changes that nobody tells of are found.

use std::time::Duration;

use fingerpost::agent::AgentOptions;
use fingerpost_authority::Host;
use fingerpost_claims::{
    Change, Claim, Collection, Commit, Committed, Limits, Name, PathMap, Reach,
};
use fingerpost_control::Role;

use super::world::{Files, QUICK, ROUTES, World, block_on};

const HOST: &str = "tickets.example";

fn claim(target: &str, write_id: &str) -> Vec<u8> {
    let host = Host::parse(HOST).unwrap();
    let name = |text| Name::parse(text).unwrap();
    let mut claim = Claim::attach(host.clone(), name("tickets"), name("classic"), Reach::default());
    let (map, refused) = PathMap::check(&host, [("paulca", Some(target))]);
    assert!(refused.is_empty());
    claim.set_paths(map, None, &Limits::default()).unwrap();
    claim.to_json(write_id)
}

#[test]
fn a_cut_push_is_healed_by_looking() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let operator = files.token(Role::Operator, None, None);
    let options = AgentOptions { push: false, ..QUICK };
    let world = World::start_with(&files, ROUTES, options);
    let body = "{\"host\": \"tickets.example\"}";
    assert_eq!(world.ask(&token, "POST /api/cli/apps/tickets/classic/domains", body).status, 201);
    let map = "{\"paulca\": \"next.tickets.example\"}";
    assert_eq!(world.put(&token, "tickets/classic", HOST, map).status, 200);
    assert_eq!(world.served(HOST, "/paulca"), "go");

    // Nobody looks for an hour: what was published is stored, and the box that lags is named.
    drop(world);
    let hour = Duration::from_secs(3600);
    let world =
        World::start_with(&files, ROUTES, AgentOptions { poll: hour, list: hour, push: false });
    // But for the look right after the start.
    std::thread::sleep(Duration::from_millis(300));
    let line = "PUT /api/cli/apps/tickets/classic/domains/tickets.example/paths\nPrefer: wait=0";
    let reply = world.ask(&token, line, "{\"paths\": {}}");
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(reply.json()["lagging"], serde_json::json!(["local"]));
    assert_eq!(world.served(HOST, "/paulca"), "go");
    let snapshot = world.ask(&operator, "GET /api/snapshot", "").json();
    assert!(snapshot["serial"].as_u64().unwrap() < reply.json()["serial"].as_u64().unwrap());
}

/// What is not on disk is not served, and what could not be kept is kept later, whole.
#[test]
fn a_registry_that_cannot_be_written_holds_the_flip_back() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let world = World::start_with(&files, ROUTES, QUICK);
    let body = "{\"host\": \"tickets.example\"}";
    assert_eq!(world.ask(&token, "POST /api/cli/apps/tickets/classic/domains", body).status, 201);
    world.put(&token, "tickets/classic", HOST, "{}");
    let lock = rusqlite::Connection::open(files.registry()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let line = "PUT /api/cli/apps/tickets/classic/domains/tickets.example/paths\nPrefer: wait=1";
    for prefix in ["paulca", "bob"] {
        let map = format!("{{\"paths\": {{\"{prefix}\": \"next.tickets.example\"}}}}");
        let reply = world.ask(&token, line, &map);
        assert_eq!(
            (reply.status, &reply.json()["lagging"]),
            (202, &serde_json::json!(["local"])),
            "{prefix}"
        );
        assert_eq!(world.served(HOST, &format!("/{prefix}")), "classic");
    }
    lock.execute_batch("COMMIT").unwrap();
    world.wait_for(HOST, "/bob", "go");
    assert_eq!(world.served(HOST, "/paulca"), "classic");

    // The registry has it too.
    drop((world, lock));
    files.lose_claims();
    let world = World::start(&files, ROUTES);
    assert_eq!(world.served(HOST, "/bob"), "go");
    assert_eq!(world.served(HOST, "/paulca"), "classic");
}

#[test]
fn another_process_on_the_same_file_is_followed() {
    let files = Files::new();
    let world = World::start_with(&files, ROUTES, QUICK);
    let other = files.store();
    let commit =
        Commit::of(Change::create(Collection::Claims, HOST, claim("next.tickets.example", "1")));
    let stored = block_on(other.commit(commit.with_bump())).unwrap();
    let Committed::Stored { versions, .. } = stored else { panic!("{stored:?}") };
    world.wait_for(HOST, "/paulca", "go");

    // Without a new serial, as by a writer that died before it: the list of everything finds it.
    let version = versions[0].clone().unwrap();
    let change = Change::replace(Collection::Claims, HOST, version, claim("gone.example", "2"));
    block_on(other.commit(Commit::of(change))).unwrap();
    drop(world);
    let options = AgentOptions { list: Duration::from_millis(50), ..QUICK };
    let world = World::start_with(&files, ROUTES, options);
    let record = block_on(other.get(Collection::Claims, HOST)).unwrap().unwrap();
    world.wait_for(HOST, "/paulca", "classic");
    let change = Change::replace(
        Collection::Claims,
        HOST,
        record.version,
        claim("next.tickets.example", "3"),
    );
    block_on(other.commit(Commit::of(change))).unwrap();
    world.wait_for(HOST, "/paulca", "go");
}

#[test]
fn a_box_that_says_nothing_keeps_others_waiting_and_is_named() {
    let files = Files::new();
    let token = files.token(Role::Publish, Some("tickets"), Some("classic"));
    let world = World::start(&files, ROUTES);
    let body = "{\"host\": \"tickets.example\"}";
    assert_eq!(world.ask(&token, "POST /api/cli/apps/tickets/classic/domains", body).status, 201);
    let silent = Change {
        collection: Collection::Nodes,
        key: "b".to_owned(),
        expect: fingerpost_claims::Expect::Any,
        body: Some(b"{\"serial\": 0, \"at\": 0}".to_vec()),
    };
    block_on(files.store().commit(Commit::of(silent))).unwrap();
    let line = "PUT /api/cli/apps/tickets/classic/domains/tickets.example/paths\nPrefer: wait=1";
    let reply = world.ask(&token, line, "{\"paths\": {\"paulca\": \"next.tickets.example\"}}");
    assert_eq!((reply.status, &reply.json()["lagging"]), (202, &serde_json::json!(["b"])));
    assert_eq!(world.served(HOST, "/paulca"), "go", "here it is live all the same");
}
