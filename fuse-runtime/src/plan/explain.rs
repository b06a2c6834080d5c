//! Explanations of launches.

use std::fmt;

use fuse_artifact::Function;

use super::{
    cache::Forced,
    candidates::Candidate,
    choose::{choose, selected},
    considered::{Considered, Selected, key},
    select_plan::consider_all,
    select_variant::Decision,
    uniforms::{Chosen, fill},
};
use crate::{
    context::{error::Error, shape::Shape},
    plan::key::Key,
    tune::tuning::Applied,
};

/// Explanation of a launch: the alternative, and each kernel's simplified domain, chosen variant, and all estimates or
/// refusals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The function.
    pub function: String,
    /// 0 is the function itself, `n + 1` entry `n` of [`Function::alternatives`].
    pub alternative: usize,
    /// Estimated costs, or why an alternative cannot run.
    pub alternatives: Vec<Result<f64, String>>,
    /// Kernels of the chosen alternative, in order.
    pub kernels: Vec<KernelExplanation>,
}

/// Explanation of one kernel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelExplanation {
    /// The kernel.
    pub kernel: String,
    /// Simplified extents: last rows, columns and depth of a contraction, reduced axes of a reduction, queries, value
    /// columns, keys and depth of an attention.
    pub extents: Vec<u64>,
    /// The chosen variant; `None` for an empty domain.
    pub chosen: Option<String>,
    /// Its reason; `None` if nothing runs.
    pub decision: Option<Decision>,
    /// Class in tuning tables, for example `contraction f16·f16 depth·outer`.
    pub class: String,
    /// Sizes in tuning tables (see [`Entry`](crate::Entry)).
    pub sizes: Vec<u64>,
    /// Workgroups per dispatch.
    pub workgroups: Vec<u32>,
    /// Parts of the depth, the row or the keys.
    pub splits: u64,
    /// Estimated costs in multiply-adds of one compute unit, or why a variant cannot run.
    pub variants: Vec<(String, Result<f64, String>)>,
}

pub(crate) fn explain(
    function: &Function,
    shapes: &[Shape],
    forced: &Forced,
    tuning: &Applied,
) -> Result<Explanation, Error> {
    let info = &tuning.info;
    let selection = forced.selection(tuning);
    let alternatives = consider_all(function, shapes, info)?
        .into_iter()
        .map(|verdict| verdict.map(|selected| selected.cost).map_err(|error| error.to_string()))
        .collect();
    let Selected { index: alternative, bound, kernels: considered, .. } = selected(function, shapes, selection)?;
    let mut kernels = Vec::new();
    for (index, considered) in considered.iter().enumerate() {
        let Considered { kernel, domain, candidates } = considered;
        let names = kernel.variants.iter().map(|variant| variant.name.to_string());
        let verdict = |verdict: &Result<_, _>| match verdict {
            Ok(Candidate { cost, .. }) => Ok(*cost),
            Err(refusal) => Err(ToString::to_string(refusal)),
        };
        let Key { class, sizes } = key(considered);
        let mut explanation = KernelExplanation {
            kernel: kernel.name.to_string(),
            extents: domain.extents.clone(),
            chosen: None,
            decision: None,
            class,
            sizes,
            workgroups: Vec::new(),
            splits: 1,
            variants: names.zip(candidates.iter().map(verdict)).collect(),
        };
        if domain.count() > 0 {
            let (chosen, decision) = choose(considered, index, selection)?;
            let variant = &kernel.variants[chosen.variant];
            let numbers = Chosen { kernel, variant, domain, split: chosen.split, symbols: &bound.symbols };
            for pass in variant.passes.iter() {
                explanation.workgroups.push(fill(&numbers, pass, info.limits.workgroups_per_dimension)?.workgroups);
            }
            explanation.chosen = Some(variant.name.to_string());
            explanation.decision = Some(decision);
            explanation.splits = chosen.split.parts;
        }
        kernels.push(explanation);
    }
    Ok(Explanation { function: function.name.to_string(), alternative, alternatives, kernels })
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        if self.alternatives.len() > 1 {
            write!(f, ", alternative {}", self.alternative)?;
            for (alternative, verdict) in self.alternatives.iter().enumerate() {
                match verdict {
                    Ok(cost) => write!(f, "\n├─ alternative {alternative}: possible, estimate {cost:.3e}")?,
                    Err(reason) => write!(f, "\n├─ alternative {alternative}: {reason}")?,
                }
            }
        }
        for kernel in &self.kernels {
            write!(f, "\n├─ {} over {:?}", kernel.kernel, kernel.extents)?;
            match &kernel.chosen {
                Some(chosen) => write!(f, ": `{chosen}`, workgroups {:?}", kernel.workgroups)?,
                None => write!(f, ": empty, nothing runs")?,
            }
            if kernel.splits > 1 {
                write!(f, ", split in {} parts", kernel.splits)?;
            }
            if let Some(decision) = &kernel.decision {
                write!(f, " ({decision})")?;
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
