//! The comments of a `.fuse` file that say what to expect.
//!
//! - `// kernels: f = 1, g = 2` states how many kernels functions become.
//! - `// run: f(M = 3, N = 5)` runs a function at these extents.
//! - `// ranges: wide` says that the program is too deep for error ranges to stay narrow.
//! - `// wgsl: tile 32x32x16` adds the variants of this name to the goldens, besides each kernel's last one.

use fuse_artifact::{Kernel, Variant};

/// What a file asks for.
#[derive(Debug, Default)]
pub(crate) struct Directives {
    pub(crate) runs: Vec<Run>,
    pub(crate) wide_ranges: bool,
    kernels: Vec<(String, usize)>,
    variants: Vec<String>,
}

/// `f(M = 3, N = 5)`.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) function: String,
    pub(crate) dims: Vec<(String, usize)>,
}

impl Directives {
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let mut directives = Self::default();
        for line in source.lines().filter_map(|line| line.strip_prefix("// ")) {
            match line.split_once(": ") {
                Some(("kernels", list)) => directives.kernels.extend(assignments(list)?),
                Some(("run", call)) => directives.runs.push(Run::parse(call)?),
                Some(("ranges", "wide")) => directives.wide_ranges = true,
                Some(("wgsl", name)) => directives.variants.push(name.to_owned()),
                _ => {}
            }
        }
        if directives.runs.is_empty() { Err("expected a line `// run: f(…)`".to_owned()) } else { Ok(directives) }
    }

    pub(crate) fn kernels(&self, function: &str) -> Option<usize> {
        self.kernels.iter().find(|(name, _)| name == function).map(|&(_, count)| count)
    }

    /// The variants whose WGSL belongs to the goldens.
    pub(crate) fn shown<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = &'a Variant> {
        let last = kernel.variants.len().saturating_sub(1);
        let named = |variant: &Variant| self.variants.iter().any(|name| *name == variant.name);
        kernel.variants.iter().enumerate().filter(move |(i, variant)| *i == last || named(variant)).map(|(_, v)| v)
    }
}

impl Run {
    fn parse(call: &str) -> Result<Self, String> {
        let inside = call.strip_suffix(')').and_then(|call| call.split_once('('));
        let (function, list) = inside.ok_or_else(|| format!("expected `f(M = 3, …)`, found `{call}`"))?;
        Ok(Self { function: function.to_owned(), dims: assignments(list)? })
    }
}

/// `name = number`, separated by commas.
fn assignments(list: &str) -> Result<Vec<(String, usize)>, String> {
    let assignment = |item: &str| {
        let (name, number) = item.split_once('=')?;
        Some((name.trim().to_owned(), number.trim().parse().ok()?))
    };
    list.split(',').map(|item| assignment(item).ok_or_else(|| format!("expected `name = 3`, found `{item}`"))).collect()
}
