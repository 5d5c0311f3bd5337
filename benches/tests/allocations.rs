//! R6: an ordinary path is routed without an allocation. A test of its own, because counting needs a global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fingerpost_authority::{
    Head, Host, HostFields, HostPattern, HttpVersion, Selected, Target, TransferEncoding, select,
};
use fingerpost_path::Prefix;
use fingerpost_router::{Lookup, Owner, PathPattern, RouteOptions, Router};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // a thread that ends may allocate after its counter is gone
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1, 2, 3]))), 1);
    assert_eq!(allocations(|| ()), 0);
}

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

/// Every tier, a prefix map of 10,000 entries, and guarded routes on another site only.
fn router() -> Router<&'static str> {
    let mut builder = Router::builder(1);
    for (pattern, path, value) in [
        ("tickets.example", "/{*rest}", "classic"),
        ("tickets.example", "/users/{id}", "user"),
        ("new.example", "/{*rest}", "new"),
        ("*.wild.example", "/{*rest}", "wild"),
        ("**.deep.example", "/{*rest}", "deep"),
        ("*", "/{*rest}", "any"),
    ] {
        let owner = Owner::Host(HostPattern::from_written(pattern).unwrap());
        builder.route(owner, PathPattern::parse(path).unwrap(), RouteOptions::forwarding(), value);
    }
    let health = PathPattern::parse("/healthz").unwrap();
    builder.route(Owner::EveryHost, health, RouteOptions::answering(), "health");
    for n in 0..10_000 {
        let prefix = Prefix::parse(&format!("acct{n}")).unwrap();
        builder.prefix(host("tickets.example"), prefix, Some(host("new.example")));
    }
    builder.build().unwrap()
}

#[test]
fn r6_a_lookup_of_an_ordinary_path_does_not_allocate() {
    let router = router();
    for (name, path, want) in [
        ("tickets.example", "/acct77/events/7", "new"),
        ("tickets.example", "/acct77", "new"),
        ("tickets.example", "/others/events", "classic"),
        ("tickets.example", "/", "classic"),
        ("tickets.example", "/others/style.css", "classic"),
        ("tickets.example", "/users/42", "user"),
        ("tickets.example", "/healthz", "health"),
        ("new.example", "/x/y", "new"),
        ("a.wild.example", "/x", "wild"),
        ("c.b.a.deep.example", "/x", "deep"),
        ("unknown.test", "/x", "any"),
        ("10.0.0.1", "/x", "any"),
    ] {
        let host = host(name);
        let lookup = Lookup { host: Some(&host), path: path.as_bytes(), query: None };
        let mut got = None;
        let count =
            allocations(|| got = router.lookup(&lookup).unwrap().map(|found| *found.value()));
        assert_eq!((got, count), (Some(want), 0), "{name}{path}");
    }
    // what is odd does allocate: the counter hears this router
    let host = host("tickets.example");
    let lookup = Lookup { host: Some(&host), path: b"//acct77/%2e", query: None };
    assert!(allocations(|| drop(router.lookup(&lookup))) > 0);
}

#[test]
fn r6_a_guarded_site_does_not_allocate_for_an_ordinary_path() {
    let mut builder = Router::builder(1);
    let owner = Owner::Host(HostPattern::from_written("a.example").unwrap());
    for (path, guarded) in [("/{*rest}", false), ("/admin/{*rest}", true)] {
        let options = RouteOptions::forwarding().with_guarded(guarded);
        builder.route(owner.clone(), PathPattern::parse(path).unwrap(), options, path);
    }
    let router = builder.build().unwrap();
    let host = host("a.example");
    for (path, want) in [("/admin/users", "/admin/{*rest}"), ("/x/y", "/{*rest}")] {
        let lookup = Lookup { host: Some(&host), path: path.as_bytes(), query: Some(b"q=1") };
        let mut got = None;
        let count =
            allocations(|| got = router.lookup(&lookup).unwrap().map(|found| *found.value()));
        assert_eq!((got, count), (Some(want), 0), "{path}");
    }
}

#[test]
fn naming_the_host_of_a_request_does_not_allocate() {
    for (authority, want) in [
        ("tickets.example", "tickets.example"),
        ("Tickets.Example.:443", "tickets.example"),
        ("[2001:DB8::1]:8080", "[2001:db8::1]"),
        ("127.0.0.1:80", "127.0.0.1"),
    ] {
        let head = Head {
            version: HttpVersion::Http11,
            method: b"GET",
            target: Target::parse(b"/acct77/events?x=1"),
            authority: None,
            scheme: Some(b"http"),
            websocket: false,
            hosts: HostFields::One(authority.as_bytes()),
            transfer_encoding: TransferEncoding::None,
            tls_names: None,
        };
        let mut got = None;
        let count = allocations(|| got = select(&head).ok());
        assert!(
            matches!(&got, Some(Selected::Host(host)) if host.as_str() == want),
            "{authority}: {got:?}"
        );
        assert_eq!(count, 0, "{authority}");
        let bare = got
            .and_then(|got| if let Selected::Host(host) = got { Some(host) } else { None })
            .unwrap();
        assert_eq!(allocations(|| drop(std::hint::black_box(Host::parse(bare.as_bytes())))), 0);
        assert_eq!(allocations(|| drop(std::hint::black_box(bare.clone()))), 0);
    }
}
