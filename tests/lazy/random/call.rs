//! Method calls as data: recorded on lazy tensors, and written as source with literal extents, independent of what
//! `fuse-auto` generates.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};

use fuse_gpu::{
    auto::{
        DType, Dim, Error, LazyTensor, Operand, Over,
        operations::{BINARY, UNARY},
    },
    f16,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

impl Type {
    pub(crate) fn text(&self) -> String {
        format!("{}{:?}", self.dtype, self.shape)
    }

    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    pub(crate) fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    Value(usize),
    Number(DType, f64),
}

#[derive(Clone, Debug)]
pub(crate) enum Size {
    Number(usize),
    Axis(usize, usize),
    Sum(Box<(Size, Size)>),
    Product(Box<(Size, Size)>),
}

impl Size {
    pub(crate) fn extent(&self, types: &[Type]) -> usize {
        match self {
            Self::Number(number) => *number,
            Self::Axis(value, axis) => types[*value].shape[*axis],
            Self::Sum(parts) => parts.0.extent(types) + parts.1.extent(types),
            Self::Product(parts) => parts.0.extent(types) * parts.1.extent(types),
        }
    }

    fn dim(&self, values: &[LazyTensor]) -> Dim {
        match self {
            Self::Number(number) => Dim::from(*number),
            Self::Axis(value, axis) => values[*value].dim(*axis as isize),
            Self::Sum(parts) => parts.0.dim(values) + parts.1.dim(values),
            Self::Product(parts) => parts.0.dim(values) * parts.1.dim(values),
        }
    }
}

/// A method call; most methods use few of these fields.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) operands: Vec<Arg>,
    /// For reductions, `None` means all.
    pub(crate) axes: Option<Vec<i32>>,
    pub(crate) sizes: Vec<Size>,
    /// Reductions: keep the axes. Binary operations: use Rust's operator.
    pub(crate) flag: bool,
    pub(crate) dtype: DType,
    pub(crate) correction: u32,
}

impl Call {
    pub(crate) fn new(name: &'static str, operands: Vec<Arg>) -> Self {
        Self { name, operands, axes: None, sizes: vec![], flag: false, dtype: DType::F32, correction: 0 }
    }

    pub(crate) fn axis(self, axis: i32) -> Self {
        Self { axes: Some(vec![axis]), ..self }
    }

    pub(crate) fn sizes(self, sizes: Vec<Size>) -> Self {
        Self { sizes, ..self }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = usize> + '_ {
        self.operands.iter().filter_map(|operand| match operand {
            Arg::Value(value) => Some(*value),
            Arg::Number(..) => None,
        })
    }

    pub(crate) fn text(&self, names: &[String], types: &[Type]) -> String {
        let operands: Vec<String> = self.operands.iter().map(|operand| operand_text(*operand, names)).collect();
        let all = operands.join(", ");
        let (x, last) = (&operands[0], &operands[operands.len() - 1]);
        let but_last = operands[..operands.len() - 1].join(", ");
        let axes = self.axes.clone().unwrap_or_default();
        let axis = axes.first().copied().unwrap_or_default();
        let sizes: Vec<String> = self.sizes.iter().map(|size| size.extent(types).to_string()).collect();
        let list = sizes.join(", ");
        let unary = UNARY.iter().find(|row| row.name == self.name).map(|row| row.symbol);
        let binary = BINARY.iter().find(|row| row.name == self.name).map(|row| row.symbol);
        match (unary, binary) {
            (Some(Some(symbol)), _) => return format!("{symbol}{x}"),
            (_, Some(Some(symbol))) => return format!("{x} {symbol} {last}"),
            _ => {}
        }
        let type_of = |operand: &Arg| if let Arg::Value(value) = operand { types.get(*value) } else { None };
        let ranks: Vec<usize> = self.operands.iter().map(|operand| type_of(operand).map_or(0, Type::rank)).collect();
        let counts = type_of(&self.operands[0]).is_some_and(|ty| ty.dtype == DType::Bool);
        let x = &match self.name {
            "sum" if counts => format!("({x} as i32)"),
            "mean" if counts => format!("({x} as f32)"),
            _ => x.clone(),
        };
        match self.name {
            "cast" => format!("{x} as {}", self.dtype),
            // `dot` for two vectors; otherwise a vector becomes a row or a column.
            "matmul" if ranks == [1, 1] => format!("dot({all})"),
            "matmul" if ranks[0] == 1 && ranks[1] > 1 => {
                format!("squeeze(matmul(unsqueeze({x}, axis = 0), {last}), axis = {})", ranks[1] - 2)
            }
            "matmul" if ranks[1] == 1 && ranks[0] > 1 => {
                format!("squeeze(matmul({x}, unsqueeze({last}, axis = 1)), axis = {})", ranks[0] - 1)
            }
            "leaky_relu" => format!("leaky_relu({x}, slope = {last})"),
            "elu" => format!("elu({x}, alpha = {last})"),
            "permute" => format!("permute({x}, {axes:?})"),
            "reshape" | "broadcast_to" => format!("{}({x}, [{list}])", self.name),
            "slice" => format!("slice({x}, axis = {axis}, start = {}, end = {})", sizes[0], sizes[1]),
            "slice_from" => format!("slice({x}, axis = {axis}, start = {list})"),
            "split" => format!("split({x}, axis = {axis}, sizes = [{list}])"),
            "chunk" => format!("split({x}, axis = {axis}, parts = {list})"),
            "flip" => format!("flip({x}, axis = {axes:?})"),
            "squeeze" | "unsqueeze" | "index" | "softmax" | "log_softmax" | "glu" => {
                format!("{}({x}, axis = {axis})", self.name)
            }
            "gather" | "cross_entropy" => format!("{}({all}, axis = {axis})", self.name),
            "layer_norm" | "rms_norm" | "batch_norm" => format!("{}({but_last}, eps = {last})", self.name),
            "group_norm" => format!("group_norm({but_last}, groups = {list}, eps = {last})"),
            "concat" | "stack" => format!("{}([{all}], axis = {axis})", self.name),
            "one_hot" => format!("one_hot({x}, classes = {list})"),
            "pad" => format!("pad({x}, axis = {axis}, before = {}, after = {}, value = {last})", sizes[0], sizes[1]),
            "roll" => format!("roll({x}, axis = {axis}, shift = {last})"),
            "repeat" | "tile" => format!("{}({x}, axis = {axis}, times = {list})", self.name),
            "tril" | "triu" => format!("{}({x}, diagonal = {last})", self.name),
            "amax" | "amin" | "sum" | "prod" | "mean" | "var" | "logsumexp" | "norm" | "any" | "all" | "argmax"
            | "argmin" => self.reduction_text(x),
            name => format!("{name}({all})"),
        }
    }

    fn reduction_text(&self, x: &str) -> String {
        let name = self.name.strip_prefix('a').filter(|name| matches!(*name, "max" | "min")).unwrap_or(self.name);
        let axes = match self.axes.as_deref() {
            None => String::new(),
            Some([axis]) => format!(", axis = {axis}"),
            Some(axes) => format!(", axis = {axes:?}"),
        };
        let keepdim = if self.flag { ", keepdim = true" } else { "" };
        let correction = if name == "var" { format!(", correction = {}", self.correction) } else { String::new() };
        format!("{name}({x}{axes}{keepdim}{correction})")
    }

    pub(crate) fn record(&self, values: &[LazyTensor]) -> Result<Vec<LazyTensor>, Error> {
        let operand = |position: usize| operand(self.operands[position], values);
        let value = |position: usize| match self.operands[position] {
            Arg::Value(value) => &values[value],
            Arg::Number(..) => panic!("`{}` takes tensors", self.name),
        };
        let axes = self.axes.clone().unwrap_or_default();
        let axis = axes.first().copied().unwrap_or_default();
        let sizes: Vec<Dim> = self.sizes.iter().map(|size| size.dim(values)).collect();
        let several: Vec<&LazyTensor> = self.values().map(|value| &values[value]).collect();
        let over = || {
            let over = self.axes.as_ref().map_or(Over::ALL, |axes| Over::from(&axes[..]));
            if self.flag { over.keep() } else { over }
        };
        if BINARY.iter().any(|row| row.name == self.name) {
            return pair(self, values).map(|value| vec![value]);
        }
        if matches!(self.name, "split" | "chunk") {
            return match self.name {
                "split" => value(0).split(axis, sizes),
                _ => value(0).chunk(axis, sizes[0].get()),
            };
        }
        let last = self.operands.len() - 1;
        let result = match self.name {
            "select" => value(0).select(operand(1), operand(2)),
            "clamp" => value(0).clamp(operand(1), operand(2)),
            "lerp" => value(0).lerp(operand(1), operand(2)),
            "leaky_relu" => value(0).leaky_relu(operand(1)),
            "elu" => value(0).elu(operand(1)),
            "cast" => value(0).cast(self.dtype),
            "matmul" => value(0).matmul(value(1)),
            "dot" => value(0).dot(value(1)),
            "outer" => value(0).outer(value(1)),
            "transpose" => value(0).transpose(),
            "permute" => value(0).permute(&axes),
            "reshape" => value(0).reshape(sizes),
            "broadcast_to" => value(0).broadcast_to(sizes),
            "slice" => value(0).slice(axis, &sizes[0], &sizes[1]),
            "slice_from" => value(0).slice_from(axis, &sizes[0]),
            "squeeze" => value(0).squeeze(axis),
            "unsqueeze" => value(0).unsqueeze(axis),
            "index" => value(0).index(axis),
            "softmax" => value(0).softmax(axis),
            "log_softmax" => value(0).log_softmax(axis),
            "layer_norm" => value(0).layer_norm(value(1), value(2), operand(last)),
            "rms_norm" => value(0).rms_norm(value(1), operand(last)),
            "batch_norm" => value(0).batch_norm(value(1), value(2), value(3), value(4), operand(last)),
            "group_norm" => value(0).group_norm(value(1), value(2), &sizes[0], operand(last)),
            "concat" => LazyTensor::concat(&several, axis),
            "stack" => LazyTensor::stack(&several, axis),
            "flip" => value(0).flip(&axes),
            "gather" => value(0).gather(value(1), axis),
            "embedding" => value(0).embedding(value(1)),
            "one_hot" => value(0).one_hot(&sizes[0]),
            "dropout" => value(0).dropout(operand(1), operand(2)),
            "pad" => value(0).pad(axis, &sizes[0], &sizes[1], operand(1)),
            "roll" => value(0).roll(axis, operand(1)),
            "repeat" => value(0).repeat(axis, &sizes[0]),
            "tile" => value(0).tile(axis, &sizes[0]),
            "tril" => value(0).tril(operand(1)),
            "triu" => value(0).triu(operand(1)),
            "glu" => value(0).glu(axis),
            "cross_entropy" => value(0).cross_entropy(value(1), axis),
            "stop_gradient" => value(0).stop_gradient(),
            "sum" => value(0).sum(over()),
            "prod" => value(0).prod(over()),
            "amax" => value(0).amax(over()),
            "amin" => value(0).amin(over()),
            "mean" => value(0).mean(over()),
            "var" => value(0).var(over(), self.correction),
            "logsumexp" => value(0).logsumexp(over()),
            "norm" => value(0).norm(over()),
            "any" => value(0).any(over()),
            "all" => value(0).all(over()),
            "argmax" => value(0).argmax(axis),
            "argmin" => value(0).argmin(axis),
            name => single(name, value(0), self.flag),
        };
        result.map(|value| vec![value])
    }
}

fn operand_text(operand: Arg, names: &[String]) -> String {
    match operand {
        Arg::Value(value) => names[value].clone(),
        Arg::Number(DType::Bool, number) => (number != 0.0).to_string(),
        Arg::Number(dtype, number) if dtype.is_float() => format!("{number:?}"),
        Arg::Number(_, number) => format!("{number}"),
    }
}

fn operand(operand: Arg, values: &[LazyTensor]) -> Operand {
    match operand {
        Arg::Value(value) => (&values[value]).into(),
        Arg::Number(DType::F32, number) => (number as f32).into(),
        Arg::Number(DType::F16, number) => f16::from_f64(number).into(),
        Arg::Number(DType::I32, number) => (number as i32).into(),
        Arg::Number(DType::U32, number) => (number as u32).into(),
        Arg::Number(DType::Bool, number) => (number != 0.0).into(),
    }
}

macro_rules! methods {
    ($name:expr, $x:expr, $($method:ident)*) => {
        match $name {
            $(stringify!($method) => $x.$method(),)*
            other => panic!("no method `{other}`"),
        }
    };
    ($name:expr, $x:expr, ($y:expr), $($method:ident)*) => {
        match $name {
            $(stringify!($method) => $x.$method($y),)*
            other => panic!("no method `{other}`"),
        }
    };
}

fn single(name: &str, x: &LazyTensor, operator: bool) -> Result<LazyTensor, Error> {
    match name {
        "neg" if operator => checked(-x),
        "not" if operator => checked(!x),
        _ => {
            methods!(name, x, neg not abs sign floor ceil round trunc fract sqrt rsqrt exp exp2 log log2 log1p expm1 sin cos tan
            tanh atan asin acos sinh cosh asinh acosh atanh erf erfc recip relu selu gelu gelu_tanh silu sigmoid hard_sigmoid
            hard_swish softplus mish isnan isinf isfinite popcount to_bits from_bits)
        }
    }
}

fn checked(value: LazyTensor) -> Result<LazyTensor, Error> {
    value.shape().map(|_| value)
}

pub(crate) const OPERATORS: &[&str] = &["add", "sub", "mul", "div", "rem", "bitand", "bitor", "bitxor", "shl", "shr"];

fn pair(call: &Call, values: &[LazyTensor]) -> Result<LazyTensor, Error> {
    let name = call.name;
    let operator = call.flag && OPERATORS.contains(&name);
    match (call.operands[0], call.operands[1]) {
        (Arg::Value(x), Arg::Value(y)) if operator => checked(operate(name, &values[x], &values[y])),
        (Arg::Value(x), Arg::Number(dtype, number)) if operator && dtype != DType::Bool => {
            let x = &values[x];
            checked(match dtype {
                DType::F32 => operate(name, x, number as f32),
                DType::F16 => operate(name, x, f16::from_f64(number)),
                DType::I32 => operate(name, x, number as i32),
                _ => operate(name, x, number as u32),
            })
        }
        (Arg::Number(dtype, number), Arg::Value(y)) => {
            let y = &values[y];
            checked(match dtype {
                DType::F32 => operate(name, number as f32, y),
                DType::F16 => operate(name, f16::from_f64(number), y),
                DType::I32 => operate(name, number as i32, y),
                _ => operate(name, number as u32, y),
            })
        }
        (Arg::Value(x), y) => {
            let (x, y) = (&values[x], operand(y, values));
            methods!(name, x, (y), add sub mul div rem pow min max atan2 hypot and or bitand bitor bitxor shl shr philox eq ne lt le gt
                ge)
        }
        (Arg::Number(..), Arg::Number(..)) => panic!("`{name}` of two numbers"),
    }
}

fn operate<L, R>(name: &str, left: L, right: R) -> LazyTensor
where
    L: Add<R, Output = LazyTensor>
        + Sub<R, Output = LazyTensor>
        + Mul<R, Output = LazyTensor>
        + Div<R, Output = LazyTensor>
        + Rem<R, Output = LazyTensor>
        + BitAnd<R, Output = LazyTensor>
        + BitOr<R, Output = LazyTensor>
        + BitXor<R, Output = LazyTensor>
        + Shl<R, Output = LazyTensor>
        + Shr<R, Output = LazyTensor>,
{
    match name {
        "add" => left + right,
        "sub" => left - right,
        "mul" => left * right,
        "div" => left / right,
        "rem" => left % right,
        "bitand" => left & right,
        "bitor" => left | right,
        "bitxor" => left ^ right,
        "shl" => left << right,
        "shr" => left >> right,
        other => panic!("no operator `{other}`"),
    }
}

impl Size {
    fn values(&self) -> Vec<usize> {
        match self {
            Self::Number(_) => vec![],
            Self::Axis(value, _) => vec![*value],
            Self::Sum(parts) | Self::Product(parts) => [parts.0.values(), parts.1.values()].concat(),
        }
    }

    fn rename(&mut self, places: &[usize]) {
        match self {
            Self::Number(_) => {}
            Self::Axis(value, _) => *value = places[*value],
            Self::Sum(parts) | Self::Product(parts) => {
                parts.0.rename(places);
                parts.1.rename(places);
            }
        }
    }
}

impl Call {
    /// Including values used only for their extents.
    pub(crate) fn all_values(&self) -> Vec<usize> {
        self.values().chain(self.sizes.iter().flat_map(Size::values)).collect()
    }

    pub(crate) fn results(&self) -> usize {
        match (self.name, &self.sizes[..]) {
            ("split", sizes) => sizes.len().max(1),
            ("chunk", [Size::Number(parts)]) => (*parts).max(1),
            _ => 1,
        }
    }

    pub(crate) fn rename(&mut self, places: &[usize]) {
        for operand in &mut self.operands {
            if let Arg::Value(value) = operand {
                *value = places[*value];
            }
        }
        self.sizes.iter_mut().for_each(|size| size.rename(places));
    }

    /// True if only a launch detects what recording refuses: an index into an empty axis.
    pub(crate) fn is_checked_later(&self, types: &[Type]) -> bool {
        let [Arg::Value(x), Arg::Value(ids)] = self.operands[..] else { return false };
        let axis = if self.name == "embedding" { 0 } else { self.axes.as_ref().map_or(0, |axes| axes[0]) };
        let axis = axis.rem_euclid(types[x].rank().max(1) as i32) as usize;
        let is_empty = types[x].shape.get(axis) == Some(&0);
        matches!(self.name, "gather" | "embedding") && is_empty && types[ids].elements() > 0
    }
}
