//! A server that is killed and restarted under load, while another one of its fleet is up.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fingerpost::server::Listeners;
use socket2::{Domain, SockRef, Socket, Type};

use super::forwarding::reply_of;
use super::proxy::Plan;

/// A server that ends as a killed process does: at once, and with everything that it has open.
struct Mortal {
    address: SocketAddr,
    running: Arc<Run>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Run {
    dead: AtomicBool,
    answered: AtomicUsize,
    open: Mutex<HashMap<usize, TcpStream>>,
}

impl Mortal {
    fn start(address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&address.into()).unwrap();
        socket.listen(128).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        let running = Arc::new(Run::default());
        let run = Arc::clone(&running);
        let accepting = thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                stream.set_nodelay(true).unwrap();
                // Half of the connections end with a reset.
                let linger = (number % 2 == 0).then_some(Duration::ZERO);
                SockRef::from(&stream).set_linger(linger).unwrap();
                run.open.lock().unwrap().insert(number, stream.try_clone().unwrap());
                if run.dead.load(Ordering::SeqCst) {
                    break;
                }
                let run = Arc::clone(&run);
                thread::spawn(move || {
                    answer(stream, &run);
                    run.open.lock().unwrap().remove(&number);
                });
            }
        });
        Self { address, running, accepting: Some(accepting) }
    }

    fn answered(&self) -> usize {
        self.running.answered.load(Ordering::SeqCst)
    }

    fn kill(mut self) -> SocketAddr {
        self.running.dead.store(true, Ordering::SeqCst);
        // Wakes the one that accepts.
        drop(TcpStream::connect(self.address));
        self.accepting.take().unwrap().join().unwrap();
        for (_, stream) in self.running.open.lock().unwrap().drain() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.address
    }
}

fn answer(mut stream: TcpStream, run: &Run) {
    let mut chunk = [0; 4096];
    let mut head = Vec::new();
    while !run.dead.load(Ordering::SeqCst) {
        match stream.read(&mut chunk) {
            Ok(read) if read > 0 => head.extend_from_slice(&chunk[..read]),
            _ => return,
        }
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            // Killed before it answers, now and then.
            if run.dead.load(Ordering::SeqCst)
                || stream.write_all(reply_of("ok").as_bytes()).is_err()
            {
                return;
            }
            run.answered.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("{what}");
}

/// Kills it `times` over; says how many requests there were.
fn survive(times: usize) -> usize {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (stays, mut falls) = (Mortal::start(any), Mortal::start(any));
    let mut plan = Plan::to_addresses(&[falls.address, stays.address]);
    plan.fleets[0].fail_timeout = Duration::from_millis(20);
    let listeners = Listeners::bind(&[any], 2).unwrap();
    let proxy = plan.start_on(listeners, Duration::ZERO);
    let (over, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..8)
        .map(|number| {
            let (over, done) = (Arc::clone(&over), Arc::clone(&done));
            let mut client = proxy.client();
            let method = ["GET", "PUT", "DELETE", "OPTIONS"][number % 4];
            thread::spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let reply =
                        client.ask(format!("{method} /x HTTP/1.1\r\nHost: a.example\r\n\r\n"));
                    assert_eq!(reply.status, 200, "{method} {}", reply.text());
                    done.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for time in 0..times {
        // It has to be in use to be missed.
        until("the restarted server is used", || falls.answered() > 50);
        let address = falls.kill();
        let before = done.load(Ordering::SeqCst);
        until("requests are answered", || done.load(Ordering::SeqCst) > before + 100 + time % 100);
        falls = Mortal::start(address);
    }
    over.store(true, Ordering::SeqCst);
    for client in clients {
        client.join().unwrap();
    }
    drop(proxy);
    falls.kill();
    stays.kill();
    done.load(Ordering::SeqCst)
}

#[test]
fn survives_restarts() {
    survive(5);
}

#[test]
#[ignore = "takes long; FINGERPOST_RESTARTS says how many restarts (50)"]
fn survives_many_restarts() {
    let times = std::env::var_os("FINGERPOST_RESTARTS");
    let times = times.map_or(50, |times| times.to_str().unwrap().parse().unwrap());
    println!("{} requests over {times} restarts", survive(times));
}
