//! Where log lines go, and how they look.

use tracing::Level;
use tracing::level_filters::LevelFilter;

use crate::config::{Log, LogFormat, LogLevel};

/// Writes every line of this process to standard output from now on; a second call changes nothing.
pub fn init(log: Log) {
    let level = match log.level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::from_level(level));
    let set = match log.format {
        LogFormat::Text => tracing::subscriber::set_global_default(
            lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stdout())).finish(),
        ),
        LogFormat::Json => {
            tracing::subscriber::set_global_default(lines.json().flatten_event(true).finish())
        }
    };
    // Only a second subscriber in one process is refused.
    set.unwrap_or_default();
}
