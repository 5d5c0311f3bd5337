//! The collector of diagnostics that knows where each place of the file is.

use std::collections::BTreeSet;
use std::fmt::Display;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostics::{Diagnostic, Diagnostics, Severity};
use super::place::{Place, Step};

/// Past this many diagnostics the rest is only counted: nobody reads them, and looking for
/// spelling suggestions in a map of a million entries must stay cheap.
const MOST: usize = 1000;

/// Collects what is wrong with one file.
pub(crate) struct Report<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
    tree: Spanned<DeTable<'t>>,
    found: Vec<Found>,
    has_errors: bool,
    left_out: usize,
    broken: BTreeSet<Place>,
}

struct Found {
    severity: Severity,
    offset: usize,
    at: String,
    message: String,
}

impl<'t> Report<'t> {
    pub(crate) fn new(text: &'t str, tree: Spanned<DeTable<'t>>) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Self {
            text,
            line_starts,
            tree,
            found: Vec::new(),
            has_errors: false,
            left_out: 0,
            broken: BTreeSet::new(),
        }
    }

    /// Reports that the value at a place is wrong.
    pub(crate) fn error(&mut self, place: &Place, message: impl Display) {
        let offset = self.offset(place);
        self.push(Severity::Error, offset, place.to_string(), message);
    }

    /// Reports something at an offset of the text which the tree doesn't know.
    pub(crate) fn error_at(&mut self, offset: usize, place: &Place, message: impl Display) {
        self.push(Severity::Error, offset, place.to_string(), message);
    }

    /// Reports that the value at a place may not do what was meant.
    pub(crate) fn warn(&mut self, place: &Place, message: impl Display) {
        let offset = self.offset(place);
        self.push(Severity::Warning, offset, place.to_string(), message);
    }

    /// Marks a place as wrong in its shape: what is missing inside it may only be misspelled.
    pub(crate) fn mark_broken(&mut self, place: Place) {
        self.broken.insert(place);
    }

    /// Whether something at or inside the place has the wrong shape. Takes logarithmic time.
    pub(crate) fn is_broken(&self, place: &Place) -> bool {
        self.broken.range(place..).next().is_some_and(|first| place.contains(first))
    }

    /// Whether further diagnostics are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MOST
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// The place with its line, to point at from another place: `routes[0] (line 12)`.
    pub(crate) fn cite(&self, place: &Place) -> String {
        format!("{place} (line {})", self.line(self.offset(place)) + 1)
    }

    /// Ends the report: all diagnostics in the order of the file.
    pub(crate) fn finish(mut self, file: &str) -> Diagnostics {
        self.found.sort_by(|a, b| a.offset.cmp(&b.offset).then(a.severity.cmp(&b.severity)));
        let mut all = Vec::with_capacity(self.found.len());
        let mut columns = Columns::default();
        for found in &self.found {
            let line = self.line(found.offset);
            let start = self.line_starts.get(line).copied().unwrap_or(0);
            all.push(Diagnostic {
                severity: found.severity,
                line: line + 1,
                column: columns.of(self.text, start, found.offset),
                at: found.at.clone(),
                message: found.message.clone(),
            });
        }
        let mut diagnostics = Diagnostics::new(file, all);
        diagnostics.left_out = self.left_out;
        diagnostics
    }

    fn push(&mut self, severity: Severity, offset: usize, at: String, message: impl Display) {
        // An error is never hidden behind a thousand warnings: the outcome depends on it.
        if self.is_full() && (severity == Severity::Warning || self.has_errors) {
            self.left_out += 1;
            return;
        }
        self.has_errors |= severity == Severity::Error;
        let message = message.to_string();
        self.found.push(Found { severity, offset, at, message });
    }

    fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The offset of a place, or of the innermost table around it that is in the file.
    fn offset(&self, place: &Place) -> usize {
        let mut offset = self.tree.span().start;
        let mut table = Some(self.tree.get_ref());
        let mut value: Option<&Spanned<DeValue<'_>>> = None;
        for step in place.steps() {
            let next = match step {
                Step::Key(key) => table.and_then(|table| table.get(&**key)),
                Step::Index(index) => value
                    .and_then(|value| value.get_ref().as_array())
                    .and_then(|array| array.get(*index)),
            };
            let Some(next) = next else { break };
            offset = next.span().start;
            table = next.get_ref().as_table();
            value = Some(next);
        }
        offset
    }
}

/// Counts columns without starting over for each diagnostic of one long line.
#[derive(Default)]
struct Columns {
    start: usize,
    offset: usize,
    column: usize,
}

impl Columns {
    fn of(&mut self, text: &str, start: usize, offset: usize) -> usize {
        if self.start != start || self.column == 0 || offset < self.offset {
            *self = Self { start, offset: start, column: 1 };
        }
        let between = text.as_bytes().get(self.offset..offset).unwrap_or_default();
        // Every byte but a UTF-8 continuation byte begins a character.
        self.column += between.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        self.offset = offset;
        self.column
    }
}
