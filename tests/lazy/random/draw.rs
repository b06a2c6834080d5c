//! Draws calls: mostly valid ones, sometimes anything.

mod operands;

use std::ops::RangeInclusive;

use fuse_gpu::auto::{
    DType,
    operations::{BINARY, UNARY},
};
use fuse_test_support::{
    Numbers,
    operations::{ALL, FLOATS, NUMBERS},
};

use super::call::{Arg, Call, OPERATORS, Size, Type};

pub(crate) const MAX_ELEMENTS: usize = 4096;

const INDICES: [DType; 2] = [DType::I32, DType::U32];

pub(crate) const REDUCTIONS: &[&str] =
    &["sum", "prod", "amax", "amin", "mean", "var", "logsumexp", "norm", "any", "all", "argmax", "argmin"];

/// Neither pointwise operations nor reductions.
const OTHERS: &[&str] = &[
    "select",
    "clamp",
    "lerp",
    "leaky_relu",
    "elu",
    "cast",
    "matmul",
    "dot",
    "outer",
    "transpose",
    "permute",
    "reshape",
    "broadcast_to",
    "slice",
    "slice_from",
    "split",
    "chunk",
    "squeeze",
    "unsqueeze",
    "index",
    "softmax",
    "log_softmax",
    "layer_norm",
    "rms_norm",
    "batch_norm",
    "group_norm",
    "concat",
    "stack",
    "flip",
    "gather",
    "embedding",
    "one_hot",
    "dropout",
    "pad",
    "roll",
    "repeat",
    "tile",
    "tril",
    "triu",
    "glu",
    "cross_entropy",
    "stop_gradient",
];

/// Methods with literal sizes: other extents make another function.
const LITERAL: &[&str] = &["slice", "split", "chunk", "one_hot", "pad", "repeat", "tile", "group_norm", "glu"];

const DISCRETE: &[&str] = &[
    "not",
    "popcount",
    "to_bits",
    "from_bits",
    "isnan",
    "isinf",
    "isfinite",
    "any",
    "all",
    "argmax",
    "argmin",
    "index",
    "one_hot",
    "and",
    "or",
    "bitand",
    "bitor",
    "bitxor",
    "shl",
    "shr",
    "philox",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
];

pub(crate) fn names() -> Vec<&'static str> {
    let table = UNARY.iter().chain(BINARY).map(|row| row.name);
    table.chain(REDUCTIONS.iter().copied()).chain(OTHERS.iter().copied()).collect()
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Percentage of choices made regardless of validity.
    pub(crate) wild: u64,
    /// Sizes are extents of values.
    pub(crate) open: bool,
    pub(crate) floats: bool,
}

pub(crate) struct Draw {
    pub(crate) numbers: Numbers,
    pub(crate) types: Vec<Type>,
    /// Parameters requested since the last reset.
    pub(crate) wanted: usize,
    style: Style,
    extents: Vec<usize>,
}

impl Draw {
    pub(crate) fn new(seed: u64, style: Style) -> Self {
        let mut numbers = Numbers::new(seed);
        let extents = [0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 13, 16, 33];
        let from = if style.open { 1 } else { 0 };
        let mut extents: Vec<usize> =
            (0..4).map(|_| extents[from + numbers.below((extents.len() - from) as u64) as usize]).collect();
        if numbers.below(4) > 0 {
            extents.retain(|extent| *extent > 0);
        }
        extents.push(1 + numbers.below(8) as usize);
        Self { numbers, types: vec![], wanted: 0, style, extents }
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.numbers.below(100) < percent
    }

    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.numbers.below(of.len() as u64) as usize]
    }

    fn is_wild(&mut self) -> bool {
        self.chance(self.style.wild)
    }

    fn extent(&mut self) -> usize {
        let extents = self.extents.clone();
        self.one(&extents)
    }

    pub(crate) fn param(&mut self, dtype: DType, shape: Vec<usize>) -> usize {
        self.types.push(Type { dtype, shape });
        self.wanted += 1;
        self.types.len() - 1
    }

    fn dtype(&mut self, dtypes: &[DType]) -> DType {
        // Mostly `f32`, as in real programs.
        if dtypes.contains(&DType::F32) && self.chance(50) { DType::F32 } else { self.one(dtypes) }
    }

    fn shape(&mut self, rank: RangeInclusive<usize>) -> Vec<usize> {
        let (low, high) = (*rank.start(), (*rank.end()).min(if self.chance(10) { 6 } else { 3 }).max(*rank.start()));
        let count = low + self.numbers.below((high - low + 1) as u64) as usize;
        let mut shape: Vec<usize> = (0..count).map(|_| self.extent()).collect();
        while let Some(axis) = (0..count).max_by_key(|&axis| shape[axis])
            && shape.iter().product::<usize>() > MAX_ELEMENTS
        {
            shape[axis] = 1;
        }
        shape
    }

    pub(crate) fn any_param(&mut self, dtypes: &[DType], rank: RangeInclusive<usize>) -> usize {
        let floats: Vec<DType> = dtypes.iter().copied().filter(|dtype| dtype.is_float()).collect();
        let dtypes = if self.style.floats && !floats.is_empty() { floats } else { dtypes.to_vec() };
        let (dtype, shape) = (self.dtype(&dtypes), self.shape(rank));
        self.param(dtype, shape)
    }

    /// Recent values are more likely.
    fn value(&mut self, dtypes: &[DType], rank: RangeInclusive<usize>) -> usize {
        let wild = self.is_wild() && !self.types.is_empty();
        let fits = |ty: &Type| wild || dtypes.contains(&ty.dtype) && rank.contains(&ty.rank());
        let found: Vec<usize> = (0..self.types.len()).filter(|&at| fits(&self.types[at])).collect();
        if found.is_empty() {
            return self.any_param(dtypes, rank);
        }
        let back = self.numbers.below(found.len().min(4) as u64) as usize;
        if self.chance(70) { found[found.len() - 1 - back] } else { self.one(&found) }
    }

    fn like(&mut self, dtype: DType, shape: Vec<usize>) -> usize {
        if self.is_wild() {
            return self.value(&ALL, 0..=6);
        }
        let ty = Type { dtype, shape };
        match self.types.iter().rposition(|other| *other == ty) {
            Some(found) if self.chance(60) => found,
            _ => self.param(dtype, ty.shape),
        }
    }

    fn partner(&mut self, x: usize) -> usize {
        let Type { dtype, mut shape } = self.types[x].clone();
        let dropped = if self.chance(25) { self.numbers.below(shape.len() as u64 + 1) as usize } else { 0 };
        shape.drain(..dropped);
        for extent in &mut shape {
            if self.chance(15) {
                *extent = 1;
            }
        }
        self.like(dtype, shape)
    }

    /// Exact in every float dtype, or an integer.
    fn number(&mut self, dtype: DType) -> Arg {
        let dtype = if self.is_wild() { self.one(&ALL) } else { dtype };
        match dtype {
            DType::F32 | DType::F16 => Arg::Number(dtype, self.one(&[0.5, 2.0, -1.25, 3.0, 0.0, -0.5])),
            DType::I32 => Arg::Number(dtype, self.one(&[1.0, 2.0, -3.0, 7.0, 0.0])),
            DType::U32 => Arg::Number(dtype, self.one(&[1.0, 2.0, 3.0, 31.0])),
            DType::Bool => Arg::Number(dtype, self.one(&[0.0, 1.0])),
        }
    }

    fn operand(&mut self, x: usize) -> Arg {
        let dtype = self.types[x].dtype;
        if self.chance(25) { self.number(dtype) } else { Arg::Value(self.partner(x)) }
    }

    fn single(&mut self, dtype: DType, number: f64) -> Arg {
        match self.numbers.below(8) {
            0 => Arg::Value(self.like(dtype, vec![])),
            _ if self.is_wild() => self.number(dtype),
            _ => Arg::Number(dtype, number),
        }
    }

    fn axis(&mut self, rank: usize) -> i32 {
        let rank = rank as i64 + if self.is_wild() { 2 } else { 0 };
        (self.numbers.below(2 * rank.max(1) as u64) as i64 - rank) as i32
    }

    fn some_axes(&mut self, rank: usize) -> Vec<i32> {
        if self.is_wild() {
            return (0..self.numbers.below(3)).map(|_| self.axis(rank)).collect();
        }
        let mut axes: Vec<i32> = vec![];
        for axis in 0..rank as i32 {
            if axes.is_empty() && axis + 1 == rank as i32 || self.chance(40) {
                axes.push(if self.chance(30) { axis - rank as i32 } else { axis });
            }
        }
        if self.chance(30) {
            axes.reverse();
        }
        axes
    }

    fn size_of(&mut self, value: usize, axis: usize) -> Size {
        if self.style.open || self.chance(60) {
            Size::Axis(value, axis)
        } else {
            Size::Number(self.types[value].shape[axis])
        }
    }

    fn small(&mut self) -> Size {
        let wild = u64::from(self.is_wild());
        Size::Number((1 - wild + self.numbers.below(4)) as usize)
    }

    /// Any method, with equal weight of small and large families.
    pub(crate) fn any(&mut self) -> Call {
        let open = self.style.open;
        let floats = self.style.floats;
        loop {
            let name = match self.numbers.below(10) {
                0 | 1 => UNARY[self.numbers.below(UNARY.len() as u64) as usize].name,
                2..=4 => BINARY[self.numbers.below(BINARY.len() as u64) as usize].name,
                5 => self.one(REDUCTIONS),
                _ => self.one(OTHERS),
            };
            if !(open && LITERAL.contains(&name) || floats && DISCRETE.contains(&name)) {
                return self.call(name);
            }
        }
    }

    pub(crate) fn call(&mut self, name: &'static str) -> Call {
        if let Some(row) = UNARY.iter().find(|row| row.name == name) {
            let dtypes: Vec<DType> = ALL.into_iter().filter(|dtype| row.takes.contains(*dtype)).collect();
            let x = self.value(&dtypes, 0..=6);
            return Call { flag: self.chance(50), ..Call::new(name, vec![Arg::Value(x)]) };
        }
        if let Some(row) = BINARY.iter().find(|row| row.name == name) {
            let dtypes: Vec<DType> = ALL.into_iter().filter(|dtype| row.takes.contains(*dtype)).collect();
            let x = self.value(&dtypes, 0..=6);
            let mut operands = vec![Arg::Value(x), self.operand(x)];
            let swaps = match operands[1] {
                Arg::Value(_) => true,
                Arg::Number(dtype, _) => OPERATORS.contains(&name) && dtype != DType::Bool,
            };
            if swaps && self.chance(40) {
                operands.swap(0, 1);
            }
            return Call { flag: self.chance(50), ..Call::new(name, operands) };
        }
        if REDUCTIONS.contains(&name) {
            return self.reduction(name);
        }
        self.other(name)
    }

    fn reduction(&mut self, name: &'static str) -> Call {
        let is_index = matches!(name, "argmax" | "argmin");
        let dtypes: &[DType] = match name {
            "any" | "all" => &[DType::Bool],
            "mean" | "var" | "logsumexp" | "norm" => &FLOATS,
            _ => &NUMBERS,
        };
        let x = self.value(dtypes, usize::from(is_index)..=6);
        let rank = self.types[x].rank();
        let mut call = Call::new(name, vec![Arg::Value(x)]);
        if is_index {
            return call.axis(self.axis(rank));
        }
        if rank > 0 && self.chance(75) {
            call.axes = Some(self.some_axes(rank));
        }
        call.flag = self.chance(40);
        if name == "var" {
            call.correction = self.one(&[0, 0, 1]);
        }
        call
    }

    fn other(&mut self, name: &'static str) -> Call {
        let dtypes: &[DType] = match name {
            "clamp" | "matmul" | "dot" | "outer" => &NUMBERS,
            "lerp" | "leaky_relu" | "elu" | "softmax" | "log_softmax" | "layer_norm" | "rms_norm" | "batch_norm"
            | "group_norm" | "dropout" | "glu" | "cross_entropy" => &FLOATS,
            "one_hot" => &INDICES,
            _ => &ALL,
        };
        let ranks = match name {
            "dot" | "outer" => 1..=1,
            "matmul" | "transpose" | "tril" | "triu" | "batch_norm" | "group_norm" => 2..=6,
            "slice" | "slice_from" | "split" | "chunk" | "squeeze" | "index" | "softmax" | "log_softmax"
            | "layer_norm" | "rms_norm" | "concat" | "flip" | "gather" | "embedding" | "pad" | "roll" | "repeat"
            | "tile" | "glu" | "cross_entropy" => 1..=6,
            "unsqueeze" | "stack" | "one_hot" => 0..=5,
            _ => 0..=6,
        };
        let x = self.value(dtypes, ranks);
        let Type { dtype, shape } = self.types[x].clone();
        let rank = shape.len();
        let axis = self.axis(rank);
        let at = axis.rem_euclid(rank.max(1) as i32) as usize;
        let extent = shape.get(at).copied().unwrap_or(0);
        let of = |others: Vec<Arg>| Call::new(name, std::iter::once(Arg::Value(x)).chain(others).collect());
        match name {
            "select" => self.select(x),
            "clamp" | "lerp" => {
                let others = vec![self.operand(x), self.operand(x)];
                of(others)
            }
            "leaky_relu" | "elu" => {
                let number = self.one(&[0.25, 1.0, 0.5]);
                let number = self.single(dtype, number);
                of(vec![number])
            }
            "cast" => {
                let to = if self.style.floats { self.one(&FLOATS) } else { self.one(&ALL) };
                Call { dtype: to, ..of(vec![]) }
            }
            "matmul" => {
                let right = self.right(dtype, &shape);
                of(vec![Arg::Value(right)])
            }
            "dot" => {
                let other = self.like(dtype, shape);
                of(vec![Arg::Value(other)])
            }
            "outer" => {
                let length = self.extent();
                let other = self.like(dtype, vec![length]);
                of(vec![Arg::Value(other)])
            }
            "permute" => Call { axes: Some(self.order(rank)), ..of(vec![]) },
            "reshape" => {
                let sizes = self.reshape(x);
                of(vec![]).sizes(sizes)
            }
            "broadcast_to" => {
                let sizes = self.broadcast_to(x);
                of(vec![]).sizes(sizes)
            }
            "slice" | "slice_from" => {
                let wild = if self.is_wild() { 2 } else { 0 };
                let start = self.numbers.below((extent + 1 + wild) as u64) as usize;
                let end = (start + self.numbers.below((extent.saturating_sub(start) + 1 + wild) as u64) as usize)
                    .saturating_sub(wild / 2);
                let mut sizes = if name == "slice" { vec![start, end] } else { vec![start] };
                if self.style.open {
                    sizes[0] = 0;
                }
                of(vec![]).axis(axis).sizes(sizes.into_iter().map(Size::Number).collect())
            }
            "split" => {
                let mut sizes = vec![];
                let mut left = extent;
                for _ in 0..self.numbers.below(3) {
                    let size = self.numbers.below(left as u64 + 1) as usize;
                    left -= size;
                    sizes.push(size);
                }
                sizes.push(left + usize::from(self.is_wild()));
                of(vec![]).axis(axis).sizes(sizes.into_iter().map(Size::Number).collect())
            }
            "chunk" => {
                let fitting: Vec<usize> = (1..=extent.clamp(1, 6)).filter(|parts| extent % parts == 0).collect();
                let parts = if self.is_wild() { self.numbers.below(6) as usize } else { self.one(&fitting) };
                of(vec![]).axis(axis).sizes(vec![Size::Number(parts)])
            }
            "squeeze" => {
                let ones: Vec<i32> = (0..rank).filter(|&axis| shape[axis] == 1).map(|axis| axis as i32).collect();
                let axis = if ones.is_empty() || self.is_wild() { axis } else { self.one(&ones) };
                of(vec![]).axis(axis)
            }
            "unsqueeze" => of(vec![]).axis(self.axis(rank + 1)),
            "index" | "softmax" | "log_softmax" => of(vec![]).axis(axis),
            "glu" => {
                let even: Vec<i32> = (0..rank).filter(|&axis| shape[axis] % 2 == 0).map(|axis| axis as i32).collect();
                let axis = if even.is_empty() || self.is_wild() { axis } else { self.one(&even) };
                of(vec![]).axis(axis)
            }
            "layer_norm" | "rms_norm" | "batch_norm" | "group_norm" => self.norm(name, x),
            "concat" | "stack" => {
                let mut others = vec![];
                for _ in 0..self.numbers.below(4) {
                    let mut shape = shape.clone();
                    if name == "concat" && rank > 0 {
                        shape[at] = self.extent();
                    }
                    others.push(Arg::Value(self.like(dtype, shape)));
                }
                of(others).axis(if name == "stack" { self.axis(rank + 1) } else { axis })
            }
            "flip" => Call { axes: Some(self.some_axes(rank)), ..of(vec![]) },
            "gather" | "embedding" => {
                let ids = self.value(&INDICES, 0..=2);
                of(vec![Arg::Value(ids)]).axis(axis)
            }
            "cross_entropy" => {
                let mut rows = shape;
                rows.drain(at.min(rank)..(at + 1).min(rank));
                let dtype = self.one(&INDICES);
                let classes = self.like(dtype, rows);
                of(vec![Arg::Value(classes)]).axis(axis)
            }
            "one_hot" | "repeat" | "tile" => {
                let size = self.small();
                of(vec![]).axis(axis).sizes(vec![size])
            }
            "dropout" => {
                let number = if self.is_wild() { 1.5 } else { self.one(&[0.25, 0.5, 0.0, 1.0]) };
                let (p, seed) = (self.single(DType::F32, number), self.single(DType::U32, 7.0));
                of(vec![p, seed])
            }
            "pad" => {
                let sizes = vec![self.small(), self.small()];
                let is_number = self.chance(85);
                let value = if is_number { self.number(dtype) } else { Arg::Value(self.like(dtype, vec![])) };
                of(vec![value]).axis(axis).sizes(sizes)
            }
            "roll" | "tril" | "triu" => {
                let number = self.one(&[0.0, 1.0, -2.0, 5.0]);
                let number = self.single(DType::I32, number);
                of(vec![number]).axis(axis)
            }
            _ => of(vec![]),
        }
    }
}
