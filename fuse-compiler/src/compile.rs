//! Compiler driver: all stages behind the graph.

mod dedup;
mod threads;
#[cfg(feature = "validate")]
mod validation;
mod variants;

use std::fmt;

use fuse_artifact::{
    Check, Domain, DomainKind, Features, Function, Kernel, MlGraph, Param, ParamKind, QuantizedSpec, Size, TensorSpec,
    Variant,
};

use self::variants::{FamilyScope, VariantRequest, variants};
#[cfg(feature = "validate")]
use crate::validate::Valid;
use crate::{
    fusion::{self, Group, GroupKind, Groups, Policy},
    graph::{self, Graph},
    kernel::print::Dialect,
    plan, schedule, webnn,
};

/// Compiler output.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Artifact that the runtime launches.
    pub function: Function,
    /// Empty without [`Options::dump`].
    pub dump: Dump,
}

/// Readable output of the stages.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Graph.
    pub graph: String,
    /// Fusion groups.
    pub groups: String,
    /// Variants of each kernel, best first, with requirements.
    pub schedules: String,
    /// File name without extension and shader of each variant.
    pub wgsl: Vec<(String, String)>,
}

impl Compiled {
    fn add_alternative(&mut self, other: Self, options: &Options) {
        let alternatives = self.function.alternatives.to_mut();
        alternatives.push(other.function);
        if !options.dump {
            return;
        }
        let number = alternatives.len();
        let Dump { graph, groups, schedules, wgsl } = other.dump;
        if graph != self.dump.graph {
            self.dump.graph += &format!("\nalternative {number}:\n{graph}");
        }
        self.dump.groups += &format!("\nalternative {number}:\n{groups}");
        self.dump.schedules += &format!("\nalternative {number}:\n{schedules}");
        self.dump.wgsl.extend(wgsl.into_iter().map(|(name, text)| (format!("alternative{number}.{name}"), text)));
    }
}

/// Compiler options; with the graph, they determine the output.
#[derive(Clone, Debug)]
pub struct Options {
    /// Validates shaders with naga. [`Options::at_run_time`] leaves that to pipeline creation.
    #[cfg(feature = "validate")]
    pub validate: bool,
    /// Cache of valid shaders; `None` shares only within one graph.
    #[cfg(feature = "validate")]
    pub valid: Option<&'static Valid>,
    /// Features of the target adapters; `None`: any. Omits variants that need more, except each kernel's last one,
    /// which runs everywhere.
    pub features: Option<Features>,
    /// Syntax of shaders. [`Dialect::Checked`] is for tests on a device that counts out-of-bounds indices.
    pub dialect: Dialect,
    /// Fills [`Compiled::dump`], at a cost in time and memory.
    pub dump: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            #[cfg(feature = "validate")]
            validate: true,
            #[cfg(feature = "validate")]
            valid: None,
            features: None,
            dialect: Dialect::Naga,
            dump: true,
        }
    }
}

impl Options {
    /// Options for a device with these features, whose pipeline creation validates.
    pub fn at_run_time(features: Features) -> Self {
        Self {
            #[cfg(feature = "validate")]
            validate: false,
            #[cfg(feature = "validate")]
            valid: None,
            features: Some(features),
            dialect: if cfg!(target_arch = "wasm32") { Dialect::Chromium } else { Dialect::Naga },
            dump: false,
        }
    }
}

/// A compiler bug; graphs from the front end should not cause one.
#[derive(Clone, Debug)]
pub struct CompileError {
    /// Failed stage.
    pub stage: &'static str,
    /// Message; for shaders naga's, with the offending line.
    pub message: String,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error in stage `{}`: {}", self.stage, self.message)
    }
}

impl std::error::Error for CompileError {}

/// Compiles a graph.
///
/// # Errors
/// Only on compiler bugs.
pub fn compile(graph: &Graph, options: &Options) -> Result<Compiled, CompileError> {
    check("graph", graph::verify::verify(graph))?;
    let mut compiled: Option<Compiled> = None;
    let plans = plans(graph)?;
    let kernels = kernels(&plans, options)?;
    for (plan, kernels) in plans.iter().zip(kernels) {
        let other = compiled_plan(plan, kernels, options);
        match &mut compiled {
            None => compiled = Some(other),
            Some(first) => first.add_alternative(other, options),
        }
    }
    if let Some(Compiled { function, .. }) = &mut compiled {
        function.plan.alternatives = function.alternatives.iter().map(plan::summary).collect::<Vec<_>>().into();
        function.webnn = webnn_graph(graph)?;
    }
    compiled.ok_or_else(|| CompileError { stage: "fusion", message: "no plan".to_owned() })
}

fn webnn_graph(graph: &Graph) -> Result<Option<MlGraph>, CompileError> {
    if !graph.options.webnn {
        return Ok(None);
    }
    webnn::lower(graph).map(Some).map_err(|missing| {
        let missing: Vec<String> = missing.into_iter().map(|missing| missing.what).collect();
        CompileError { stage: "webnn", message: missing.join("; ") }
    })
}

/// Plan of a function.
#[derive(Clone, Debug)]
pub struct Planned {
    graph: Graph,
    written: Graph,
    groups: Groups,
    assumes: Vec<Check>,
    scope: FamilyScope,
}

/// Plans for selection at launch, most fused first. The last one assumes nothing and runs on every device.
///
/// # Errors
/// Only on compiler bugs.
pub fn plans(graph: &Graph) -> Result<Vec<Planned>, CompileError> {
    let mut plans: Vec<Planned> = vec![];
    if !graph.options.in_memory.is_empty() {
        // Rewrites would rename these nodes.
        for policy in Policy::ALL {
            plans.extend(planned([graph; 2], policy, &[], FamilyScope::Full, &plans)?);
        }
        return Ok(plans);
    }
    // Other parts of the graph may contradict it, such as a product whose batch axes meet in a broadcast.
    let assumed = fusion::assume::products_keep_their_shape(graph).filter(|(g, _)| graph::verify::verify(g).is_empty());
    let usual = assumed.is_none();
    let (common, assumes) = assumed.unwrap_or_else(|| (graph.clone(), vec![]));
    let orders = if graph.options.no_fuse { vec![common] } else { fusion::chains::orders(&common) };
    for order in orders {
        check("chains", graph::verify::verify(&order))?;
        if graph.options.no_fuse {
            plans.extend(planned([&order; 2], Policy::SEPARATE, &assumes, FamilyScope::Full, &plans)?);
            continue;
        }
        let graph = fusion::unroll_reductions::unroll(order.clone()).map_err(fusion_error)?;
        check("written out", graph::verify::verify(&graph))?;
        if let Some(split_experts) = fusion::moe::split_experts(&graph) {
            check("mixtures", graph::verify::verify(&split_experts))?;
            for policy in Policy::ALL.into_iter().filter(|policy| policy.siblings) {
                plans.extend(planned([&split_experts, &order], policy, &assumes, FamilyScope::Full, &plans)?);
            }
        }
        for policy in Policy::ALL {
            plans.extend(planned([&graph, &order], policy, &assumes, FamilyScope::Full, &plans)?);
        }
    }
    if !usual {
        plans.extend(planned([graph; 2], Policy::SEPARATE, &[], FamilyScope::FallbackOnly, &plans)?);
    }
    // The last plan must accept all shapes.
    if let Some(at) = plans.iter().rposition(|plan| plan.assumes.is_empty()) {
        let last = plans.remove(at);
        plans.push(last);
    }
    Ok(plans)
}

fn fusion_error(message: String) -> CompileError {
    CompileError { stage: "fusion", message }
}

/// Plans `graph`, a rewrite of `written`; `None` if the plan is `known`.
fn planned(
    [graph, written]: [&Graph; 2],
    policy: Policy,
    assumes: &[Check],
    scope: FamilyScope,
    known: &[Planned],
) -> Result<Option<Planned>, CompileError> {
    let groups = match &graph.options.in_memory {
        in_memory if in_memory.is_empty() => fusion::fuse(graph, policy),
        in_memory => fusion::fuse_with(graph, policy, in_memory),
    };
    let groups = groups.map_err(fusion_error)?;
    check("fusion", fusion::verify::verify(graph, &groups))?;
    if scope == FamilyScope::Full && known.iter().any(|plan| plan.groups.groups == groups.groups) {
        return Ok(None);
    }
    let assumes = assumes.iter().chain(&groups.assumes).cloned().collect();
    Ok(Some(Planned { graph: graph.clone(), written: written.clone(), groups, assumes, scope }))
}

fn kernels(plans: &[Planned], options: &Options) -> Result<Vec<Vec<Kernel>>, CompileError> {
    let wanted: Vec<VariantRequest<'_>> = (plans.iter())
        .flat_map(|plan| plan.groups.groups.iter().map(move |group| (plan, group)))
        .map(|(plan, group)| VariantRequest {
            group,
            scope: plan.scope,
            schedule: plan.graph.options.schedule.as_ref(),
            features: options.features,
        })
        .collect();
    let mut variants = variants(&wanted, options.dialect).into_iter();
    let mut kernels = Vec::with_capacity(plans.len());
    for plan in plans {
        let of_plan = plan.groups.groups.iter().zip(variants.by_ref());
        kernels.push(of_plan.map(|(group, variants)| kernel(group, variants)).collect::<Vec<_>>());
    }
    kernels.iter().flatten().try_for_each(|kernel| check("schedule", schedule::verify::verify(kernel)))?;
    #[cfg(feature = "validate")]
    if options.validate {
        let of_graph = Valid::default();
        validation::validate_kernels(kernels.iter().flatten(), options.valid.unwrap_or(&of_graph))?;
    }
    Ok(kernels)
}

fn compiled_plan(plan: &Planned, kernels: Vec<Kernel>, options: &Options) -> Compiled {
    let Planned { graph, written, groups, assumes, .. } = plan;
    let mut function = function([graph, written], groups, kernels);
    function.assumes = assumes.clone().into();
    let dump = if options.dump { dump(graph, groups, &function) } else { Dump::default() };
    Compiled { function, dump }
}

fn dump(graph: &Graph, groups: &Groups, function: &Function) -> Dump {
    Dump {
        graph: graph::print::print(graph),
        groups: fusion::print::print(graph, groups),
        schedules: function.kernels.iter().map(schedule::print::print).collect(),
        wgsl: shader_files(function),
    }
}

fn check(stage: &'static str, violations: Vec<String>) -> Result<(), CompileError> {
    if violations.is_empty() { Ok(()) } else { Err(CompileError { stage, message: violations.join("; ") }) }
}

fn kernel(group: &Group, variants: Vec<Variant>) -> Kernel {
    let mut extents = group.shape.clone();
    let kind = match &group.kind {
        GroupKind::Pointwise => DomainKind::Pointwise,
        GroupKind::Contraction(contraction) => {
            extents.push(contraction.depth.clone());
            DomainKind::Contraction { products: contraction.rhs.len() as u8 }
        }
        GroupKind::Reduction(reduction) => DomainKind::Reduction { axes: reduction.axes as u8 },
        GroupKind::Attention(attention) => {
            extents.extend([attention.keys.clone(), attention.depth.clone()]);
            DomainKind::Attention
        }
        GroupKind::WeightedSum(sum) => {
            let second = sum.products.get(1).map_or(Size::default(), |product| product.depth.clone());
            extents.extend([sum.keys.clone(), sum.products[0].depth.clone(), second]);
            DomainKind::WeightedSum
        }
    };
    let accesses = group.accesses.iter().chain(group.stores.iter().filter_map(|store| store.access.as_ref()));
    Kernel {
        name: group.name.clone().into(),
        domain: Domain { kind, extents: extents.into(), fixed: group.fixed },
        accesses: accesses.map(|access| access.access.clone()).collect::<Vec<_>>().into(),
        variants: variants.into(),
        work: schedule::operations::work(group),
    }
}

fn function([graph, written]: [&Graph; 2], groups: &Groups, kernels: Vec<Kernel>) -> Function {
    let spec = |ty: &graph::TensorType, padded| TensorSpec { dtype: ty.dtype, shape: ty.shape.clone().into(), padded };
    let params = graph.params.iter().enumerate().map(|(index, param)| Param {
        name: param.name.clone().into(),
        kind: match &param.quantized {
            Some(quantized) => ParamKind::Quantized(QuantizedSpec {
                packing: quantized.packing,
                axis: quantized.axis as u8,
                shape: param.ty.shape.iter().chain([&quantized.groups, &quantized.scale_words]).cloned().collect(),
            }),
            None if graph.size_param(index).is_some() => ParamKind::Size,
            None if param.scalar => ParamKind::Scalar(param.ty.dtype),
            None => ParamKind::Tensor(spec(&param.ty, param.padded)),
        },
    });
    let padded = graph.params.iter().any(|param| param.padded);
    let results = graph.returned().iter().map(|&id| spec(&graph.nodes[id].ty, padded));
    let temporaries = groups.temporaries.iter().map(|&id| spec(&graph.nodes[id].ty, false));
    Function {
        name: graph.name.clone().into(),
        params: params.collect::<Vec<_>>().into(),
        results: results.collect::<Vec<_>>().into(),
        updates: graph.updates.clone().into(),
        symbols: graph.symbols.clone().into(),
        checks: graph.checks.clone().into(),
        temporaries: temporaries.collect::<Vec<_>>().into(),
        plan: plan::describe(graph, written, groups, &kernels),
        kernels: kernels.into(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    }
}

fn shader_files(function: &Function) -> Vec<(String, String)> {
    let mut files = vec![];
    for kernel in function.kernels.iter() {
        for variant in kernel.variants.iter() {
            for (i, pass) in variant.passes.iter().enumerate() {
                let pass_name = if variant.passes.len() > 1 { format!(".pass{i}") } else { String::new() };
                let name = format!("{}.{}{pass_name}", kernel.name, variant.name.replace(' ', "-"));
                files.push((name, pass.wgsl.text().into_owned()));
            }
        }
    }
    files
}
