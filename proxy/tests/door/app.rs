//! An application that answers its own name, as cheaply as can be.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Starts an application that ends with the process, and says where it listens.
pub(crate) fn start(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            small_thread(move || _ = answer(socket, name));
        }
    });
    address
}

/// Answers every request; they have no content.
fn answer(mut socket: TcpStream, name: &str) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
    let (mut buffer, mut filled) = ([0; 8192], 0);
    loop {
        let read = socket.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        if buffer[..filled].ends_with(b"\r\n\r\n") {
            socket.write_all(answer.as_bytes())?;
            filled = 0;
        }
    }
}

/// There are hundreds, and none goes deep.
pub(crate) fn small_thread(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(128 * 1024).spawn(work).unwrap();
}
