//! What the door takes from its surroundings.

use std::fmt;
use std::time::SystemTime;

/// What the door takes from its surroundings: the time, for records that people read, and chance.
pub trait Ambient: fmt::Debug + Send + Sync {
    /// The time. Nothing depends on it but what records say: a clock that jumps breaks nothing.
    fn now(&self) -> SystemTime;

    /// 256 bits that nobody can guess, from the operating system. New ones at each call.
    fn random(&self) -> [u8; 32];
}
