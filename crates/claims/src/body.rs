//! What publishers send, read strictly.

mod attach;
mod error;
mod paths;

pub use self::attach::AttachBody;
pub use self::error::{BodyError, Problem, Problems};
pub use self::paths::RawPaths;
