//! A shader under construction: uniform words, bindings, helpers, statements of its entry point.

use std::fmt::Write;

use fuse_artifact::{Binding, COOP_MATRIX_SUBGROUP, DType, Grid, Pass, Size, Slot, UNIFORM_BLOCK, Uniform, constants};

use super::{builtins::Helpers, names::Names};
use crate::{
    fusion::{Group, body::KernelAccess},
    kernel::{
        Arena, Block, Function, Literal, Scalar, Ty, Val, outline,
        print::{self, Dialect, IndexChecks, Mode},
    },
};

/// Parameters of `main`: meaning, name and type. From the fourth on they are for subgroup operations. WGSL requires
/// `enable subgroups;` for them, which naga 30 does not parse: it knows the operations without. Browsers require it
/// too, but wgpu never requests subgroups from them.
const INPUTS: [(&str, &str, &str); 7] = [
    ("workgroup_id", "workgroup", "vec3<u32>"),
    ("num_workgroups", "workgroups", "vec3<u32>"),
    ("local_invocation_index", "local", "u32"),
    ("subgroup_id", "subgroup", "u32"),
    ("num_subgroups", "subgroups", "u32"),
    ("subgroup_size", "subgroup_size", "u32"),
    ("subgroup_invocation_id", "subgroup_lane", "u32"),
];

/// Bits of NaN and infinity, which naga refuses to compute from constants.
const NON_FINITE: &str = "var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
";

/// One shader, and what the runtime needs to run it.
pub struct Shader<'k> {
    arena: &'k Arena,
    names: &'k Names,
    uniforms: Vec<(Uniform, String, Ty)>,
    bindings: Vec<Buffer>,
    /// Helper functions in use.
    pub helpers: Helpers,
    /// Constants that the runtime sets, with defaults.
    constants: Vec<(String, bool)>,
    declared: Vec<String>,
    items: Vec<Item<'k>>,
    /// Statements of `main`.
    pub main: Block<'k>,
    workgroup_bytes: u32,
    smallest_subgroup: u32,
    coop_matrix: u32,
    pins_loads: bool,
    f16: bool,
}

struct Buffer {
    binding: Binding,
    name: String,
    lanes: u32,
}

enum Item<'k> {
    Function(Function<'k>),
    Structure(Ty),
    /// A variable with its address space.
    Variable {
        space: &'static str,
        name: String,
        ty: Ty,
    },
}

impl<'k> Shader<'k> {
    /// A shader for the kernel of a group, with names for its tensors.
    pub fn new(arena: &'k Arena, names: &'k Names, group: &Group) -> Self {
        Self {
            arena,
            names,
            uniforms: vec![],
            bindings: vec![],
            helpers: Helpers::default(),
            constants: vec![],
            declared: vec![],
            items: vec![],
            main: Block::new(),
            workgroup_bytes: 0,
            smallest_subgroup: 0,
            coop_matrix: 0,
            pins_loads: false,
            f16: group.uses_f16(),
        }
    }

    /// The arena of its expressions.
    pub fn arena(&self) -> &'k Arena {
        self.arena
    }

    /// A literal `u32`.
    pub fn u32(&self, value: u32) -> Val<'k> {
        self.arena.u32(value)
    }

    /// Infinity, which naga refuses in constants.
    pub fn infinity(&self) -> Val<'k> {
        self.arena.name("fuse_inf_bits", Ty::U32).bitcast(Scalar::F32)
    }

    /// NaN, which naga refuses in constants.
    pub fn nan(&self) -> Val<'k> {
        self.arena.name("fuse_nan_bits", Ty::U32).bitcast(Scalar::F32)
    }

    /// Index of the invocation in its workgroup.
    pub fn local(&self) -> Val<'k> {
        self.arena.name("local", Ty::U32)
    }

    /// Index of the workgroup.
    pub fn workgroup_number(&self) -> Val<'k> {
        let vector = Ty::vector(Scalar::U32, 3);
        let [workgroup, workgroups] = ["workgroup", "workgroups"].map(|name| self.arena.name(name, vector));
        workgroup.at(0) + workgroup.at(1) * workgroups.at(0)
    }

    /// The subgroup, and the invocation's place in it.
    pub fn subgroup(&self) -> Subgroup<'k> {
        let [id, count, size, lane] =
            ["subgroup", "subgroups", "subgroup_size", "subgroup_lane"].map(|name| self.arena.name(name, Ty::U32));
        Subgroup { id, count, size, lane }
    }

    /// A uniform word.
    pub fn uniform(&mut self, uniform: Uniform) -> Val<'k> {
        self.word(uniform, Scalar::U32)
    }

    /// A host scalar.
    pub fn scalar(&mut self, param: u16, dtype: DType) -> Val<'k> {
        let word =
            self.word(Uniform::Scalar { param }, if dtype == DType::Bool { Scalar::U32 } else { Scalar::of(dtype) });
        if dtype == DType::Bool { word.ne(0) } else { word }
    }

    /// A size in elements.
    pub fn size(&mut self, size: &Size) -> Val<'k> {
        match size.as_constant() {
            Some(value) => {
                let literal = u32::try_from(value).map_or(Literal::TooLarge(value), Literal::U32);
                self.arena.literal(literal)
            }
            None => self.uniform(Uniform::Size { size: size.clone() }),
        }
    }

    fn word(&mut self, uniform: Uniform, scalar: Scalar) -> Val<'k> {
        let ty = Ty::vector(scalar, 1);
        let known = self.uniforms.iter().find(|(known, ..)| *known == uniform);
        let name = match known {
            Some((_, name, _)) => format!("p.{name}"),
            None => {
                let name = self.names.uniform(&uniform, self.uniforms.len());
                self.uniforms.push((uniform, name.clone(), ty));
                format!("p.{name}")
            }
        };
        self.arena.name(name, ty)
    }

    /// The buffer of `slot`, an array of vectors of `lanes` elements.
    pub fn buffer(&mut self, slot: Slot, dtype: DType, lanes: u32, writable: bool) -> Val<'k> {
        let known = self.bindings.iter().position(|known| known.binding.slot == slot);
        let at = known.unwrap_or_else(|| {
            let name = self.names.slot(slot);
            self.bindings.push(Buffer { binding: Binding { slot, dtype, writable }, name, lanes });
            self.bindings.len() - 1
        });
        let buffer = &mut self.bindings[at];
        buffer.binding.writable |= writable;
        let ty = self.arena.array(Ty::stored(buffer.binding.dtype, buffer.lanes), None);
        self.arena.name(buffer.name.clone(), ty)
    }

    /// Binds a group's buffers in a fixed order: reads by access, then stores.
    pub fn bind_group(&mut self, group: &Group, lanes: u32) {
        for KernelAccess { access, dtype, .. } in &group.accesses {
            self.buffer(access.slot, *dtype, lanes, false);
        }
        self.bind_stores(group, lanes);
    }

    /// Binds the buffers that a group writes.
    pub fn bind_stores(&mut self, group: &Group, lanes: u32) {
        for store in &group.stores {
            self.buffer(store.slot, group.body.values[store.value].dtype, lanes, true);
        }
    }

    /// A constant set by the runtime ([`constants`]), with its default.
    pub fn constant(&mut self, name: &str, default: bool) -> Val<'k> {
        if !self.constants.iter().any(|(known, _)| known == name) {
            self.constants.push((name.to_owned(), default));
        }
        self.arena.name(name, Ty::BOOL)
    }

    /// Runs the case with the selector's number, if there is one. Cases are functions `{name}0 …`; the runtime chooses
    /// `switch` or a chain of `if` by the constant with this default.
    pub fn branch(&mut self, b: &mut Block<'k>, selector: Val<'k>, name: &str, cases: Vec<Block<'k>>, switch: bool) {
        let mut calls = vec![];
        for (number, case) in (0..).zip(cases) {
            let (function, call) = outline(self.arena, format!("{name}{number}"), case, |name| self.is_global(name));
            self.items.push(Item::Function(function));
            calls.push((number, call));
        }
        let by_switch = self.constant(constants::SWITCH, switch);
        b.when_else(
            by_switch,
            |b| {
                let cases = calls.iter().map(|&(_, call)| Block::of(|b| b.run(call)));
                b.switch(selector, cases.chain([Block::new()]).collect());
            },
            |b| calls.iter().for_each(|&(number, call)| b.when(selector.eq(number), |b| b.run(call))),
        );
    }

    /// Names and types at module scope; true if reads at equal indices give a workgroup equal values.
    fn globals(&self) -> impl Iterator<Item = (&str, Ty, bool)> {
        let words = ["fuse_nan_bits", "fuse_inf_bits", constants::ROUNDS].map(|name| (name, Ty::U32, true));
        let constants = self.constants.iter().map(|(name, _)| (name.as_str(), Ty::BOOL, true));
        let buffers = self.bindings.iter().map(|buffer| {
            let ty = self.arena.array(Ty::stored(buffer.binding.dtype, buffer.lanes), None);
            (buffer.name.as_str(), ty, !buffer.binding.writable && !self.pins_loads)
        });
        let variables = self.items.iter().filter_map(|item| match item {
            Item::Variable { name, ty, .. } => Some((name.as_str(), *ty, false)),
            _ => None,
        });
        [("p", Ty::Unknown, true)].into_iter().chain(words).chain(constants).chain(buffers).chain(variables)
    }

    fn is_global(&self, name: &str) -> bool {
        self.globals().any(|(known, ..)| known == name)
    }

    /// Registers a declaration; false if it was registered before.
    pub fn declares(&mut self, name: &str) -> bool {
        let is_new = !self.declared.iter().any(|known| known == name);
        if is_new {
            self.declared.push(name.to_owned());
        }
        is_new
    }

    /// Index of this workgroup's part, if workgroups share sums.
    pub fn split(&self) -> Val<'k> {
        self.arena.name("split", Ty::U32)
    }

    /// Adds a function.
    pub fn function(&mut self, function: Function<'k>) {
        self.items.push(Item::Function(function));
    }

    /// Declares a structure.
    pub fn structure(&mut self, name: &str, fields: Vec<(String, Ty)>) -> Ty {
        let ty = self.arena.structure(name, fields);
        self.items.push(Item::Structure(ty));
        ty
    }

    /// Constant: true if a quantized parameter's scales are `f32`.
    pub fn wide_scales(&mut self, param: u16) -> Val<'k> {
        self.constant(&constants::wide_scales(param), false)
    }

    /// Declares a private variable.
    pub fn private(&mut self, name: &str, ty: Ty) -> Val<'k> {
        self.items.push(Item::Variable { space: "private", name: name.to_owned(), ty });
        self.arena.name(name, ty)
    }

    /// The workgroup array with this name, declared before.
    pub fn array(&self, name: &str) -> Val<'k> {
        let ty = self.items.iter().find_map(|item| match item {
            Item::Variable { name: known, ty, .. } if known == name => Some(*ty),
            _ => None,
        });
        self.arena.name(name, ty.unwrap_or(Ty::Unknown))
    }

    /// Declares an array in workgroup memory.
    pub fn workgroup_array(&mut self, name: &str, element: Ty, count: u32) -> Val<'k> {
        let ty = self.arena.array(element, Some(count));
        self.items.push(Item::Variable { space: "workgroup", name: name.to_owned(), ty });
        // Vectors of three elements are not used.
        let bytes = match element.scalar() {
            Some(Scalar::F16) => 2,
            _ => 4,
        };
        self.workgroup_bytes += count * element.lanes() * bytes;
        self.arena.name(name, ty)
    }

    /// Enables operations on subgroups of at least `smallest` invocations.
    pub fn use_subgroups(&mut self, smallest: u32) {
        self.smallest_subgroup = smallest;
    }

    /// Enables cooperative matrices of this size.
    pub fn use_coop_matrix(&mut self, size: u32) {
        self.use_subgroups(COOP_MATRIX_SUBGROUP);
        self.coop_matrix = size;
    }

    /// Keeps the compiler from moving loads behind later barriers.
    pub fn pin_loads(&mut self) {
        self.pins_loads = true;
    }

    /// The finished pass.
    #[cfg_attr(not(feature = "verify"), allow(unused_mut, reason = "only tests replace matrices"))]
    pub fn finish(mut self, grid: Grid, workgroup_size: u32) -> Pass {
        let dialect = self.names.dialect;
        #[cfg(feature = "verify")]
        if dialect == Dialect::Software && self.coop_matrix > 0 {
            self.replace_matrices();
        }
        let checks = (dialect == Dialect::Checked).then(IndexChecks::default);
        let mode = Mode { checks: checks.as_ref(), chromium: dialect == Dialect::Chromium };
        let code = self.code(workgroup_size, mode);
        let mut wgsl = String::new();
        if self.f16 {
            wgsl += "enable f16;\n";
        }
        if self.coop_matrix > 0 {
            let _ = writeln!(wgsl, "enable {};", dialect.matrix_extension());
        }
        if !wgsl.is_empty() {
            wgsl += "\n";
        }
        if !self.uniforms.is_empty() {
            wgsl += "struct Params {\n";
            for (_, name, ty) in &self.uniforms {
                let _ = writeln!(wgsl, "  {name}: {},", print::type_name(self.arena, *ty));
            }
            let _ = writeln!(wgsl, "}}\n\n{UNIFORM_BLOCK}");
        }
        for (i, buffer) in self.bindings.iter().enumerate() {
            let mode = if buffer.binding.writable || self.pins_loads { "read_write" } else { "read" };
            let ty = storage_type(buffer.binding.dtype, buffer.lanes);
            let _ = writeln!(wgsl, "@group(0) @binding({}) var<storage, {mode}> {}: array<{ty}>;", i + 1, buffer.name);
        }
        wgsl += NON_FINITE;
        for (name, default) in &self.constants {
            wgsl += &constants::declaration(name, default);
            wgsl.push('\n');
        }
        for (name, default) in [(constants::FAST_MATH, "false"), (constants::ROUNDS, "1u")] {
            if code.contains(name) {
                wgsl += &constants::declaration(name, default);
                wgsl.push('\n');
            }
        }
        if let Some(checks) = &checks {
            wgsl += &constants::declaration(constants::FIRST_PLACE, "0u");
            wgsl += IndexChecks::HELPERS;
            wgsl += &checks.places();
        }
        wgsl.push('\n');
        wgsl += &code;
        #[cfg(feature = "verify")]
        self.verify(&wgsl);
        Pass {
            wgsl: wgsl.into(),
            bindings: self.bindings.into_iter().map(|buffer| buffer.binding).collect::<Vec<_>>().into(),
            uniforms: self.uniforms.into_iter().map(|(uniform, ..)| uniform).collect::<Vec<_>>().into(),
            grid,
            workgroup_size,
            workgroup_bytes: self.workgroup_bytes,
            pins_loads: self.pins_loads,
        }
    }

    #[cfg(feature = "verify")]
    fn replace_matrices(&mut self) {
        let functions = self.items.iter_mut().filter_map(|item| match item {
            Item::Function(function) => Some(&mut function.body),
            _ => None,
        });
        let mut bodies: Vec<&mut Block<'k>> = functions.chain([&mut self.main]).collect();
        let variables = crate::kernel::software::replace_matrices(self.arena, self.coop_matrix, &mut bodies);
        let variable = |(space, name, ty): (_, &str, _)| Item::Variable { space, name: name.to_owned(), ty };
        self.items.extend(variables.into_iter().map(variable));
        (self.coop_matrix, self.smallest_subgroup) = (0, 0);
    }

    #[cfg(feature = "verify")]
    fn verify(&self, wgsl: &str) {
        use crate::kernel::verify::{Global, Module};
        let global = |name: &str, ty, uniform| Global { name: name.to_owned(), ty, uniform };
        let vector = Ty::vector(Scalar::U32, 3);
        let inputs = [
            global("workgroup", vector, true),
            global("workgroups", vector, true),
            global("local", Ty::U32, false),
            global("subgroup", Ty::U32, false),
            global("subgroups", Ty::U32, true),
            global("subgroup_size", Ty::U32, true),
            global("subgroup_lane", Ty::U32, false),
        ];
        let globals = self.globals().map(|(name, ty, uniform)| global(name, ty, uniform)).chain(inputs).collect();
        let functions = self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        });
        let functions = functions.collect();
        let module = Module { arena: self.arena, globals, functions, main: &self.main };
        if let Err(error) = module.verify() {
            panic!("{error} in\n{wgsl}");
        }
    }

    fn code(&self, workgroup_size: u32, mode: Mode<'_>) -> String {
        let mut wgsl = self.helpers.text();
        for item in &self.items {
            match item {
                Item::Function(function) => wgsl += &print::function(self.arena, mode, function),
                Item::Structure(ty) => wgsl += &print::structure(self.arena, *ty),
                Item::Variable { space, name, ty } => {
                    let _ = writeln!(wgsl, "var<{space}> {name}: {};", print::type_name(self.arena, *ty));
                }
            }
        }
        let subgroups = if self.smallest_subgroup > 0 { &INPUTS[3..] } else { &[] };
        let inputs = || INPUTS[..3].iter().chain(subgroups);
        let mut main = print::block(self.arena, mode, &self.main, 1);
        if mode.checks.is_some() && self.coop_matrix > 0 {
            // In another function, parameters are not uniform for naga, and it refuses matrix operations after a return
            // that depends on them. Invocations that return early report nothing.
            main += IndexChecks::REPORT;
        } else if mode.checks.is_some() {
            let parameters: Vec<String> = inputs().map(|(_, name, ty)| format!("{name}: {ty}")).collect();
            let names: Vec<&str> = inputs().map(|(_, name, _)| *name).collect();
            let _ = write!(wgsl, "fn fuse_main({}) {{\n{main}}}\n", parameters.join(", "));
            main = format!("  fuse_main({});\n{}", names.join(", "), IndexChecks::REPORT);
        }
        let inputs: String =
            inputs().map(|(builtin, name, ty)| format!("  @builtin({builtin}) {name}: {ty},\n")).collect();
        let _ = write!(wgsl, "\n@compute @workgroup_size({workgroup_size})\nfn main(\n{inputs}) {{\n{main}}}\n");
        wgsl
    }
}

/// The WGSL type of buffer elements.
pub fn storage_type(dtype: DType, lanes: u32) -> String {
    print::vector_name(Scalar::stored(dtype), lanes)
}

/// Converts a `dtype` value from its buffer type.
pub fn from_storage<'k>(dtype: DType, stored: Val<'k>) -> Val<'k> {
    match dtype {
        DType::F16 => stored.convert(Scalar::F32),
        DType::Bool => stored.ne(0),
        DType::F32 | DType::I32 | DType::U32 => stored,
    }
}

/// Converts a `dtype` value to its buffer type.
pub fn to_storage<'k>(dtype: DType, value: Val<'k>) -> Val<'k> {
    match dtype {
        DType::F16 => value.convert(Scalar::F16),
        DType::Bool => {
            let one = value.arena().u32(1).splat(value.ty().lanes());
            value.select(one, 0)
        }
        DType::F32 | DType::I32 | DType::U32 => value,
    }
}

/// Coordinates of `lanes` elements along an axis from `first` on.
pub fn lane_coordinates(first: Val<'_>, lanes: u32, along_axis: bool) -> Val<'_> {
    let arena = first.arena();
    match (lanes, along_axis) {
        (1, _) => first,
        (_, true) => {
            let steps: Vec<_> = (0..lanes).map(|lane| arena.u32(lane)).collect();
            first.splat(lanes) + arena.construct(Ty::vector(Scalar::U32, lanes), &steps)
        }
        (_, false) => first.splat(lanes),
    }
}

/// A subgroup, and an invocation in it.
pub struct Subgroup<'k> {
    /// Index of the subgroup in the workgroup.
    pub id: Val<'k>,
    /// Number of subgroups of the workgroup.
    pub count: Val<'k>,
    /// Invocations per subgroup.
    pub size: Val<'k>,
    /// Index of the invocation in its subgroup.
    pub lane: Val<'k>,
}
