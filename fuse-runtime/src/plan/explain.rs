//! How a launch would run, for people.

use std::fmt;

use fuse_artifact::Function;

use super::{
    Selection, choose,
    choose::candidates,
    domain::Domain,
    words::{Chosen, fill},
};
use crate::{DeviceInfo, Error, check::bind_applicable, shape::Shape};

/// How a launch would run: per kernel the simplified domain, the chosen variant, and every variant's estimate or
/// the reason against it. `Display` prints it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The function.
    pub function: String,
    /// Its kernels, in order.
    pub kernels: Vec<KernelExplanation>,
}

/// How one kernel would run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelExplanation {
    /// The kernel.
    pub kernel: String,
    /// The simplified extents; of a contraction the last three are rows, columns and depth.
    pub extents: Vec<u64>,
    /// The chosen variant; `None` if the domain is empty and nothing runs.
    pub chosen: Option<String>,
    /// Workgroups of each dispatch.
    pub workgroups: Vec<u32>,
    /// In how many parts the depth is split.
    pub splits: u64,
    /// Every variant with its estimated cost (0 for pointwise kernels), or why it cannot run.
    pub variants: Vec<(String, Result<f64, String>)>,
}

pub(crate) fn explain(
    function: &Function,
    shapes: &[Shape],
    info: &DeviceInfo,
    forced: Option<&str>,
) -> Result<Explanation, Error> {
    let (function, bound) = bind_applicable(function, shapes, info.limits.binding_bytes)?;
    let selection = forced.map_or(Selection::Best, Selection::Named);
    let mut kernels = Vec::new();
    for (index, kernel) in function.kernels.iter().enumerate() {
        let domain = Domain::new(function, kernel, shapes, &bound)?;
        let names = kernel.variants.iter().map(|variant| variant.name.to_string());
        let verdicts = candidates(kernel, &domain, info).into_iter();
        let verdicts = verdicts.map(|verdict| verdict.map(|c| c.cost).map_err(|refusal| refusal.to_string()));
        let mut explanation = KernelExplanation {
            kernel: kernel.name.to_string(),
            extents: domain.extents.clone(),
            chosen: None,
            workgroups: Vec::new(),
            splits: 1,
            variants: names.zip(verdicts).collect(),
        };
        if domain.count() > 0 {
            let chosen = choose(kernel, index, &domain, info, selection)?;
            let variant = &kernel.variants[chosen.variant];
            let numbers = Chosen { kernel, variant, domain: &domain, split: chosen.split, symbols: &bound.symbols };
            for pass in variant.passes.iter() {
                explanation.workgroups.push(fill(&numbers, pass, info.limits.workgroups_per_dimension)?.workgroups);
            }
            explanation.chosen = Some(variant.name.to_string());
            explanation.splits = chosen.split.parts;
        }
        kernels.push(explanation);
    }
    Ok(Explanation { function: function.name.to_string(), kernels })
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        for kernel in &self.kernels {
            write!(f, "\n├─ {} over {:?}", kernel.kernel, kernel.extents)?;
            match &kernel.chosen {
                Some(chosen) => write!(f, ": `{chosen}`, workgroups {:?}", kernel.workgroups)?,
                None => write!(f, ": empty, nothing runs")?,
            }
            if kernel.splits > 1 {
                write!(f, ", depth in {} parts", kernel.splits)?;
            }
            for (name, verdict) in &kernel.variants {
                match verdict {
                    Ok(cost) => write!(f, "\n│  ├─ `{name}`: possible, estimate {cost:.3e}")?,
                    Err(reason) => write!(f, "\n│  ├─ `{name}`: {reason}")?,
                }
            }
        }
        Ok(())
    }
}
