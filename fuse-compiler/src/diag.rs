//! Diagnostics: what is wrong with a `fuse!` block, as values that the macro turns into compile errors.
//!
//! Input: reports from the parser, the checks and the lowering. Output: [`Diagnostics`], all of them, in a
//! deterministic order (by function, then in the order in which they were found).
//!
//! Not here: how a diagnostic becomes a `compile_error!` or a warning (`fuse-macros`).

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

/// The first and the last token of what a message is about.
pub type SourceRange = (Span, Span);

/// Whether the block can be compiled in spite of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// No kernel is made.
    Error,
    /// The kernel is made. Stable Rust gives macros no way to warn, so the macro makes rustc warn instead.
    Warning,
}

/// One thing that is wrong, where, and what to write instead.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which entry of the catalogue it is.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop, understandable without the spans.
    pub message: String,
    /// Where it is.
    pub span: SourceRange,
    /// Other places that matter, with what they say.
    pub secondary: Vec<(SourceRange, String)>,
    /// What to write instead.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic with the severity of its code.
    #[must_use]
    pub fn new(code: Code, span: SourceRange, message: impl Into<String>) -> Self {
        Self { code, severity: code.severity(), message: message.into(), span, secondary: Vec::new(), help: Vec::new() }
    }

    /// Adds another place with what it says.
    #[must_use]
    pub fn note(mut self, span: SourceRange, text: impl Into<String>) -> Self {
        self.secondary.push((span, text.into()));
        self
    }

    /// Replaces what to write instead.
    #[must_use]
    pub fn instead(mut self, text: impl Into<String>) -> Self {
        self.help = vec![text.into()];
        self
    }

    /// Adds what to write instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// An error of the parser.
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

/// The message with its notes and help, as a compile error shows it.
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

/// Everything that is wrong with a block, in a deterministic order.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the block cannot be compiled.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|d| d.severity == Severity::Error)
    }

    /// The warnings.
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

/// Collects reports while the front end runs. Dropping it without [`Sink::finish`] is a bug that debug
/// builds turn into a panic, so that no report can be forgotten.
pub(crate) struct Sink {
    /// Each report with the place of its function in the block.
    reports: RefCell<Vec<(usize, Diagnostic)>>,
    function: Cell<usize>,
    finished: Cell<bool>,
}

impl Sink {
    pub(crate) fn new() -> Self {
        Self { reports: RefCell::default(), function: Cell::new(0), finished: Cell::new(false) }
    }

    /// Says which function of the block, counted in the source, the next reports are about.
    pub(crate) fn enter(&self, function: usize) {
        self.function.set(function);
    }

    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.reports.borrow_mut().push((self.function.get(), diagnostic));
    }

    /// The number of errors so far, to find out whether a step added some.
    pub(crate) fn errors(&self) -> usize {
        self.reports.borrow().iter().filter(|(_, d)| d.severity == Severity::Error).count()
    }

    /// The number of errors about the function that was entered last.
    pub(crate) fn errors_here(&self) -> usize {
        let here = self.function.get();
        let reports = self.reports.borrow();
        reports.iter().filter(|(function, d)| *function == here && d.severity == Severity::Error).count()
    }

    /// The number of reports so far.
    pub(crate) fn len(&self) -> usize {
        self.reports.borrow().len()
    }

    /// Adds a note to all reports after the first `length`.
    pub(crate) fn annotate(&self, length: usize, span: SourceRange, note: &str) {
        for (_, diagnostic) in self.reports.borrow_mut().iter_mut().skip(length) {
            diagnostic.secondary.push((span, note.into()));
        }
    }

    /// Moves all reports after the first `length` to another place; the note says what the old one is.
    pub(crate) fn relocate(&self, length: usize, span: SourceRange, note: &str) {
        for (_, diagnostic) in self.reports.borrow_mut().iter_mut().skip(length) {
            let found = std::mem::replace(&mut diagnostic.span, span);
            diagnostic.secondary.insert(0, (found, note.into()));
        }
    }

    /// Forgets all reports after the first `length`: an instance of a function repeats those of the first.
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

/// The first and the last token of some syntax.
pub(crate) fn range_of(tokens: &impl ToTokens) -> SourceRange {
    range_of_stream(tokens.to_token_stream())
}

/// The first and the last token of a stream; the macro call if it is empty.
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
