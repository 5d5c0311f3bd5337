//! What a running box says of itself, and what was done to its claims.

mod audit;
mod explain;
mod history;
mod nodes;
mod report;
mod routes;
mod snapshot;

pub(crate) use self::audit::audit;
pub(crate) use self::explain::explain;
pub(crate) use self::history::history;
pub(crate) use self::nodes::nodes;
pub(crate) use self::report::report;
pub(crate) use self::routes::routes;
pub(crate) use self::snapshot::snapshot;
