//! Random well-typed programs as source text.
//!
//! A [`Step`] is a handful of arbitrary numbers, and [`Builder`] makes every choice legal. Any list of steps is a
//! program, and proptest shrinks failures by dropping steps and reducing numbers.

use std::collections::BTreeSet;

use fuse_artifact::DType;
use fuse_compiler::{
    graph::CompareOp,
    operations::{BinaryOp, UnaryOp},
};
use fuse_test_support::operations::{binary_text, compare_symbol, unary_text};

use super::dims::{Dim, NAMES, dims_text};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) kind: u8,
    pub(crate) operand: u8,
    pub(crate) other: u8,
    pub(crate) detail: u16,
}

/// Program and extents of its named dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) source: String,
    pub(crate) dims: Vec<(&'static str, usize)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    name: String,
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<Dim>,
    origin: Origin,
    operands: Vec<usize>,
    /// Only reader of a quantized parameter: its use determines the packing.
    weights: Option<String>,
}

#[derive(Clone, Debug)]
enum Origin {
    Param {
        scalar: bool,
    },
    /// `let name = text;`
    Let(String),
}

pub(crate) struct Builder {
    pub(crate) values: Vec<Value>,
    extents: [usize; 4],
}

/// More would rarely matter and often exceed eight bindings.
pub(crate) const MAX_PARAMS: usize = 7;

/// Elements of the largest value.
pub(crate) const MAX_ELEMENTS: usize = 4096;

impl Builder {
    pub(crate) fn new(extents: [usize; 4]) -> Self {
        Self { values: vec![], extents }
    }

    /// Extents shrink where the interpreter would take long.
    pub(crate) fn fitting(extents: [usize; 4], steps: &[Step]) -> Program {
        let mut builder = Self::of(extents, steps);
        let results = builder.results(steps);
        let source = builder.source(&results);
        Program { source, dims: builder.dims_by_name() }
    }

    /// Adds a scalar function of the results (`fn value`) and its gradients (`fn gradient`); `None` without floats.
    pub(crate) fn differentiated(extents: [usize; 4], steps: &[Step]) -> Option<Program> {
        let mut builder = Self::of(extents, steps);
        let results = builder.results(steps);
        let source = builder.gradient_source(&results)?;
        Some(Program { source, dims: builder.dims_by_name() })
    }

    fn of(mut extents: [usize; 4], steps: &[Step]) -> Self {
        loop {
            let mut builder = Self::new(extents);
            steps.iter().for_each(|step| builder.step(*step));
            let most = extents.iter_mut().max().expect("there are extents");
            if builder.largest() <= MAX_ELEMENTS || *most <= 4 {
                return builder;
            }
            *most /= 2;
        }
    }

    fn dims_by_name(&self) -> Vec<(&'static str, usize)> {
        NAMES.iter().copied().zip(self.extents).collect()
    }

    fn step(&mut self, step: Step) {
        match step.kind % 30 {
            0 => drop(self.new_tensor(step.detail)),
            1..=3 => self.unary(step),
            4..=6 => self.binary(step),
            7 => self.compare(step),
            8 => self.select(step),
            9 => self.cast(step),
            10 => self.index(step),
            11 | 12 => self.matmul(step),
            13 => self.permute(step),
            14 => self.reshape(step),
            15 => self.slice(step),
            16..=18 => self.reduce(step),
            19 => self.position(step),
            20 => self.softmax(step),
            21 => self.normalize(step),
            22 => self.attention(step),
            23 => self.gather(step),
            24 | 25 => self.rearrange(step),
            26..=28 => self.quantized(step),
            _ => self.head(step),
        }
    }

    pub(crate) fn push(&mut self, dtype: DType, dims: Vec<Dim>, text: String, operands: Vec<usize>) -> usize {
        let name = format!("v{}", self.values.len());
        self.values.push(Value { name, dtype, dims, origin: Origin::Let(text), operands, weights: None });
        self.values.len() - 1
    }

    pub(crate) fn param(&mut self, dtype: DType, dims: Vec<Dim>, scalar: bool) -> usize {
        let name = format!("v{}", self.values.len());
        self.values.push(Value {
            name,
            dtype,
            dims,
            origin: Origin::Param { scalar },
            operands: vec![],
            weights: None,
        });
        self.values.len() - 1
    }

    /// Only reader of a quantized parameter.
    pub(crate) fn push_weighted(
        &mut self,
        dtype: DType,
        dims: Vec<Dim>,
        text: String,
        operands: Vec<usize>,
        weights: String,
    ) {
        let value = self.push(dtype, dims, text, operands);
        self.values[value].weights = Some(weights);
    }

    pub(crate) fn params(&self) -> usize {
        let is_param = |value: &&Value| matches!(value.origin, Origin::Param { .. });
        // A quantized parameter is two buffers.
        self.values.iter().filter(is_param).count()
            + 2 * self.values.iter().filter(|value| value.weights.is_some()).count()
    }

    pub(crate) fn extent(&self, dim: &Dim) -> usize {
        dim.names.iter().map(|&name| self.extents[name]).product::<usize>() * dim.factor
    }

    fn largest(&self) -> usize {
        let elements = |value: &Value| value.dims.iter().map(|dim| self.extent(dim).max(1)).product();
        self.values.iter().map(elements).max().unwrap_or(0)
    }

    fn new_tensor(&mut self, detail: u16) -> usize {
        let dtypes = [DType::F32, DType::F32, DType::F16, DType::F32, DType::I32, DType::U32, DType::F16, DType::Bool];
        let dtype = dtypes[usize::from(detail) % dtypes.len()];
        let rank = [2, 1, 3, 2, 0, 4][usize::from(detail >> 3) % 6];
        let dims = (0..rank)
            .map(|axis| match (detail >> (5 + axis)) % 6 {
                4 => Dim::literal(1),
                5 => Dim::literal(3),
                name => Dim::name(usize::from(name)),
            })
            .collect();
        self.param(dtype, dims, false)
    }

    pub(crate) fn pick(&mut self, choice: u8, detail: u16, dtype: DType, wanted: impl Fn(&Value) -> bool) -> usize {
        let candidates: Vec<usize> = (0..self.values.len()).filter(|&i| wanted(&self.values[i])).collect();
        if candidates.is_empty() {
            let created = self.new_tensor(detail & !7);
            self.values[created].dtype = dtype;
            return created;
        }
        recent(&candidates, choice)
    }

    pub(crate) fn name(&self, value: usize) -> String {
        self.values[value].name.clone()
    }

    pub(crate) fn dtype(&self, value: usize) -> DType {
        self.values[value].dtype
    }

    pub(crate) fn dims(&self, value: usize) -> Vec<Dim> {
        self.values[value].dims.clone()
    }

    fn unary(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |_| true);
        let (name, dtype) = (self.name(x), self.dtype(x));
        let text = match dtype {
            DType::Bool => format!("!{name}"),
            _ => {
                let ops = UnaryOp::ALL.iter().filter(|op| op.takes(dtype) && op.result(dtype) == dtype);
                let ops: Vec<&UnaryOp> = ops.collect();
                unary_text(*ops[usize::from(step.detail) % ops.len()], &name)
            }
        };
        let dims = self.dims(x);
        self.push(dtype, dims, text, vec![x]);
    }

    fn binary(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |_| true);
        let dtype = self.dtype(x);
        let op = match dtype {
            DType::F32 | DType::F16 => {
                use BinaryOp as B;
                let ops = [
                    B::Add,
                    B::Mul,
                    B::Sub,
                    B::Div,
                    B::Max,
                    B::Min,
                    B::Add,
                    B::Mul,
                    B::Pow,
                    B::Rem,
                    B::Atan2,
                    B::Hypot,
                ];
                ops[usize::from(step.detail) % ops.len()]
            }
            DType::I32 | DType::U32 => {
                use BinaryOp as B;
                let ops = [
                    B::Add,
                    B::Mul,
                    B::Sub,
                    B::Div,
                    B::Rem,
                    B::Max,
                    B::Min,
                    B::BitAnd,
                    B::BitOr,
                    B::BitXor,
                    B::Shl,
                    B::Shr,
                ];
                ops[usize::from(step.detail) % ops.len()]
            }
            DType::Bool => [BinaryOp::And, BinaryOp::Or][usize::from(step.detail) % 2],
        };
        if dtype != DType::Bool && step.detail & 0x700 == 0x700 {
            return self.binary_literal(op, x, step);
        }
        let y = self.partner(x, step);
        let (first, second) = if step.detail & 0x800 == 0 { (x, y) } else { (y, x) };
        let text = binary_text(op, &self.name(first), &self.name(second));
        let dims = broadcast(&self.dims(x), &self.dims(y)).expect("partners broadcast");
        self.push(dtype, dims, text, vec![x, y]);
    }

    fn binary_literal(&mut self, op: BinaryOp, x: usize, step: Step) {
        let literal = match self.dtype(x) {
            DType::F32 | DType::F16 => ["0.5", "2.0", "1.25", "3.0"][usize::from(step.other) % 4],
            _ => ["1", "2", "3", "7"][usize::from(step.other) % 4],
        };
        let name = self.name(x);
        let text =
            if step.detail & 0x800 == 0 { binary_text(op, &name, literal) } else { binary_text(op, literal, &name) };
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        self.push(dtype, dims, text, vec![x]);
    }

    /// An existing value, or a new parameter.
    fn partner(&mut self, x: usize, step: Step) -> usize {
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        let candidates: Vec<usize> = (0..self.values.len())
            .filter(|&i| self.values[i].dtype == dtype && broadcast(&dims, &self.values[i].dims).is_some())
            .collect();
        let new = step.other.is_multiple_of(3) && self.params() < MAX_PARAMS && dims.iter().all(Dim::is_plain);
        if !new {
            return recent(&candidates, step.other / 3);
        }
        let pattern = step.other / 3;
        if pattern % 8 == 7 {
            return self.param(dtype, vec![], true);
        }
        let dropped = if pattern % 4 == 3 { dims.len() / 2 } else { 0 };
        let dims = dims[dropped..]
            .iter()
            .enumerate()
            .map(|(axis, dim)| if pattern >> (axis + 1) & 1 == 1 { Dim::literal(1) } else { dim.clone() })
            .collect();
        self.param(dtype, dims, false)
    }

    fn compare(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |value| value.dtype != DType::Bool);
        let y = self.partner(x, step);
        let op = CompareOp::ALL[usize::from(step.detail) % CompareOp::ALL.len()];
        let symbol = compare_symbol(op);
        let dims = broadcast(&self.dims(x), &self.dims(y)).expect("partners broadcast");
        let text = format!("{} {symbol} {}", self.name(x), self.name(y));
        self.push(DType::Bool, dims, text, vec![x, y]);
    }

    fn select(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |value| value.dtype != DType::Bool);
        let y = self.partner(x, step);
        let dims = broadcast(&self.dims(x), &self.dims(y)).expect("partners broadcast");
        let conditions: Vec<usize> = (0..self.values.len())
            .filter(|&i| self.values[i].dtype == DType::Bool && broadcast(&dims, &self.values[i].dims).is_some())
            .collect();
        let condition = match conditions.len() {
            0 => {
                let text = format!("{} < {}", self.name(x), self.name(y));
                self.push(DType::Bool, dims.clone(), text, vec![x, y])
            }
            count => conditions[usize::from(step.detail) % count],
        };
        let dims = broadcast(&dims, &self.dims(condition)).expect("conditions broadcast");
        let text = format!("select({}, {}, {})", self.name(condition), self.name(x), self.name(y));
        let dtype = self.dtype(x);
        self.push(dtype, dims, text, vec![condition, x, y]);
    }

    fn cast(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |_| true);
        let to = [DType::F32, DType::F16, DType::I32, DType::U32, DType::F32][usize::from(step.detail) % 5];
        if to == self.dtype(x) {
            return;
        }
        let (text, dims) = (format!("{} as {to}", self.name(x)), self.dims(x));
        self.push(to, dims, text, vec![x]);
    }

    fn index(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |value| !value.dims.is_empty());
        if self.values[x].dims.is_empty() {
            return;
        }
        let dims = self.dims(x);
        let axis = usize::from(step.detail) % dims.len();
        let text = format!("index({}, axis = {axis})", self.name(x));
        self.push(DType::I32, dims, text, vec![x]);
    }

    fn matmul(&mut self, step: Step) {
        let plain =
            |value: &Value| value.dtype != DType::Bool && value.dims.len() >= 2 && value.dims.iter().all(Dim::is_plain);
        let x = match (0..self.values.len()).filter(|&i| plain(&self.values[i])).collect::<Vec<_>>() {
            found if found.is_empty() => {
                let dtype = [DType::F32, DType::F16][usize::from(step.detail) % 2];
                self.param(dtype, vec![Dim::name(0), Dim::name(1)], false)
            }
            found => found[usize::from(step.operand) % found.len()],
        };
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        let (batch, rows, depth) = (&dims[..dims.len() - 2], &dims[dims.len() - 2], &dims[dims.len() - 1]);
        let columns = Dim::name(usize::from(step.other) % 4);
        let transposed = step.detail & 1 == 1;
        let mut shape = match step.detail >> 1 & 3 {
            0 => batch.to_vec(),
            1 => batch.iter().map(|_| Dim::literal(1)).collect(),
            _ => vec![],
        };
        shape.extend(if transposed { [columns.clone(), depth.clone()] } else { [depth.clone(), columns.clone()] });
        let existing = (0..self.values.len()).find(|&i| self.values[i].dtype == dtype && self.values[i].dims == shape);
        let y = existing.unwrap_or_else(|| self.param(dtype, shape, false));
        let right = if transposed { format!("transpose({})", self.name(y)) } else { self.name(y) };
        let text = format!("matmul({}, {right})", self.name(x));
        let result = [batch, &[rows.clone(), columns]].concat();
        self.push(dtype, result, text, vec![x, y]);
    }

    fn permute(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail | 8, DType::F32, |value| value.dims.len() >= 2);
        let dims = self.dims(x);
        if dims.len() < 2 {
            return;
        }
        let mut axes: Vec<usize> = (0..dims.len()).collect();
        axes.rotate_left(1 + usize::from(step.detail) % (dims.len() - 1));
        if step.detail & 0x100 != 0 {
            axes.swap(0, dims.len() - 1);
        }
        let list = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let text = format!("permute({}, [{list}])", self.name(x));
        let (dtype, dims) = (self.dtype(x), axes.iter().map(|&axis| dims[axis].clone()).collect());
        self.push(dtype, dims, text, vec![x]);
    }

    fn reshape(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |_| true);
        let (dtype, dims, name) = (self.dtype(x), self.dims(x), self.name(x));
        let axis = usize::from(step.detail >> 2) % (dims.len() + 1);
        let inside = axis < dims.len();
        match step.detail % 4 {
            0 if dims.len() >= 2 => {
                let axis = axis.min(dims.len() - 2);
                let merged = dims[axis].times(&dims[axis + 1]);
                let shape = [&dims[..axis], &[merged], &dims[axis + 2..]].concat();
                self.push_reshape(dtype, shape, &name, x);
            }
            1 if inside && dims[axis].is_one() => {
                let shape = [&dims[..axis], &dims[axis + 1..]].concat();
                self.push(dtype, shape, format!("squeeze({name}, axis = {axis})"), vec![x]);
            }
            2 if inside && dims[axis].names.len() == 2 => {
                let Dim { factor, names } = &dims[axis];
                let parts = [Dim { factor: *factor, names: vec![names[0]] }, Dim::name(names[1])];
                let shape = [&dims[..axis], &parts, &dims[axis + 1..]].concat();
                self.push_reshape(dtype, shape, &name, x);
            }
            _ if dims.len() < 5 => {
                let shape = [&dims[..axis], &[Dim::literal(1)], &dims[axis..]].concat();
                self.push(dtype, shape, format!("unsqueeze({name}, axis = {axis})"), vec![x]);
            }
            _ => {}
        }
    }

    fn push_reshape(&mut self, dtype: DType, shape: Vec<Dim>, name: &str, x: usize) {
        let list = shape.iter().map(Dim::text).collect::<Vec<_>>().join(", ");
        self.push(dtype, shape, format!("reshape({name}, [{list}])"), vec![x]);
    }

    fn slice(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |value| !value.dims.is_empty());
        let dims = self.dims(x);
        if dims.is_empty() {
            return;
        }
        let axis = usize::from(step.detail) % dims.len();
        let extent = self.extent(&dims[axis]);
        let start = usize::from(step.other) % extent.max(1);
        let end = extent - usize::from(step.detail >> 4) % (extent + 1 - start);
        let text = format!("slice({}, axis = {axis}, start = {start}, end = {end})", self.name(x));
        let shape = [&dims[..axis], &[Dim::literal(end - start)], &dims[axis + 1..]].concat();
        let dtype = self.dtype(x);
        self.push(dtype, shape, text, vec![x]);
    }

    /// Up to three unused values; else a copy of a parameter.
    fn results(&mut self, steps: &[Step]) -> Vec<usize> {
        let used: BTreeSet<usize> = self.values.iter().flat_map(|value| value.operands.iter().copied()).collect();
        let is_let = |&i: &usize| matches!(self.values[i].origin, Origin::Let(_));
        let mut results: Vec<usize> = (0..self.values.len()).filter(|i| !used.contains(i)).filter(is_let).collect();
        if results.is_empty() {
            let x = self.pick(0, steps.first().map_or(0, |step| step.detail), DType::F32, |_| true);
            let (dtype, dims, name) = (self.dtype(x), self.dims(x), self.name(x));
            let text = match dtype {
                DType::F32 | DType::F16 => format!("{name} + 1.5"),
                DType::I32 | DType::U32 => format!("{name} + 1"),
                DType::Bool => format!("!{name}"),
            };
            results.push(self.push(dtype, dims, text, vec![x]));
        }
        let first = results.len().saturating_sub(3);
        results.split_off(first)
    }

    fn reachable(&self, results: &[usize]) -> BTreeSet<usize> {
        let mut reachable: BTreeSet<usize> = results.iter().copied().collect();
        for i in (0..self.values.len()).rev() {
            if reachable.contains(&i) {
                reachable.extend(&self.values[i].operands);
            }
        }
        reachable
    }

    fn source(&self, results: &[usize]) -> String {
        let (params, lets) = self.statements(results);
        let types: Vec<String> = results.iter().map(|&i| type_text(&self.values[i])).collect();
        let names: Vec<String> = results.iter().map(|&i| self.values[i].name.clone()).collect();
        format!("pub fn program({params}) -> {} {{\n{lets}    {}\n}}\n", tuple(types), tuple(names))
    }

    fn gradient_source(&self, results: &[usize]) -> Option<String> {
        let (params, lets) = self.statements(results);
        let value = |&i: &usize| &self.values[i];
        let floats = results.iter().map(value).filter(|value| value.dtype.is_float());
        // Bounded, and smooth where not small.
        let mut terms: Vec<String> =
            floats.map(|Value { name, .. }| format!("sum(({name} as f32) / (1.0 + abs({name} as f32)))")).collect();
        let reachable = self.reachable(results);
        let is_tensor =
            |value: &&Value| matches!(value.origin, Origin::Param { scalar: false }) && value.dtype.is_float();
        let wrt: Vec<&Value> = reachable.iter().map(value).filter(is_tensor).collect();
        if terms.is_empty() || wrt.is_empty() {
            return None;
        }
        terms.extend(wrt.iter().map(|value| format!("0.5 * sum({} as f32)", value.name)));
        let loss = terms.join(" + ");
        let types = tuple(wrt.iter().map(|value| type_text(value)).collect());
        let names: Vec<&str> = wrt.iter().map(|value| &*value.name).collect();
        let names = if let [name] = names[..] { name.to_owned() } else { format!("[{}]", names.join(", ")) };
        Some(format!(
            "pub fn value({params}) -> f32 {{\n{lets}    {loss}\n}}\n\
             pub fn gradient({params}) -> {types} {{\n{lets}    let loss = {loss};\n    grad(loss, wrt = {names})\n}}\n"
        ))
    }

    fn statements(&self, results: &[usize]) -> (String, String) {
        let (mut params, mut lets) = (vec![], String::new());
        for i in self.reachable(results) {
            let value = &self.values[i];
            match &value.origin {
                Origin::Param { scalar: true } => params.push(format!("{}: {}", value.name, value.dtype)),
                Origin::Param { scalar: false } => params.push(format!("{}: {}", value.name, type_text(value))),
                Origin::Let(text) => lets += &format!("    let {} = {text};\n", value.name),
            }
            params.extend(value.weights.clone());
        }
        (params.join(", "), lets)
    }
}

fn tuple(items: Vec<String>) -> String {
    if items.len() == 1 { items[0].clone() } else { format!("({})", items.join(", ")) }
}

/// A recent candidate, so that programs become deep rather than wide.
fn recent(candidates: &[usize], choice: u8) -> usize {
    let last = candidates.len() - 1;
    candidates[last - usize::from(choice) % candidates.len().min(4)]
}

fn type_text(value: &Value) -> String {
    format!("{}[{}]", value.dtype, dims_text(&value.dims))
}

fn broadcast(x: &[Dim], y: &[Dim]) -> Option<Vec<Dim>> {
    let rank = x.len().max(y.len());
    let axis = |shape: &[Dim], axis: usize| (axis + shape.len()).checked_sub(rank).map(|axis| shape[axis].clone());
    (0..rank)
        .map(|i| match (axis(x, i), axis(y, i)) {
            (Some(a), Some(b)) if a == b || b.is_one() => Some(a),
            (Some(a), Some(b)) => a.is_one().then_some(b),
            (a, b) => a.or(b),
        })
        .collect()
}
