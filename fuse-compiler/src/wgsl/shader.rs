//! A shader under construction: uniform words, bindings, helpers and the text of its entry point.

use std::{
    fmt::{self, Write},
    iter,
};

use fuse_artifact::{Binding, COOP_MATRIX_SUBGROUP, DType, Grid, Pass, Size, Slot, UNIFORM_BLOCK, UNROLL, Uniform};

use super::{
    builtins::{Helpers, vector_type},
    names::Names,
};
use crate::fusion::{Group, body::KernelAccess};

/// Parameters of `main` in shaders with subgroup operations. WGSL wants `enable subgroups;` before them, which naga 30
/// does not parse: it knows the operations without. Browsers, who would insist, are never asked for them by wgpu.
const SUBGROUP_INPUTS: &str = "  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
  @builtin(subgroup_size) subgroup_size: u32,
  @builtin(subgroup_invocation_id) subgroup_lane: u32,
";

/// The bits of NaN and infinity, which naga refuses to compute from constants.
const NON_FINITE: &str = "var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
";

/// One shader and what the runtime must know to run it.
pub struct Shader<'a> {
    names: &'a Names,
    uniforms: Vec<(Uniform, String, &'static str)>,
    bindings: Vec<Buffer>,
    /// Helper functions in use.
    pub helpers: Helpers,
    /// Names of declarations that several places of a shader ask for, each written once.
    declared: Vec<String>,
    /// Declarations at module scope (workgroup variables, functions).
    pub module: CodeBuffer,
    /// The statements of `main`.
    pub main: CodeBuffer,
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

/// Text with indentation that follows braces.
#[derive(Default)]
pub struct CodeBuffer {
    text: String,
    depth: usize,
}

impl CodeBuffer {
    /// CodeBuffer inside a function.
    pub fn indented() -> Self {
        Self { text: String::new(), depth: 1 }
    }

    /// Adds a line; one that ends in `{` indents what follows, one that starts with `}` ends that.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with('}') {
            self.depth = self.depth.saturating_sub(1);
        }
        self.push_indented(line);
        if line.ends_with('{') {
            self.depth += 1;
        }
    }

    /// Adds a statement. Most of a text are statements like each other, so that these are written without a text of their own.
    pub fn statement(&mut self, statement: fmt::Arguments<'_>) {
        self.indent();
        let _ = self.text.write_fmt(statement);
        self.text.push('\n');
    }

    fn push_indented(&mut self, line: &str) {
        self.indent();
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn indent(&mut self) {
        self.text.extend(iter::repeat_n("  ", self.depth));
    }

    /// Starts a loop that the runtime may unroll ([`UNROLL`]).
    pub fn unrollable(&mut self, counter: &str, first: &str, end: &str, step: u32) {
        let step = if step == 1 { "++".to_owned() } else { format!(" += {step}u") };
        self.line(UNROLL);
        self.line(format!("for (var {counter} = {first}; {counter} < {end}; {counter}{step}) {{"));
    }

    /// Whether this is one line.
    pub fn is_single(&self) -> bool {
        self.text.lines().count() == 1
    }

    /// Adds the lines of another text at this depth.
    pub fn append(&mut self, lines: &CodeBuffer) {
        if self.depth == 0 {
            self.text.push_str(&lines.text);
            return;
        }
        lines.text.lines().for_each(|line| self.push_indented(line));
    }
}

impl<'a> Shader<'a> {
    /// A shader for the kernel of a group, whose tensors have the given names.
    pub fn new(names: &'a Names, group: &Group) -> Self {
        let (uniforms, bindings, helpers, module) = (vec![], vec![], Helpers::default(), CodeBuffer::default());
        Self {
            names,
            uniforms,
            bindings,
            helpers,
            declared: vec![],
            module,
            main: CodeBuffer::indented(),
            workgroup_bytes: 0,
            smallest_subgroup: 0,
            coop_matrix: 0,
            pins_loads: false,
            f16: group.uses_f16(),
        }
    }

    /// The expression that reads a uniform word as `u32`.
    pub fn uniform(&mut self, uniform: Uniform) -> String {
        self.word(uniform, "u32")
    }

    /// The expression that reads a host scalar (`bool` as `bool`).
    pub fn scalar(&mut self, param: u16, dtype: DType) -> String {
        let ty = if dtype == DType::Bool { "u32" } else { super::builtins::scalar_type(dtype) };
        let word = self.word(Uniform::Scalar { param }, ty);
        if dtype == DType::Bool { format!("({word} != 0u)") } else { word }
    }

    /// The expression for a size in elements, as `u32`.
    pub fn size(&mut self, size: &Size) -> String {
        match size.as_constant() {
            Some(value) => format!("{value}u"),
            None => self.uniform(Uniform::Size { size: size.clone() }),
        }
    }

    fn word(&mut self, uniform: Uniform, ty: &'static str) -> String {
        if let Some((_, name, _)) = self.uniforms.iter().find(|(known, ..)| *known == uniform) {
            return format!("p.{name}");
        }
        let name = self.names.uniform(&uniform, self.uniforms.len());
        let expression = format!("p.{name}");
        self.uniforms.push((uniform, name, ty));
        expression
    }

    /// The name of the buffer for `slot`, bound as an array of vectors of `lanes` elements.
    pub fn buffer(&mut self, slot: Slot, dtype: DType, lanes: u32, writable: bool) -> String {
        if let Some(known) = self.bindings.iter_mut().find(|b| b.binding.slot == slot) {
            known.binding.writable |= writable;
            return known.name.clone();
        }
        let name = self.names.slot(slot);
        self.bindings.push(Buffer { binding: Binding { slot, dtype, writable }, name: name.clone(), lanes });
        name
    }

    /// Binds everything that a group reads or writes, in a fixed order: reads by access, then stores.
    pub fn bind_group(&mut self, group: &Group, lanes: u32) {
        for KernelAccess { access, dtype, .. } in &group.accesses {
            self.buffer(access.slot, *dtype, lanes, false);
        }
        self.bind_stores(group, lanes);
    }

    /// Binds what a group writes.
    pub fn bind_stores(&mut self, group: &Group, lanes: u32) {
        for store in &group.stores {
            self.buffer(store.slot, group.body.values[store.value].dtype, lanes, true);
        }
    }

    /// Whether [`declare`](Self::declare) was given this name.
    pub fn is_declared(&self, name: &str) -> bool {
        self.declared.iter().any(|known| known == name)
    }

    /// Adds a declaration that others may ask for as well.
    pub fn declare(&mut self, name: String, lines: CodeBuffer) {
        self.declared.push(name);
        self.module.append(&lines);
    }

    /// Declares a workgroup variable: an array of `count` values of type `ty`, `bytes` each.
    pub fn workgroup_array(&mut self, name: &str, ty: &str, count: u32, bytes: u32) {
        self.module.line(format!("var<workgroup> {name}: array<{ty}, {count}>;"));
        self.workgroup_bytes += count * bytes;
    }

    /// Enables subgroup operations, for subgroups of at least `smallest` invocations.
    pub fn use_subgroups(&mut self, smallest: u32) {
        self.smallest_subgroup = smallest;
    }

    /// Enables cooperative matrices of this size.
    pub fn use_coop_matrix(&mut self, size: u32) {
        self.use_subgroups(COOP_MATRIX_SUBGROUP);
        self.coop_matrix = size;
    }

    /// Has loads stay before the barriers that follow them.
    pub fn pin_loads(&mut self) {
        self.pins_loads = true;
    }

    /// The finished pass.
    pub fn finish(self, grid: Grid, workgroup_size: u32) -> Pass {
        let helpers = self.helpers.text();
        let mut text = String::new();
        if self.f16 {
            text += "enable f16;\n";
        }
        if self.coop_matrix > 0 {
            text += "enable wgpu_cooperative_matrix;\n";
        }
        if !text.is_empty() {
            text += "\n";
        }
        if !self.uniforms.is_empty() {
            text += "struct Params {\n";
            for (_, name, ty) in &self.uniforms {
                let _ = writeln!(text, "  {name}: {ty},");
            }
            let _ = writeln!(text, "}}\n\n{UNIFORM_BLOCK}");
        }
        for (i, buffer) in self.bindings.iter().enumerate() {
            let mode = if buffer.binding.writable || self.pins_loads { "read_write" } else { "read" };
            let ty = storage_type(buffer.binding.dtype, buffer.lanes);
            let _ = writeln!(text, "@group(0) @binding({}) var<storage, {mode}> {}: array<{ty}>;", i + 1, buffer.name);
        }
        text += NON_FINITE;
        let _ = write!(text, "\n{helpers}{}", self.module.text);
        let _ = write!(
            text,
            "\n@compute @workgroup_size({workgroup_size})\nfn main(\n  @builtin(workgroup_id) workgroup: vec3<u32>,\n  \
             @builtin(num_workgroups) workgroups: vec3<u32>,\n  @builtin(local_invocation_index) local: u32,\n{}) {{\n{}}}\n",
            if self.smallest_subgroup > 0 { SUBGROUP_INPUTS } else { "" },
            self.main.text
        );
        Pass {
            wgsl: text.into(),
            bindings: self.bindings.into_iter().map(|buffer| buffer.binding).collect::<Vec<_>>().into(),
            uniforms: self.uniforms.into_iter().map(|(uniform, ..)| uniform).collect::<Vec<_>>().into(),
            grid,
            workgroup_size,
            workgroup_bytes: self.workgroup_bytes,
            pins_loads: self.pins_loads,
        }
    }
}

/// The WGSL type of buffer elements.
pub fn storage_type(dtype: DType, lanes: u32) -> String {
    let scalar = match dtype {
        DType::F16 => "f16",
        DType::Bool => "u32",
        other => super::builtins::scalar_type(other),
    };
    if lanes == 1 { scalar.to_owned() } else { format!("vec{lanes}<{scalar}>") }
}

/// The value of `dtype` from what a buffer holds.
pub fn from_storage(dtype: DType, lanes: u32, stored: &str) -> String {
    match dtype {
        DType::F16 => format!("{}({stored})", vector_type(dtype, lanes)),
        DType::Bool => format!("({stored} != {}(0))", storage_type(dtype, lanes)),
        DType::F32 | DType::I32 | DType::U32 => stored.to_owned(),
    }
}

/// What a buffer holds for a value of `dtype`.
pub fn to_storage(dtype: DType, lanes: u32, value: &str) -> String {
    let t = storage_type(dtype, lanes);
    match dtype {
        DType::F16 => format!("{t}({value})"),
        DType::Bool => format!("select({t}(0), {t}(1), {value})"),
        DType::F32 | DType::I32 | DType::U32 => value.to_owned(),
    }
}
