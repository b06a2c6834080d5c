//! Movements of elements.

use std::sync::Arc;

use fuse_artifact::{DType, DTypes};
use fuse_runtime::__private::Shape;
use smallvec::smallvec;

use crate::{
    api::{
        dim::{Dim, Form},
        lazy::LazyTensor,
        methods::axes::{axes_of, axis_of, position},
        operand::{Operand, indices, plain, require_rank},
        record::Request,
    },
    error::Error,
    node::{Input, Inputs, Node},
    op::{Axes, Op, Sizes},
};

/// An extent for [`reshape`](LazyTensor::reshape): a size, or -1 for the remaining elements.
#[derive(Clone, Debug)]
pub struct Extent(Result<Dim, i64>);

impl From<Dim> for Extent {
    fn from(dim: Dim) -> Self {
        Self(Ok(dim))
    }
}

impl From<&Dim> for Extent {
    fn from(dim: &Dim) -> Self {
        Self(Ok(dim.clone()))
    }
}

macro_rules! extents {
    ($($ty:ty),*) => { $(
        impl From<$ty> for Extent {
            fn from(size: $ty) -> Self {
                Self(usize::try_from(size).map(Dim::from).map_err(|_| size.into()))
            }
        }

        impl From<&$ty> for Extent {
            fn from(size: &$ty) -> Self {
                Self::from(*size)
            }
        }
    )* };
}

extents! { i32, i64 }

impl From<usize> for Extent {
    fn from(size: usize) -> Self {
        Self(Ok(size.into()))
    }
}

impl From<&usize> for Extent {
    fn from(size: &usize) -> Self {
        Self::from(*size)
    }
}

const ONE_REST: &str = "one size may be -1: it is what the others leave of the elements";

/// Sizes in terms of `inputs`; numbers alone allocate nothing.
fn sizes(dims: Vec<Dim>, inputs: &mut Inputs) -> Sizes {
    let numbers: Option<Vec<usize>> =
        dims.iter().map(|dim| matches!(dim.form, Form::Number).then_some(dim.get())).collect();
    if let Some(Ok(shape)) = numbers.map(|numbers| Shape::new(&numbers)) {
        return Sizes::Numbers(shape);
    }
    Sizes::Of(dims.iter().map(|dim| dim.extent(inputs)).collect())
}

fn alone(node: &Arc<Node>) -> Inputs {
    smallvec![Input::of(node)]
}

impl LazyTensor {
    /// True if the language would return the value itself.
    fn has_shape(&self, shape: &[Dim]) -> Result<bool, Error> {
        Ok(self.node()?.shape.iter().copied().eq(shape.iter().map(Dim::get)))
    }

    /// Swaps the last two axes.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has fewer than two axes.
    pub fn transpose(&self) -> Result<Self, Error> {
        let node = self.node()?;
        require_rank(node, "transpose", 2..=usize::MAX)?;
        let last = node.shape.len() as u8 - 1;
        let swapped = |axis: u8| {
            if axis == last {
                last - 1
            } else if axis + 1 == last {
                last
            } else {
                axis
            }
        };
        let packing = node.packing.map(|(packing, axis)| (packing, swapped(axis)));
        Request { packing, ..Request::new(Op::Transpose, node.dtype, alone(node)) }.record()
    }

    /// Permutes the axes: axis `d` of the result is axis `axes[d]` of this tensor.
    ///
    /// # Errors
    /// [`Error::Operation`] unless every axis is listed once.
    pub fn permute(&self, axes: &[i32]) -> Result<Self, Error> {
        let node = self.node()?;
        if axes.len() != node.shape.len() {
            let message = format!("lists {} axes of `{}`", axes.len(), node.type_text());
            return Err(Error::operation("permute", message, "list every axis once"));
        }
        let axes = if axes.is_empty() { vec![] } else { axes_of("permute", axes, node)? };
        let moved = |axis: u8| axes.iter().position(|&from| from == usize::from(axis)).unwrap_or(0) as u8;
        let packing = node.packing.map(|(packing, axis)| (packing, moved(axis)));
        Request { packing, ..Request::new(Op::Permute(Axes::new(&axes)), node.dtype, alone(node)) }.record()
    }

    /// Same elements in another shape, such as `x.reshape([2, 3])`; -1 stands for the remaining elements.
    /// `x.reshape([x.dim(0), 12.into(), 32.into()])` serves all extents of axis 0.
    ///
    /// # Errors
    /// [`Error::Operation`] if the number of elements differs, or for a negative size other than one -1.
    pub fn reshape<D: Into<Extent>>(&self, shape: impl IntoIterator<Item = D>) -> Result<Self, Error> {
        let node = plain(self, "reshape", DTypes::ANY)?;
        let mut inputs = alone(node);
        let shape = shape.into_iter();
        let (mut given, mut rest) = (Vec::<Dim>::with_capacity(shape.size_hint().0), None);
        for (position, size) in shape.enumerate() {
            given.push(match size.into().0 {
                Ok(size) => size,
                Err(-1) if rest.replace(position).is_none() => Dim::from(1),
                Err(size) => {
                    return Err(Error::operation(
                        "reshape",
                        format!("a size of {size}, or a second one of -1"),
                        ONE_REST,
                    ));
                }
            });
        }
        let mut shape = given;
        if let Some(position) = rest {
            shape[position] = self.rest(&shape)?;
        }
        if self.has_shape(&shape)? {
            return Ok(self.clone());
        }
        let shape = sizes(shape, &mut inputs);
        Request::new(Op::Reshape(shape), node.dtype, inputs).record()
    }

    /// Extent for -1; `sizes` has 1 in its place.
    fn rest(&self, sizes: &[Dim]) -> Result<Dim, Error> {
        let node = self.node()?;
        let product = sizes.iter().try_fold(1usize, |product, size| product.checked_mul(size.get()));
        let Some(product) = product.filter(|&product| product > 0 && node.elements().is_multiple_of(product)) else {
            let sizes: Vec<usize> = sizes.iter().map(Dim::get).collect();
            let message = format!("the elements of `{}` do not fit {sizes:?} times a size", node.type_text());
            return Err(Error::operation("reshape", message, ONE_REST));
        };
        // If the other sizes are axes of this tensor, the rest is the product of the remaining axes, for any extents.
        let mut axes: Vec<usize> = (0..node.shape.len()).collect();
        let mut are_axes = true;
        for size in sizes.iter().filter(|size| size.get() != 1) {
            match axes.iter().position(|&axis| node.shape[axis] == size.get()) {
                Some(position) => _ = axes.remove(position),
                None => are_axes = false,
            }
        }
        let own = |axis: &usize| self.dim(*axis as isize);
        let of_axes = || axes.iter().map(own).reduce(|product, extent| product * extent).unwrap_or(Dim::from(1));
        Ok(if are_axes { of_axes() } else { Dim::from(node.elements() / product) })
    }

    /// Broadcasts it to a shape.
    ///
    /// # Errors
    /// [`Error::Operation`] if it does not broadcast to the shape.
    pub fn broadcast_to<D: Into<Dim>>(&self, shape: impl IntoIterator<Item = D>) -> Result<Self, Error> {
        let node = plain(self, "broadcast_to", DTypes::ANY)?;
        let mut inputs = alone(node);
        let shape = sizes(shape.into_iter().map(Into::into).collect(), &mut inputs);
        Request::new(Op::BroadcastTo(shape), node.dtype, inputs).record()
    }

    /// Elements `start..end` of an axis. Numbers are [open](Dim::open): other starts and lengths compile nothing.
    ///
    /// # Errors
    /// [`Error::Operation`] if they are not within the axis.
    pub fn slice(&self, axis: i32, start: impl Into<Dim>, end: impl Into<Dim>) -> Result<Self, Error> {
        self.part_of(axis, Dim::open_range(start.into(), end.into()).map(Some))
    }

    /// Elements of an axis from `start` on.
    ///
    /// # Errors
    /// As [`slice`](Self::slice).
    pub fn slice_from(&self, axis: i32, start: impl Into<Dim>) -> Result<Self, Error> {
        let start: Dim = start.into();
        let node = plain(self, "slice", DTypes::ANY)?;
        let extent = node.shape[usize::from(axis_of("slice", axis, node)?)];
        match start.form {
            Form::Number => self.slice(axis, start, extent),
            _ => self.part_of(axis, [Some(start), None]),
        }
    }

    fn part_of(&self, axis: i32, bounds: [Option<Dim>; 2]) -> Result<Self, Error> {
        let node = plain(self, "slice", DTypes::ANY)?;
        let axis = axis_of("slice", axis, node)?;
        let mut inputs = alone(node);
        let bounds = bounds.map(|bound| bound.map(|bound| bound.extent(&mut inputs)));
        Request::new(Op::Slice { axis, bounds: Box::new(bounds) }, node.dtype, inputs).record()
    }

    /// Splits an axis into pieces of these extents.
    ///
    /// # Errors
    /// [`Error::Operation`] unless they add up to the axis.
    pub fn split<D: Into<Dim>>(&self, axis: i32, sizes: impl IntoIterator<Item = D>) -> Result<Vec<Self>, Error> {
        let node = plain(self, "split", DTypes::ANY)?;
        let at = usize::from(axis_of("split", axis, node)?);
        let sizes: Vec<Dim> = sizes.into_iter().map(Into::into).collect();
        let sum = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(size.get()));
        if sum != node.shape[at] || sizes.is_empty() {
            let message = format!("cuts an axis of {}, found pieces of {sum} together", node.shape[at]);
            return Err(Error::operation("split", message, "the sizes of all pieces add up to the extent of the axis"));
        }
        let mut start = Dim::from(0);
        let mut pieces = vec![];
        for size in sizes {
            let end = if start.get() == 0 { size.clone() } else { start.clone() + size };
            // Sizes that are not open are compiled in, so their sum is known to equal the axis.
            pieces.push(self.part_of(axis, [Some(start), Some(end.clone())])?);
            start = end;
        }
        Ok(pieces)
    }

    /// Splits an axis into equal pieces.
    ///
    /// # Errors
    /// [`Error::Operation`] unless `parts` divides the extent.
    pub fn chunk(&self, axis: i32, parts: usize) -> Result<Vec<Self>, Error> {
        let node = plain(self, "split", DTypes::ANY)?;
        let extent = node.shape[usize::from(axis_of("split", axis, node)?)];
        if !(1..=64).contains(&parts) || !extent.is_multiple_of(parts) {
            let message = format!("an axis of {extent} cannot be cut into {parts} equal parts");
            let help = "the number of parts is from 1 to 64, and divides the extent of the axis";
            return Err(Error::operation("split", message, help));
        }
        self.split(axis, vec![extent / parts; parts])
    }

    /// Removes an axis of extent 1.
    ///
    /// # Errors
    /// [`Error::Operation`] if the extent is not 1.
    pub fn squeeze(&self, axis: i32) -> Result<Self, Error> {
        let node = plain(self, "squeeze", DTypes::ANY)?;
        let axis = axis_of("squeeze", axis, node)?;
        Request::new(Op::Squeeze(axis), node.dtype, alone(node)).record()
    }

    /// Inserts an axis of extent 1; negative positions count in the result.
    ///
    /// # Errors
    /// [`Error::Operation`] if the position is out of range, or the rank is at its maximum.
    pub fn unsqueeze(&self, axis: i32) -> Result<Self, Error> {
        let node = plain(self, "unsqueeze", DTypes::ANY)?;
        let axis = position("unsqueeze", axis, node.shape.len() + 1)? as u8;
        Request::new(Op::Unsqueeze(axis), node.dtype, alone(node)).record()
    }

    /// Index of each element along an axis, as `i32`.
    ///
    /// # Errors
    /// [`Error::Operation`] if there is no such axis.
    pub fn index(&self, axis: i32) -> Result<Self, Error> {
        let node = plain(self, "index", DTypes::ANY)?;
        let axis = axis_of("index", axis, node)?;
        Request::new(Op::Index(axis), DType::I32, alone(node)).record_as(node.shape)
    }

    /// Joins values along an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if there are none, or if dtypes, ranks or other extents differ.
    pub fn concat(values: &[&Self], axis: i32) -> Result<Self, Error> {
        let (dtype, rank, inputs) = pieces("concat", values)?;
        let axis = position("concat", axis, rank)? as u8;
        if let [only] = values {
            return Ok((*only).clone());
        }
        Request::new(Op::Concat(axis), dtype, inputs).record()
    }

    /// Joins values of one shape along a new axis; negative positions count in the result.
    ///
    /// # Errors
    /// [`Error::Operation`] if there are none, or if dtypes or shapes differ.
    pub fn stack(values: &[&Self], axis: i32) -> Result<Self, Error> {
        let (dtype, rank, inputs) = pieces("stack", values)?;
        let axis = position("stack", axis, rank + 1)? as u8;
        Request::new(Op::Stack(axis), dtype, inputs).record()
    }

    /// Reverses axes.
    ///
    /// # Errors
    /// [`Error::Operation`] if there is no such axis.
    pub fn flip(&self, axes: &[i32]) -> Result<Self, Error> {
        let node = plain(self, "flip", DTypes::ANY)?;
        let axes = Axes::new(&axes_of("flip", axes, node)?);
        Request::new(Op::Flip(axes), node.dtype, alone(node)).record_as(node.shape)
    }

    /// Elements at `ids` along an axis; the axes of `ids` replace it. Indices are clamped.
    ///
    /// # Errors
    /// [`Error::Operation`] if indices are no integers, or the axis is empty.
    pub fn gather(&self, ids: &Self, axis: i32) -> Result<Self, Error> {
        let node = plain(self, "gather", DTypes::ANY)?;
        let places = indices(ids, "gather")?;
        let axis = axis_of("gather", axis, node)?;
        if node.shape[usize::from(axis)] == 0 && places.elements() > 0 {
            let message = format!("indices into an axis of `{}` without elements", node.type_text());
            return Err(Error::operation("gather", message, "give no indices into it"));
        }
        let inputs = smallvec![Input::of(node), Input::of(places)];
        Request::new(Op::Gather(axis), node.dtype, inputs).record()
    }

    /// Rows of a table: [`gather`](Self::gather) along axis 0.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn embedding(&self, ids: &Self) -> Result<Self, Error> {
        self.gather(ids, 0)
    }

    /// 1 where the position along a new last axis equals the index, else 0, as `f32`.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has no integers, or `classes` is 0.
    pub fn one_hot(&self, classes: impl Into<Dim>) -> Result<Self, Error> {
        let node = indices(self, "one_hot")?;
        let classes = counted("one_hot", "classes", classes.into())?;
        let mut inputs = alone(node);
        let classes = sizes(vec![classes], &mut inputs);
        Request::new(Op::OneHot(classes), DType::F32, inputs).record()
    }

    /// Adds elements of `value` before and after an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if there is no such axis, or the dtype of `value` differs.
    pub fn pad(
        &self,
        axis: i32,
        before: impl Into<Dim>,
        after: impl Into<Dim>,
        value: impl Into<Operand>,
    ) -> Result<Self, Error> {
        let node = plain(self, "pad", DTypes::ANY)?;
        let axis = axis_of("pad", axis, node)?;
        let mut inputs = alone(node);
        inputs.push(value.into().single("pad", "value", node.dtype)?);
        let around: Vec<Dim> = vec![before.into(), after.into()];
        if around.iter().all(|size| matches!(size.form, Form::Number) && size.get() == 0) {
            return Ok(self.clone());
        }
        let sizes = sizes(around, &mut inputs);
        Request::new(Op::Pad(axis, sizes), node.dtype, inputs).record()
    }

    /// Shifts elements along an axis, cyclically.
    ///
    /// # Errors
    /// [`Error::Operation`] if there is no such axis, or the shift is no `i32`.
    pub fn roll(&self, axis: i32, shift: impl Into<Operand>) -> Result<Self, Error> {
        let node = plain(self, "roll", DTypes::ANY)?;
        let axis = axis_of("roll", axis, node)?;
        let mut inputs = alone(node);
        inputs.push(shift.into().single("roll", "shift", DType::I32)?);
        Request::new(Op::Roll(axis), node.dtype, inputs).record_as(node.shape)
    }

    /// Repeats each element along an axis.
    ///
    /// # Errors
    /// [`Error::Operation`] if there is no such axis, or `times` is 0.
    pub fn repeat(&self, axis: i32, times: impl Into<Dim>) -> Result<Self, Error> {
        self.repeated("repeat", axis, times.into())
    }

    /// Repeats the whole tensor along an axis.
    ///
    /// # Errors
    /// As [`repeat`](Self::repeat).
    pub fn tile(&self, axis: i32, times: impl Into<Dim>) -> Result<Self, Error> {
        self.repeated("tile", axis, times.into())
    }

    fn repeated(&self, name: &'static str, axis: i32, times: Dim) -> Result<Self, Error> {
        let node = plain(self, name, DTypes::ANY)?;
        let axis = axis_of(name, axis, node)?;
        let times = counted(name, "times", times)?;
        if matches!(times.form, Form::Number) && times.get() == 1 {
            return Ok(self.clone());
        }
        let mut inputs = alone(node);
        let times = sizes(vec![times], &mut inputs);
        Request::new(Op::Repeat(name, axis, times), node.dtype, inputs).record()
    }

    /// Keeps elements on and below a diagonal of the last two axes; the rest is 0.
    ///
    /// # Errors
    /// [`Error::Operation`] if it has fewer than two axes.
    pub fn tril(&self, diagonal: impl Into<Operand>) -> Result<Self, Error> {
        self.triangle("tril", diagonal.into())
    }

    /// Keeps elements on and above a diagonal of the last two axes; the rest is 0.
    ///
    /// # Errors
    /// As [`tril`](Self::tril).
    pub fn triu(&self, diagonal: impl Into<Operand>) -> Result<Self, Error> {
        self.triangle("triu", diagonal.into())
    }

    fn triangle(&self, name: &'static str, diagonal: Operand) -> Result<Self, Error> {
        let node = plain(self, name, DTypes::ANY)?;
        require_rank(node, name, 2..=usize::MAX)?;
        let mut inputs = alone(node);
        inputs.push(diagonal.single(name, "diagonal", DType::I32)?);
        Request::new(Op::Triangle(name), node.dtype, inputs).record_as(node.shape)
    }
}

fn pieces(name: &'static str, values: &[&LazyTensor]) -> Result<(DType, usize, Inputs), Error> {
    let Some(first) = values.first() else {
        return Err(Error::operation(name, "takes at least one value", "give it the values to join"));
    };
    let first = plain(first, name, DTypes::ANY)?;
    let mut inputs = Inputs::new();
    for value in values {
        let node = plain(value, name, DTypes::ANY)?;
        if node.dtype != first.dtype {
            let message = format!("joins values of one dtype: expected `{}`, found `{}`", first.dtype, node.dtype);
            return Err(Error::operation(name, message, "convert it with `cast`"));
        }
        inputs.push(Input::of(node));
    }
    Ok((first.dtype, first.shape.len(), inputs))
}

fn counted(operation: &'static str, name: &str, count: Dim) -> Result<Dim, Error> {
    if matches!(count.form, Form::Number) && count.get() == 0 {
        return Err(Error::operation(operation, format!("`{name}` is 1 or more, found 0"), "give a number above 0"));
    }
    Ok(count)
}
