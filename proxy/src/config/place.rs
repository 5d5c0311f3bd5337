//! Where in the configuration something stands: `routes[2].fleet`.

use std::fmt::{self, Display, Formatter};

/// A path of keys and array indices from the top of the file.
///
/// Places order so that everything inside a place follows it directly.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Index(usize),
    Key(Box<str>),
}

impl Place {
    /// The file as a whole.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// The value of a key of the table at this place.
    pub(crate) fn key(&self, key: &str) -> Self {
        self.then(Step::Key(key.into()))
    }

    /// An element of the array at this place.
    pub(crate) fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    fn then(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    if is_bare(key) {
                        f.write_str(key)?;
                    } else {
                        write!(f, "{key:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether TOML takes the key without quotes.
fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
