//! The same over a real socket.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a failing test may panic")]

#[path = "support/world.rs"]
mod world;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use world::{PATHS, World};

async fn listen(world: &World) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = world.router.clone();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Sends bytes, and reads until the connection is closed or `Connection: close` was asked for.
async fn exchange(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    tokio::time::timeout(Duration::from_secs(20), read).await.expect("an answer").ok();
    String::from_utf8_lossy(&answer).into_owned()
}

fn put(token: &str, extra: &str, body: &str) -> String {
    format!(
        "PUT {PATHS} HTTP/1.1\r\nHost: admin\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{extra}\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_socket() {
    let world = World::with_claim().await;
    let address = listen(&world).await;
    let token = &*world.tokens.publish;
    let map = r#"{"paths":{"a":"next.tickets.example"}}"#;
    let length = format!("Content-Length: {}\r\n", map.len());
    let chunked = format!("{:x}\r\n{map}\r\n0\r\n\r\n", map.len());
    let form = format!("{length}Content-Type: application/x-www-form-urlencoded\r\n");
    let cases = [
        (put(token, &length, map), "HTTP/1.1 200 OK"),
        (put(token, "Transfer-Encoding: chunked\r\n", &chunked), "HTTP/1.1 200 OK"),
        (put(token, &form, map), "HTTP/1.1 200 OK"),
        (put("x", &length, map), "HTTP/1.1 401 Unauthorized"),
        (put(token, "", ""), "HTTP/1.1 400 Bad Request"),
        (put(token, "Content-Length: 99999999\r\n", ""), "HTTP/1.1 413 Payload Too Large"),
        (
            put(token, "Content-Length: 99999999\r\nExpect: 100-continue\r\n", ""),
            "HTTP/1.1 413 Payload Too Large",
        ),
        (put(token, "Transfer-Encoding: chunked\r\n", "zz\r\n"), "HTTP/1.1 400 Bad Request"),
        (
            format!("HEAD {PATHS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 405 Method Not Allowed",
        ),
        (
            "HEAD /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK",
        ),
        (
            format!(
                "GET /api/report?token={token} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            ),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            format!(
                "GET http://a:{token}@a/healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            ),
            "HTTP/1.1 400 Bad Request",
        ),
    ];
    for (request, want) in cases {
        let answer = exchange(address, request.as_bytes()).await;
        assert!(answer.starts_with(want), "{request}\n{answer}");
        assert!(!answer.contains(&token[4..]), "{answer}");
    }
}

/// A body without a length is read up to the limit, and no further; the answer comes before the body ends.
#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_refused_at_the_limit() {
    let world = World::with_claim().await;
    let address = listen(&world).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = put(&world.tokens.publish, "Transfer-Encoding: chunked\r\n", "");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let sender = tokio::spawn(async move {
        let mut sent = 0_usize;
        let chunk = [&b"10000\r\n"[..], &[b' '; 0x1_0000], b"\r\n"].concat();
        while writer.write_all(&chunk).await.is_ok() {
            sent += 0x1_0000;
            assert!(sent < 1 << 30, "read without end");
        }
        sent
    });
    let mut answer = vec![0; 64];
    let read =
        tokio::time::timeout(Duration::from_secs(20), reader.read(&mut answer)).await.unwrap();
    let text = String::from_utf8_lossy(&answer[..read.unwrap_or(0)]).into_owned();
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    drop(reader);
    let sent = sender.await.unwrap();
    let limit = fingerpost_claims::Limits::default().max_body();
    assert!(sent < limit + (64 << 20), "{sent} bytes were taken");
}
