//! Domains with numbers: extents, strides and offsets, simplified as the artifact's documentation allows.
//!
//! Input: a [`Kernel`] and the shapes of its tensors. Output: [`Domain`]. Invariant: every access stays inside its
//! tensor for all indices of the domain; kernels run without bounds checks, so this is what makes them safe.

use fuse_artifact::{Access, DomainKind, Function, Kernel, Size, Slot, Space};

use crate::{Error, check::Bound, shape::Shape};

/// A domain whose extents are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) kind: DomainKind,
    pub(crate) extents: Vec<u64>,
    pub(crate) accesses: Vec<Strides>,
}

/// An access whose strides are known, in elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strides {
    pub(crate) slot: Slot,
    pub(crate) space: Space,
    pub(crate) offset: u64,
    /// One per axis of the space.
    pub(crate) strides: Vec<u64>,
}

/// Rows, columns and depth of a contraction, and the product of its batch axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contraction {
    pub(crate) batch: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) depth: u64,
}

impl Domain {
    /// The domain of `kernel`, simplified unless it is fixed.
    pub(crate) fn new(function: &Function, kernel: &Kernel, params: &[Shape], bound: &Bound) -> Result<Self, Error> {
        let context = Context { function, kernel, params, bound };
        let extents = context.eval_all(&kernel.domain.extents)?;
        if kernel.domain.kind == DomainKind::Contraction { products: 1 } && extents.len() < 3 {
            return Err(context.defect("a contraction without rows, columns and depth"));
        }
        let mut domain = Self { kind: kernel.domain.kind, extents, accesses: Vec::new() };
        for access in kernel.accesses.iter() {
            domain.accesses.push(context.strides(access, &domain)?);
        }
        // An empty domain runs nothing, and its strides may be anything.
        if !kernel.domain.fixed && domain.count() > 0 {
            domain.simplify();
        }
        Ok(domain)
    }

    /// Output elements: all of a pointwise domain; batch·M·N of a contraction.
    pub(crate) fn count(&self) -> u64 {
        let axes = match self.kind {
            DomainKind::Pointwise => &self.extents[..],
            DomainKind::Contraction { products: 1 } => &self.extents[..self.extents.len() - 1],
        };
        product(axes)
    }

    /// The sizes of a contraction; a pointwise domain counts as one row without depth.
    pub(crate) fn contraction(&self) -> Contraction {
        match (self.kind, &self.extents[..]) {
            (DomainKind::Contraction { products: 1 }, [batch @ .., rows, columns, depth]) => {
                Contraction { batch: product(batch), rows: *rows, columns: *columns, depth: *depth }
            }
            _ => Contraction { batch: 1, rows: 1, columns: self.count(), depth: 0 },
        }
    }

    fn simplify(&mut self) {
        match self.kind {
            DomainKind::Pointwise => self.merge_axes(),
            DomainKind::Contraction { products: 1 } => self.fold_batch(),
        }
    }

    /// Drops axes of extent 1, then merges each axis into its inner neighbor where all strides allow.
    fn merge_axes(&mut self) {
        let mut axis = 0;
        while axis < self.extents.len() {
            if self.extents[axis] == 1 { self.remove(axis) } else { axis += 1 }
        }
        let mut outer = self.extents.len().saturating_sub(1);
        while outer > 0 {
            outer -= 1;
            let inner = self.extents[outer + 1];
            let merges = |a: &Strides| a.strides[outer] == a.strides[outer + 1] * inner;
            if self.accesses.iter().all(merges) {
                self.extents[outer + 1] *= self.extents[outer];
                self.remove(outer);
            }
        }
    }

    fn remove(&mut self, axis: usize) {
        self.extents.remove(axis);
        for access in &mut self.accesses {
            access.strides.remove(axis);
        }
    }

    /// Folds batch axes into the rows, innermost first, where the right operand is the same for all of the batch.
    /// The folded axis stays with extent 1, because shaders count axes as they were.
    fn fold_batch(&mut self) {
        let row_axis = self.extents.len() - 3;
        for batch_axis in (0..row_axis).rev() {
            let (batch, rows) = (self.extents[batch_axis], self.extents[row_axis]);
            if batch == 1 {
                continue;
            }
            let folds = |a: &Strides| match a.space {
                Space::Rhs => a.strides[batch_axis] == 0,
                // With a single row, its stride never counted.
                Space::Lhs | Space::Point => rows == 1 || a.strides[batch_axis] == rows * a.strides[row_axis],
            };
            if !self.accesses.iter().all(folds) {
                return;
            }
            for access in self.accesses.iter_mut().filter(|access| access.space != Space::Rhs) {
                if rows == 1 {
                    access.strides[row_axis] = access.strides[batch_axis];
                }
                access.strides[batch_axis] = 0;
            }
            self.extents[row_axis] *= batch;
            self.extents[batch_axis] = 1;
        }
    }
}

/// The product of extents: 0 if one of them is, however large the others are.
fn product(extents: &[u64]) -> u64 {
    if extents.contains(&0) {
        0
    } else {
        extents.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent))
    }
}

/// The extents that index an access of `space`.
fn space_extents(kind: DomainKind, extents: &[u64], space: Space) -> Vec<u64> {
    match (kind, extents) {
        (DomainKind::Contraction { products: 1 }, [batch @ .., rows, columns, depth]) => {
            let last = match space {
                Space::Point => [*rows, *columns],
                Space::Lhs => [*rows, *depth],
                Space::Rhs => [*depth, *columns],
            };
            [batch, &last].concat()
        }
        _ => extents.to_vec(),
    }
}

struct Context<'a> {
    function: &'a Function,
    kernel: &'a Kernel,
    params: &'a [Shape],
    bound: &'a Bound,
}

impl Context<'_> {
    fn strides(&self, access: &Access, domain: &Domain) -> Result<Strides, Error> {
        let extents = space_extents(domain.kind, &domain.extents, access.space);
        let view = self.eval_all(&access.view)?;
        let starts = self.eval_all(&access.starts)?;
        if access.axes.len() != extents.len() || !(starts.is_empty() || starts.len() == view.len()) {
            return Err(self.defect("an access that does not fit its domain"));
        }
        let steps = contiguous(&view);
        let offset = starts.iter().zip(&steps).fold(0u64, |sum, (a, b)| sum.saturating_add(a.saturating_mul(*b)));
        let step = |axis: &Option<u8>| match axis {
            None => Ok(0),
            Some(v) => {
                steps.get(usize::from(*v)).copied().ok_or_else(|| self.defect("an access along a missing view axis"))
            }
        };
        let strides = access.axes.iter().map(step).collect::<Result<Vec<u64>, Error>>()?;
        let strides = Strides { slot: access.slot, space: access.space, offset, strides };
        self.check_inside(&strides, &extents)?;
        Ok(strides)
    }

    /// The highest offset that the domain reaches lies in the tensor.
    fn check_inside(&self, access: &Strides, extents: &[u64]) -> Result<(), Error> {
        if extents.contains(&0) {
            return Ok(());
        }
        let reach =
            extents.iter().zip(&access.strides).map(|(extent, stride)| u128::from(extent - 1) * u128::from(*stride));
        let last = u128::from(access.offset) + reach.sum::<u128>();
        let elements = self.elements(access.slot)?;
        if last >= u128::from(elements) {
            return Err(self.defect(&format!("{:?} has {elements} elements, element {last} is read", access.slot)));
        }
        Ok(())
    }

    fn elements(&self, slot: Slot) -> Result<u64, Error> {
        let shape = match slot {
            Slot::Param(i) => self.params.get(usize::from(i)),
            Slot::Temporary(i) => self.bound.temporaries.get(usize::from(i)),
            Slot::Result(i) => self.bound.results.get(usize::from(i)),
            Slot::Scratch => None,
        };
        shape.and_then(Shape::elements).ok_or_else(|| self.defect("an access to a tensor that does not exist"))
    }

    fn eval_all(&self, sizes: &[Size]) -> Result<Vec<u64>, Error> {
        sizes
            .iter()
            .map(|size| {
                // Dimensions that a kernel can index fit 32 bits.
                let value = size.eval(&self.bound.symbols).filter(|&value| value <= u64::from(u32::MAX));
                value.ok_or_else(|| Error::InvalidSize {
                    kernel: self.function.name.to_string(),
                    size: size.display(|id| self.function.symbol_name(id)).to_string(),
                })
            })
            .collect()
    }

    fn defect(&self, message: &str) -> Error {
        Error::Internal { message: format!("kernel `{}`: {message}", self.kernel.name) }
    }
}

/// The strides of a contiguous tensor, 0 for axes of extent 1.
fn contiguous(view: &[u64]) -> Vec<u64> {
    let mut steps = vec![0; view.len()];
    let mut step = 1u64;
    for (axis, &extent) in view.iter().enumerate().rev() {
        steps[axis] = if extent == 1 { 0 } else { step };
        step = step.saturating_mul(extent);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(space: Space, strides: &[u64]) -> Strides {
        Strides { slot: Slot::Param(0), space, offset: 0, strides: strides.to_vec() }
    }

    fn domain(kind: DomainKind, extents: &[u64], accesses: Vec<Strides>) -> Domain {
        let mut domain = Domain { kind, extents: extents.to_vec(), accesses };
        domain.simplify();
        domain
    }

    fn pointwise(extents: &[u64], strides: &[&[u64]]) -> Domain {
        domain(DomainKind::Pointwise, extents, strides.iter().map(|s| access(Space::Point, s)).collect())
    }

    #[test]
    fn contiguous_operands_become_flat() {
        let flat = pointwise(&[2, 1, 3, 4], &[&[12, 0, 4, 1], &[12, 0, 4, 1]]);
        assert_eq!((&flat.extents[..], &flat.accesses[0].strides[..]), (&[24][..], &[1][..]));
    }

    #[test]
    fn broadcast_axes_stay_apart() {
        let row = pointwise(&[2, 3, 4], &[&[12, 4, 1], &[0, 0, 1]]);
        assert_eq!(row.extents, [6, 4]);
        assert_eq!(row.accesses[1].strides, [0, 1]);
        let column = pointwise(&[2, 3, 4], &[&[12, 4, 1], &[3, 1, 0]]);
        assert_eq!((column.extents, column.accesses[1].strides.clone()), (vec![6, 4], vec![1, 0]));
        let transposed = pointwise(&[3, 4], &[&[4, 1], &[1, 3]]);
        assert_eq!(transposed.extents, [3, 4]);
    }

    #[test]
    fn single_elements_lose_all_axes() {
        let one = pointwise(&[1, 1], &[&[0, 0]]);
        assert!(one.extents.is_empty());
        assert_eq!(one.count(), 1);
    }

    #[test]
    fn shared_right_operand_folds_batches_into_rows() {
        let (lhs, rhs) = (access(Space::Lhs, &[24, 12, 4, 1]), access(Space::Rhs, &[0, 0, 5, 1]));
        let folded = domain(DomainKind::Contraction { products: 1 }, &[7, 2, 3, 5, 4], vec![lhs, rhs.clone()]);
        assert_eq!(folded.extents, [1, 1, 42, 5, 4]);
        assert_eq!(folded.accesses[0].strides, [0, 0, 4, 1]);
        assert_eq!(folded.contraction(), Contraction { batch: 1, rows: 42, columns: 5, depth: 4 });

        let own = access(Space::Rhs, &[20, 20, 5, 1]);
        let kept = domain(DomainKind::Contraction { products: 1 }, &[7, 2, 3, 5, 4], vec![access(Space::Lhs, &[24, 12, 4, 1]), own]);
        assert_eq!(kept.extents, [7, 2, 3, 5, 4]);

        let single = domain(
            DomainKind::Contraction { products: 1 },
            &[7, 1, 5, 4],
            vec![access(Space::Lhs, &[4, 0, 1]), access(Space::Rhs, &[0, 5, 1])],
        );
        assert_eq!(single.extents, [1, 7, 5, 4]);
        assert_eq!(single.accesses[0].strides, [0, 4, 1]);
    }

    #[test]
    fn views_are_contiguous_with_broadcast_axes_at_stride_zero() {
        assert_eq!(contiguous(&[2, 1, 3]), [3, 0, 1]);
        assert_eq!(contiguous(&[]), Vec::<u64>::new());
    }
}
