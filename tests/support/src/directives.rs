//! Directives: comments of a `.fuse` file with runs and expected results.
//!
//! - `// kernels: f = 1, g = 2`: numbers of kernels.
//! - `// run: f(M = 3, N = 5)`: a run at these extents.
//! - `// ranges: wide`: too deep for narrow error ranges.
//! - `// wgsl: f.0.matmul tile 32x32x16`: the shaders of this variant are goldens.

use fuse_compiler::interp::Value;

use crate::{Program, data};

/// Directives of a file.
#[derive(Debug, Default)]
pub struct Directives {
    /// Runs, in order.
    pub runs: Vec<Run>,
    /// True if error ranges may be wide.
    pub wide_ranges: bool,
    kernels: Vec<(String, usize)>,
    /// Kernels and variants with golden shaders.
    pub shown: Vec<(String, String)>,
}

/// `f(M = 3, N = 5)`.
#[derive(Debug)]
pub struct Run {
    /// Function.
    pub function: String,
    /// Extents.
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

    /// Programs and inputs of the file's runs.
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

    /// Expected kernels of a function.
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
