//! Memory of functions made at run time: its size, and ways to shrink it.
//!
//! Such a function owns the sources of all its variants; a program's own are shared pages of its file. Not here:
//! pipelines, which belong to the driver.

use std::{borrow::Cow, cmp::Reverse, collections::HashMap, sync::Arc};

use fuse_artifact::{
    Access, Check, Function, Kernel, List, MadeTexts, MlGraph, MlOp, MlOperand, Param, ParamKind, Pass, Plan,
    PlanGroup, Refusal, SharedLines, Size, Symbol, SymbolSource, TensorSpec, Term, Text, Uniform, Variant, Wgsl,
};

use crate::{context::info::DeviceInfo, plan::require::runs_on};

/// Removes the variants that this device can never run from a function made at run time, also of alternatives.
///
/// A kernel's last variant stays: all shapes have it, and errors mention it. Borrowed lists stay: a copy would take
/// memory. Spare capacity of sources is freed: nearly half of a function's memory. `info` is
/// [`Device::info`](crate::Device::info).
pub fn retain_runnable(function: &mut Function, info: &DeviceInfo) {
    if let Cow::Owned(kernels) = &mut function.kernels {
        kernels.iter_mut().for_each(|kernel| retain_runnable_variants(kernel, info));
    }
    if let Cow::Owned(alternatives) = &mut function.alternatives {
        alternatives.iter_mut().for_each(|alternative| retain_runnable(alternative, info));
    }
}

/// Deduplicates source lines in a function made at run time: variants and kernels share most of them.
pub fn share_lines(function: &mut Function) {
    let mut passes = vec![];
    made_passes(function, &mut passes);
    // Long sources contain the parts of short ones in order: fewer parts.
    passes.sort_by_cached_key(|pass| Reverse(pass.wgsl.text().len()));
    let mut lines = SharedLines::default();
    let (mut known, mut parts) = (HashMap::<String, u32>::new(), vec![]);
    let mut numbers = vec![];
    for pass in &passes {
        let number = *known.entry(lines.add(&pass.wgsl.text())).or_insert_with_key(|text| {
            parts.push(text.clone().into_boxed_str());
            parts.len() as u32 - 1
        });
        numbers.push(number);
    }
    let texts = Arc::new(MadeTexts { lines: lines.texts().concat().into(), parts: parts.into() });
    for (pass, number) in passes.into_iter().zip(numbers) {
        pass.wgsl = Wgsl::Made { texts: Arc::clone(&texts), number };
    }
}

fn made_passes<'f>(function: &'f mut Function, found: &mut Vec<&'f mut Pass>) {
    let Function { kernels: Cow::Owned(kernels), alternatives, .. } = function else { return };
    for kernel in kernels {
        let Cow::Owned(variants) = &mut kernel.variants else { continue };
        for variant in variants {
            if let Cow::Owned(passes) = &mut variant.passes {
                found.extend(passes.iter_mut().filter(|pass| matches!(pass.wgsl, Wgsl::Whole(Cow::Owned(_)))));
            }
        }
    }
    if let Cow::Owned(alternatives) = alternatives {
        alternatives.iter_mut().for_each(|alternative| made_passes(alternative, found));
    }
}

fn retain_runnable_variants(kernel: &mut Kernel, info: &DeviceInfo) {
    let Cow::Owned(variants) = &mut kernel.variants else { return };
    let Some(last) = variants.pop() else { return };
    variants.retain(|variant| runs_on(variant, info));
    variants.push(last);
    variants.shrink_to_fit();
    for variant in variants {
        let Cow::Owned(passes) = &mut variant.passes else { continue };
        for pass in passes {
            if let Wgsl::Whole(Cow::Owned(text)) = &mut pass.wgsl {
                text.shrink_to_fit();
            }
        }
    }
}

/// Bytes held by a function with its alternatives.
///
/// Counts shader sources, shared ones once, and all data made at run time, with spare capacity; not the allocator's
/// overhead.
pub fn code_bytes(function: &Function) -> u64 {
    let mut held = Held { bytes: size_of::<Function>() as u64, shared: Vec::new() };
    held.function(function);
    held.shared.sort_unstable();
    held.shared.dedup();
    held.bytes + held.shared.iter().map(|(_, bytes)| bytes).sum::<u64>()
}

/// Destructures all structures with all fields, so that the compiler reports new ones.
struct Held {
    bytes: u64,
    /// Addresses and sizes.
    shared: Vec<(usize, u64)>,
}

impl Held {
    fn list<T: Clone>(&mut self, list: &List<T>, each: impl Fn(&mut Self, &T)) {
        if let Cow::Owned(items) = list {
            self.bytes += (items.capacity() * size_of::<T>()) as u64;
        }
        list.iter().for_each(|item| each(self, item));
    }

    fn plain<T: Copy>(&mut self, list: &List<T>) {
        self.list(list, |_, _| {});
    }

    fn text(&mut self, text: &Text) {
        if let Cow::Owned(text) = text {
            self.bytes += text.capacity() as u64;
        }
    }

    fn texts(&mut self, texts: &List<Text>) {
        self.list(texts, Self::text);
    }

    fn shared(&mut self, text: &'static str) {
        self.shared.push((text.as_ptr().addr(), text.len() as u64));
    }

    fn wgsl(&mut self, wgsl: &Wgsl) {
        match wgsl {
            Wgsl::Whole(Cow::Borrowed(text)) => self.shared(text),
            Wgsl::Whole(text) => self.text(text),
            Wgsl::Made { texts, number: _ } => {
                let parts: usize = texts.parts.iter().map(|text| text.len() + size_of::<Box<str>>()).sum();
                let bytes = size_of::<MadeTexts>() + texts.lines.len() + parts;
                self.shared.push((Arc::as_ptr(texts).addr(), bytes as u64));
            }
            #[cfg(not(target_arch = "wasm32"))]
            Wgsl::Shared { texts, number } => {
                texts.lines.iter().for_each(|text| self.shared(text));
                texts.parts.get(*number as usize).into_iter().for_each(|text| self.shared(text));
            }
        }
    }

    fn size(&mut self, Size { terms }: &Size) {
        self.list(terms, |held, Term { symbols, coefficient: _ }| held.plain(symbols));
    }

    fn sizes(&mut self, sizes: &List<Size>) {
        self.list(sizes, Self::size);
    }

    fn function(&mut self, function: &Function) {
        let Function {
            name,
            params,
            results,
            updates,
            symbols,
            checks,
            temporaries,
            kernels,
            plan,
            assumes,
            alternatives,
            webnn,
        } = function;
        self.text(name);
        self.list(params, Self::param);
        self.list(results, Self::tensor);
        self.plain(updates);
        self.list(symbols, Self::symbol);
        self.list(checks, Self::check);
        self.list(temporaries, Self::tensor);
        self.list(kernels, Self::kernel);
        self.plan(plan);
        self.list(assumes, Self::check);
        self.list(alternatives, Self::function);
        webnn.iter().for_each(|graph| self.webnn(graph));
    }

    fn param(&mut self, Param { name, kind }: &Param) {
        self.text(name);
        match kind {
            ParamKind::Tensor(spec) => self.tensor(spec),
            ParamKind::Scalar(_) | ParamKind::Size => {}
            ParamKind::Quantized(spec) => self.sizes(&spec.shape),
        }
    }

    fn tensor(&mut self, TensorSpec { dtype: _, shape, padded: _ }: &TensorSpec) {
        self.sizes(shape);
    }

    fn symbol(&mut self, Symbol { name, source }: &Symbol) {
        self.text(name);
        match source {
            SymbolSource::Axis { param: _, axis: _ } | SymbolSource::Scalar { param: _ } => {}
            SymbolSource::Broadcast(sizes) => self.sizes(sizes),
            SymbolSource::Quotient { dividend, divisor } => [dividend, divisor].iter().for_each(|size| self.size(size)),
        }
    }

    fn check(&mut self, Check { relation: _, left, right, what }: &Check) {
        [left, right].iter().for_each(|size| self.size(size));
        self.text(what);
    }

    fn kernel(&mut self, Kernel { name, domain, accesses, variants, work: _ }: &Kernel) {
        self.text(name);
        self.sizes(&domain.extents);
        self.list(accesses, |held, Access { slot: _, space: _, view, axes, starts }| {
            held.sizes(view);
            held.plain(axes);
            held.sizes(starts);
        });
        self.list(variants, Self::variant);
    }

    fn variant(&mut self, variant: &Variant) {
        let Variant { name, requires, features: _, schedule: _, scratch: _, passes } = variant;
        self.text(name);
        self.list(requires, |_, _| {});
        self.list(passes, Self::pass);
    }

    fn pass(&mut self, pass: &Pass) {
        let Pass { wgsl, bindings, uniforms, grid: _, workgroup_size: _, workgroup_bytes: _, pins_loads: _ } = pass;
        self.wgsl(wgsl);
        self.list(bindings, |_, _| {});
        self.list(uniforms, |held, uniform| {
            if let Uniform::Size { size } = uniform {
                held.size(size);
            }
        });
    }

    fn plan(&mut self, plan: &Plan) {
        let Plan {
            signature,
            groups,
            refusals,
            alternatives,
            kept,
            kept_bytes,
            unfused_dispatches: _,
            fused_bytes,
            unfused_bytes,
        } = plan;
        [signature, kept_bytes, fused_bytes, unfused_bytes].iter().for_each(|text| self.text(text));
        [alternatives, kept].iter().for_each(|texts| self.texts(texts));
        self.list(groups, |held, group| {
            let PlanGroup { kernel, kind, operations, reads, writes, saves, variants } = group;
            [kernel, kind, saves].iter().for_each(|text| held.text(text));
            [operations, reads, writes, variants].iter().for_each(|texts| held.texts(texts));
        });
        self.list(refusals, |held, Refusal { producer, consumer, reason }| {
            [producer, consumer, reason].iter().for_each(|text| held.text(text));
        });
    }

    fn webnn(&mut self, MlGraph { operands, results }: &MlGraph) {
        self.plain(results);
        self.list(operands, |held, MlOperand { op, dtype: _, shape }| {
            held.sizes(shape);
            match op {
                MlOp::Size(size) | MlOp::Slice { start: size, .. } => held.size(size),
                MlOp::Call { method, operands, options } => {
                    held.text(method);
                    held.plain(operands);
                    held.list(options, |held, option| held.text(&option.name));
                }
                MlOp::Transpose { x: _, permutation } => held.plain(permutation),
                MlOp::Reduce { method, x: _, axes } => {
                    held.text(method);
                    held.plain(axes);
                }
                MlOp::Input(_)
                | MlOp::Number(_)
                | MlOp::Counting
                | MlOp::Cast(_)
                | MlOp::Reshape(_)
                | MlOp::Expand(_)
                | MlOp::Gather { .. } => {}
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        DType, Domain, DomainKind, Features, Grid, Schedule, Scratch, SharedTexts, Work, schedule::Pointwise,
    };

    use super::*;
    use crate::context::info::{AdapterKind, tests::device_info};

    fn variant(name: &'static str, features: Features, wgsl: Wgsl) -> Variant {
        let pass = Pass {
            wgsl,
            bindings: vec![].into(),
            uniforms: vec![].into(),
            grid: Grid::Elements { per_workgroup: 64 },
            workgroup_size: 64,
            workgroup_bytes: 0,
            pins_loads: false,
        };
        Variant {
            name: name.into(),
            requires: vec![].into(),
            features,
            schedule: Schedule::Pointwise(Pointwise { lanes: 1, rank: 1 }),
            scratch: Scratch::default(),
            passes: vec![pass].into(),
        }
    }

    fn kernel(variants: Vec<Variant>) -> Kernel {
        Kernel {
            name: "k".into(),
            domain: Domain { kind: DomainKind::Pointwise, extents: vec![].into(), fixed: false },
            accesses: vec![].into(),
            variants: variants.into(),
            work: Work::default(),
        }
    }

    fn function(kernels: Vec<Kernel>) -> Function {
        Function {
            name: "f".into(),
            params: vec![].into(),
            results: vec![].into(),
            updates: vec![].into(),
            symbols: vec![].into(),
            checks: vec![].into(),
            temporaries: vec![].into(),
            kernels: kernels.into(),
            plan: Plan::default(),
            assumes: vec![].into(),
            alternatives: vec![].into(),
            webnn: None,
        }
    }

    fn family() -> Vec<Variant> {
        let none = Features::default();
        let mut greedy = variant("greedy", none, "".into());
        greedy.passes.to_mut()[0].workgroup_bytes = u32::MAX;
        vec![
            variant("matrices", Features { f16: true, subgroups: 32, coop_matrix: 16, ..none }, "".into()),
            variant("subgroups", Features { subgroups: 32, ..none }, "".into()),
            greedy,
            variant("int8", Features { int8_activations: true, ..none }, "".into()),
            variant("plain", none, "".into()),
        ]
    }

    fn names(function: &Function) -> Vec<Vec<String>> {
        let of_kernel = |kernel: &Kernel| kernel.variants.iter().map(|variant| variant.name.to_string()).collect();
        function.kernels.iter().map(of_kernel).collect()
    }

    #[test]
    fn variants_that_the_device_cannot_run_go() {
        let mut info = device_info(AdapterKind::Discrete, 32);
        let retained = |info: &DeviceInfo| {
            let mut made = function(vec![kernel(family())]);
            made.alternatives = vec![function(vec![kernel(family()), kernel(family())])].into();
            retain_runnable(&mut made, info);
            let [ref kernel_names] = names(&made)[..] else { panic!("one kernel") };
            assert_eq!(names(&made.alternatives[0]), [kernel_names.clone(), kernel_names.clone()]);
            kernel_names.clone()
        };
        assert_eq!(retained(&info), ["subgroups", "plain"]);
        info.features.subgroups = 8;
        assert_eq!(retained(&info), ["plain"]);
        info.features = Features { f16: true, subgroups: 32, coop_matrix: 16, int8_activations: true };
        assert_eq!(retained(&info), ["matrices", "subgroups", "int8", "plain"]);
        info.limits.workgroup_bytes = u32::MAX;
        assert_eq!(retained(&info), ["matrices", "subgroups", "greedy", "int8", "plain"]);
    }

    #[test]
    fn a_kernel_keeps_its_last_variant_and_borrowed_lists_stay() {
        let info = device_info(AdapterKind::Discrete, 0);
        let mut made = function(vec![kernel(family()[..2].to_vec()), kernel(vec![])]);
        retain_runnable(&mut made, &info);
        assert_eq!(names(&made), [vec!["subgroups"], vec![]] as [Vec<&str>; 2]);
        let mut borrowed = kernel(vec![]);
        borrowed.variants = Cow::Borrowed(family().leak());
        let mut made = function(vec![borrowed]);
        retain_runnable(&mut made, &info);
        assert_eq!((made.kernels[0].variants.len(), matches!(made.kernels[0].variants, Cow::Borrowed(_))), (5, true));
    }

    #[test]
    fn what_goes_is_no_longer_held() {
        let text = || Wgsl::from("x".repeat(1000));
        let features = Features { coop_matrix: 16, ..Features::default() };
        let variants = vec![variant("matrices", features, text()), variant("plain", Features::default(), text())];
        let mut made = function(vec![kernel(variants)]);
        let before = code_bytes(&made);
        retain_runnable(&mut made, &device_info(AdapterKind::Software, 0));
        assert_eq!(before - code_bytes(&made), (1000 + size_of::<Variant>() + size_of::<Pass>()) as u64);
        let retained = code_bytes(&made);
        let mut roomy = String::with_capacity(5000);
        roomy.push_str(&"x".repeat(1000));
        made.kernels.to_mut()[0].variants.to_mut()[0].passes.to_mut()[0].wgsl = roomy.into();
        assert_eq!(code_bytes(&made) - retained, 4000);
        retain_runnable(&mut made, &device_info(AdapterKind::Software, 0));
        assert_eq!(code_bytes(&made), retained);
    }

    #[test]
    fn texts_that_are_shared_count_once() {
        static TEXTS: SharedTexts = SharedTexts { lines: &["line\n", "other\n"], parts: &["0 5 ", "5 6 "] };
        let bytes = |texts: Vec<Wgsl>| {
            let count = texts.len() * (size_of::<Variant>() + size_of::<Pass>());
            let variants = texts.into_iter().map(|text| variant("v", Features::default(), text)).collect();
            let rest = size_of::<Function>() + size_of::<Kernel>() + count;
            code_bytes(&function(vec![kernel(variants)])) - rest as u64
        };
        assert_eq!(bytes(vec!["whole".to_owned().into(), "whole".to_owned().into()]), 10);
        let text = "borrowed";
        assert_eq!(bytes(vec![text.into(), "other".into(), text.into()]), 13);
        let shared = |number| Wgsl::Shared { texts: &TEXTS, number };
        assert_eq!(bytes(vec![shared(0)]), 11 + 4);
        assert_eq!(bytes(vec![shared(0), shared(1), shared(0)]), 11 + 8);
    }

    #[test]
    fn made_texts_share_their_lines() {
        let text = |last: &str| format!("{}{last}\n", (0..100).map(|i| format!("line {i}\n")).collect::<String>());
        let variants = |lasts: &[&str]| {
            let texts = lasts.iter().map(|last| Wgsl::from(text(last)));
            texts.map(|text| variant("v", Features::default(), text)).collect::<Vec<_>>()
        };
        let mut made = function(vec![kernel(variants(&["a", "b", "a"])), kernel(variants(&["c"]))]);
        made.alternatives = vec![function(vec![kernel(variants(&["b", "d"]))])].into();
        made.kernels.to_mut().push(kernel(vec![variant("borrowed", Features::default(), "as it is".into())]));
        let (whole, before) = (made.clone(), code_bytes(&made));
        share_lines(&mut made);
        assert_eq!(made, whole);
        let saved = before - code_bytes(&made);
        assert!(saved > 4 * text("a").len() as u64, "{saved} of {before} bytes");
        assert!(matches!(made.kernels[2].variants[0].passes[0].wgsl, Wgsl::Whole(Cow::Borrowed(_))));
    }

    #[test]
    fn lists_and_sizes_that_were_made_count_and_borrowed_ones_do_not() {
        let mut made = function(vec![]);
        let empty = code_bytes(&made);
        assert_eq!(empty, size_of::<Function>() as u64);
        made.name = "four".to_owned().into();
        made.results =
            vec![TensorSpec { dtype: DType::F32, shape: vec![Size::symbol(0)].into(), padded: false }].into();
        let spec = size_of::<TensorSpec>() + size_of::<Size>() + size_of::<Term>() + size_of::<u16>();
        assert_eq!(code_bytes(&made) - empty, (4 + spec) as u64);
        made.results.to_mut()[0].shape = Cow::Borrowed(const { &[Size::ONE] });
        assert_eq!(code_bytes(&made) - empty, (4 + size_of::<TensorSpec>()) as u64);
        let alone = code_bytes(&made);
        let mut whole = made.clone();
        whole.alternatives = vec![made].into();
        assert_eq!(code_bytes(&whole), 2 * alone);
    }
}
