//! Source positions. Only the front end interprets them.

/// Index into the front end's `SpanTable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span(pub u32);

/// Token ranges of a block. Entry 0 is the macro call.
#[cfg(feature = "syntax")]
#[derive(Clone, Debug)]
pub struct SpanTable {
    ranges: Vec<(proc_macro2::Span, proc_macro2::Span)>,
}

#[cfg(feature = "syntax")]
impl Default for SpanTable {
    fn default() -> Self {
        let call = proc_macro2::Span::call_site();
        Self { ranges: vec![(call, call)] }
    }
}

#[cfg(feature = "syntax")]
impl SpanTable {
    /// Adds a range of first and last token.
    pub fn add(&mut self, range: (proc_macro2::Span, proc_macro2::Span)) -> Span {
        self.ranges.push(range);
        Span(self.ranges.len() as u32 - 1)
    }

    /// First and last token; the macro call for a foreign span.
    pub fn range(&self, span: Span) -> (proc_macro2::Span, proc_macro2::Span) {
        self.ranges.get(span.0 as usize).copied().unwrap_or(self.ranges[0])
    }
}
