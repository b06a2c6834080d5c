//! Diagnostics: errors and warnings of a `fuse!` block.
//!
//! Input: reports of parser, checks and lowering. Output: [`Diagnostics`], by function, then as found. `fuse-macros`
//! expands them.

mod codes;
mod suggest;

use std::{
    cell::{Cell, RefCell},
    fmt,
};

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

pub use codes::Code;
pub(crate) use suggest::suggest;

/// First and last token of a subject.
pub type SourceRange = (Span, Span);

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// No kernel is generated.
    Error,
    /// The kernel is generated. Stable Rust has no warnings from macros, so the macro makes rustc warn.
    Warning,
}

/// Error or warning.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Catalogue entry.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// Lower case, no full stop, understandable without the spans.
    pub message: String,
    /// Primary position.
    pub span: SourceRange,
    /// Positions with notes.
    pub secondary: Vec<(SourceRange, String)>,
    /// Suggestions of what to write.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// Creates a diagnostic with the severity of its code.
    #[must_use]
    pub fn new(code: Code, span: SourceRange, message: impl Into<String>) -> Self {
        Self { code, severity: code.severity(), message: message.into(), span, secondary: Vec::new(), help: Vec::new() }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, span: SourceRange, text: impl Into<String>) -> Self {
        self.secondary.push((span, text.into()));
        self
    }

    /// Replaces all suggestions.
    #[must_use]
    pub fn instead(mut self, text: impl Into<String>) -> Self {
        self.help = vec![text.into()];
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        let message = error.to_string();
        if message.contains("cannot be chained") {
            return Self::new(Code::ChainedComparison, (error.span(), error.span()), "comparisons cannot be chained")
                .help("write `a < b && b < c`");
        }
        let mut message = message;
        if let Some(first) = message.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        Self::new(Code::SyntaxError, (error.span(), error.span()), message)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (_, note) in &self.secondary {
            write!(f, "\nnote: {note}")?;
        }
        for help in &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

/// Diagnostics of a block, in a deterministic order.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// True without errors and warnings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if the block cannot be compiled.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// All diagnostics, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Errors only.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|d| d.severity == Severity::Error)
    }

    /// Warnings only.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|d| d.severity == Severity::Warning)
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// Collector of reports.
///
/// # Panics
/// In debug builds, if dropped without [`Sink::finish`]: no report may be lost.
pub(crate) struct Sink {
    reports: RefCell<Vec<(usize, Diagnostic)>>,
    function: Cell<usize>,
    finished: Cell<bool>,
}

impl Sink {
    pub(crate) fn new() -> Self {
        Self { reports: RefCell::default(), function: Cell::new(0), finished: Cell::new(false) }
    }

    pub(crate) fn enter(&self, function: usize) {
        self.function.set(function);
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.reports.borrow_mut().push((self.function.get(), diagnostic));
    }

    pub(crate) fn errors(&self) -> usize {
        self.reports.borrow().iter().filter(|(_, d)| d.severity == Severity::Error).count()
    }

    pub(crate) fn errors_here(&self) -> usize {
        let here = self.function.get();
        let reports = self.reports.borrow();
        reports.iter().filter(|(function, d)| *function == here && d.severity == Severity::Error).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.reports.borrow().len()
    }

    pub(crate) fn annotate(&self, length: usize, span: SourceRange, note: &str) {
        for (_, diagnostic) in self.reports.borrow_mut().iter_mut().skip(length) {
            diagnostic.secondary.push((span, note.into()));
        }
    }

    /// Moves reports after the first `length` to `span`; the note describes the old position.
    pub(crate) fn relocate(&self, length: usize, span: SourceRange, note: &str) {
        for (_, diagnostic) in self.reports.borrow_mut().iter_mut().skip(length) {
            let found = std::mem::replace(&mut diagnostic.span, span);
            diagnostic.secondary.insert(0, (found, note.into()));
        }
    }

    pub(crate) fn truncate(&self, length: usize) {
        self.reports.borrow_mut().truncate(length);
    }

    pub(crate) fn finish(self) -> Diagnostics {
        self.finished.set(true);
        let mut reports = self.reports.take();
        reports.sort_by_key(|(function, _)| *function);
        Diagnostics { list: reports.into_iter().map(|(_, diagnostic)| diagnostic).collect() }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        debug_assert!(self.finished.get() || std::thread::panicking(), "diagnostics were collected and not reported");
    }
}

pub(crate) fn range_of(tokens: &impl ToTokens) -> SourceRange {
    range_of_stream(tokens.to_token_stream())
}

pub(crate) fn range_of_stream(tokens: TokenStream) -> SourceRange {
    let mut tokens = tokens.into_iter();
    let first = tokens.next();
    let last = tokens.last();
    match (first, last) {
        (Some(first), Some(last)) => (first.span(), last.span()),
        (Some(only), None) => (only.span(), only.span()),
        (None, _) => (Span::call_site(), Span::call_site()),
    }
}
