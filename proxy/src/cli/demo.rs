//! `demo`: a flip on this machine.

use super::output::Output;
use crate::demo;

pub(super) fn demo(check: bool) -> Output {
    let shown = if check { demo::check() } else { demo::serve() };
    match shown {
        Ok(()) => Output::default(),
        Err(error) => Output::failure(format!("fingerpost: demo: {error}\n")),
    }
}
