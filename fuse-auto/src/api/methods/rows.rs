//! Row operations: normalizations, softmax, losses, dropout.

use fuse_artifact::{DType, DTypes};
use smallvec::smallvec;

use crate::{
    api::{
        dim::Dim,
        lazy::LazyTensor,
        methods::axes::axis_of,
        operand::{Given, Operand, indices, plain, require_rank},
        record::Request,
    },
    error::Error,
    node::{Input, Inputs, Node},
    op::{Op, Sizes},
};

impl LazyTensor {
    /// `exp(x) / sum(exp(x))` along an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has no floats, or no such axis.
    pub fn softmax(&self, axis: i32) -> Result<Self, Error> {
        self.row("softmax", axis)
    }

    /// `log(softmax(x))` along an axis.
    ///
    /// # Errors
    /// As [`softmax`](Self::softmax).
    pub fn log_softmax(&self, axis: i32) -> Result<Self, Error> {
        self.row("log_softmax", axis)
    }

    fn row(&self, name: &'static str, axis: i32) -> Result<Self, Error> {
        let node = plain(self, name, DTypes::FLOATS)?;
        let axis = axis_of(name, axis, node)?;
        Request::new(Op::Row(name, axis), node.dtype, smallvec![Input::of(node)]).record_as(node.shape)
    }

    /// `(x - mean) / sqrt(var + eps) · gamma + beta` for each row along the last axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if dtypes differ or are no floats, gamma or beta is no vector of that axis, or eps is not
    /// positive.
    pub fn layer_norm(&self, gamma: &Self, beta: &Self, eps: impl Into<Operand>) -> Result<Self, Error> {
        self.normalized("layer_norm", -1, &[gamma, beta], eps.into())
    }

    /// `x / sqrt(mean(x²) + eps) · gamma` for each row along the last axis.
    ///
    /// # Errors
    /// As [`layer_norm`](Self::layer_norm).
    pub fn rms_norm(&self, gamma: &Self, eps: impl Into<Operand>) -> Result<Self, Error> {
        self.normalized("rms_norm", -1, &[gamma], eps.into())
    }

    /// `(x - mean) / sqrt(var + eps) · gamma + beta` with vectors along the channels, axis 1.
    ///
    /// # Errors
    /// As [`layer_norm`](Self::layer_norm).
    pub fn batch_norm(
        &self,
        mean: &Self,
        var: &Self,
        gamma: &Self,
        beta: &Self,
        eps: impl Into<Operand>,
    ) -> Result<Self, Error> {
        self.normalized("batch_norm", 1, &[mean, var, gamma, beta], eps.into())
    }

    fn normalized(&self, name: &'static str, axis: i32, vectors: &[&Self], eps: Operand) -> Result<Self, Error> {
        let node = plain(self, name, DTypes::FLOATS)?;
        let axis = axis_of(name, axis, node)?;
        let mut inputs: Inputs = smallvec![Input::of(node)];
        vectors_of(name, node, vectors, &mut inputs)?;
        inputs.push(epsilon(name, eps)?);
        Request::new(Op::Norm(name, axis), node.dtype, inputs).record()
    }

    /// Normalizes groups of channels; channels are axis 1 of `[B, C, ..]`.
    ///
    /// # Errors
    /// As [`layer_norm`](Self::layer_norm), and if the groups do not divide the channels.
    pub fn group_norm(
        &self,
        gamma: &Self,
        beta: &Self,
        groups: impl Into<Dim>,
        eps: impl Into<Operand>,
    ) -> Result<Self, Error> {
        let node = plain(self, "group_norm", DTypes::FLOATS)?;
        axis_of("group_norm", 1, node)?;
        let mut inputs: Inputs = smallvec![Input::of(node)];
        vectors_of("group_norm", node, &[gamma, beta], &mut inputs)?;
        inputs.push(epsilon("group_norm", eps.into())?);
        let groups = Sizes::Of(Box::new([groups.into().extent(&mut inputs)]));
        Request::new(Op::GroupNorm(groups), node.dtype, inputs).record()
    }

    /// `a · sigmoid(b)` for the halves `a` and `b` of an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has no floats, or an odd extent.
    pub fn glu(&self, axis: i32) -> Result<Self, Error> {
        let node = plain(self, "glu", DTypes::FLOATS)?;
        let axis = axis_of("glu", axis, node)?;
        Request::new(Op::Glu(axis), node.dtype, smallvec![Input::of(node)]).record()
    }

    /// Cross-entropy of each row: `logsumexp(x) - x[class]` along an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if this has no floats, or if there is not one integer class per row.
    pub fn cross_entropy(&self, classes: &Self, axis: i32) -> Result<Self, Error> {
        let node = plain(self, "cross_entropy", DTypes::FLOATS)?;
        let classes = indices(classes, "cross_entropy")?;
        let axis = axis_of("cross_entropy", axis, node)?;
        let inputs = smallvec![Input::of(node), Input::of(classes)];
        Request::new(Op::CrossEntropy(axis), node.dtype, inputs).record()
    }

    /// Keeps each element with probability `1 - p`, scaled by `1 / (1 - p)`; the rest is 0. Equal seeds give equal
    /// results on every adapter.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has no floats, or `p` is no probability.
    pub fn dropout(&self, p: impl Into<Operand>, seed: impl Into<Operand>) -> Result<Self, Error> {
        let node = plain(self, "dropout", DTypes::FLOATS)?;
        let p = p.into();
        if let Given::Number(_, number) = p.0
            && !(0.0..=1.0).contains(&number)
        {
            let message = "`p` is a probability, from 0 to 1";
            return Err(Error::operation("dropout", message, "`p` is the part that is dropped"));
        }
        let p = p.single("dropout", "p", DType::F32)?;
        let seed = seed.into().single("dropout", "seed", DType::U32)?;
        let inputs = smallvec![Input::of(node), p, seed];
        Request::new(Op::Dropout, node.dtype, inputs).record_as(node.shape)
    }
}

fn vectors_of(name: &'static str, node: &Node, vectors: &[&LazyTensor], inputs: &mut Inputs) -> Result<(), Error> {
    for vector in vectors {
        let other = plain(vector, name, DTypes::FLOATS)?;
        require_rank(other, name, 1..=1)?;
        if other.dtype != node.dtype {
            let message = format!("expected vectors of `{}`, found `{}`", node.dtype, other.type_text());
            return Err(Error::operation(name, message, "convert it with `cast`"));
        }
        inputs.push(Input::of(other));
    }
    Ok(())
}

/// Positive, which keeps a divisor from being 0.
fn epsilon(name: &'static str, eps: Operand) -> Result<Input, Error> {
    if let Given::Number(_, number) = eps.0
        && number.is_nan() | (number <= 0.0)
    {
        let message = "`eps` keeps a divisor from being 0 and so is above 0";
        return Err(Error::operation(name, message, "1e-5 is usual"));
    }
    eps.single(name, "eps", DType::F32)
}
