//! Construction of `MLGraph`s: a function's WebNN calls for given shapes.

use std::slice;

use fuse_artifact::{DType, Function, MlGraph, MlOp, MlOperand, Size};
use js_sys::{Array, Object, Uint8Array, wasm_bindgen::JsValue};

use super::{
    recording::Job,
    script::{call, construct, set, settled},
};

/// Function, sizes, and shapes of its inputs in memory, where reshaped views are one tensor.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    function: usize,
    symbols: Vec<u64>,
    pub(super) stored: Vec<Vec<usize>>,
}

impl Key {
    pub(super) fn new(job: &Job, stored: Vec<Vec<usize>>) -> Self {
        Self { function: std::ptr::from_ref::<Function>(job.function).addr(), symbols: job.symbols.clone(), stored }
    }
}

pub(super) fn input_name(param: usize) -> String {
    format!("input{param}")
}

pub(super) fn result_name(result: usize) -> String {
    format!("result{result}")
}

/// Element type in memory: bools are words.
pub(super) fn declared(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::U32 } else { dtype }
}

pub(super) fn descriptor(dtype: DType, shape: &[usize]) -> Object {
    let descriptor = Object::new();
    set(&descriptor, "dataType", &data_type(dtype));
    set(&descriptor, "shape", &numbers(shape.iter().map(|&extent| extent as f64)));
    descriptor
}

fn data_type(dtype: DType) -> JsValue {
    let name = match dtype {
        DType::F32 => "float32",
        DType::F16 => "float16",
        DType::I32 => "int32",
        DType::U32 => "uint32",
        DType::Bool => "uint8",
    };
    name.into()
}

fn encoded(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F32 => (value as f32).to_le_bytes().to_vec(),
        DType::F16 => half::f16::from_f64(value).to_le_bytes().to_vec(),
        DType::I32 => (value as i32).to_le_bytes().to_vec(),
        DType::U32 => (value as u32).to_le_bytes().to_vec(),
        DType::Bool => vec![u8::from(value != 0.0)],
    }
}

fn numbers(values: impl Iterator<Item = f64>) -> JsValue {
    values.map(JsValue::from_f64).collect::<Array>().into()
}

pub(super) async fn build(context: &JsValue, job: &Job, stored: &[Vec<usize>]) -> Result<JsValue, String> {
    // Only the builder's own promise is awaited before it is finished.
    let promise = {
        let builder = Builder { builder: construct("MLGraphBuilder", slice::from_ref(context))?, job, stored };
        let MlGraph { operands, results } = job.graph;
        let mut made = Vec::with_capacity(operands.len());
        for operand in operands.iter() {
            made.push(builder.operand(operand, &made)?);
        }
        let outputs = Object::new();
        for (index, result) in results.iter().enumerate() {
            set(&outputs, &result_name(index), &made[usize::from(*result)]);
        }
        call(&builder.builder, "build", &[outputs.into()])?
    };
    settled(promise).await
}

struct Builder<'a> {
    builder: JsValue,
    job: &'a Job,
    stored: &'a [Vec<usize>],
}

impl Builder<'_> {
    fn operand(&self, operand: &MlOperand, made: &[JsValue]) -> Result<JsValue, String> {
        let of = |index: u16| made[usize::from(index)].clone();
        let MlOperand { op, dtype, shape } = operand;
        let shape = shape.iter().map(|size| self.size(size)).collect::<Result<Vec<usize>, String>>()?;
        let shape_list = || numbers(shape.iter().map(|&extent| extent as f64));
        let axes = |axes: &[u8]| numbers(axes.iter().map(|&axis| f64::from(axis)));
        let constant = |values: &[f64]| {
            let bytes: Vec<u8> = values.iter().flat_map(|&value| encoded(*dtype, value)).collect();
            self.call("constant", &[descriptor(*dtype, &shape).into(), Uint8Array::from(&bytes[..]).into()])
        };
        match op {
            MlOp::Input(param) => self.input(*param, *dtype, &shape),
            MlOp::Number(value) => constant(&[*value]),
            MlOp::Size(size) => constant(&[self.size(size)? as f64]),
            MlOp::Counting => {
                let extent = shape.iter().copied().max().unwrap_or(1);
                constant(&(0..extent).map(|i| i as f64).collect::<Vec<f64>>())
            }
            MlOp::Call { method, operands, options } => {
                let mut arguments: Vec<JsValue> = operands.iter().map(|&index| of(index)).collect();
                if !options.is_empty() {
                    let given = Object::new();
                    options.iter().for_each(|option| set(&given, &option.name, &option.value.into()));
                    arguments.push(given.into());
                }
                self.call(method, &arguments)
            }
            MlOp::Cast(x) => self.call("cast", &[of(*x), data_type(*dtype)]),
            MlOp::Reshape(x) => self.call("reshape", &[of(*x), shape_list()]),
            MlOp::Expand(x) => self.call("expand", &[of(*x), shape_list()]),
            MlOp::Transpose { x, permutation } => {
                let options = Object::new();
                set(&options, "permutation", &axes(permutation));
                self.call("transpose", &[of(*x), options.into()])
            }
            MlOp::Slice { x, axis, start } => {
                let start = self.size(start)? as f64;
                let starts = (0..shape.len()).map(|at| if at == usize::from(*axis) { start } else { 0.0 });
                self.call("slice", &[of(*x), numbers(starts), shape_list()])
            }
            MlOp::Reduce { method, x, axes: reduced } => {
                let options = Object::new();
                set(&options, "axes", &axes(reduced));
                set(&options, "keepDimensions", &true.into());
                self.call(method, &[of(*x), options.into()])
            }
            MlOp::Gather { x, indices, axis } => {
                let options = Object::new();
                set(&options, "axis", &f64::from(*axis).into());
                self.call("gatherElements", &[of(*x), of(*indices), options.into()])
            }
        }
    }

    /// A parameter: stored shape, then declared one.
    fn input(&self, param: u16, dtype: DType, shape: &[usize]) -> Result<JsValue, String> {
        let param = usize::from(param);
        let stored = &self.stored[param];
        let input = self.call("input", &[input_name(param).into(), descriptor(dtype, stored).into()])?;
        if **stored == *shape {
            return Ok(input);
        }
        self.call("reshape", &[input, numbers(shape.iter().map(|&extent| extent as f64))])
    }

    fn call(&self, method: &str, arguments: &[JsValue]) -> Result<JsValue, String> {
        call(&self.builder, method, arguments).map_err(|reason| format!("`{method}` failed: {reason}"))
    }

    fn size(&self, size: &Size) -> Result<usize, String> {
        let value = size.eval(&self.job.symbols).and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| "a size is negative or too large".to_owned())
    }
}
