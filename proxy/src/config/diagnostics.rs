//! What is wrong with a configuration, and where.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// How much a [`Diagnostic`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a configuration either works or it does not")]
pub enum Severity {
    /// The configuration can't be used.
    Error,
    /// The configuration can be used, but may not do what was meant.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub(crate) severity: Severity,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) at: String,
    pub(crate) message: String,
}

impl Diagnostic {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The line, from 1; 0 when the file could not be read at all.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1; 0 when the file could not be read at all.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The place in the words of the configuration (`routes[2].fleet`), empty for the whole file.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// What is wrong there.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Everything that is wrong with one configuration, in the order of the file.
///
/// [`Display`] writes one line for each: `FILE:LINE:COLUMN: PLACE: MESSAGE`, with `warning: `
/// before the place of a warning. The position is left out where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    file: Arc<str>,
    all: Vec<Diagnostic>,
    pub(crate) left_out: usize,
}

impl Diagnostics {
    pub(crate) fn new(file: &str, all: Vec<Diagnostic>) -> Self {
        Self { file: file.into(), all, left_out: 0 }
    }

    /// Builds the report of a file that could not be read.
    pub(crate) fn unreadable(file: &str, message: String) -> Self {
        let at = String::new();
        let all = vec![Diagnostic { severity: Severity::Error, line: 0, column: 0, at, message }];
        Self::new(file, all)
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many more there are that were only counted.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.all.iter().any(|one| one.severity == Severity::Error)
    }

    /// How many there are of one severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.all.iter().filter(|one| one.severity == severity).count()
    }

    /// All of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter()
    }
}

impl Display for Diagnostics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for one in &self.all {
            f.write_str(&self.file)?;
            if one.line > 0 {
                write!(f, ":{}:{}", one.line, one.column)?;
            }
            f.write_str(": ")?;
            if one.severity == Severity::Warning {
                f.write_str("warning: ")?;
            }
            if !one.at.is_empty() {
                write!(f, "{}: ", one.at)?;
            }
            writeln!(f, "{}", one.message)?;
        }
        if self.left_out > 0 {
            writeln!(f, "{}: and {} more", self.file, self.left_out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
