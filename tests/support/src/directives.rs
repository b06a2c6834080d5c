//! Directives: comments of a `.fuse` file with its runs and expected results.
//!
//! - `// kernels: f = 1, g = 2` states the numbers of kernels of functions.
//! - `// run: f(M = 3, N = 5)` runs a function at these extents.
//! - `// ranges: wide` says that the program is too deep for error ranges to stay narrow.
//! - `// wgsl: f.0.matmul tile 32x32x16` makes the shaders of a variant of a kernel goldens.

use fuse_compiler::interp::Value;

use crate::{Program, data};

/// The directives of a file.
#[derive(Debug, Default)]
pub struct Directives {
    /// The runs, in order.
    pub runs: Vec<Run>,
    /// True if error ranges may be wide.
    pub wide_ranges: bool,
    kernels: Vec<(String, usize)>,
    /// The kernels and variants whose shaders belong to the goldens.
    pub shown: Vec<(String, String)>,
}

/// `f(M = 3, N = 5)`.
#[derive(Debug)]
pub struct Run {
    /// The function.
    pub function: String,
    /// The extents of its dimensions.
    pub dims: Vec<(String, usize)>,
}

impl Directives {
    /// Parses the directives of a file.
    ///
    /// # Errors
    /// A message with the expected directive.
    pub fn parse(source: &str) -> Result<Self, String> {
        let mut directives = Self::default();
        for line in source.lines().filter_map(|line| line.strip_prefix("// ")) {
            match line.split_once(": ") {
                Some(("kernels", list)) => directives.kernels.extend(assignments(list)?),
                Some(("run", call)) => directives.runs.push(Run::parse(call)?),
                Some(("ranges", "wide")) => directives.wide_ranges = true,
                Some(("wgsl", names)) => {
                    let error = || format!("expected `f.0.matmul tile 32x32x16`, found `{names}`");
                    let (kernel, variant) = names.split_once(' ').ok_or_else(error)?;
                    directives.shown.push((kernel.to_owned(), variant.to_owned()));
                }
                _ => {}
            }
        }
        if directives.runs.is_empty() { Err("expected a line `// run: f(…)`".to_owned()) } else { Ok(directives) }
    }

    /// The programs of the file that runs name, with their inputs.
    ///
    /// # Panics
    /// If the file has no function with the name of a run.
    pub fn launches<'a>(&self, programs: &'a [Program]) -> Vec<(&'a Program, Vec<Value>)> {
        let mut launches = vec![];
        for (seed, run) in self.runs.iter().enumerate() {
            let dims: Vec<(&str, usize)> = run.dims.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
            let before = launches.len();
            for program in programs.iter().filter(|program| program.graph.name == run.function) {
                launches.push((program, data::inputs(&program.graph, &dims, seed as u64)));
            }
            assert!(launches.len() > before, "no function `{}` to run", run.function);
        }
        launches
    }

    /// The expected number of kernels of a function.
    pub fn kernels(&self, function: &str) -> Option<usize> {
        self.kernels.iter().find(|(name, _)| name == function).map(|&(_, count)| count)
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
