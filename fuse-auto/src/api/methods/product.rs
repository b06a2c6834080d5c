//! Products and quantized tensors.

use fuse_artifact::DTypes;
use smallvec::smallvec;

use crate::{
    api::{
        lazy::LazyTensor,
        methods::axes::axis_of,
        operand::{plain, require_rank},
        record::Request,
    },
    error::Error,
    node::Input,
    op::Op,
};

impl LazyTensor {
    /// `[.., M, K] × [.., K, N] → [.., M, N]`; batch axes broadcast. The right operand may be quantized, also
    /// transposed.
    ///
    /// A vector is a row on the left, a column on the right: `[K] × [.., K, N] → [.., N]`, `[.., M, K] × [K] → [..,
    /// M]`.
    ///
    /// # Errors
    /// [`Error::Operation`] if an operand has rank 0, inner dimensions or dtypes differ, or batch axes do not
    /// broadcast.
    pub fn matmul(&self, right: &Self) -> Result<Self, Error> {
        let left = plain(self, "matmul", DTypes::NUMBERS)?;
        let other = right.node()?;
        require_rank(left, "matmul", 1..=usize::MAX)?;
        require_rank(other, "matmul", 1..=usize::MAX)?;
        match (left.shape.len(), other.shape.len()) {
            (1, 1) if other.packing.is_none() => return self.dot(right),
            (_, 1) if other.packing.is_none() => return self.matmul(&right.unsqueeze(1)?)?.squeeze(-1),
            (1, _) => return self.unsqueeze(0)?.matmul(right)?.squeeze(-2),
            _ => {}
        }
        match other.packing {
            Some((packing, axis)) => {
                let summed = other.shape.len() - 2;
                if usize::from(axis) != summed {
                    let message = format!(
                        "a `{}` tensor is packed along axis {axis}, and the product sums over axis {summed}",
                        packing.name()
                    );
                    let help = "quantize it along that axis, or transpose it if the other axis is summed over";
                    return Err(Error::operation("matmul", message, help));
                }
                if !left.dtype.is_float() {
                    let message = format!("a quantized operand meets `{}`", left.type_text());
                    return Err(Error::operation("matmul", message, "convert the left operand with `cast`"));
                }
            }
            None if left.dtype != other.dtype => {
                let message = format!("operands have different dtypes: `{}` and `{}`", left.dtype, other.dtype);
                return Err(Error::operation("matmul", message, "convert one with `cast`"));
            }
            None => {}
        }
        let inputs = smallvec![Input::of(left), Input::of(other)];
        Request::new(Op::Matmul, left.dtype, inputs).record()
    }

    /// `[K] · [K]`, a single number.
    ///
    /// # Errors
    /// [`Error::Operation`] if an operand is no vector, or if lengths or dtypes differ.
    pub fn dot(&self, other: &Self) -> Result<Self, Error> {
        self.of_vectors("dot", Op::Dot, other)
    }

    /// `[M] × [N] → [M, N]`.
    ///
    /// # Errors
    /// [`Error::Operation`] if an operand is no vector, or if dtypes differ.
    pub fn outer(&self, other: &Self) -> Result<Self, Error> {
        self.of_vectors("outer", Op::Outer, other)
    }

    fn of_vectors(&self, name: &'static str, op: Op, other: &Self) -> Result<Self, Error> {
        let (a, b) = (plain(self, name, DTypes::NUMBERS)?, plain(other, name, DTypes::NUMBERS)?);
        require_rank(a, name, 1..=1)?;
        require_rank(b, name, 1..=1)?;
        if a.dtype != b.dtype {
            let message = format!("operands have different dtypes: `{}` and `{}`", a.dtype, b.dtype);
            return Err(Error::operation(name, message, "convert one with `cast`"));
        }
        let inputs = smallvec![Input::of(a), Input::of(b)];
        Request::new(op, a.dtype, inputs).record()
    }

    /// Values of a quantized tensor, computed where they are used.
    ///
    /// # Errors
    /// [`Error::Operation`] if it is not quantized.
    pub fn dequantize(&self) -> Result<Self, Error> {
        let node = self.node()?;
        let Some((_, axis)) = node.packing else {
            let message = format!("takes a quantized tensor, found `{}`", node.type_text());
            return Err(Error::operation("dequantize", message, "it has its values already"));
        };
        let axis = axis_of("dequantize", i32::from(axis), node)?;
        Request::new(Op::Dequantize(axis), node.dtype, smallvec![Input::of(node)]).record_as(node.shape)
    }
}
