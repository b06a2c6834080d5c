//! Shape inference, generic over extents.
//!
//! Numbers, at recording, reject shapes that do not fit. Symbols, when the source is written, unify extents that must
//! be equal.

use fuse_runtime::MAX_RANK;
use smallvec::{SmallVec, smallvec};

use crate::op::{
    Op, Over,
    extent::{Extent, Operator},
};

pub(crate) trait Space {
    type Size: Clone;

    fn number(&mut self, value: usize) -> Self::Size;
    /// True for the literal 1, which broadcasts.
    fn is_one(&mut self, size: &Self::Size) -> bool;
    /// True if both are equal or can be unified.
    fn equal(&mut self, a: &Self::Size, b: &Self::Size) -> bool;
    fn add(&mut self, a: &Self::Size, b: &Self::Size) -> Self::Size;
    fn sub(&mut self, a: &Self::Size, b: &Self::Size) -> Self::Size;
    fn mul(&mut self, a: &Self::Size, b: &Self::Size) -> Self::Size;
    /// Exact quotient, if any.
    fn part(&mut self, whole: &Self::Size, parts: &Self::Size) -> Option<Self::Size>;
    fn at_most(&mut self, a: &Self::Size, b: &Self::Size) -> bool;
    fn same_elements(&mut self, have: &[Self::Size], want: &[Self::Size]) -> bool;
    fn text(&self, size: &Self::Size) -> String;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeError {
    pub(crate) message: String,
    pub(crate) help: String,
}

fn misfit<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, ShapeError> {
    Err(ShapeError { message: message.into(), help: help.into() })
}

type Shapes<'s, S> = [&'s [<S as Space>::Size]];
type Inferred<S> = Result<Dims<<S as Space>::Size>, ShapeError>;

/// A shape without an allocation.
pub(crate) type Dims<T> = SmallVec<[T; MAX_RANK]>;

fn copied<T: Clone>(shape: &[T]) -> Dims<T> {
    shape.iter().cloned().collect()
}

/// Shape of a result. `inputs` has the shapes of all inputs; numbers have rank 0.
pub(crate) fn infer<S: Space>(op: &Op, inputs: &Shapes<'_, S>, space: &mut S) -> Inferred<S> {
    let shape = infer_any(op, inputs, space)?;
    if shape.len() > MAX_RANK {
        let message = format!("a tensor has at most {MAX_RANK} axes, this one would have {}", shape.len());
        return misfit(message, "merge neighboring axes with `reshape`");
    }
    Ok(shape)
}

fn infer_any<S: Space>(op: &Op, inputs: &Shapes<'_, S>, space: &mut S) -> Inferred<S> {
    let x = inputs.first().copied().unwrap_or_default();
    match op {
        Op::Leaf | Op::Grad { cotangent: false } => Ok(copied(x)),
        Op::Grad { cotangent: true } => {
            let cotangent = inputs[1];
            if x.len() != cotangent.len() || !x.iter().zip(cotangent).all(|(a, b)| space.equal(a, b)) {
                let (want, have) = (shape_text(x, space), shape_text(cotangent, space));
                return misfit(
                    format!("a cotangent has the shape of what is differentiated: expected `{want}`, found `{have}`"),
                    "every element of it says what that element counts for",
                );
            }
            Ok(copied(x))
        }
        Op::Pointwise(_) | Op::Call(_) | Op::Scaled(..) => {
            let mut shape = copied(x);
            for other in &inputs[1..] {
                shape = broadcast(&shape, other, space)?;
            }
            Ok(shape)
        }
        Op::Cast(_)
        | Op::Index(_)
        | Op::Flip(_)
        | Op::Row(..)
        | Op::StopGradient
        | Op::Checkpoint(..)
        | Op::Dequantize(_)
        | Op::Triangle(_)
        | Op::Dropout
        | Op::Roll(_) => Ok(copied(x)),
        Op::Matmul => matmul(x, inputs[1], space),
        Op::Dot => {
            same_length(&x[0], &inputs[1][0], space)?;
            Ok(smallvec![])
        }
        Op::Outer => Ok(smallvec![x[0].clone(), inputs[1][0].clone()]),
        Op::Transpose => {
            let mut shape = copied(x);
            let rank = shape.len();
            shape.swap(rank - 2, rank - 1);
            Ok(shape)
        }
        Op::Permute(axes) => Ok(axes.iter().map(|axis| x[axis].clone()).collect()),
        Op::Reshape(sizes) => {
            let target = extents(&sizes.extents(), inputs, space);
            if target.len() <= MAX_RANK && !space.same_elements(x, &target) {
                let (have, want) = (shape_text(x, space), shape_text(&target, space));
                return misfit(
                    format!("the elements of `{have}` do not fit `{want}`"),
                    "a reshape keeps all elements: both products must be equal",
                );
            }
            Ok(target)
        }
        Op::BroadcastTo(sizes) => {
            let target = extents(&sizes.extents(), inputs, space);
            let fits = target.len() >= x.len()
                && x.iter().zip(&target[target.len() - x.len()..]).all(|(a, b)| space.is_one(a) || space.equal(a, b));
            if !fits {
                let (have, want) = (shape_text(x, space), shape_text(&target, space));
                return misfit(
                    format!("`{have}` does not broadcast to `{want}`"),
                    "shapes align at their last axes; only an extent of 1 can be repeated",
                );
            }
            Ok(target)
        }
        Op::Slice { axis, bounds } => slice(x, usize::from(*axis), bounds, inputs, space),
        Op::Squeeze(axis) => {
            let mut shape = copied(x);
            let extent = shape.remove(usize::from(*axis));
            if !space.is_one(&extent) {
                return misfit(
                    format!("axis {axis} of `{}` is not 1", shape_text(x, space)),
                    "to keep one element of it, take a `slice` first",
                );
            }
            Ok(shape)
        }
        Op::Unsqueeze(axis) => {
            let mut shape = copied(x);
            let one = space.number(1);
            shape.insert(usize::from(*axis), one);
            Ok(shape)
        }
        Op::Reduce(_, over) => Ok(reduced(x, *over, space)),
        Op::Norm(name, axis) => {
            for vector in &inputs[1..inputs.len() - 1] {
                vector_along(name, &vector[0], &x[usize::from(*axis)], space)?;
            }
            Ok(copied(x))
        }
        Op::GroupNorm(groups) => {
            let groups = extents(&groups.extents(), inputs, space).remove(0);
            equal_parts("group_norm", &x[1], &groups, space)?;
            for vector in &inputs[1..3] {
                vector_along("group_norm", &vector[0], &x[1], space)?;
            }
            Ok(copied(x))
        }
        Op::Concat(axis) => concat("concat", inputs, usize::from(*axis), space),
        Op::Stack(axis) => {
            let layers = concat("stack", inputs, usize::MAX, space)?;
            let mut shape = layers;
            let count = space.number(inputs.len());
            shape.insert(usize::from(*axis), count);
            Ok(shape)
        }
        Op::Gather(axis) => {
            let axis = usize::from(*axis);
            Ok(x[..axis].iter().chain(inputs[1]).chain(&x[axis + 1..]).cloned().collect())
        }
        Op::OneHot(classes) => {
            let classes = extents(&classes.extents(), inputs, space).remove(0);
            Ok(x.iter().cloned().chain([classes]).collect())
        }
        Op::Pad(axis, sizes) => {
            let sizes = extents(&sizes.extents(), inputs, space);
            let mut shape = copied(x);
            let extent = &mut shape[usize::from(*axis)];
            for size in &sizes {
                *extent = space.add(extent, size);
            }
            Ok(shape)
        }
        Op::Repeat(_, axis, times) => {
            let times = extents(&times.extents(), inputs, space).remove(0);
            let mut shape = copied(x);
            let extent = &mut shape[usize::from(*axis)];
            *extent = space.mul(extent, &times);
            Ok(shape)
        }
        Op::Glu(axis) => {
            let mut shape = copied(x);
            let two = space.number(2);
            let extent = &mut shape[usize::from(*axis)];
            *extent = equal_parts("glu", extent, &two, space)?;
            Ok(shape)
        }
        Op::CrossEntropy(axis) => {
            let mut rows = copied(x);
            rows.remove(usize::from(*axis));
            let classes = inputs[1];
            if rows.len() != classes.len() || !rows.iter().zip(classes).all(|(a, b)| space.equal(a, b)) {
                let (want, have) = (shape_text(&rows, space), shape_text(classes, space));
                return misfit(
                    format!("takes one class for each row: expected `{want}`, found `{have}`"),
                    "the classes have the axes of the value without that of the classes",
                );
            }
            Ok(rows)
        }
        // `infer_node` passes the shape of the differentiated value.
        Op::Part(_) => Ok(copied(x)),
    }
}

pub(crate) fn extents<S: Space>(given: &[Extent], inputs: &Shapes<'_, S>, space: &mut S) -> Dims<S::Size> {
    given.iter().map(|extent| size(extent, inputs, space)).collect()
}

pub(crate) fn size<S: Space>(given: &Extent, inputs: &Shapes<'_, S>, space: &mut S) -> S::Size {
    match given {
        Extent::Number(number) => space.number(*number),
        Extent::Axis { input, axis } => inputs[usize::from(*input)][usize::from(*axis)].clone(),
        Extent::Of(operator, parts) => {
            let (left, right) = (size(&parts.0, inputs, space), size(&parts.1, inputs, space));
            match operator {
                Operator::Add => space.add(&left, &right),
                Operator::Sub => space.sub(&left, &right),
                Operator::Mul => space.mul(&left, &right),
            }
        }
    }
}

fn broadcast<S: Space>(a: &[S::Size], b: &[S::Size], space: &mut S) -> Inferred<S> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let offset = long.len() - short.len();
    let mut shape = copied(long);
    for (axis, size) in short.iter().enumerate() {
        let other = &mut shape[offset + axis];
        if space.is_one(size) {
            continue;
        }
        if space.is_one(other) {
            *other = size.clone();
        } else if !space.equal(other, size) {
            let (left, right) = (shape_text(a, space), shape_text(b, space));
            let (m, n) = (space.text(other), space.text(size));
            return misfit(
                format!("`{left}` and `{right}` do not broadcast: {m} meets {n}"),
                "shapes align at their last axes; extents must be equal, or one of them 1",
            );
        }
    }
    Ok(shape)
}

fn matmul<S: Space>(a: &[S::Size], b: &[S::Size], space: &mut S) -> Inferred<S> {
    let (left, right) = (&a[..a.len() - 2], &b[..b.len() - 2]);
    if !space.equal(&a[a.len() - 1], &b[b.len() - 2]) {
        let (x, y) = (shape_text(a, space), shape_text(b, space));
        let (k, j) = (space.text(&a[a.len() - 1]), space.text(&b[b.len() - 2]));
        let help = if space.text(&b[b.len() - 1]) == k {
            "transpose the right operand: `a.matmul(&b.transpose()?)`"
        } else {
            "`matmul` multiplies `[.., M, K]` by `[.., K, N]`"
        };
        let message = format!("cannot multiply `{x}` by `{y}`: inner dimensions differ, expected {k}, found {j}");
        return misfit(message, help);
    }
    let mut shape = match broadcast(left, right, space) {
        Ok(shape) => shape,
        Err(ShapeError { message, .. }) => {
            return misfit(
                format!("batch axes {message}"),
                "all axes but the last two are batch axes; they must be equal or 1",
            );
        }
    };
    shape.extend([a[a.len() - 2].clone(), b[b.len() - 1].clone()]);
    Ok(shape)
}

fn same_length<S: Space>(a: &S::Size, b: &S::Size, space: &mut S) -> Result<(), ShapeError> {
    if space.equal(a, b) {
        return Ok(());
    }
    let (expected, found) = (space.text(a), space.text(b));
    misfit(format!("the vectors differ in length: expected {expected}, found {found}"), "give it vectors of one length")
}

fn slice<S: Space>(
    x: &[S::Size],
    axis: usize,
    bounds: &[Option<Extent>; 2],
    inputs: &Shapes<'_, S>,
    space: &mut S,
) -> Inferred<S> {
    let extent = x[axis].clone();
    let start = match &bounds[0] {
        None => space.number(0),
        Some(bound) => size(bound, inputs, space),
    };
    let end = match &bounds[1] {
        None => extent.clone(),
        Some(bound) => size(bound, inputs, space),
    };
    if !space.at_most(&end, &extent) {
        let (to, whole) = (space.text(&end), space.text(&extent));
        return misfit(
            format!("the slice ends at {to}, the axis at {whole}"),
            format!("`end` is exclusive; the largest is {whole}"),
        );
    }
    if !space.at_most(&start, &end) {
        let (from, to) = (space.text(&start), space.text(&end));
        return misfit(
            format!("the slice starts at {from}, after its end {to}"),
            "`start` is the first index, `end` the one behind the last",
        );
    }
    let mut shape = copied(x);
    shape[axis] = space.sub(&end, &start);
    Ok(shape)
}

fn reduced<S: Space>(x: &[S::Size], over: Over, space: &mut S) -> Dims<S::Size> {
    let gone = |axis: usize| over.axes.is_none_or(|axes| axes >> axis & 1 == 1);
    if over.keepdim {
        let one = space.number(1);
        return x.iter().enumerate().map(|(axis, size)| if gone(axis) { one.clone() } else { size.clone() }).collect();
    }
    x.iter().enumerate().filter(|(axis, _)| !gone(*axis)).map(|(_, size)| size.clone()).collect()
}

fn vector_along<S: Space>(name: &str, vector: &S::Size, along: &S::Size, space: &mut S) -> Result<(), ShapeError> {
    if space.equal(along, vector) {
        return Ok(());
    }
    let (want, have) = (space.text(along), space.text(vector));
    misfit(
        format!("a vector of `{name}` has {have} elements, the axis {want}"),
        "it has one number for each element along the axis",
    )
}

fn equal_parts<S: Space>(name: &str, whole: &S::Size, parts: &S::Size, space: &mut S) -> Result<S::Size, ShapeError> {
    match space.part(whole, parts) {
        Some(part) => Ok(part),
        None => {
            let (whole, parts) = (space.text(whole), space.text(parts));
            misfit(
                format!("an axis of {whole} cannot be cut into {parts} equal parts"),
                format!("the number of parts of `{name}` divides the extent of the axis"),
            )
        }
    }
}

/// Concatenated shape. An `axis` out of range stands for a stack and gives the common shape.
fn concat<S: Space>(name: &str, pieces: &Shapes<'_, S>, axis: usize, space: &mut S) -> Inferred<S> {
    let mut shape = copied(pieces[0]);
    for piece in &pieces[1..] {
        if piece.len() != shape.len() {
            let (first, other) = (shape_text(pieces[0], space), shape_text(piece, space));
            return misfit(
                format!("`{name}` joins values of one rank, found `{first}` and `{other}`"),
                "add an axis with `unsqueeze`",
            );
        }
        for (at, size) in piece.iter().enumerate() {
            if at == axis {
                shape[at] = space.add(&shape[at], size);
            } else if !space.equal(&shape[at], size) {
                let (first, other) = (shape_text(pieces[0], space), shape_text(piece, space));
                return misfit(
                    format!("`{name}` joins values that agree beside the axis, found `{first}` and `{other}`"),
                    "only the extents along `axis` may differ",
                );
            }
        }
    }
    Ok(shape)
}

pub(crate) fn shape_text<S: Space>(shape: &[S::Size], space: &S) -> String {
    let sizes: Vec<String> = shape.iter().map(|size| space.text(size)).collect();
    format!("[{}]", sizes.join(", "))
}

pub(crate) struct Numbers;

impl Space for Numbers {
    type Size = usize;

    fn number(&mut self, value: usize) -> usize {
        value
    }

    fn is_one(&mut self, size: &usize) -> bool {
        *size == 1
    }

    fn equal(&mut self, a: &usize, b: &usize) -> bool {
        a == b
    }

    // A saturated size fails when its memory is allocated.
    fn add(&mut self, a: &usize, b: &usize) -> usize {
        a.saturating_add(*b)
    }

    fn sub(&mut self, a: &usize, b: &usize) -> usize {
        a.saturating_sub(*b)
    }

    fn mul(&mut self, a: &usize, b: &usize) -> usize {
        a.saturating_mul(*b)
    }

    fn part(&mut self, whole: &usize, parts: &usize) -> Option<usize> {
        (*parts > 0 && whole.is_multiple_of(*parts)).then(|| whole / parts)
    }

    fn at_most(&mut self, a: &usize, b: &usize) -> bool {
        a <= b
    }

    fn same_elements(&mut self, have: &[usize], want: &[usize]) -> bool {
        let elements = |shape: &[usize]| match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim)),
        };
        elements(have).is_some_and(|elements_of| elements(want) == Some(elements_of))
    }

    fn text(&self, size: &usize) -> String {
        size.to_string()
    }
}
