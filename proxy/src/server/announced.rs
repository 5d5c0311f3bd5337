//! Whose connection a proxy in front says that it is: PROXY protocol, versions 1 and 2.
//!
//! The header comes before everything else, TLS too. It is believed from whoever can connect to a listener
//! that expects it, and read nowhere else; without one, a connection to such a listener is closed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Both ends of a client's connection to the proxy in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) client: SocketAddr,
    pub(super) local: SocketAddr,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    /// The connection is passed on for a client.
    Passed(Ends),
    /// It is the proxy's own, or it doesn't know whose: a health check.
    Own,
}

/// The beginning of version 2, and of nothing else.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, with its end.
const LINE: usize = 107;
/// More than addresses and everything that proxies add behind them.
const MOST: usize = 4096;

/// Reads a header, and nothing behind it.
pub(super) async fn read(socket: &mut TcpStream) -> io::Result<Announced> {
    let mut first = [0; SIGNATURE.len()];
    socket.read_exact(&mut first).await?;
    if first == *SIGNATURE {
        return read_binary(socket).await;
    }
    if !first.starts_with(b"PROXY ") {
        return Err(malformed());
    }
    let mut line = first.to_vec();
    while !line.ends_with(b"\n") {
        // What is seen and holds no end of a line belongs to it.
        let mut seen = [0; LINE];
        let room = seen.get_mut(line.len()..).filter(|room| !room.is_empty());
        let room = room.ok_or_else(malformed)?;
        let length = socket.peek(room).await?;
        let seen = room.get(..length).unwrap_or_default();
        let end = seen.iter().position(|byte| *byte == b'\n').map_or(length, |at| at + 1);
        let taken = room.get_mut(..end).filter(|taken| !taken.is_empty());
        let taken = taken.ok_or_else(malformed)?;
        socket.read_exact(taken).await?;
        line.extend_from_slice(taken);
    }
    text(&line).ok_or_else(malformed)
}

async fn read_binary(socket: &mut TcpStream) -> io::Result<Announced> {
    let mut fixed = [0; 4];
    socket.read_exact(&mut fixed).await?;
    let [version, family, high, low] = fixed;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > MOST {
        return Err(malformed());
    }
    let mut rest = vec![0; length];
    socket.read_exact(&mut rest).await?;
    binary(version, family, &rest).ok_or_else(malformed)
}

/// `PROXY TCP4 192.0.2.1 192.0.2.2 4711 80`, with its line end.
fn text(line: &[u8]) -> Option<Announced> {
    let line = str::from_utf8(line).ok()?.strip_suffix("\r\n")?.strip_prefix("PROXY ")?;
    if line == "UNKNOWN" || line.starts_with("UNKNOWN ") {
        return Some(Announced::Own);
    }
    let mut words = line.split(' ');
    let mut next = || words.next();
    let family = next()?;
    let (client, local) = (next()?, next()?);
    let (client_port, local_port) = (port(next()?)?, port(next()?)?);
    if next().is_some() {
        return None;
    }
    let address = |text: &str| match family {
        "TCP4" => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        "TCP6" => text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        _ => None,
    };
    Some(Announced::Passed(Ends {
        client: SocketAddr::new(address(client)?, client_port),
        local: SocketAddr::new(address(local)?, local_port),
    }))
}

fn port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain && (text == "0" || !text.starts_with('0')))
}

/// What stands behind the signature: version and command, family and protocol, addresses and more.
fn binary(version: u8, family: u8, rest: &[u8]) -> Option<Announced> {
    match (version, family) {
        (0x20, _) | (0x21, 0) => Some(Announced::Own),
        (0x21, 0x11) => {
            let (client, rest) = rest.split_first_chunk::<4>()?;
            let (local, rest) = rest.split_first_chunk::<4>()?;
            ends(Ipv4Addr::from(*client).into(), Ipv4Addr::from(*local).into(), rest)
        }
        (0x21, 0x21) => {
            let (client, rest) = rest.split_first_chunk::<16>()?;
            let (local, rest) = rest.split_first_chunk::<16>()?;
            ends(Ipv6Addr::from(*client).into(), Ipv6Addr::from(*local).into(), rest)
        }
        // UDP and local sockets carry no HTTP of ours.
        _ => None,
    }
}

fn ends(client: IpAddr, local: IpAddr, ports: &[u8]) -> Option<Announced> {
    let ([a, b, c, d], _) = ports.split_first_chunk::<4>()?;
    Some(Announced::Passed(Ends {
        client: SocketAddr::new(client, u16::from_be_bytes([*a, *b])),
        local: SocketAddr::new(local, u16::from_be_bytes([*c, *d])),
    }))
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a PROXY protocol header")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(client: &str, local: &str) -> Option<Announced> {
        let (client, local) = (client.parse().unwrap(), local.parse().unwrap());
        Some(Announced::Passed(Ends { client, local }))
    }

    #[test]
    fn lines_are_read_strictly() {
        for (line, want) in [
            ("PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\n", passed("192.0.2.1:4711", "10.0.0.1:80")),
            ("PROXY TCP6 2001:db8::1 ::1 0 65535\r\n", passed("[2001:db8::1]:0", "[::1]:65535")),
            ("PROXY UNKNOWN\r\n", Some(Announced::Own)),
            ("PROXY UNKNOWN ff::1 ff::2 1 2\r\n", Some(Announced::Own)),
            ("PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\n", None),
            ("PROXY TCP4 192.0.2.1 10.0.0.1 4711 80 \r\n", None),
            ("PROXY TCP4 192.0.2.1 10.0.0.1 4711\r\n", None),
            ("PROXY TCP4  192.0.2.1 10.0.0.1 4711 80\r\n", None),
            ("PROXY TCP4 192.0.2.1 10.0.0.1 4711 65536\r\n", None),
            ("PROXY TCP4 192.0.2.1 10.0.0.1 +4711 80\r\n", None),
            ("PROXY TCP4 192.0.2.1 10.0.0.1 04711 80\r\n", None),
            ("PROXY TCP4 ::1 ::1 4711 80\r\n", None),
            ("PROXY TCP6 192.0.2.1 10.0.0.1 4711 80\r\n", None),
            ("PROXY tcp4 192.0.2.1 10.0.0.1 4711 80\r\n", None),
            ("PROXY UNKNOWNS\r\n", None),
            ("PROXY \r\n", None),
        ] {
            assert_eq!(text(line.as_bytes()), want, "{line:?}");
        }
    }

    #[test]
    fn bytes_are_read_strictly() {
        let four = [192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x67, 0, 80];
        let mut six = [0; 36];
        (six[0], six[15], six[31], six[35]) = (0xfd, 1, 1, 80);
        let want = passed("192.0.2.1:4711", "10.0.0.1:80");
        for (version, family, rest, want) in [
            (0x21, 0x11, &four[..], want),
            (0x21, 0x11, &[&four[..], &[3, 0, 1, 9]].concat(), want),
            (0x21, 0x21, &six, passed("[fd00::1]:0", "[::1]:80")),
            (0x20, 0x00, &[], Some(Announced::Own)),
            (0x20, 0x11, &four, Some(Announced::Own)),
            (0x21, 0x00, &[], Some(Announced::Own)),
            (0x21, 0x11, &four[..11], None),
            (0x21, 0x21, &six[..35], None),
            (0x21, 0x21, &four, None),
            (0x21, 0x12, &four, None),
            (0x21, 0x31, &four, None),
            (0x11, 0x11, &four, None),
            (0x22, 0x11, &four, None),
        ] {
            assert_eq!(binary(version, family, rest), want, "{version:x} {family:x} {rest:?}");
        }
    }
}
