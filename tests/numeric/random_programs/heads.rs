//! Steps of language models: quantized weights, and heads that select the best column.

use fuse_artifact::{DType, Packing};

use super::{
    dims::{Dim, dims_text},
    generate::{Builder, MAX_PARAMS, Step, Value},
};

impl Builder {
    /// Multiplied in either layout, dequantized, or looked up.
    pub(crate) fn quantized(&mut self, step: Step) {
        if self.params() + 3 > MAX_PARAMS {
            return;
        }
        let packing = Packing::ALL[usize::from(step.detail) % Packing::ALL.len()].name();
        let name = format!("w{}", self.values.len());
        let other = Dim::name(usize::from(step.other) % 4);
        let weights = |dims: &[Dim]| format!("{name}: {packing}[{}]", dims_text(dims));
        match step.detail >> 3 & 7 {
            0 => {
                let dims = vec![Dim::name(usize::from(step.operand) % 4), other];
                let (axis, option) = [("", ""), (", axis = 1", " * 0.5")][usize::from(step.detail >> 6 & 1)];
                let text = format!("dequantize({name}{axis}){option}");
                self.push_weighted(DType::F32, dims.clone(), text, vec![], weights(&dims));
            }
            1 => {
                let ids = self.param(DType::I32, vec![Dim::name(usize::from(step.operand) % 4)], false);
                let dims = [other, Dim::name(usize::from(step.operand >> 2) % 4)];
                let text = format!("gather(dequantize({name}, axis = 1), {})", self.name(ids));
                let found = vec![self.dims(ids)[0].clone(), dims[1].clone()];
                self.push_weighted(DType::F32, found, text, vec![ids], weights(&dims));
            }
            layout => {
                let x = self.matrix(step);
                let (dtype, dims) = (self.dtype(x), self.dims(x));
                let depth = dims[dims.len() - 1].clone();
                let transposed = layout % 2 == 1;
                let shape = if transposed { [other.clone(), depth] } else { [depth, other.clone()] };
                let right = if transposed { format!("transpose({name})") } else { name.clone() };
                let text = format!("matmul({}, {right})", self.name(x));
                let found = [&dims[..dims.len() - 1], &[other]].concat();
                self.push_weighted(dtype, found, text, vec![x], weights(&shape));
            }
        }
    }

    /// `argmax(matmul(x, table), axis = -1)`, rows plain or normalized.
    pub(crate) fn head(&mut self, step: Step) {
        if self.params() + 3 > MAX_PARAMS {
            return;
        }
        let mut x = self.matrix(step);
        let (dtype, dims) = (self.dtype(x), self.dims(x));
        let (depth, columns) = (dims[dims.len() - 1].clone(), Dim::name(usize::from(step.other) % 4));
        if step.detail & 1 == 1 {
            let gamma = self.param(dtype, vec![depth.clone()], false);
            let text = format!("rms_norm({}, {}, eps = 1e-5)", self.name(x), self.name(gamma));
            x = self.push(dtype, dims.clone(), text, vec![x, gamma]);
        }
        let transposed = step.detail & 2 == 2;
        let shape = if transposed { vec![columns.clone(), depth] } else { vec![depth, columns.clone()] };
        let table = self.param(dtype, shape, false);
        let right = if transposed { format!("transpose({})", self.name(table)) } else { self.name(table) };
        let text = format!("matmul({}, {right})", self.name(x));
        let rows = dims[..dims.len() - 1].to_vec();
        let logits = self.push(dtype, [&rows[..], &[columns]].concat(), text, vec![x, table]);
        let text = format!("argmax({}, axis = -1)", self.name(logits));
        self.push(DType::I32, rows, text, vec![logits]);
    }

    fn matrix(&mut self, step: Step) -> usize {
        let wanted =
            |value: &Value| value.dtype.is_float() && value.dims.len() >= 2 && value.dims.iter().all(Dim::is_plain);
        let found: Vec<usize> = (0..self.values.len()).filter(|&i| wanted(&self.values[i])).collect();
        match found.len() {
            0 => {
                let dtype = [DType::F32, DType::F16][usize::from(step.detail >> 8 & 1)];
                let [rows, depth] = [step.operand, step.operand >> 2].map(|name| Dim::name(usize::from(name) % 4));
                self.param(dtype, vec![rows, depth], false)
            }
            count => found[usize::from(step.operand) % count],
        }
    }
}
