//! Work that gives way to requests.

/// Lets requests go first on this thread, and on every thread that it starts.
///
/// Workers are as many as there are cores, so that taking over a large map always takes time from one of them.
/// Under equal priority a request that arrives meanwhile waits for the end of a time slice, milliseconds; behind a
/// lower one it waits less, and a box without a core to spare still gives a tenth of one to a flip.
///
/// Nothing is done where the system knows no priority of a single thread.
pub(crate) fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(10) {
        tracing::debug!(%error, "a thread keeps the priority of requests");
    }
}
