//! Chance, and the time of day: what the crates below take as arguments.

use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use fingerpost_control::Ambient;

/// The system's clock and its random numbers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct System;

impl System {
    /// Makes sure that there are random numbers.
    ///
    /// # Errors
    ///
    /// When the system has none to give.
    pub fn new() -> io::Result<Self> {
        bytes::<32>().map(|_| Self)
    }
}

impl Ambient for System {
    #[expect(clippy::disallowed_methods, reason = "here is where the time comes from")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self) -> [u8; 32] {
        // A system that had some has more; ending is better than a token that can be guessed.
        bytes().unwrap_or_else(|error| {
            tracing::error!(%error, "there are no random numbers any more");
            std::process::abort()
        })
    }
}

/// Asks the system for random bytes.
///
/// The file is opened once: when there is no descriptor left, there are random numbers still.
///
/// # Errors
///
/// When it has none to give.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    static SOURCE: OnceLock<File> = OnceLock::new();
    let mut source = match SOURCE.get() {
        Some(source) => source,
        None => {
            let opened = File::open("/dev/urandom")?;
            SOURCE.get_or_init(|| opened)
        }
    };
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A text that nobody else has.
pub(crate) fn id() -> String {
    u128::from_ne_bytes(first(System.random())).to_string()
}

/// A pause up to a quarter longer, so that boxes do not look all at once.
pub(crate) fn jitter(pause: Duration) -> Duration {
    let share = u32::from(u16::from_ne_bytes(first(System.random())));
    pause + pause / 4 * share / (1 << 16)
}

fn first<const N: usize>(random: [u8; 32]) -> [u8; N] {
    let mut out = [0; N];
    out.iter_mut().zip(random).for_each(|(out, byte)| *out = byte);
    out
}
