//! What the service manager is told (`sd_notify`); without one, nobody.

use sd_notify::NotifyState;

/// This process serves.
pub(super) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The configuration is read again, or another process is started.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "there is no clock"),
    }
}

/// Another process serves from now on, and is the service.
pub(super) fn succeeded_by(process: u32) {
    tell(&[NotifyState::MainPid(process), NotifyState::Ready]);
}

/// This process drains, and the service ends with it.
pub(super) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "the service manager can't be told");
    }
}
