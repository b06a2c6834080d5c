//! `f::pullback`: the forward half of a function with gradients, and the values for its backward half.
//!
//! A [`RawPullback`] owns the kept values and launches the backward half any number of times. The compiler chooses them
//! (`grad/pullback.rs`).

use fuse_artifact::{DType, Function, ParamKind};

use crate::{
    api::{
        arg::Arg,
        launch::{launch, launch_dynamic},
        raw::RawTensor,
        raw_quantized::RawQuantized,
    },
    context::error::Error,
};

/// The halves of a function with gradients.
#[derive(Debug)]
pub struct VjpPair {
    /// Computes the results, followed by other kept values.
    pub forward: &'static Function,
    /// Computes the gradients.
    pub backward: &'static Function,
    /// Sources of the parameters of `backward`.
    pub kept: &'static [Kept],
    /// The results that have cotangents.
    pub of: &'static [usize],
}

/// Source of a parameter of the backward half.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    /// The forward half's argument with this index.
    Argument(usize),
    /// The forward half's result with this index.
    Result(usize),
    /// The cotangent with this index.
    Cotangent(usize),
}

/// Values kept for the backward half; tensors are clones of the caller's.
#[derive(Clone, Debug)]
pub struct RawPullback {
    halves: &'static VjpPair,
    values: Vec<Value>,
    /// Shapes of results with cotangents.
    shapes: Vec<Vec<usize>>,
}

#[derive(Clone, Debug)]
enum Value {
    Tensor(RawTensor),
    Quantized(RawQuantized),
    Scalar { dtype: DType, bits: u32 },
    Cotangent(usize),
}

/// Launches the forward half, which has `R` results.
pub fn pullback<const R: usize>(
    halves: &'static VjpPair,
    args: &[Arg<'_>],
) -> Result<([RawTensor; R], RawPullback), Error> {
    let mut results = launch_dynamic(halves.forward, args)?;
    let missing = || Error::Internal {
        message: format!("kernel `{}`: a pullback of something that does not exist", halves.forward.name),
    };
    let value = |kept: &Kept| {
        Some(match *kept {
            Kept::Argument(index) => match *args.get(index)? {
                Arg::Tensor(tensor) => Value::Tensor(tensor.clone()),
                Arg::Quantized(tensor) => Value::Quantized(tensor.clone()),
                Arg::Scalar { dtype, bits } => Value::Scalar { dtype, bits },
            },
            Kept::Result(index) => Value::Tensor(results.get(index)?.clone()),
            Kept::Cotangent(index) => Value::Cotangent(index),
        })
    };
    let values = halves.kept.iter().map(value).collect::<Option<Vec<_>>>().ok_or_else(missing)?;
    let shape = |&result: &usize| Some(results.get(result)?.shape().to_vec());
    let shapes = halves.of.iter().map(shape).collect::<Option<Vec<_>>>().ok_or_else(missing)?;
    results.truncate(R);
    let results = results.try_into().map_err(|_| missing())?;
    Ok((results, RawPullback { halves, values, shapes }))
}

impl RawPullback {
    /// Launches the backward half, which has `R` results.
    ///
    /// # Errors
    /// Those of a launch, and a mismatch if a cotangent lacks the shape of its result.
    pub fn apply<const R: usize>(&self, cotangents: &[&RawTensor]) -> Result<[RawTensor; R], Error> {
        let function = self.halves.backward;
        if cotangents.len() != self.shapes.len() {
            return Err(Error::Count {
                kernel: function.name.to_string(),
                what: "cotangents",
                expected: self.shapes.len(),
                found: cotangents.len(),
            });
        }
        let mut args: Vec<Arg<'_>> = Vec::with_capacity(self.values.len());
        for (param, value) in self.values.iter().enumerate() {
            args.push(match value {
                Value::Tensor(tensor) => Arg::Tensor(tensor),
                Value::Quantized(tensor) => Arg::Quantized(tensor),
                Value::Scalar { dtype, bits } => Arg::Scalar { dtype: *dtype, bits: *bits },
                Value::Cotangent(index) => {
                    self.check_shape(*index, param, cotangents[*index])?;
                    Arg::Tensor(cotangents[*index])
                }
            });
        }
        launch(function, &args)
    }

    /// Checks also where no parameter of the backward half implies the shape.
    fn check_shape(&self, index: usize, param: usize, cotangent: &RawTensor) -> Result<(), Error> {
        let (function, expected) = (self.halves.backward, &self.shapes[index]);
        let (kernel, argument) = (function.name.to_string(), function.params[param].name.to_string());
        let found = cotangent.shape();
        if found.len() != expected.len() {
            return Err(Error::RankMismatch { kernel, argument, expected: expected.len(), found: found.len() });
        }
        let Some(axis) = (0..found.len()).find(|&axis| found[axis] != expected[axis]) else { return Ok(()) };
        let dimension = match &function.params[param].kind {
            ParamKind::Tensor(spec) => spec.shape[axis].display(|id| function.symbol_name(id)).to_string(),
            ParamKind::Scalar(_) | ParamKind::Size | ParamKind::Quantized(_) => String::new(),
        };
        Err(Error::DimensionMismatch {
            kernel,
            argument,
            axis: axis as u8,
            dimension,
            expected: expected[axis] as u64,
            origin: format!("result {}, axis {axis}", self.halves.of[index]),
            found: found[axis] as u64,
        })
    }
}
