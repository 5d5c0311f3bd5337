//! The end of serving, and snapshots that come and go.

use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fingerpost::server::{Drain, Listeners, Phase, serve};
use fingerpost::snapshot::Snapshots;

use super::client::{Client, PATIENCE};
use super::forwarding::reply_of;
use super::proxy::{Plan, Proxy, get};
use super::upstream::Upstream;

fn wait_for(proxy: &Proxy, phase: Phase) {
    eventually(|| proxy.drain.phase() >= phase);
}

/// Waits for something that nobody tells us of.
fn eventually(mut happened: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("it never happened");
}

/// An upstream that answers when it is told to.
fn held() -> (Upstream, std::sync::mpsc::Sender<()>) {
    let (go, gone) = channel();
    let gone = Mutex::new(gone);
    let upstream = Upstream::run(move |peer| {
        while peer.request().is_some() {
            let _ = gone.lock().unwrap().recv();
            peer.send(reply_of("done"));
        }
    });
    (upstream, go)
}

/// shutdown-keepalive-and-upgraded: while it drains it serves on, new connections too, and says close.
#[test]
fn serves_on_for_the_grace() {
    let upstream = Upstream::fixed(reply_of("hi"));
    let proxy = Plan::to(&[&upstream]).start_with_grace(Duration::from_secs(30));
    let mut old = proxy.client();
    let mut idle = proxy.client();
    assert!(!old.ask(get("/", "")).closes());
    assert!(!idle.ask(get("/", "")).closes());
    proxy.begin_drain();
    wait_for(&proxy, Phase::Draining);
    // The worker hears of it a moment later.
    eventually(|| proxy.ask(get("/", "")).closes());
    let reply = old.ask(get("/", ""));
    assert_eq!((reply.text(), reply.closes()), ("hi", true));
    assert!(old.is_closed());
    assert!(proxy.ask(get("/healthz", "")).closes());
    // A second signal ends at once.
    proxy.drain.end();
    assert!(idle.is_closed());
}

/// shutdown-keepalive-and-upgraded: what is under way finishes; what is idle is closed; nobody new.
#[test]
fn finishes_what_is_under_way() {
    let (upstream, go) = held();
    let mut proxy = Plan::to(&[&upstream]).start();
    let mut idle = proxy.client();
    assert_eq!(idle.ask(get("/healthz", "")).status, 200);
    let mut silent = proxy.client();
    let mut busy = proxy.client();
    busy.send(get("/", ""));
    let mut uploading = proxy.client();
    uploading.send("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nha");
    upstream.head();
    proxy.begin_drain();
    assert!(idle.is_closed() && silent.is_closed());
    eventually(|| TcpStream::connect(proxy.address).is_err());
    go.send(()).unwrap();
    let reply = busy.reply();
    assert_eq!((reply.text(), reply.closes()), ("done", true));
    go.send(()).unwrap();
    uploading.send("lf");
    assert_eq!(uploading.reply().text(), "done");
    proxy.serving.take().unwrap().wait().unwrap();
    assert_ne!(proxy.drain.phase(), Phase::Serving);
}

/// A response that began before the drain has not said that its connection closes; it does so anyway,
/// and not only at the deadline.
#[test]
fn closes_after_a_response_that_had_begun() {
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let upstream = Upstream::run(move |peer| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha");
            let _ = gone.lock().unwrap().recv();
            peer.send("lf");
        }
    });
    let mut proxy = Plan::to(&[&upstream]).start();
    let mut idle = proxy.client();
    assert_eq!(idle.ask(get("/healthz", "")).status, 200);
    let mut client = proxy.client();
    client.send(get("/", ""));
    assert!(!client.head().contains("close"));
    proxy.begin_drain();
    // It closes a tick after the worker has heard of the drain.
    assert!(idle.is_closed());
    go.send(()).unwrap();
    assert_eq!(client.take(4), b"half");
    assert!(client.is_closed());
    proxy.serving.take().unwrap().wait().unwrap();
    assert_eq!(proxy.drain.phase(), Phase::Closing);
}

/// A client that has not yet taken a response whole is not idle: what is left in our buffer is its.
#[test]
fn cuts_no_response_that_is_still_being_taken() {
    const LENGTH: usize = 96 * 1024;
    let upstream = Upstream::fixed(reply_of(&"x".repeat(LENGTH)));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    // What is accepted inherits it, and far less than a response fits into the kernel.
    socket2::SockRef::from(&listener).set_send_buffer_size(4096).unwrap();
    let listeners = Listeners::from_sets(vec![vec![listener]]);
    let mut proxy = Plan::to(&[&upstream]).start_on(listeners, Duration::ZERO);
    let mut idle = proxy.client();
    assert_eq!(idle.ask(get("/healthz", "")).status, 200);
    let mut client = Client::connect_narrowly(proxy.address);
    client.send(get("/", ""));
    assert!(client.head().starts_with("HTTP/1.1 200"));
    proxy.begin_drain();
    assert!(idle.is_closed());
    assert_eq!(client.take(LENGTH).len(), LENGTH);
    assert!(client.is_closed());
    proxy.serving.take().unwrap().wait().unwrap();
    assert_eq!(proxy.drain.phase(), Phase::Closing);
}

/// No connection that was queued is lost when listeners close.
#[test]
fn loses_no_connection_in_the_queue() {
    // Between the last look at the queue and the close a connection can still come in: the kernel has no way
    // to close a listener without its queue. That moment is a microsecond, so that one in ten drains under a
    // stream of connections is already more than it explains.
    let mut lost = 0;
    for _ in 0..10 {
        let mut proxy = Plan::to_addresses(&[]).start();
        let address = proxy.address;
        let (first, served_one) = channel();
        let clients = std::thread::spawn(move || {
            let mut served = 0;
            while let Ok(stream) = TcpStream::connect(address) {
                drop(stream);
                let Ok(mut stream) = TcpStream::connect(address) else { break };
                std::io::Write::write_all(&mut stream, get("/healthz", "").as_bytes()).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let mut answer = [0; 12];
                if let Err(error) = std::io::Read::read_exact(&mut stream, &mut answer) {
                    let reset = error.kind() == std::io::ErrorKind::ConnectionReset;
                    assert!(reset && served > 0, "{error}");
                    return (served, 1);
                }
                assert_eq!(&answer, b"HTTP/1.1 200");
                served += 1;
                if served == 1 {
                    first.send(()).unwrap();
                }
            }
            (served, 0)
        });
        served_one.recv_timeout(PATIENCE).unwrap();
        proxy.begin_drain();
        proxy.serving.take().unwrap().wait().unwrap();
        let (served, cut) = clients.join().unwrap();
        assert!(served > 0);
        lost += cut;
    }
    assert!(lost <= 1, "{lost} of 10 drains cut a connection that was in the queue");
}

/// What doesn't finish is cut at the deadline, or by a second signal.
#[test]
fn cuts_what_does_not_finish() {
    let (upstream, _go) = held();
    let mut proxy = Plan::to(&[&upstream]).start();
    let mut client = proxy.client();
    client.send(get("/", ""));
    upstream.head();
    proxy.begin_drain();
    wait_for(&proxy, Phase::Closing);
    proxy.drain.end();
    proxy.serving.take().unwrap().wait().unwrap();
    assert!(client.is_closed());
}

/// A swap is seen by the next request on a connection that is open already, whatever generation the
/// new snapshot says that it is.
#[test]
fn sees_a_swap() {
    let (one, two) = (Upstream::fixed(reply_of("1")), Upstream::fixed(reply_of("2")));
    let proxy = Plan::to(&[&one]).start();
    let mut client = proxy.client();
    for (generation, upstream, want) in [(2, &two, "2"), (2, &one, "1"), (1, &two, "2")] {
        client.ask(get("/", ""));
        proxy.snapshots.publish(Plan::to(&[upstream]).generation(generation).snapshot());
        assert_eq!(client.ask(get("/", "")).text(), want, "{generation}");
    }
}

/// reload-pins-old-configs: neither idle threads, nor open exchanges, nor pools hold an old snapshot.
#[test]
fn pins_no_old_snapshot() {
    let (upstream, go) = held();
    let plan = || Plan::to(&[&upstream]);
    let proxy = plan().start();
    let mut clients = Vec::new();
    let mut old = Vec::new();
    for generation in 2..20 {
        let mut client = proxy.client();
        client.send(get("/", ""));
        upstream.head();
        clients.push(client);
        old.push(Arc::downgrade(&proxy.snapshots.current()));
        proxy.snapshots.publish(plan().generation(generation).snapshot());
    }
    eventually(|| {
        proxy.snapshots.sweep();
        old.iter().all(|old| old.strong_count() == 0)
    });
    // Whichever the upstream answers first.
    for _ in &clients {
        go.send(()).unwrap();
    }
    for client in &mut clients {
        assert_eq!(client.reply().text(), "done");
    }
}

/// One socket a thread, all on one port; a taken port is an error that names it.
#[test]
fn listens_once_a_thread() {
    let upstream = Upstream::fixed(reply_of("hi"));
    let snapshots = Arc::new(Snapshots::new(Plan::to(&[&upstream]).snapshot()));
    let any = "127.0.0.1:0".parse().unwrap();
    let listeners = Listeners::bind(&[any, any], 3).unwrap();
    let addresses = listeners.addresses().unwrap();
    assert_ne!(addresses[0], addresses[1]);
    let drain = Drain::new(Duration::ZERO, Duration::from_secs(5));
    let serving = serve(listeners, &snapshots, &drain, None).unwrap();
    let mut clients: Vec<_> = (0..64).map(|n| Client::connect(addresses[n % 2])).collect();
    for client in &mut clients {
        assert_eq!(client.ask(get("/", "")).text(), "hi");
    }
    drain.end();
    serving.wait().unwrap();

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = Listeners::bind(&[address], 1).unwrap_err();
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}
