//! Listening sockets on their way from one process to the next.
//!
//! They are sent over a socket that the next process has as its standard input: no descriptor is ever without
//! close-on-exec, nobody has to guess which numbers are whose, and both sides are safe code. A line says for each
//! what was asked for; the last line is `end`. The answer is `ready`.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use listenfd::ListenFd;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::server::{Inherited, Shared};

/// Holds the process id of whoever passes sockets, so that a later child that inherits the variable is not misled.
pub(super) const VARIABLE: &str = "FINGERPOST_SOCKETS_FROM";

/// What is answered by a process that serves.
pub(super) const READY: &[u8] = b"ready\n";

/// The process that serves until this one does.
#[derive(Debug)]
pub(super) struct Predecessor(UnixStream);

impl Predecessor {
    /// Tells it to end.
    pub(super) fn tell_ready(mut self) {
        if let Err(error) = self.0.write_all(READY) {
            tracing::warn!(%error, "the process before has ended already");
        }
    }
}

/// What was passed to this process, if anything was.
///
/// # Errors
///
/// When a process that passes sockets has ended meanwhile.
pub(super) fn inherited() -> io::Result<(Inherited, Option<Predecessor>)> {
    let from = std::env::var_os(VARIABLE).and_then(|id| id.to_str()?.parse().ok());
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_pid());
    if from.is_none() || from != parent {
        return Ok((Inherited::new(activated()?)?, None));
    }
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let inherited = Inherited::new(receive(&socket)?)?;
    Ok((inherited, Some(Predecessor(socket))))
}

/// The sockets that systemd has opened for this process, in the order of its unit. Called before there are threads,
/// since the variables are removed.
fn activated() -> io::Result<Vec<Shared>> {
    let meant = std::env::var_os("LISTEN_PID").and_then(|id| id.to_str()?.parse().ok());
    if meant != Some(std::process::id()) {
        return Ok(Vec::new());
    }
    let mut passed = ListenFd::from_env();
    let mut shared = Vec::new();
    for position in 0..passed.len() {
        if let Some(socket) = passed.take_tcp_listener(position)? {
            shared.push(Shared { asked: socket.local_addr()?, socket });
        }
    }
    Ok(shared)
}

/// Sends sockets.
///
/// # Errors
///
/// What the system says.
pub(super) fn send(socket: &UnixStream, shared: &[Shared]) -> io::Result<()> {
    socket.set_write_timeout(Some(PATIENCE))?;
    for some in shared.chunks(AT_ONCE) {
        let text: String = some.iter().map(|shared| format!("{}\n", shared.asked)).collect();
        let sockets: Vec<BorrowedFd<'_>> = some.iter().map(|one| one.socket.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&sockets)) {
            return Err(io::Error::other("too many sockets at once"));
        }
        let text = text.as_bytes();
        let sent = sendmsg(socket, &[IoSlice::new(text)], &mut control, SendFlags::empty())?;
        // The sockets went with the first byte.
        let mut rest: &UnixStream = socket;
        rest.write_all(text.get(sent..).unwrap_or_default())?;
    }
    let mut socket: &UnixStream = socket;
    socket.write_all(END)
}

/// Receives what [`send`] sent.
fn receive(socket: &UnixStream) -> io::Result<Vec<Shared>> {
    let (mut text, mut sockets) = (Vec::new(), Vec::new());
    while !text.ends_with(END) {
        let mut some = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(AT_ONCE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut some)];
        let received = recvmsg(socket, &mut into, &mut control, RecvFlags::empty())?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(passed) = message {
                sockets.extend(passed);
            }
        }
        if received.bytes == 0 {
            return Err(io::Error::other("the process that passes sockets has ended"));
        }
        text.extend_from_slice(some.get(..received.bytes).unwrap_or_default());
    }
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    let asked = text.lines().filter(|line| !line.is_empty() && *line != "end");
    let pair = |(asked, socket): (&str, OwnedFd)| {
        fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        let asked = asked.parse().map_err(io::Error::other)?;
        Ok(Shared { asked, socket: TcpListener::from(socket) })
    };
    asked.zip(sockets).map(pair).collect()
}

/// Linux takes up to 253 in one message.
const AT_ONCE: usize = 64;

/// No address begins with a line feed.
const END: &[u8] = b"\nend\n";

/// Both sides do nothing else meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);
