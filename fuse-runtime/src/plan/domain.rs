//! [`Domain`]: extents, strides and offsets with numbers, simplified as the artifact's documentation allows.
//!
//! Input: a [`Kernel`] and its tensors' shapes. Invariant: every access stays inside its tensor for all indices of the
//! domain. Kernels run without bounds checks: their safety depends on this.

use fuse_artifact::{Access, DomainKind, Function, Kernel, ParamKind, QuantizedSpec, Schedule, Size, Slot, Space};

use crate::{
    context::{error::Error, shape::Shape},
    plan::check::Bound,
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) kind: DomainKind,
    pub(crate) extents: Vec<u64>,
    pub(crate) accesses: Vec<Strides>,
    /// Kept axes of a reduction, which come first; all of other domains.
    pub(crate) kept: usize,
}

/// An access with strides in elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strides {
    pub(crate) slot: Slot,
    pub(crate) space: Space,
    pub(crate) offset: u64,
    pub(crate) strides: Vec<u64>,
}

/// Sizes of a domain (see [`Domain::contraction`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contraction {
    pub(crate) batch: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) depth: u64,
}

impl Domain {
    pub(crate) fn new(function: &Function, kernel: &Kernel, params: &[Shape], bound: &Bound) -> Result<Self, Error> {
        let context = Context { function, kernel, params, bound };
        let kind = kernel.domain.kind;
        let extents = context.eval_all(&kernel.domain.extents)?;
        let (least, reduced) = match kind {
            DomainKind::Pointwise => (0, 0),
            DomainKind::Reduction { axes } => (axes.into(), usize::from(axes)),
            DomainKind::Contraction { .. } => (3, 0),
            DomainKind::Attention => (4, 0),
            DomainKind::WeightedSum => (5, 0),
        };
        if extents.len() < least {
            return Err(context.defect(&format!("its domain has {} axes, at least {least} are needed", extents.len())));
        }
        let kept = extents.len() - reduced;
        let mut domain = Self { kind, extents, accesses: Vec::new(), kept };
        for access in kernel.accesses.iter() {
            domain.accesses.push(context.strides(access, &domain)?);
        }
        // An empty domain runs nothing: its strides may be anything.
        if !kernel.domain.fixed && domain.count() > 0 {
            domain.simplify(&kernel.accesses);
        }
        Ok(domain)
    }

    /// Output elements: all of a pointwise domain; kept indices of a reduction (it also writes results of empty rows);
    /// batch·M·N of a contraction; batch·M·E of an attention or weighted sum.
    pub(crate) fn count(&self) -> u64 {
        let axes = match self.kind {
            DomainKind::Pointwise => &self.extents[..],
            DomainKind::Reduction { .. } => &self.extents[..self.kept],
            DomainKind::Contraction { .. } => &self.extents[..self.extents.len() - 1],
            DomainKind::Attention => &self.extents[..self.extents.len() - 2],
            DomainKind::WeightedSum => &self.extents[..self.extents.len() - 3],
        };
        product(axes)
    }

    /// Elements of a row of a reduction; 1 for other domains.
    pub(crate) fn row_length(&self) -> u64 {
        product(&self.extents[self.kept..])
    }

    /// The sizes of a contraction; queries or rows, columns and keys of an attention or weighted sum. A reduction
    /// counts as one column of rows as deep as they are long; a pointwise domain as one row without depth.
    pub(crate) fn contraction(&self) -> Contraction {
        match (self.kind, &self.extents[..]) {
            (DomainKind::Contraction { .. }, [batch @ .., rows, columns, depth])
            | (DomainKind::Attention, [batch @ .., rows, columns, depth, _])
            | (DomainKind::WeightedSum, [batch @ .., rows, columns, depth, _, _]) => {
                Contraction { batch: product(batch), rows: *rows, columns: *columns, depth: *depth }
            }
            (DomainKind::Reduction { .. }, _) => {
                Contraction { batch: 1, rows: self.count(), columns: 1, depth: self.row_length() }
            }
            _ => Contraction { batch: 1, rows: 1, columns: self.count(), depth: 0 },
        }
    }

    /// Summed depths of a weighted sum's products; 0 for other domains.
    pub(crate) fn product_depths(&self) -> u64 {
        match (self.kind, &self.extents[..]) {
            (DomainKind::WeightedSum, [.., first, second]) => first.saturating_add(*second),
            _ => 0,
        }
    }

    /// The domain at other sizes, in the order of `plan::key`, for estimates. A size's first axis takes all of it;
    /// repeated elements still repeat. `None` if an axis is missing.
    pub(crate) fn at(&self, sizes: &[u64]) -> Option<Self> {
        let lists = match (self.kind, sizes) {
            (DomainKind::Contraction { .. }, &[batch, rows, columns, depth]) => {
                let batches = self.extents.len().checked_sub(3)?;
                vec![(batches, batch), (1, rows), (1, columns), (1, depth)]
            }
            (DomainKind::Attention, &[batch, rows, keys, head]) => {
                let batches = self.extents.len().checked_sub(4)?;
                vec![(batches, batch), (1, rows), (1, head), (1, keys), (1, head)]
            }
            (DomainKind::WeightedSum, &[batch, rows, keys, head]) => {
                let batches = self.extents.len().checked_sub(5)?;
                vec![(batches, batch), (1, rows), (1, head), (1, keys), (2, head)]
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

    /// Extents of a space; empty if the domain has no such space.
    pub(crate) fn space_extents(&self, space: Space) -> Vec<u64> {
        space_extents(self.kind, &self.extents, space).unwrap_or_default()
    }

    /// Index in [`Domain::extents`] of a shader's axis; `None` if merged or dropped, with extent 1. Shaders of
    /// pointwise and reduction kernels count the axes that they can index; the axes left align with the end (of each
    /// part).
    pub(crate) fn text_axis(&self, schedule: &Schedule, axis: u8) -> Option<usize> {
        let (axis, left) = (usize::from(axis), self.extents.len());
        match (self.kind, schedule) {
            (DomainKind::Pointwise, Schedule::Pointwise(pointwise)) => {
                (axis + left).checked_sub(usize::from(pointwise.rank))
            }
            (DomainKind::Reduction { .. }, Schedule::Reduction(reduction)) => {
                let [kept, reduced] = reduction.axes.map(usize::from);
                match axis.checked_sub(kept) {
                    None => (axis + self.kept).checked_sub(kept),
                    Some(axis) => Some(self.kept + (axis + left - self.kept).checked_sub(reduced)?),
                }
            }
            _ => Some(axis),
        }
    }

    /// `texts` are the accesses in the kernel's shader.
    fn simplify(&mut self, texts: &[Access]) {
        match self.kind {
            DomainKind::Pointwise => self.kept = self.merge_axes(0, self.extents.len()),
            DomainKind::Reduction { .. } => {
                // Reduced axes first: the kept ones keep their indices.
                self.merge_axes(self.kept, self.extents.len());
                self.kept = self.merge_axes(0, self.kept);
            }
            DomainKind::Contraction { .. } => self.fold_batch(texts),
            DomainKind::Attention | DomainKind::WeightedSum => {}
        }
    }

    /// Drops axes of extent 1 among `from..to`, then merges axes where all strides allow; returns the new end.
    fn merge_axes(&mut self, from: usize, mut to: usize) -> usize {
        for axis in (from..to).rev() {
            if self.extents[axis] == 1 {
                self.remove(axis);
                to -= 1;
            }
        }
        for outer in (from..to.saturating_sub(1)).rev() {
            let inner = self.extents[outer + 1];
            let merges = |a: &Strides| a.strides[outer] == a.strides[outer + 1].saturating_mul(inner);
            if self.accesses.iter().all(merges) {
                // A broadcast may overflow: no variant takes it.
                self.extents[outer + 1] = self.extents[outer].saturating_mul(inner);
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

    /// Folds batch axes, innermost first, into rows where the whole batch shares the right operand. The folded axis
    /// keeps extent 1, because shaders count axes. Accesses that the shader does not move along rows must not move
    /// along the batch.
    fn fold_batch(&mut self, texts: &[Access]) {
        let row_axis = self.extents.len() - 3;
        for batch_axis in (0..row_axis).rev() {
            let (batch, rows) = (self.extents[batch_axis], self.extents[row_axis]);
            if batch == 1 {
                continue;
            }
            let folds = |(a, text): (&Strides, &Access)| match (a.space, text.axes.get(row_axis)) {
                (Space::Rhs, _) | (_, Some(None)) => a.strides[batch_axis] == 0,
                // The stride of a single row does not matter.
                _ => rows == 1 || a.strides[batch_axis] == rows.saturating_mul(a.strides[row_axis]),
            };
            if !self.accesses.iter().zip(texts).all(folds) {
                return;
            }
            for access in self.accesses.iter_mut().filter(|access| access.space != Space::Rhs) {
                if rows == 1 {
                    access.strides[row_axis] = access.strides[batch_axis];
                }
                access.strides[batch_axis] = 0;
            }
            self.extents[row_axis] = rows.saturating_mul(batch);
            self.extents[batch_axis] = 1;
        }
    }
}

/// Product of extents: 0 if any is 0, however large the others are.
fn product(extents: &[u64]) -> u64 {
    if extents.contains(&0) {
        0
    } else {
        extents.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent))
    }
}

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
                Space::SecondLhs | Space::SecondRhs | Space::Score | Space::Value => return None,
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
                Space::SecondLhs | Space::SecondRhs => return None,
            };
            (batch, last)
        }
        (DomainKind::WeightedSum, [batch @ .., rows, columns, keys, depth, second]) => {
            let last = match space {
                Space::Point => [*rows, *columns],
                Space::Lhs => [*rows, *depth],
                Space::Rhs => [*depth, *keys],
                Space::SecondLhs => [*rows, *second],
                Space::SecondRhs => [*second, *keys],
                Space::Score => [*rows, *keys],
                Space::Value => [*keys, *columns],
            };
            (batch, last)
        }
        (DomainKind::Contraction { .. } | DomainKind::Attention | DomainKind::WeightedSum, _) => return None,
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
        // Any existing place serves an empty view. Empty tensors have memory, too (`context::pool`); an empty slice at
        // a tensor's end starts past it.
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

    /// The domain's highest offset must lie in the tensor, and so must the whole view, where computed coordinates
    /// (`gather`) may be anywhere. In an empty view, coordinates or strides are 0 (`Uniform::ViewStride`).
    fn check_inside(&self, access: &Strides, extents: &[u64], view: u64, elements: u64) -> Result<(), Error> {
        // Empty rows are not read, but their results are written: accesses that do not move along rows count.
        if extents.iter().zip(&access.strides).any(|(extent, stride)| *extent == 0 && *stride != 0) {
            return Ok(());
        }
        let steps = extents.iter().zip(&access.strides);
        let last = steps.fold(access.offset, |last: u64, (extent, stride)| {
            last.saturating_add(extent.saturating_sub(1).saturating_mul(*stride))
        });
        if last >= elements {
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
            ParamKind::Tensor(_) | ParamKind::Scalar(_) | ParamKind::Size => None,
        }
    }

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

/// Contiguous strides, 0 for axes of extent 1.
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
mod tests;
