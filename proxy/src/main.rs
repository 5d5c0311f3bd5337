//! The `fingerpost` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    fingerpost::cli::run(std::env::args_os())
}
