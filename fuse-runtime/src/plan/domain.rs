//! Domains with numbers: extents, strides and offsets, simplified as the artifact's documentation allows.
//!
//! Input: a [`Kernel`] and the shapes of its tensors. Output: [`Domain`]. Invariant: every access stays inside its
//! tensor for all indices of the domain; kernels run without bounds checks, so this is what makes them safe.

use fuse_artifact::{Access, DomainKind, Function, Kernel, ParamKind, QuantizedSpec, Schedule, Size, Slot, Space};

use crate::{Error, check::Bound, shape::Shape};

/// A domain whose extents are known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) kind: DomainKind,
    pub(crate) extents: Vec<u64>,
    pub(crate) accesses: Vec<Strides>,
    /// Of a reduction, how many of the extents, the first ones, are kept axes; of other domains, all of them.
    pub(crate) kept: usize,
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

/// Rows, columns and depth of a contraction, and the product of its batch axes; of other domains, what stands for them
/// (see [`Domain::contraction`]).
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
        let kind = kernel.domain.kind;
        let extents = context.eval_all(&kernel.domain.extents)?;
        let (least, reduced) = match kind {
            DomainKind::Pointwise => (0, 0),
            DomainKind::Reduction { axes } => (axes.into(), usize::from(axes)),
            DomainKind::Contraction { .. } => (3, 0),
            DomainKind::Attention => (4, 0),
        };
        if extents.len() < least {
            return Err(context.defect(&format!("its domain has {} axes, at least {least} are needed", extents.len())));
        }
        let kept = extents.len() - reduced;
        let mut domain = Self { kind, extents, accesses: Vec::new(), kept };
        for access in kernel.accesses.iter() {
            domain.accesses.push(context.strides(access, &domain)?);
        }
        // An empty domain runs nothing, and its strides may be anything.
        if !kernel.domain.fixed && domain.count() > 0 {
            domain.simplify();
        }
        Ok(domain)
    }

    /// Output elements: all of a pointwise domain; kept indices of a reduction, which writes its rows also where they
    /// are empty; batch·M·N of a contraction; batch·M·E of an attention.
    pub(crate) fn count(&self) -> u64 {
        let axes = match self.kind {
            DomainKind::Pointwise => &self.extents[..],
            DomainKind::Reduction { .. } => &self.extents[..self.kept],
            DomainKind::Contraction { .. } => &self.extents[..self.extents.len() - 1],
            DomainKind::Attention => &self.extents[..self.extents.len() - 2],
        };
        product(axes)
    }

    /// Elements of a row of a reduction; 1 of other domains.
    pub(crate) fn row_length(&self) -> u64 {
        product(&self.extents[self.kept..])
    }

    /// The sizes of a contraction. Of an attention: queries, value columns, keys. Of a reduction: rows of one column,
    /// as deep as a row is long. A pointwise domain counts as one row without depth.
    pub(crate) fn contraction(&self) -> Contraction {
        match (self.kind, &self.extents[..]) {
            (DomainKind::Contraction { .. }, [batch @ .., rows, columns, depth])
            | (DomainKind::Attention, [batch @ .., rows, columns, depth, _]) => {
                Contraction { batch: product(batch), rows: *rows, columns: *columns, depth: *depth }
            }
            (DomainKind::Reduction { .. }, _) => {
                Contraction { batch: 1, rows: self.count(), columns: 1, depth: self.row_length() }
            }
            _ => Contraction { batch: 1, rows: 1, columns: self.count(), depth: 0 },
        }
    }

    /// The domain of the same kernel at other sizes, as tables name them (`tune::Key`), for estimates: the first of several
    /// axes takes all of a size, and strides stay as they are, so that what repeats still does. `None` if an axis is missing.
    pub(crate) fn at(&self, sizes: &[u64]) -> Option<Self> {
        let lists = match (self.kind, sizes) {
            (DomainKind::Contraction { .. }, &[batch, rows, columns, depth]) => {
                let batches = self.extents.len().checked_sub(3)?;
                vec![(batches, batch), (1, rows), (1, columns), (1, depth)]
            }
            (DomainKind::Attention, &[batch, queries, keys, head]) => {
                let batches = self.extents.len().checked_sub(4)?;
                vec![(batches, batch), (1, queries), (1, head), (1, keys), (1, head)]
            }
            (DomainKind::Reduction { .. }, &[rows, length]) => {
                vec![(self.kept, rows), (self.extents.len().checked_sub(self.kept)?, length)]
            }
            _ => return None,
        };
        let mut extents = vec![];
        for (axes, size) in lists {
            if axes == 0 && size != 1 {
                return None;
            }
            extents.extend((0..axes).map(|axis| if axis == 0 { size } else { 1 }));
        }
        Some(Self { extents, ..self.clone() })
    }

    /// The extents that index an access of `space`; none if the domain has no such space.
    pub(crate) fn space_extents(&self, space: Space) -> Vec<u64> {
        space_extents(self.kind, &self.extents, space).unwrap_or_default()
    }

    /// Where axis `axis` of a variant's text is in [`Domain::extents`]: texts of pointwise and reduction kernels count
    /// the axes they can index, to which those that are left are aligned at the end (of each part). `None` if the axis
    /// is not left, so that its extent is 1.
    pub(crate) fn text_axis(&self, schedule: &Schedule, axis: u8) -> Option<usize> {
        let (axis, left) = (usize::from(axis), self.extents.len());
        match (self.kind, schedule) {
            (DomainKind::Pointwise, Schedule::Elements { rank, .. }) => (axis + left).checked_sub(usize::from(*rank)),
            (
                DomainKind::Reduction { .. },
                Schedule::Rows { axes: [kept, reduced], .. } | Schedule::Columns { axes: [kept, reduced], .. },
            ) => {
                let (kept, reduced) = (usize::from(*kept), usize::from(*reduced));
                match axis.checked_sub(kept) {
                    None => (axis + self.kept).checked_sub(kept),
                    Some(axis) => Some(self.kept + (axis + left - self.kept).checked_sub(reduced)?),
                }
            }
            _ => Some(axis),
        }
    }

    fn simplify(&mut self) {
        match self.kind {
            DomainKind::Pointwise => self.kept = self.merge_axes(0, self.extents.len()),
            DomainKind::Reduction { .. } => {
                // The reduced axes first, so that the kept ones stay where they are.
                self.merge_axes(self.kept, self.extents.len());
                self.kept = self.merge_axes(0, self.kept);
            }
            DomainKind::Contraction { .. } => self.fold_batch(),
            // Rows and keys have spaces of their own, and batches are few.
            DomainKind::Attention => {}
        }
    }

    /// Among the axes `from..to`, drops those of extent 1, then merges each into its inner neighbor where all strides
    /// allow. Returns where the axes that are left end.
    fn merge_axes(&mut self, from: usize, mut to: usize) -> usize {
        for axis in (from..to).rev() {
            if self.extents[axis] == 1 {
                self.remove(axis);
                to -= 1;
            }
        }
        for outer in (from..to.saturating_sub(1)).rev() {
            let inner = self.extents[outer + 1];
            let merges = |a: &Strides| a.strides[outer] == a.strides[outer + 1] * inner;
            if self.accesses.iter().all(merges) {
                self.extents[outer + 1] *= self.extents[outer];
                self.remove(outer);
                to -= 1;
            }
        }
        to
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
                _ => rows == 1 || a.strides[batch_axis] == rows * a.strides[row_axis],
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

/// The extents that index an access of `space`; `None` if the domain has no such space.
fn space_extents(kind: DomainKind, extents: &[u64], space: Space) -> Option<Vec<u64>> {
    let (batch, last) = match (kind, extents) {
        (DomainKind::Pointwise | DomainKind::Reduction { .. }, _) => {
            return (space == Space::Point).then(|| extents.to_vec());
        }
        (DomainKind::Contraction { .. }, [batch @ .., rows, columns, depth]) => {
            let last = match space {
                Space::Point => [*rows, *columns],
                Space::Lhs => [*rows, *depth],
                Space::Rhs => [*depth, *columns],
                Space::Score | Space::Value => return None,
            };
            (batch, last)
        }
        (DomainKind::Attention, [batch @ .., rows, columns, keys, depth]) => {
            let last = match space {
                Space::Point => [*rows, *columns],
                Space::Lhs => [*rows, *depth],
                Space::Rhs => [*depth, *keys],
                Space::Score => [*rows, *keys],
                Space::Value => [*keys, *columns],
            };
            (batch, last)
        }
        (DomainKind::Contraction { .. } | DomainKind::Attention, _) => return None,
    };
    Some([batch, &last].concat())
}

struct Context<'a> {
    function: &'a Function,
    kernel: &'a Kernel,
    params: &'a [Shape],
    bound: &'a Bound,
}

impl Context<'_> {
    fn strides(&self, access: &Access, domain: &Domain) -> Result<Strides, Error> {
        let extents = space_extents(domain.kind, &domain.extents, access.space)
            .ok_or_else(|| self.defect("an access of a space that its domain does not have"))?;
        let view = self.eval_all(&access.view)?;
        let starts = self.eval_all(&access.starts)?;
        if access.axes.len() != extents.len() || !(starts.is_empty() || starts.len() == view.len()) {
            return Err(self.defect("an access that does not fit its domain"));
        }
        // What has no elements is read only where the value does not matter: any place that exists will do. Empty tensors
        // have memory, too (`pool`), and an empty slice at the end of a tensor starts behind it.
        let exists = !view.contains(&0);
        let steps = if exists { contiguous(&view) } else { vec![0; view.len()] };
        let starts = starts.iter().zip(&view).map(|(start, extent)| *start.min(&extent.saturating_sub(1)));
        let offset = starts.zip(&steps).fold(0u64, |sum, (a, b)| sum.saturating_add(a.saturating_mul(*b)));
        let step = |axis: &Option<u8>| match axis {
            None => Ok(0),
            Some(v) => {
                steps.get(usize::from(*v)).copied().ok_or_else(|| self.defect("an access along a missing view axis"))
            }
        };
        let strides = access.axes.iter().map(step).collect::<Result<Vec<u64>, Error>>()?;
        let strides = Strides { slot: access.slot, space: access.space, offset, strides };
        let elements = self.elements(access.slot)?;
        if exists {
            self.check_inside(&strides, &extents, product(&view), elements)?;
        }
        Ok(strides)
    }

    /// The highest offset that the domain reaches lies in the tensor, and so does the whole view, in which computed
    /// coordinates (`gather`) may be anywhere. In an empty view they are 0, or their strides are (`Uniform::ViewStride`).
    fn check_inside(&self, access: &Strides, extents: &[u64], view: u64, elements: u64) -> Result<(), Error> {
        // Empty rows are not walked, but their results are written: what does not move along them counts.
        if extents.iter().zip(&access.strides).any(|(extent, stride)| *extent == 0 && *stride != 0) {
            return Ok(());
        }
        let reach = extents
            .iter()
            .zip(&access.strides)
            .map(|(extent, stride)| u128::from(extent.saturating_sub(1)) * u128::from(*stride));
        let last = u128::from(access.offset) + reach.sum::<u128>();
        if last >= u128::from(elements) {
            return Err(self.defect(&format!("{:?} has {elements} elements, element {last} is read", access.slot)));
        }
        if view > elements {
            return Err(self.defect(&format!("{:?} has {elements} elements, it is read as {view}", access.slot)));
        }
        Ok(())
    }

    fn elements(&self, slot: Slot) -> Result<u64, Error> {
        let shape = match slot {
            Slot::Param(i) if let Some(spec) = self.quantized(i) => return Ok(self.quantized_elements(i, spec)?[0]),
            Slot::Scales(i) if let Some(spec) = self.quantized(i) => return Ok(self.quantized_elements(i, spec)?[1]),
            Slot::Param(i) => self.params.get(usize::from(i)),
            Slot::Temporary(i) => self.bound.temporaries.get(usize::from(i)),
            Slot::Result(i) => self.bound.results.get(usize::from(i)),
            Slot::Scales(_) | Slot::Scratch => None,
        };
        shape.and_then(Shape::elements).ok_or_else(|| self.defect("an access to a tensor that does not exist"))
    }

    fn quantized(&self, param: u16) -> Option<&QuantizedSpec> {
        match &self.function.params.get(usize::from(param))?.kind {
            ParamKind::Quantized(spec) => Some(spec),
            ParamKind::Tensor(_) | ParamKind::Scalar(_) => None,
        }
    }

    /// The words and the groups of a quantized parameter.
    fn quantized_elements(&self, param: u16, spec: &QuantizedSpec) -> Result<[u64; 2], Error> {
        let described = self.params.get(usize::from(param)).ok_or_else(|| self.defect("an argument is missing"))?;
        let [shape @ .., groups, _] = &**described else {
            return Err(self.defect("a quantized tensor without groups"));
        };
        let axis = usize::from(spec.axis);
        let extent = *shape.get(axis).ok_or_else(|| self.defect("a packed axis that does not exist"))?;
        let others = shape.iter().enumerate().filter(|(d, _)| *d != axis).map(|(_, &extent)| extent as u64);
        let others = others.fold(1, u64::saturating_mul);
        Ok([spec.packing.words(extent), *groups].map(|along| others.saturating_mul(along as u64)))
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
        let reduced = if let DomainKind::Reduction { axes } = kind { usize::from(axes) } else { 0 };
        let kept = extents.len() - reduced;
        let mut domain = Domain { kind, extents: extents.to_vec(), accesses, kept };
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
        let kept = domain(
            DomainKind::Contraction { products: 1 },
            &[7, 2, 3, 5, 4],
            vec![access(Space::Lhs, &[24, 12, 4, 1]), own],
        );
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
    fn products_that_share_rows_fold_batches_only_together() {
        let kind = DomainKind::Contraction { products: 2 };
        let accesses = |second: u64| {
            let rhs = |batch: u64| access(Space::Rhs, &[batch, 5, 1]);
            vec![access(Space::Lhs, &[12, 4, 1]), rhs(0), rhs(second)]
        };
        assert_eq!(domain(kind, &[7, 3, 5, 4], accesses(0)).extents, [1, 21, 5, 4]);
        assert_eq!(domain(kind, &[7, 3, 5, 4], accesses(20)).extents, [7, 3, 5, 4]);
    }

    fn reduction(axes: u8, extents: &[u64], strides: &[&[u64]]) -> Domain {
        domain(DomainKind::Reduction { axes }, extents, strides.iter().map(|s| access(Space::Point, s)).collect())
    }

    #[test]
    fn kept_and_reduced_axes_merge_among_themselves() {
        // Rows of a contiguous tensor, with a result of the same shape and one value per row.
        let rows = reduction(2, &[2, 3, 4, 5], &[&[60, 20, 5, 1], &[60, 20, 5, 1], &[3, 1, 0, 0]]);
        assert_eq!((&rows.extents[..], rows.kept), (&[6, 20][..], 1));
        assert_eq!(rows.accesses[0].strides, [20, 1]);
        assert_eq!(rows.accesses[2].strides, [1, 0]);
        assert_eq!((rows.count(), rows.row_length()), (6, 20));
        assert_eq!(rows.contraction(), Contraction { batch: 1, rows: 6, columns: 1, depth: 20 });

        // The middle axis: what lies on both sides of it stays apart.
        let middle = reduction(1, &[2, 5, 4], &[&[20, 1, 5], &[5, 1, 0]]);
        assert_eq!((&middle.extents[..], middle.kept), (&[2, 5, 4][..], 2));

        // A value per row of another layout keeps the axes apart that it reads apart.
        let strided = reduction(1, &[2, 3, 4], &[&[12, 4, 1], &[1, 2, 0]]);
        assert_eq!((&strided.extents[..], strided.kept), (&[2, 3, 4][..], 2));
    }

    #[test]
    fn reductions_to_and_over_single_elements_lose_axes() {
        let all = reduction(2, &[3, 4], &[&[4, 1], &[0, 0]]);
        assert_eq!((&all.extents[..], all.kept, all.count(), all.row_length()), (&[12][..], 0, 1, 12));
        let single = reduction(1, &[3, 1, 1], &[&[1, 0, 0]]);
        assert_eq!((&single.extents[..], single.kept, single.count(), single.row_length()), (&[3][..], 1, 3, 1));
        let empty = reduction(1, &[3, 2, 0], &[&[0, 0, 1], &[2, 1, 0]]);
        assert_eq!((empty.kept, empty.count(), empty.row_length()), (1, 6, 0));
    }

    #[test]
    fn axes_of_a_text_are_aligned_at_the_end_of_each_part() {
        let axes = [3, 2];
        let schedule = Schedule::Rows { rows: 1, invocations: 64, lanes: 1, held: 0, axes, split: false };
        let rows = reduction(1, &[6, 20], &[&[20, 1]]);
        let found: Vec<_> = (0..5).map(|axis| rows.text_axis(&schedule, axis)).collect();
        assert_eq!(found, [None, None, Some(0), None, Some(1)]);
        let all = reduction(1, &[20], &[&[1]]);
        let found: Vec<_> = (0..5).map(|axis| all.text_axis(&schedule, axis)).collect();
        assert_eq!(found, [None, None, None, None, Some(0)]);
    }

    #[test]
    fn attentions_stay_as_they_are() {
        let accesses = vec![access(Space::Lhs, &[0, 64, 1]), access(Space::Value, &[0, 64, 1])];
        let attention = domain(DomainKind::Attention, &[2, 1, 64, 9, 32], accesses);
        assert_eq!(attention.extents, [2, 1, 64, 9, 32]);
        assert_eq!(attention.contraction(), Contraction { batch: 2, rows: 1, columns: 64, depth: 9 });
        assert_eq!(attention.count(), 128);
        let spaces = [Space::Point, Space::Lhs, Space::Rhs, Space::Score, Space::Value];
        let found = spaces.map(|space| attention.space_extents(space)[1..].to_vec());
        assert_eq!(found, [[1, 64], [1, 32], [32, 9], [1, 9], [9, 64]]);
    }

    /// The strides of one access of a kernel over `extents`, to a parameter of shape `param`.
    fn strides(kind: DomainKind, extents: &[u64], param: &[usize], access: Access) -> Result<Domain, Error> {
        let sizes = |sizes: &[u64]| sizes.iter().map(|size| Size::constant(*size)).collect::<Vec<_>>();
        let kernel = Kernel {
            name: "k".into(),
            domain: fuse_artifact::Domain { kind, extents: sizes(extents).into(), fixed: false },
            accesses: vec![access].into(),
            variants: vec![].into(),
            work: fuse_artifact::Work::default(),
        };
        let function = Function {
            name: "f".into(),
            params: vec![].into(),
            results: vec![].into(),
            symbols: vec![].into(),
            checks: vec![].into(),
            temporaries: vec![].into(),
            kernels: vec![].into(),
            plan: fuse_artifact::Plan::default(),
            assumes: vec![].into(),
            alternatives: vec![].into(),
            webnn: None,
        };
        let bound = Bound { symbols: vec![], results: vec![], temporaries: vec![] };
        Domain::new(&function, &kernel, &[Shape::new(param)?], &bound)
    }

    fn walk(view: &[u64], axes: &[Option<u8>]) -> Access {
        let view: Vec<Size> = view.iter().map(|size| Size::constant(*size)).collect();
        Access {
            slot: Slot::Param(0),
            space: Space::Point,
            view: view.into(),
            axes: axes.to_vec().into(),
            starts: vec![].into(),
        }
    }

    #[test]
    fn empty_tensors_are_read_at_their_start() {
        // Three rows of an empty table: the domain has elements, the view has none.
        let table = strides(DomainKind::Pointwise, &[3, 4], &[0, 4], walk(&[0, 4], &[None, Some(1)])).unwrap();
        assert_eq!((table.count(), table.accesses[0].offset, &table.accesses[0].strides[..]), (12, 0, &[0][..]));
    }

    #[test]
    fn empty_slices_at_the_end_are_read_inside() {
        let slice = Access { starts: vec![Size::constant(3), Size::constant(0)].into(), ..walk(&[3, 4], &[Some(1)]) };
        assert_eq!(strides(DomainKind::Pointwise, &[4], &[3, 4], slice).unwrap().accesses[0].offset, 8);
    }

    #[test]
    fn accesses_and_views_stay_inside() {
        let rows = DomainKind::Reduction { axes: 1 };
        let message = |result: Result<Domain, Error>| result.unwrap_err().to_string();
        let outside = strides(rows, &[3, 5], &[14], walk(&[3, 5], &[Some(0), Some(1)]));
        assert!(message(outside).contains("has 14 elements, element 14 is read"));
        // Computed coordinates may be anywhere in the view.
        let gathered = strides(DomainKind::Pointwise, &[5], &[14], walk(&[3, 5], &[Some(1)]));
        assert!(message(gathered).contains("has 14 elements, it is read as 15"));
        // What does not move along empty rows is still accessed.
        strides(rows, &[3, 0], &[3], walk(&[3], &[Some(0), None])).unwrap();
        let results = strides(rows, &[3, 0], &[2], walk(&[3], &[Some(0), None]));
        assert!(message(results).contains("element 2 is read"));
        let space = Access { space: Space::Lhs, ..walk(&[3, 5], &[Some(0), Some(1)]) };
        assert!(message(strides(rows, &[3, 5], &[15], space)).contains("a space that its domain does not have"));
        assert!(message(strides(DomainKind::Attention, &[3, 5, 2], &[1], walk(&[1], &[]))).contains("at least 4"));
    }

    #[test]
    fn views_are_contiguous_with_broadcast_axes_at_stride_zero() {
        assert_eq!(contiguous(&[2, 1, 3]), [3, 0, 1]);
        assert_eq!(contiguous(&[]), Vec::<u64>::new());
    }
}
