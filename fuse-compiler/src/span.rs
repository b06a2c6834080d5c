//! Places in the user's source, opaque to every stage but the front end, which owns their meaning.

/// A place in the source: an index into the front end's table of token spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span(pub u32);

/// What the [`Span`]s of a block's graphs stand for. Entry 0 is the macro call as a whole.
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
    /// Names a place by its first and last token.
    pub fn add(&mut self, range: (proc_macro2::Span, proc_macro2::Span)) -> Span {
        self.ranges.push(range);
        Span(self.ranges.len() as u32 - 1)
    }

    /// The first and last token of a place; the macro call for a span of another table.
    pub fn range(&self, span: Span) -> (proc_macro2::Span, proc_macro2::Span) {
        self.ranges.get(span.0 as usize).copied().unwrap_or(self.ranges[0])
    }
}
