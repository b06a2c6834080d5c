//! The driver: every stage after the graph, in order.

use std::{borrow::Cow, collections::BTreeSet, fmt, iter, panic::resume_unwind, thread};

use fuse_artifact::{
    Check, Domain, DomainKind, Features, Function, Kernel, MlGraph, Param, ParamKind, Pass, QuantizedSpec, Schedule,
    Scratch, Size, TensorSpec, Variant, schedule::LANES,
};

use crate::{
    fusion::{self, Group, GroupKind, Groups, Policy},
    graph::{self, Graph, ScheduleOverride},
    plan,
    schedule::{
        self,
        contraction::{Sums, rows},
    },
    validate::{self, Valid},
    webnn, wgsl,
    wgsl::names::Names,
};

/// Shaders that are worth a thread: validation of one takes about as long as to start one.
const SHADERS_PER_THREAD: usize = 4;

/// What a graph compiles to.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the runtime launches.
    pub function: Function,
    /// What people read.
    pub dump: Dump,
}

/// The texts of every stage.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The graph.
    pub graph: String,
    /// The fusion groups.
    pub groups: String,
    /// Each kernel's variants: what they require and how they are scheduled, best first.
    pub schedules: String,
    /// Each variant's shader, under a file name without ending.
    pub wgsl: Vec<(String, String)>,
}

impl Compiled {
    /// Adds another plan of the same function.
    fn add_alternative(&mut self, other: Self) {
        let alternatives = self.function.alternatives.to_mut();
        alternatives.push(other.function);
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

/// What the compiler is asked to do; explicit, so that its output depends on nothing else.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether naga validates every shader. Off only to measure what validation costs.
    pub validate: bool,
    /// Shaders that are valid: they are not validated again, and those that are found to be are added. None: no others than those
    /// of the same graph.
    pub valid: Option<&'static Valid>,
}

impl Default for Options {
    fn default() -> Self {
        Self { validate: true, valid: None }
    }
}

/// A bug of the compiler: no graph that passes the front end should cause one.
#[derive(Clone, Debug)]
pub struct CompileError {
    /// The stage that found it.
    pub stage: &'static str,
    /// What it found; for shaders naga's message with the offending line.
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
/// Only for bugs of the compiler itself.
pub fn compile(graph: &Graph, options: &Options) -> Result<Compiled, CompileError> {
    check("graph", graph::verify::verify(graph))?;
    let (mut compiled, of_graph): (Option<Compiled>, _) = (None, Valid::default());
    let valid = options.valid.unwrap_or(&of_graph);
    for plan in plans(graph)? {
        let other = compile_plan(&plan, options, valid)?;
        match &mut compiled {
            None => compiled = Some(other),
            Some(first) => first.add_alternative(other),
        }
    }
    if let Some(Compiled { function, .. }) = &mut compiled {
        function.plan.alternatives = function.alternatives.iter().map(plan::summary).collect::<Vec<_>>().into();
        function.webnn = webnn_graph(graph)?;
    }
    compiled.ok_or_else(|| CompileError { stage: "fusion", message: "no plan".to_owned() })
}

/// The function for WebNN, where it asks for that; the front end has refused what WebNN lacks.
fn webnn_graph(graph: &Graph) -> Result<Option<MlGraph>, CompileError> {
    if !graph.options.webnn {
        return Ok(None);
    }
    webnn::lower(graph).map(Some).map_err(|missing| {
        let missing: Vec<String> = missing.into_iter().map(|missing| missing.what).collect();
        CompileError { stage: "webnn", message: missing.join("; ") }
    })
}

/// One plan of a function.
struct Planned {
    graph: Graph,
    /// The graph before reductions were written out.
    written: Graph,
    groups: Groups,
    /// What it takes for granted of shapes.
    assumes: Vec<Check>,
    breadth: Breadth,
}

/// How many schedules of each family are compiled.
#[derive(Clone, Copy, PartialEq)]
enum Breadth {
    /// All.
    Full,
    /// Only the last, for any size and stride: for shapes that are too rare to be worth more text.
    Narrow,
}

/// The plans that a launch may choose between, the most fused first; the last assumes nothing and runs on every device.
fn plans(graph: &Graph) -> Result<Vec<Planned>, CompileError> {
    let mut plans: Vec<Planned> = vec![];
    // An assumption that some other part of the graph cannot keep (a product whose batch axes meet in a broadcast of their
    // own) is none: the general graph is then compiled in full.
    let assumed = fusion::assume::products_keep_their_shape(graph).filter(|(g, _)| graph::verify::verify(g).is_empty());
    let usual = assumed.is_none();
    let (common, assumes) = assumed.unwrap_or_else(|| (graph.clone(), vec![]));
    let orders = if graph.options.no_fuse { vec![common] } else { fusion::chains::orders(&common) };
    for order in orders {
        check("chains", graph::verify::verify(&order))?;
        if graph.options.no_fuse {
            plans.extend(planned([&order; 2], Policy::SEPARATE, &assumes, Breadth::Full, &plans)?);
            continue;
        }
        let graph = fusion::written_out::write_out(order.clone()).map_err(fusion_error)?;
        check("written out", graph::verify::verify(&graph))?;
        if let Some(parted) = fusion::mixtures::parted(&graph) {
            check("mixtures", graph::verify::verify(&parted))?;
            // Products side by side are what this is for.
            for policy in Policy::ALL.into_iter().filter(|policy| policy.siblings) {
                plans.extend(planned([&parted, &order], policy, &assumes, Breadth::Full, &plans)?);
            }
        }
        for policy in Policy::ALL {
            plans.extend(planned([&graph, &order], policy, &assumes, Breadth::Full, &plans)?);
        }
    }
    if !usual {
        plans.extend(planned([graph; 2], Policy::SEPARATE, &[], Breadth::Narrow, &plans)?);
    }
    // Orders other than the one as written are alternatives like any other; the last must suit all shapes.
    if let Some(at) = plans.iter().rposition(|plan| plan.assumes.is_empty()) {
        let last = plans.remove(at);
        plans.push(last);
    }
    Ok(plans)
}

fn fusion_error(message: String) -> CompileError {
    CompileError { stage: "fusion", message }
}

/// The plan of `graph`, which does what was `written`, under a policy, unless it is one of `known`.
fn planned(
    [graph, written]: [&Graph; 2],
    policy: Policy,
    assumes: &[Check],
    breadth: Breadth,
    known: &[Planned],
) -> Result<Option<Planned>, CompileError> {
    let groups = fusion::fuse(graph, policy).map_err(fusion_error)?;
    check("fusion", fusion::verify::verify(graph, &groups))?;
    let same = |plan: &Planned| format!("{:?}", plan.groups.groups) == format!("{:?}", groups.groups);
    if breadth == Breadth::Full && known.iter().any(same) {
        return Ok(None);
    }
    let assumes = assumes.iter().chain(&groups.assumes).cloned().collect();
    Ok(Some(Planned { graph: graph.clone(), written: written.clone(), groups, assumes, breadth }))
}

/// Everything after fusion. `valid` are the shaders that need no validation.
fn compile_plan(plan: &Planned, options: &Options, valid: &Valid) -> Result<Compiled, CompileError> {
    let Planned { graph, written, groups, assumes, breadth } = plan;
    let mut kernels = Vec::with_capacity(groups.groups.len());
    for group in &groups.groups {
        let mut kernel = kernel(group, &Names::new(group), graph.options.schedule.as_ref());
        if *breadth == Breadth::Narrow {
            let variants = kernel.variants.to_mut();
            variants.drain(..variants.len().saturating_sub(1));
        }
        check("schedule", schedule::verify::verify(&kernel))?;
        kernels.push(kernel);
    }
    if options.validate {
        validate_kernels(&kernels, valid)?;
    }
    let mut function = function([graph, written], groups, kernels);
    function.assumes = assumes.clone().into();
    let dump = Dump {
        graph: graph::print::print(graph),
        groups: fusion::print::print(graph, groups),
        schedules: function.kernels.iter().map(schedule::print::print).collect(),
        wgsl: shader_files(&function),
    };
    Ok(Compiled { function, dump })
}

fn check(stage: &'static str, violations: Vec<String>) -> Result<(), CompileError> {
    if violations.is_empty() { Ok(()) } else { Err(CompileError { stage, message: violations.join("; ") }) }
}

/// The kernel of a group, with every schedule of its family as a variant.
fn kernel(group: &Group, names: &Names, schedule: Option<&ScheduleOverride>) -> Kernel {
    let (kind, mut extents) = (DomainKind::Pointwise, group.shape.clone());
    let (kind, variants) = match &group.kind {
        GroupKind::Pointwise => {
            let family = schedule::pointwise::family(group, schedule.and_then(|s| s.workgroup));
            let variant = |scheduled: &schedule::pointwise::Scheduled| Variant {
                scratch: Scratch::default(),
                name: scheduled.schedule.to_string().into(),
                requires: scheduled.requires.clone().into(),
                features: Features::default(),
                schedule: Schedule::Pointwise(scheduled.schedule),
                passes: vec![wgsl::pointwise::pointwise(group, names, scheduled)].into(),
            };
            (kind, family.iter().map(variant).collect::<Vec<_>>())
        }
        GroupKind::Contraction(contraction) => {
            extents.push(contraction.depth.clone());
            let family = schedule::contraction::family(group, contraction, schedule.and_then(|s| s.tile));
            let variant = |scheduled: &schedule::contraction::Scheduled| {
                let schedule = Schedule::from(scheduled.schedule);
                Variant {
                    scratch: Scratch {
                        per_output: if schedule.is_split() { contraction.rhs.len() as u32 } else { 0 },
                        per_row: 0,
                    },
                    name: schedule.to_string().into(),
                    requires: scheduled.requires.clone().into(),
                    features: schedule.features(),
                    schedule,
                    passes: contraction_passes(group, contraction, names, scheduled).into(),
                }
            };
            let kind = DomainKind::Contraction { products: contraction.rhs.len() as u8 };
            (kind, family.iter().map(variant).collect())
        }
        GroupKind::Reduction(reduction) => {
            let workgroup = schedule.and_then(|s| s.workgroup);
            let kind = DomainKind::Reduction { axes: reduction.axes as u8 };
            (kind, wgsl::reduction::variants(group, reduction, names, workgroup))
        }
        GroupKind::Attention(attention) => {
            extents.extend([attention.keys.clone(), attention.depth.clone()]);
            (DomainKind::Attention, wgsl::attention::variants(group, attention, names))
        }
        GroupKind::WeightedSum(sum) => {
            let second = sum.products.get(1).map_or(Size::default(), |product| product.depth.clone());
            extents.extend([sum.keys.clone(), sum.products[0].depth.clone(), second]);
            (DomainKind::WeightedSum, wgsl::weighted_sum::variants(group, sum, names))
        }
    };
    let f16 = group.uses_f16();
    let with_f16 = |variant: Variant| Variant { features: Features { f16, ..variant.features }, ..variant };
    let variants: Vec<Variant> = variants.into_iter().map(with_f16).collect();
    let accesses = group.accesses.iter().chain(group.stores.iter().filter_map(|store| store.access.as_ref()));
    Kernel {
        name: group.name.clone().into(),
        domain: Domain { kind, extents: extents.into(), fixed: group.fixed },
        accesses: accesses.map(|access| access.access.clone()).collect::<Vec<_>>().into(),
        variants: variants.into(),
        work: schedule::operations::work(group),
    }
}

fn contraction_passes(
    group: &Group,
    contraction: &fusion::Contraction,
    names: &Names,
    scheduled: &schedule::contraction::Scheduled,
) -> Vec<Pass> {
    let sums = |lanes| wgsl::second_pass::sums(group, contraction, names, lanes);
    let (first, second) = match scheduled.schedule {
        Sums::Tile(tile) => {
            let second = tile.is_split().then(|| match rows::finishing_tile(group) {
                Some(finishing) => wgsl::second_pass::rows(group, contraction, names, scheduled, finishing),
                None if tile.is_stream_k() => wgsl::second_pass::streams(group, contraction, names, tile),
                None => sums(tile.lanes),
            });
            (wgsl::tiles(group, contraction, names, scheduled, tile), second)
        }
        Sums::Gemv(gemv) => {
            let lanes = if gemv.stores_vectors() { LANES } else { 1 };
            (wgsl::gemv(group, contraction, names, gemv), gemv.is_split().then(|| sums(lanes)))
        }
    };
    iter::once(first).chain(second).collect()
}

/// Validates every shader that is not known to be valid, once; several variants and alternatives may share one.
fn validate_kernels(kernels: &[Kernel], valid: &Valid) -> Result<(), CompileError> {
    let (mut shaders, mut seen) = (vec![], BTreeSet::new());
    for kernel in kernels {
        for variant in kernel.variants.iter() {
            let texts = variant.passes.iter().map(|pass| pass.wgsl.text());
            let new = texts.filter(|text| !valid.contains(text, variant.features) && seen.insert(text.clone()));
            shaders.extend(new.collect::<Vec<_>>().into_iter().map(|text| (kernel, variant, text)));
        }
    }
    let validate = |(kernel, variant, text): &(&Kernel, &Variant, Cow<'_, str>)| {
        validate::validate(text, variant.features).map_err(|message| CompileError {
            stage: "wgsl",
            message: format!("generated WGSL of {} {} failed validation: {message}", kernel.name, variant.name),
        })?;
        valid.add(text, variant.features);
        Ok(())
    };
    // Most of an expansion's time: rustc expands on one thread, whatever the machine has.
    let threads = thread::available_parallelism().map_or(1, usize::from).min(shaders.len() / SHADERS_PER_THREAD);
    if threads < 2 {
        return shaders.iter().try_for_each(validate);
    }
    // In turns, as neighbors are of similar length. The first error in the order of threads, so that it is the same each time.
    let share = |first: usize| shaders.iter().skip(first).step_by(threads).try_for_each(validate);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || share(first))).collect();
        let own = share(0);
        let joined = others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        [own].into_iter().chain(joined.collect::<Vec<_>>()).collect()
    })
}

fn function([graph, written]: [&Graph; 2], groups: &Groups, kernels: Vec<Kernel>) -> Function {
    let spec = |ty: &graph::TensorType, padded| TensorSpec { dtype: ty.dtype, shape: ty.shape.clone().into(), padded };
    let params = graph.params.iter().map(|param| Param {
        name: param.name.clone().into(),
        kind: match &param.quantized {
            Some(quantized) => ParamKind::Quantized(QuantizedSpec {
                packing: quantized.packing,
                axis: quantized.axis as u8,
                shape: param.ty.shape.iter().chain([&quantized.groups, &quantized.scale_words]).cloned().collect(),
            }),
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
