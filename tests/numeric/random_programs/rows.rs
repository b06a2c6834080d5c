//! Steps that reduce rows: reductions, softmax, normalizations, and attention.

use fuse_artifact::DType;

use super::{
    dims::Dim,
    generate::{Builder, MAX_PARAMS, Step, Value},
};

/// Later steps can add one more axis.
const MAX_RANK: usize = 5;

impl Builder {
    pub(crate) fn reduce(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |value| !value.dims.is_empty());
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        if dims.is_empty() {
            return;
        }
        let names: &[&str] = match dtype {
            DType::F32 | DType::F16 => &["sum", "max", "mean", "min", "sum", "var", "logsumexp", "prod"],
            DType::I32 | DType::U32 => &["sum", "max", "min", "prod"],
            DType::Bool => &["any", "all"],
        };
        let name = names[usize::from(step.detail) % names.len()];
        let axes = self.axes(&dims, step.detail >> 3);
        self.push_reduction(name, dtype, x, &axes, step);
    }

    pub(crate) fn position(&mut self, step: Step) {
        let numbers = |value: &Value| !value.dims.is_empty() && value.dtype != DType::Bool;
        let x = self.pick(step.operand, step.detail, DType::F32, numbers);
        let dims = self.dims(x);
        if dims.is_empty() {
            return;
        }
        let axis = usize::from(step.detail >> 3) % dims.len();
        // An empty axis has no position: an error at compile time.
        if dims[axis].factor > 0 {
            let name = ["argmax", "argmin"][usize::from(step.detail & 1)];
            self.push_reduction(name, DType::I32, x, &[axis], step);
        }
    }

    fn axes(&self, dims: &[Dim], choice: u16) -> Vec<usize> {
        let rank = dims.len();
        match choice % 4 {
            0 => (0..rank).collect(),
            1 if rank >= 2 => {
                let left_out = usize::from(choice >> 2) % rank;
                (0..rank).filter(|&axis| axis != left_out).collect()
            }
            2 => vec![rank - 1],
            _ => vec![usize::from(choice >> 2) % rank],
        }
    }

    fn push_reduction(&mut self, name: &str, dtype: DType, x: usize, axes: &[usize], step: Step) {
        let (dims, operand) = (self.dims(x), self.name(x));
        let keepdim = step.other.is_multiple_of(3);
        let is_reduced = |axis: usize| axes.contains(&axis);
        let kept = dims.iter().enumerate().filter_map(|(axis, dim)| match is_reduced(axis) {
            true => keepdim.then(|| Dim::literal(1)),
            false => Some(dim.clone()),
        });
        let kept = kept.collect();
        let mut options = if axes.len() == dims.len() && step.other & 4 == 0 && !name.starts_with("arg") {
            String::new()
        } else {
            format!(", axis = {}", axes_text(&dims, axes, step.other >> 3))
        };
        if keepdim {
            options += ", keepdim = true";
        }
        if name == "var" && step.other & 2 == 2 {
            options += ", correction = 1";
        }
        self.push(dtype, kept, format!("{name}({operand}{options})"), vec![x]);
    }

    pub(crate) fn softmax(&mut self, step: Step) {
        let x = self
            .pick(step.operand, step.detail & !7, DType::F32, |value| value.dtype.is_float() && !value.dims.is_empty());
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        if dims.is_empty() {
            return;
        }
        let axis = if step.detail & 8 == 0 { dims.len() - 1 } else { usize::from(step.detail >> 4) % dims.len() };
        let name = self.name(x);
        match step.detail % 4 {
            0 | 1 if step.detail & 8 == 0 => {
                self.push(dtype, dims, format!("softmax({name})"), vec![x]);
            }
            0 | 1 => {
                self.push(dtype, dims, format!("softmax({name}, axis = {axis})"), vec![x]);
            }
            2 => {
                self.push(dtype, dims, format!("log_softmax({name}, axis = {axis})"), vec![x]);
            }
            _ => {
                let largest = self.row_value("max", x, axis);
                let shifted = format!("exp({name} - {})", self.name(largest));
                let exponentials = self.push(dtype, dims.clone(), shifted, vec![x, largest]);
                let sum = self.row_value("sum", exponentials, axis);
                let text = format!("{} / {}", self.name(exponentials), self.name(sum));
                self.push(dtype, dims, text, vec![exponentials, sum]);
            }
        }
    }

    fn row_value(&mut self, name: &str, x: usize, axis: usize) -> usize {
        let (dtype, mut dims) = (self.dtype(x), self.dims(x));
        dims[axis] = Dim::literal(1);
        let text = format!("{name}({}, axis = {axis}, keepdim = true)", self.name(x));
        self.push(dtype, dims, text, vec![x])
    }

    /// `layer_norm` or `rms_norm` over the last axis, or centering alone.
    pub(crate) fn normalize(&mut self, step: Step) {
        let wanted = |value: &Value| value.dtype.is_float() && value.dims.last().is_some_and(Dim::is_plain);
        let x = self.pick(step.operand, step.detail & !7, DType::F32, wanted);
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        let Some(columns) = dims.last().cloned() else { return };
        let name = self.name(x);
        match step.detail % 3 {
            0 if self.params() + 2 <= MAX_PARAMS => {
                let [gamma, beta] = [0, 1].map(|_| self.param(dtype, vec![columns.clone()], false));
                let text = format!("layer_norm({name}, {}, {}, eps = 1e-3)", self.name(gamma), self.name(beta));
                self.push(dtype, dims, text, vec![x, gamma, beta]);
            }
            1 if self.params() < MAX_PARAMS => {
                let gamma = self.param(dtype, vec![columns], false);
                let text = format!("rms_norm({name}, {})", self.name(gamma));
                self.push(dtype, dims, text, vec![x, gamma]);
            }
            _ => {
                let mean = self.row_value("mean", x, dims.len() - 1);
                let text = format!("{name} - {}", self.name(mean));
                self.push(dtype, dims, text, vec![x, mean]);
            }
        }
    }

    /// `matmul(softmax(score(matmul(q, transpose(k)))), v)` for some score.
    pub(crate) fn attention(&mut self, step: Step) {
        let wanted = |value: &Value| {
            value.dtype.is_float() && (2..=4).contains(&value.dims.len()) && value.dims.iter().all(Dim::is_plain)
        };
        if self.params() + 3 > MAX_PARAMS {
            return;
        }
        let found: Vec<usize> = self.values_where(wanted);
        let q = match found.last() {
            Some(_) => found[usize::from(step.operand) % found.len()],
            None => self.param(DType::F32, vec![Dim::name(0), Dim::name(1), Dim::name(2)], false),
        };
        let (dtype, dims) = (self.dtype(q), self.dims(q));
        let (batch, rows, depth) = (&dims[..dims.len() - 2], &dims[dims.len() - 2], &dims[dims.len() - 1]);
        let (keys, columns) = (Dim::name(usize::from(step.other) % 4), Dim::name(usize::from(step.other >> 2) % 4));
        let shared: Vec<Dim> =
            if step.other & 0x80 == 0 { batch.to_vec() } else { batch.iter().map(|_| Dim::literal(1)).collect() };
        let k = self.param(dtype, [shared.as_slice(), &[keys.clone(), depth.clone()]].concat(), false);
        let v = self.param(dtype, [shared.as_slice(), &[keys.clone(), columns.clone()]].concat(), false);
        let score_dims = [batch, &[rows.clone(), keys.clone()]].concat();
        let text = format!("matmul({}, transpose({}))", self.name(q), self.name(k));
        let product = self.push(dtype, score_dims.clone(), text, vec![q, k]);
        let score = self.score(product, score_dims.clone(), step);
        let weights = self.push(dtype, score_dims, format!("softmax({})", self.name(score)), vec![score]);
        let text = format!("matmul({}, {})", self.name(weights), self.name(v));
        self.push(dtype, [batch, &[rows.clone(), columns]].concat(), text, vec![weights, v]);
    }

    fn score(&mut self, product: usize, dims: Vec<Dim>, step: Step) -> usize {
        let (dtype, rank) = (self.dtype(product), dims.len());
        let score = match step.detail & 3 {
            0 => product,
            1 => self.push(dtype, dims.clone(), format!("{} * 0.5", self.name(product)), vec![product]),
            2 => self.push(dtype, dims.clone(), format!("tanh({} * 0.25) * 2.0", self.name(product)), vec![product]),
            _ => {
                let bias = self.param(dtype, dims[rank - 2..].to_vec(), false);
                let text = format!("{} * 0.5 + {}", self.name(product), self.name(bias));
                self.push(dtype, dims.clone(), text, vec![product, bias])
            }
        };
        let name = self.name(score);
        let (row, column) =
            (format!("index({name}, axis = {})", rank - 2), format!("index({name}, axis = {})", rank - 1));
        // Below every score, and minus infinity: a query without keys yields NaN.
        let hidden = ["-1e30", "-1.0 / 0.0"][usize::from(step.detail >> 2 & 1)];
        let hidden = if dtype == DType::F16 { "-1.0 / 0.0" } else { hidden };
        let text = match step.detail >> 3 & 7 {
            0 => format!("select({column} <= {row}, {name}, {hidden})"),
            1 => format!("select({column} <= {row} && {column} > {row} - 2, {name}, {hidden})"),
            2 => format!("select({column} < 3, {name}, {hidden})"),
            3 => format!("{name} - 0.25 * ({row} - {column}) as {dtype}"),
            _ => return score,
        };
        self.push(dtype, dims, text, vec![score])
    }

    pub(crate) fn gather(&mut self, step: Step) {
        let table = self.pick(step.operand, step.detail, DType::F32, |value| !value.dims.is_empty());
        let (dtype, dims) = (self.dtype(table), self.dims(table));
        if dims.is_empty() {
            return;
        }
        let along_axis = step.detail & 1 == 1;
        let rank = dims.len();
        let fits = |value: &Value| {
            value.dtype == DType::I32
                && if along_axis { value.dims.len() == 1 } else { value.dims.len() + rank - 1 <= MAX_RANK }
        };
        let found: Vec<usize> = self.values_where(fits).into_iter().filter(|&i| i != table).collect();
        let ids = match found.last() {
            Some(&last) if step.other & 1 == 0 => last,
            _ if self.params() >= MAX_PARAMS => return,
            _ => self.param(DType::I32, vec![Dim::name(usize::from(step.other >> 1) % 4)], false),
        };
        let (table_name, ids_name, ids_dims) = (self.name(table), self.name(ids), self.dims(ids));
        let axis = if along_axis { usize::from(step.detail >> 1) % rank } else { 0 };
        let shape = [&dims[..axis], &ids_dims, &dims[axis + 1..]].concat();
        let option = if along_axis { format!(", axis = {axis}") } else { String::new() };
        self.push(dtype, shape, format!("gather({table_name}, {ids_name}{option})"), vec![table, ids]);
    }

    pub(crate) fn rearrange(&mut self, step: Step) {
        let x = self.pick(step.operand, step.detail, DType::F32, |value| !value.dims.is_empty());
        let (dtype, dims, name) = (self.dtype(x), self.dims(x), self.name(x));
        if dims.is_empty() {
            return;
        }
        let axis = usize::from(step.detail >> 3) % dims.len();
        match step.detail % 8 {
            0 | 1 => {
                self.push(dtype, dims, format!("flip({name}, axis = {axis})"), vec![x]);
            }
            2..=4 => {
                let same = |value: &Value| value.dtype == dtype && value.dims == dims;
                let found = self.values_where(same);
                let y = found[usize::from(step.other) % found.len()];
                let mut shape = dims.clone();
                shape[axis].factor *= 2;
                let text = format!("concat([{name}, {}], axis = {axis})", self.name(y));
                self.push(dtype, shape, text, vec![x, y]);
            }
            5 if dims.len() < MAX_RANK => {
                let shape = [&dims[..axis], &[Dim::literal(2)], &dims[axis..]].concat();
                self.push(dtype, shape, format!("stack([{name}, {name}], axis = {axis})"), vec![x]);
            }
            6 if dtype == DType::I32 && dims.len() < MAX_RANK => {
                let shape = [dims.as_slice(), &[Dim::literal(5)]].concat();
                self.push(DType::F32, shape, format!("one_hot({name}, classes = 5)"), vec![x]);
            }
            _ if dtype.is_float() => {
                let seed = step.other;
                self.push(dtype, dims, format!("dropout({name}, 0.25, {seed})"), vec![x]);
            }
            _ => {}
        }
    }

    fn values_where(&self, wanted: impl Fn(&Value) -> bool) -> Vec<usize> {
        (0..self.values.len()).filter(|&i| wanted(&self.values[i])).collect()
    }
}

/// By number from either end, or by a unique dimension's name.
fn axes_text(dims: &[Dim], axes: &[usize], style: u8) -> String {
    let text = |axis: usize| {
        let dim = &dims[axis];
        let unique = dims.iter().filter(|other| *other == dim).count() == 1;
        match style % 3 {
            0 if unique && dim.factor == 1 && dim.names.len() == 1 => dim.text(),
            1 => format!("-{}", dims.len() - axis),
            _ => axis.to_string(),
        }
    };
    match axes {
        [axis] => text(*axis),
        _ => format!("[{}]", axes.iter().map(|&axis| text(axis)).collect::<Vec<_>>().join(", ")),
    }
}
