//! Small artifacts in the compiler's form.

use fuse_runtime::artifact::{
    Access, Binding, Check, DType, Domain, DomainKind, Features, Function, Grid, Kernel, Param, ParamKind, Pass, Plan,
    Relation, Require, Schedule, Scratch, Size, Slot, Space, Symbol, SymbolSource, TensorSpec, Uniform, Variant, Work,
    schedule::{K, Pointwise, Tile},
};

/// Artifacts live as long as the program, as the macro's do.
pub(crate) fn leak(function: Function) -> &'static Function {
    Box::leak(Box::new(function))
}

pub(crate) fn sym(id: u16) -> Size {
    Size::symbol(id)
}

pub(crate) fn spec(dtype: DType, shape: &[Size]) -> TensorSpec {
    TensorSpec { dtype, shape: shape.to_vec().into(), padded: false }
}

pub(crate) fn tensor(name: &'static str, dtype: DType, shape: &[Size]) -> Param {
    Param { name: name.into(), kind: ParamKind::Tensor(spec(dtype, shape)) }
}

pub(crate) fn scalar(name: &'static str, dtype: DType) -> Param {
    Param { name: name.into(), kind: ParamKind::Scalar(dtype) }
}

pub(crate) fn axis_symbol(name: &'static str, param: u16, axis: u8) -> Symbol {
    Symbol { name: name.into(), source: SymbolSource::Axis { param, axis } }
}

/// Accesses all axes of `view`; the space's first axes are unused where `view` is shorter.
pub(crate) fn access(slot: Slot, space: Space, rank: usize, view: &[Size]) -> Access {
    let missing = rank - view.len();
    let axes: Vec<Option<u8>> = (0..rank).map(|axis| axis.checked_sub(missing).map(|v| v as u8)).collect();
    Access { slot, space, view: view.to_vec().into(), axes: axes.into(), starts: vec![].into() }
}

pub(crate) fn binding(slot: Slot, dtype: DType, writable: bool) -> Binding {
    Binding { slot, dtype, writable }
}

pub(crate) fn pass(wgsl: String, bindings: Vec<Binding>, uniforms: Vec<Uniform>, grid: Grid) -> Pass {
    Pass {
        wgsl: wgsl.into(),
        bindings: bindings.into(),
        uniforms: uniforms.into(),
        grid,
        workgroup_size: 64,
        workgroup_bytes: 0,
        pins_loads: false,
    }
}

pub(crate) fn variant(name: &'static str, requires: Vec<Require>, schedule: Schedule, passes: Vec<Pass>) -> Variant {
    let features = Features { f16: passes.iter().any(|pass| pass.wgsl.contains("enable f16")), ..Features::default() };
    let uses_scratch = passes.iter().any(|pass| pass.bindings.iter().any(|binding| binding.slot == Slot::Scratch));
    Variant {
        name: name.into(),
        requires: requires.into(),
        features,
        schedule,
        scratch: Scratch { per_output: u32::from(uses_scratch), per_row: 0 },
        passes: passes.into(),
    }
}

pub(crate) fn kernel(name: &'static str, domain: Domain, accesses: Vec<Access>, variants: Vec<Variant>) -> Kernel {
    Kernel { name: name.into(), domain, accesses: accesses.into(), variants: variants.into(), work: Work::default() }
}

pub(crate) fn pointwise(extents: &[Size]) -> Domain {
    Domain { kind: DomainKind::Pointwise, extents: extents.to_vec().into(), fixed: false }
}

/// `fn main` of a pointwise kernel: `i` is the element; `body` may use the uniform block `u`.
fn elementwise(prelude: &str, bindings: &str, words: &str, body: &str) -> String {
    format!(
        "{prelude}
        struct Words {{ workgroups: u32, count: u32, {words} }}
        @group(0) @binding(0) var<uniform> u: Words;
        {bindings}
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) local: u32) {{
            let id = group.x + group.y * groups.x;
            if id >= u.workgroups {{ return; }}
            let i = id * 64u + local;
            if i >= u.count {{ return; }}
            {body}
        }}"
    )
}

const ELEMENTS: Grid = Grid::Elements { per_workgroup: 64 };
const fn elements(rank: u8) -> Schedule {
    Schedule::Pointwise(Pointwise { lanes: 1, rank })
}

/// `scaled_add(x: f32[M, N], y: f32[N], s: f32) -> f32[M, N]`: `s·x + y`, in a flat and a strided variant.
pub(crate) fn scaled_add() -> &'static Function {
    let (m, n) = (sym(0), sym(1));
    let shape = [m.clone(), n.clone()];
    let accesses = vec![
        access(Slot::Param(0), Space::Point, 2, &shape),
        access(Slot::Param(1), Space::Point, 2, std::slice::from_ref(&n)),
    ];
    let bindings = "@group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read> y: array<f32>;
        @group(0) @binding(3) var<storage, read_write> z: array<f32>;";
    let slots = vec![
        binding(Slot::Param(0), DType::F32, false),
        binding(Slot::Param(1), DType::F32, false),
        binding(Slot::Result(0), DType::F32, true),
    ];
    let head = [Uniform::Workgroups, Uniform::Count];
    let flat_words = [&head[..], &[Uniform::Scalar { param: 2 }]].concat();
    let flat =
        pass(elementwise("", bindings, "s: f32", "z[i] = u.s * x[i] + y[i];"), slots.clone(), flat_words, ELEMENTS);
    let strided_words = [
        &head[..],
        &[
            Uniform::Extent { axis: 1 },
            Uniform::Stride { access: 0, axis: 0 },
            Uniform::Stride { access: 0, axis: 1 },
            Uniform::Stride { access: 1, axis: 0 },
            Uniform::Stride { access: 1, axis: 1 },
            Uniform::Scalar { param: 2 },
        ],
    ]
    .concat();
    let strided = pass(
        elementwise(
            "",
            bindings,
            "e1: u32, x0: u32, x1: u32, y0: u32, y1: u32, s: f32",
            "let a = i / u.e1; let b = i % u.e1;
            z[i] = u.s * x[a * u.x0 + b * u.x1] + y[a * u.y0 + b * u.y1];",
        ),
        slots,
        strided_words,
        ELEMENTS,
    );
    let unit = |access| Require::Stride { access, axis: 0, stride: 1 };
    let variants = vec![
        variant("flat", vec![Require::RankAtMost(1), unit(0), unit(1)], elements(1), vec![flat]),
        variant("strided", vec![], elements(2), vec![strided]),
    ];
    leak(Function {
        name: "scaled_add".into(),
        params: vec![
            tensor("x", DType::F32, &shape),
            tensor("y", DType::F32, std::slice::from_ref(&n)),
            scalar("s", DType::F32),
        ]
        .into(),
        results: vec![spec(DType::F32, &shape)].into(),
        updates: vec![].into(),
        symbols: vec![axis_symbol("M", 0, 0), axis_symbol("N", 0, 1)].into(),
        checks: vec![Check { relation: Relation::AtMost, left: m, right: 100_000.into(), what: "rows of `x`".into() }]
            .into(),
        temporaries: vec![].into(),
        kernels: vec![kernel("scaled_add", pointwise(&shape), accesses, variants)].into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}

/// `steps(x: dtype[N]) -> dtype[N], dtype[N]`: `t = x + 1` (temporary), then `t + t` and `t - 1`.
pub(crate) fn steps(dtype: DType) -> &'static Function {
    let shape = [sym(0)];
    let name = dtype.name();
    let prelude = if dtype == DType::F16 { "enable f16;" } else { "" };
    let words = || vec![Uniform::Workgroups, Uniform::Count];
    let one = |name: &'static str, from: Slot, to: &[Slot], body: &str| {
        let outputs: String = to
            .iter()
            .enumerate()
            .map(|(i, _)| format!("@group(0) @binding({}) var<storage, read_write> out{i}: array<{0}>;", i + 2))
            .collect::<String>()
            .replace("array<2>", &format!("array<{}>", dtype.name()))
            .replace("array<3>", &format!("array<{}>", dtype.name()));
        let text = format!("@group(0) @binding(1) var<storage, read> a: array<{}>;\n{outputs}", dtype.name());
        let bindings =
            std::iter::once(binding(from, dtype, false)).chain(to.iter().map(|slot| binding(*slot, dtype, true)));
        let pass = pass(elementwise(prelude, &text, "", body), bindings.collect(), words(), ELEMENTS);
        let accesses = vec![access(from, Space::Point, 1, &shape)];
        kernel(name, pointwise(&shape), accesses, vec![variant("flat", vec![], elements(1), vec![pass])])
    };
    let temporary = Slot::Temporary(0);
    let kernels = vec![
        one("steps.0", Slot::Param(0), &[temporary], &format!("out0[i] = a[i] + {name}(1);")),
        one(
            "steps.1",
            temporary,
            &[Slot::Result(0), Slot::Result(1)],
            &format!("out0[i] = a[i] + a[i]; out1[i] = a[i] - {name}(1);"),
        ),
    ];
    leak(Function {
        name: "steps".into(),
        params: vec![tensor("x", dtype, &shape)].into(),
        results: vec![spec(dtype, &shape), spec(dtype, &shape)].into(),
        updates: vec![].into(),
        symbols: vec![axis_symbol("N", 0, 0)].into(),
        checks: vec![].into(),
        temporaries: vec![spec(dtype, &shape)].into(),
        kernels: kernels.into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}

/// `increment(x: &mut f32[N])`: `x + 1`, in place.
pub(crate) fn increment() -> &'static Function {
    let shape = [sym(0)];
    let text = "@group(0) @binding(1) var<storage, read_write> x: array<f32>;";
    let words = vec![Uniform::Workgroups, Uniform::Count];
    let slots = vec![binding(Slot::Param(0), DType::F32, true)];
    let pass = pass(elementwise("", text, "", "x[i] = x[i] + 1.0;"), slots, words, ELEMENTS);
    let accesses = vec![access(Slot::Param(0), Space::Point, 1, &shape)];
    let variants = vec![variant("flat", vec![], elements(1), vec![pass])];
    leak(Function {
        name: "increment".into(),
        params: vec![tensor("x", DType::F32, &shape)].into(),
        results: vec![].into(),
        updates: vec![0].into(),
        symbols: vec![axis_symbol("N", 0, 0)].into(),
        checks: vec![].into(),
        temporaries: vec![].into(),
        kernels: vec![kernel("increment", pointwise(&shape), accesses, variants)].into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}

/// `halves(x: f32[N]) -> f32[N / 2]`: the second half, as a slice; `N` must be even and at least 2.
pub(crate) fn tail(skipped: u64) -> &'static Function {
    let n = sym(0);
    let rest = n.sub(&skipped.into());
    let source = Access {
        starts: vec![skipped.into()].into(),
        ..access(Slot::Param(0), Space::Point, 1, std::slice::from_ref(&n))
    };
    let text = "@group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read_write> z: array<f32>;";
    let words = vec![Uniform::Workgroups, Uniform::Count, Uniform::Offset { access: 0 }];
    let slots = vec![binding(Slot::Param(0), DType::F32, false), binding(Slot::Result(0), DType::F32, true)];
    let pass = pass(elementwise("", text, "offset: u32", "z[i] = x[u.offset + i];"), slots, words, ELEMENTS);
    let domain = pointwise(std::slice::from_ref(&rest));
    leak(Function {
        name: "tail".into(),
        params: vec![tensor("x", DType::F32, &[n])].into(),
        results: vec![spec(DType::F32, &[rest])].into(),
        updates: vec![].into(),
        symbols: vec![axis_symbol("N", 0, 0)].into(),
        checks: vec![].into(),
        temporaries: vec![].into(),
        kernels: vec![kernel("tail", domain, vec![source], vec![variant("flat", vec![], elements(1), vec![pass])])]
            .into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}

/// `a + b` in the expression form: padded to rank 6, extents broadcast at launch.
pub(crate) fn padded_add() -> &'static Function {
    const NAMES: [&str; 18] =
        ["A0", "A1", "A2", "A3", "A4", "A5", "B0", "B1", "B2", "B3", "B4", "B5", "R0", "R1", "R2", "R3", "R4", "R5"];
    let shape = |from: u16| -> Vec<Size> { (from..from + 6).map(sym).collect() };
    let symbol = |i: u16| match i {
        0..12 => axis_symbol(NAMES[usize::from(i)], i / 6, (i % 6) as u8),
        _ => Symbol {
            name: NAMES[usize::from(i)].into(),
            source: SymbolSource::Broadcast(vec![sym(i - 12), sym(i - 6)].into()),
        },
    };
    let padded = |name: &'static str, from: u16| Param {
        name: name.into(),
        kind: ParamKind::Tensor(TensorSpec { padded: true, ..spec(DType::F32, &shape(from)) }),
    };
    let accesses =
        vec![access(Slot::Param(0), Space::Point, 6, &shape(0)), access(Slot::Param(1), Space::Point, 6, &shape(6))];
    let axes = 0..6u8;
    let words = [
        vec![Uniform::Workgroups, Uniform::Count],
        axes.clone().map(|axis| Uniform::Extent { axis }).collect(),
        axes.clone().map(|axis| Uniform::Stride { access: 0, axis }).collect(),
        axes.map(|axis| Uniform::Stride { access: 1, axis }).collect(),
    ]
    .concat();
    let members = |prefix: &str| (0..6).map(|i| format!("{prefix}{i}: u32, ")).collect::<String>();
    let steps: String = (0..6)
        .rev()
        .map(|d| format!("p += (rest % u.e{d}) * u.a{d}; q += (rest % u.e{d}) * u.b{d}; rest /= u.e{d};"))
        .collect();
    let text = "@group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read> y: array<f32>;
        @group(0) @binding(3) var<storage, read_write> z: array<f32>;";
    let body = format!("var rest = i; var p = 0u; var q = 0u; {steps} z[i] = x[p] + y[q];");
    let slots = vec![
        binding(Slot::Param(0), DType::F32, false),
        binding(Slot::Param(1), DType::F32, false),
        binding(Slot::Result(0), DType::F32, true),
    ];
    let words_text = format!("{}{}{}", members("e"), members("a"), members("b"));
    let pass = pass(elementwise("", text, &words_text, &body), slots, words, ELEMENTS);
    let variants = vec![variant("strided", vec![], elements(6), vec![pass])];
    leak(Function {
        name: "padded_add".into(),
        params: vec![padded("a", 0), padded("b", 6)].into(),
        results: vec![TensorSpec { padded: true, ..spec(DType::F32, &shape(12)) }].into(),
        updates: vec![].into(),
        symbols: (0..18).map(symbol).collect::<Vec<_>>().into(),
        checks: vec![].into(),
        temporaries: vec![].into(),
        kernels: vec![kernel("padded_add", pointwise(&shape(12)), accesses, variants)].into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}

/// `matmul(x: f32[B, M, K], w: f32[K, N]) -> f32[B, M, N]`, one invocation per sum: whole, and with split depth in two
/// passes.
pub(crate) fn matmul() -> &'static Function {
    let [b, m, k, n] = [0, 1, 2, 3].map(sym);
    let (x, w, z) = (vec![b.clone(), m.clone(), k.clone()], vec![k.clone(), n.clone()], vec![b, m, n]);
    let accesses = vec![access(Slot::Param(0), Space::Lhs, 3, &x), access(Slot::Param(1), Space::Rhs, 3, &w)];
    let extents = [&z[..], &[k]].concat();
    let inputs = "@group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read> w: array<f32>;
        @group(0) @binding(3) var<storage, read_write> z: array<f32>;";
    let words =
        "e0: u32, e1: u32, e2: u32, e3: u32, x0: u32, x1: u32, x2: u32, w1: u32, w2: u32, parts: u32, part: u32";
    let uniforms = [
        vec![Uniform::Workgroups, Uniform::Count],
        (0..4).map(|axis| Uniform::Extent { axis }).collect(),
        (0..3).map(|axis| Uniform::Stride { access: 0, axis }).collect(),
        (1..3).map(|axis| Uniform::Stride { access: 1, axis }).collect(),
        vec![Uniform::Splits, Uniform::SplitDepth],
    ]
    .concat();
    let sum = |from: &str, to: &str| {
        format!(
            "let column = i % u.e2; let row = (i / u.e2) % u.e1; let batch = i / (u.e2 * u.e1);
            var sum = 0.0;
            for (var k = {from}; k < {to}; k++) {{
                sum += x[batch * u.x0 + row * u.x1 + k * u.x2] * w[k * u.w1 + column * u.w2];
            }}"
        )
    };
    let operands = [binding(Slot::Param(0), DType::F32, false), binding(Slot::Param(1), DType::F32, false)];
    let whole = pass(
        elementwise("", inputs, words, &format!("{} z[i] = sum;", sum("0u", "u.e3"))),
        [&operands[..], &[binding(Slot::Result(0), DType::F32, true)]].concat(),
        uniforms.clone(),
        ELEMENTS,
    );
    let parts = pass(
        elementwise(
            "",
            inputs,
            words,
            &format!(
                "for (var part = 0u; part < u.parts; part++) {{
                    {} z[part * u.count + i] = sum;
                }}",
                sum("part * u.part", "min(u.e3, (part + 1u) * u.part)")
            ),
        ),
        [&operands[..], &[binding(Slot::Scratch, DType::F32, true)]].concat(),
        uniforms,
        ELEMENTS,
    );
    let added = pass(
        elementwise(
            "",
            "@group(0) @binding(1) var<storage, read> parts: array<f32>;
            @group(0) @binding(2) var<storage, read_write> z: array<f32>;",
            "splits: u32",
            "var sum = 0.0; for (var p = 0u; p < u.splits; p++) { sum += parts[p * u.count + i]; } z[i] = sum;",
        ),
        vec![binding(Slot::Scratch, DType::F32, false), binding(Slot::Result(0), DType::F32, true)],
        vec![Uniform::Workgroups, Uniform::Count, Uniform::Splits],
        ELEMENTS,
    );
    let tiles = |split| {
        let k = if split { K::Split } else { K::Whole };
        Schedule::Tile(Tile { lanes: 1, k, ..Tile::new(1, 64, 4, [1, 1]) })
    };
    let aligned = vec![Require::Multiple { axis: 3, of: 4 }];
    leak(Function {
        name: "matmul".into(),
        params: vec![tensor("x", DType::F32, &x), tensor("w", DType::F32, &w)].into(),
        results: vec![spec(DType::F32, &z)].into(),
        updates: vec![].into(),
        symbols: vec![axis_symbol("B", 0, 0), axis_symbol("M", 0, 1), axis_symbol("K", 0, 2), axis_symbol("N", 1, 1)]
            .into(),
        checks: vec![].into(),
        temporaries: vec![].into(),
        kernels: vec![kernel(
            "matmul",
            Domain { kind: DomainKind::Contraction { products: 1 }, extents: extents.into(), fixed: false },
            accesses,
            vec![
                variant("split", aligned, tiles(true), vec![parts, added]),
                variant("whole", vec![], tiles(false), vec![whole]),
            ],
        )]
        .into(),
        plan: Plan::default(),
        assumes: vec![].into(),
        alternatives: vec![].into(),
        webnn: None,
    })
}

/// A copy of `function` with the shader `wgsl` in every pass of its kernel.
pub(crate) fn with_text(function: &Function, wgsl: &'static str) -> &'static Function {
    let mut function = function.clone();
    for kernel in function.kernels.to_mut() {
        for variant in kernel.variants.to_mut() {
            for pass in variant.passes.to_mut() {
                pass.wgsl = wgsl.into();
            }
        }
    }
    leak(function)
}
