//! Choice of a function's alternative and its kernels' variants: forced, else by tables and the cost model.

use fuse_artifact::Function;

use crate::{
    context::{error::Error, info::DeviceInfo, shape::Shape},
    plan::{
        candidates::{Candidate, no_variant},
        check::bind,
        considered::{Considered, Selected},
        key::{Key, plan_name, plan_prefix},
        select_plan::{consider_all, select, select_index},
        select_variant::{Decision, decide},
        selection::{Selection, Variants},
    },
    tune::tuning::Applied,
};

/// Legal variants of one kernel for given arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelVariants {
    /// The kernel.
    pub kernel: &'static str,
    /// Index and name of each.
    pub legal: Vec<(usize, &'static str)>,
}

pub(crate) fn selected<'f>(
    function: &'f Function,
    shapes: &[Shape],
    selection: Selection<'_>,
) -> Result<Selected<'f>, Error> {
    let info = &selection.tuning.info;
    match selection.alternative {
        Some(index) => select_index(function, index, shapes, info),
        None => match tabled(function, shapes, selection.tuning)? {
            Some(selected) => Ok(selected),
            None => select(function, shapes, selection.tuning),
        },
    }
}

/// The first one in an entry about exactly this function and these sizes.
fn tabled<'f>(function: &'f Function, shapes: &[Shape], tuning: &Applied) -> Result<Option<Selected<'f>>, Error> {
    // Such entries are rare, and fingerprints cost time.
    let prefix = plan_prefix(function);
    let mut tables = tuning.tables.iter().filter(|table| table.has_class(&prefix));
    let Some(first) = tables.next() else { return Ok(None) };
    let info = &tuning.info;
    let key = plan_key(function, shapes, info)?;
    let entry = std::iter::once(first).chain(tables).find_map(|table| table.entry(&key.class, &key.sizes));
    let mut usable = consider_all(function, shapes, info)?.into_iter().flatten();
    let wanted = |(name, _): &(String, f64)| usable.find(|selected| plan_name(selected.index) == *name);
    Ok(entry.and_then(|entry| entry.schedules.iter().find_map(wanted)))
}

pub(crate) fn plan_key(function: &Function, shapes: &[Shape], info: &DeviceInfo) -> Result<Key, Error> {
    Ok(Key::of_plan(function, &bind(function, shapes, info.limits.binding_bytes)?.symbols))
}

pub(crate) fn choose(
    considered: &Considered<'_>,
    index: usize,
    selection: Selection<'_>,
) -> Result<(Candidate, Decision), Error> {
    let Considered { kernel, candidates: all, .. } = considered;
    let info = &selection.tuning.info;
    let wanted = match selection.variants {
        Variants::Best => None,
        Variants::Named(name) => kernel.variants.iter().position(|variant| variant.name == name),
        Variants::Indices(indices) => indices.get(index).copied(),
        #[cfg(feature = "tune")]
        Variants::One { kernel, variant } => (kernel == index).then_some(variant),
    };
    let Some(wanted) = wanted else {
        return decide(considered, selection.tuning, info.kind).ok_or_else(|| no_variant(kernel, all, info));
    };
    let refused = |reason: String| Error::Variant {
        kernel: kernel.name.to_string(),
        variant: kernel.variants.get(wanted).map_or_else(|| wanted.to_string(), |variant| variant.name.to_string()),
        reason,
    };
    match all.get(wanted) {
        Some(Ok(candidate)) => Ok((*candidate, Decision::Forced)),
        Some(Err(refusal)) => Err(refused(refusal.to_string())),
        None => Err(refused(format!("the kernel has {} variants", all.len()))),
    }
}

/// Legal variants in the alternative that runs.
pub(crate) fn legal_variants(
    function: &'static Function,
    shapes: &[Shape],
    selection: Selection<'_>,
) -> Result<Vec<KernelVariants>, Error> {
    let of_kernel = |considered: Considered<'static>| {
        let Considered { kernel, domain, candidates } = considered;
        let legal = candidates.into_iter().flatten().map(|candidate| candidate.variant);
        // Empty kernels have no candidates: any variant will do.
        let legal: Vec<usize> = if domain.count() == 0 { vec![0] } else { legal.collect() };
        let named = |variant: usize| Some((variant, &*kernel.variants.get(variant)?.name));
        KernelVariants { kernel: &kernel.name, legal: legal.into_iter().filter_map(named).collect() }
    };
    Ok(selected(function, shapes, selection)?.kernels.into_iter().map(of_kernel).collect())
}

/// Indices of alternatives that can run; 0 is the function itself.
pub(crate) fn usable_alternatives(
    function: &Function,
    shapes: &[Shape],
    info: &DeviceInfo,
) -> Result<Vec<usize>, Error> {
    let verdicts = consider_all(function, shapes, info)?;
    Ok(verdicts.into_iter().flatten().map(|selected| selected.index).collect())
}
