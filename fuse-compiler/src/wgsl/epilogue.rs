//! Epilogue of a contraction: pointwise operations and stores, or partial sums for a second pass.

use fuse_artifact::{DType, Slot, Uniform};

use super::{
    expr::emit,
    operand::{Operand, OperandPlace},
    shader::{Shader, to_storage},
};
use crate::{
    fusion::{
        Contraction, Group,
        body::{KernelAccess, ValueOp},
    },
    kernel::{Arena, Block, Function, Scalar, Ty, Val},
    schedule::contraction::{MAX_PRODUCTS, sums_of},
};

#[derive(Clone, Copy)]
pub(super) struct Axes<'k> {
    pub batch: usize,
    pub rows: Val<'k>,
    pub columns: Val<'k>,
    pub depth: Val<'k>,
    pub products: u32,
}

impl<'k> Axes<'k> {
    pub(super) fn new(shader: &mut Shader<'k>, group: &Group, contraction: &Contraction) -> Self {
        Self::of_products(shader, group, contraction.rhs.len() as u32)
    }

    /// The axes of a group with this many products; an attention has one.
    pub(super) fn of_products(shader: &mut Shader<'k>, group: &Group, products: u32) -> Self {
        let batch = group.shape.len() - 2;
        let mut extent = |axis: usize| shader.uniform(Uniform::Extent { axis: axis as u8 });
        Self { batch, rows: extent(batch), columns: extent(batch + 1), depth: extent(batch + 2), products }
    }

    fn arena(&self) -> &'k Arena {
        self.rows.arena()
    }

    /// Name suffix of each product; empty for a single one.
    pub(super) fn product_suffixes(&self) -> Vec<String> {
        if self.products == 1 { vec![String::new()] } else { (0..self.products).map(|p| p.to_string()).collect() }
    }

    pub(super) fn accumulators(&self, ty: Ty) -> Vec<Val<'k>> {
        let names = self.product_suffixes().into_iter().map(|suffix| format!("sum{suffix}"));
        names.map(|name| self.arena().name(name, ty)).collect()
    }

    pub(super) fn batches(&self, shader: &mut Shader<'k>) -> Val<'k> {
        let extents = (0..self.batch).map(|axis| shader.uniform(Uniform::Extent { axis: axis as u8 }));
        extents.reduce(|x, y| x * y).unwrap_or_else(|| self.arena().u32(1))
    }

    pub(super) fn decode_batch(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, batch: Val<'k>) {
        let mut rest = batch;
        for axis in (0..self.batch).rev() {
            if axis == 0 {
                b.bind("b0", rest);
            } else {
                let extent = shader.uniform(Uniform::Extent { axis: axis as u8 });
                let outer = b.bind(format!("batch_rest{axis}"), rest / extent);
                b.bind(format!("b{axis}"), rest % extent);
                rest = outer;
            }
        }
    }

    pub(super) fn decode_element(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, element: Val<'k>) -> [Val<'k>; 3] {
        let column = b.bind("column", element % self.columns);
        let row = b.bind("row", element / self.columns % self.rows);
        let batch = b.bind("batch", element / (self.columns * self.rows));
        self.decode_batch(shader, b, batch);
        [batch, row, column]
    }

    pub(super) fn batch(&self) -> Vec<Val<'k>> {
        self.batch_names().into_iter().map(|name| self.arena().name(name, Ty::U32)).collect()
    }

    pub(super) fn at(&self, place: [Val<'k>; 2]) -> Vec<Val<'k>> {
        self.batch().into_iter().chain(place).collect()
    }

    pub(super) fn batch_names(&self) -> Vec<String> {
        (0..self.batch).map(|axis| format!("b{axis}")).collect()
    }

    pub(super) fn batch_parameters(&self) -> Vec<(String, Ty)> {
        self.batch_names().into_iter().map(|name| (name, Ty::U32)).collect()
    }
}

pub(super) fn sum_dtype(group: &Group, contraction: &Contraction) -> DType {
    match contraction.lhs.0.values[contraction.lhs.1].dtype {
        DType::F16 => DType::F32,
        other => {
            debug_assert!(other != DType::Bool, "{} sums truth values", group.name);
            other
        }
    }
}

const RHS_PREFIXES: [&str; MAX_PRODUCTS] = ["w0_", "w1_", "w2_", "w3_", "w4_", "w5_", "w6_", "w7_"];

/// Prefixes of all right operands. A single one is `b`, unless its program uses coordinates, since batch coordinates
/// are `b0 …`.
pub(super) fn rhs_prefixes(contraction: &Contraction) -> Vec<&'static str> {
    let at_coordinates =
        |op: &ValueOp| matches!(op, ValueOp::Coordinate { .. } | ValueOp::Gather { .. } | ValueOp::Dequantize(_));
    match &*contraction.rhs {
        [(body, _)] if !body.values.iter().any(|value| at_coordinates(&value.op)) => vec!["b"],
        several => RHS_PREFIXES[..several.len()].to_vec(),
    }
}

/// Epilogue of a contraction: pointwise operations applied to the accumulators before the store, `lanes` neighbors of a
/// row at a time.
pub(super) struct Epilogue<'a, 'k> {
    operand: Operand<'a>,
    axes: Axes<'k>,
    sum: DType,
    /// True if inputs are loaded before the accumulators are known.
    preloaded: bool,
    /// The product whose values are stored, if each has its own function.
    product: Option<u8>,
    first: Block<'k>,
}

/// Parameters of `finish` and `finish_each`: batch, its coordinates, row and column.
pub(super) fn place_parameters(axes: &Axes<'_>) -> Vec<(String, Ty)> {
    let named = |name: &str| (name.to_owned(), Ty::U32);
    std::iter::once(named("batch")).chain(axes.batch_parameters()).chain(["row", "column"].map(named)).collect()
}

pub(super) fn parameters(values: &[Val<'_>]) -> impl Iterator<Item = (String, Ty)> {
    values.iter().map(|value| (value.to_string(), value.ty()))
}

impl<'a, 'k> Epilogue<'a, 'k> {
    pub(super) fn new(group: &'a Group, axes: Axes<'k>, sum: DType, lanes: u32, buffer_lanes: u32) -> Self {
        let lane_axis = axes.batch + 1;
        let operand = Operand { group, body: &group.body, value: 0, prefix: "v", lanes, buffer_lanes, lane_axis };
        Self { operand, axes, sum, preloaded: false, product: None, first: Block::new() }
    }

    /// Restricts the epilogue to a product, whose index is the function's suffix; the group's body must not use the
    /// others.
    pub(super) fn of_product(self, product: u8) -> Self {
        Self { product: Some(product), ..self }
    }

    pub(super) fn after(self, first: Block<'k>) -> Self {
        Self { first, ..self }
    }

    /// Moves loads from `finish` to [`Epilogue::preload`].
    pub(super) fn preloaded(self) -> Self {
        Self { preloaded: true, ..self }
    }

    fn load(&self, shader: &mut Shader<'k>, access: u16, place: [Val<'k>; 2]) -> Val<'k> {
        let at: Vec<Option<Val<'k>>> = self.axes.at(place).into_iter().map(Some).collect();
        let offset = self.operand.offset(shader, access, &at);
        self.operand.load(shader, access, offset)
    }

    fn loaded(&self, access: u16, suffix: &str) -> Val<'k> {
        self.operand.named(self.axes.arena(), access, format!("x{access}{suffix}"))
    }

    /// Loads an element's inputs, clamped to the result, into names that end in `suffix`.
    pub(super) fn preload(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, place: [Val<'k>; 2], suffix: &str) {
        for access in self.operand.loads() {
            let name = self.declare_preload(shader, access);
            let ty = self.loaded(access, suffix).ty();
            b.bind(format!("x{access}{suffix}"), shader.arena().call(name, &self.axes.at(place), ty));
        }
    }

    /// Declares the function that loads through an access once, since an invocation has many elements; returns its
    /// name.
    fn declare_preload(&self, shader: &mut Shader<'k>, access: u16) -> String {
        let name = format!("preload_{access}");
        if shader.declares(&name) {
            let arena = shader.arena();
            let [row, column] = ["row", "column"].map(|name| arena.name(name, Ty::U32));
            let inside = [row.min(self.axes.rows - 1), column.min(self.axes.columns - self.operand.lanes)];
            let value = self.load(shader, access, inside);
            let parameters = self.axes.batch_parameters().into_iter().chain(parameters(&[row, column])).collect();
            let body = Block::of(|b| b.answer(value));
            shader.function(Function { name: name.clone(), parameters, result: Some(value.ty()), body });
        }
        name
    }

    pub(super) fn preloaded_arguments(&self, suffix: &str) -> Vec<Val<'k>> {
        let loads = if self.preloaded { self.operand.loads() } else { vec![] };
        loads.into_iter().map(|access| self.loaded(access, suffix)).collect()
    }

    /// Declares `finish(batch, b0 …, row, column, sum)`, which stores the epilogue of neighboring accumulators (one per
    /// product) inside the result.
    pub(super) fn declare(&self, shader: &mut Shader<'k>) {
        let Operand { group, lanes, .. } = self.operand;
        let (axes, arena) = (&self.axes, shader.arena());
        shader.bind_stores(group, lanes);
        let accumulators = axes.accumulators(Ty::of(self.sum, lanes));
        let [batch, row, column] = ["batch", "row", "column"].map(|name| arena.name(name, Ty::U32));
        let mut b = Block::new();
        b.append(&self.first);
        b.return_if(row.ge(axes.rows).or(column.ge(axes.columns)));
        if !self.preloaded {
            for access in self.operand.loads() {
                let value = self.load(shader, access, [row, column]);
                b.bind(format!("x{access}"), value);
            }
        }
        let at = axes.at([row, column]);
        let loaded = |access: u16| self.loaded(access, "");
        let place = OperandPlace { operand: &self.operand, loaded: &loaded, at: &at, accumulators: &accumulators };
        let values = emit(shader, &mut b, &group.body, lanes, "v", &place);
        let element = b.bind("at", (batch * axes.rows + row) * axes.columns + column);
        let mut next_access = group.accesses.len() as u16;
        for store in &group.stores {
            let dtype = group.body.values[store.value].dtype;
            let access_index = next_access;
            next_access += u16::from(store.access.is_some());
            if self.product.is_some() && sums_of(&group.body, store.value).is_empty() {
                continue;
            }
            let buffer = shader.buffer(store.slot, dtype, lanes, true);
            let offset = match &store.access {
                None => element,
                Some(access) => strided(shader, access, access_index, &at, lanes),
            };
            b.set(buffer.at(offset / lanes), to_storage(dtype, values[store.value]));
        }
        let suffix = self.product.map_or(String::new(), |product| product.to_string());
        let parameters = place_parameters(axes)
            .into_iter()
            .chain(parameters(&accumulators))
            .chain(parameters(&self.preloaded_arguments("")))
            .collect();
        shader.function(Function { name: format!("finish{suffix}"), parameters, result: None, body: b });
    }
}

/// Element offset of a store in a permuted order with whole output rows.
fn strided<'k>(shader: &mut Shader<'k>, access: &KernelAccess, index: u16, at: &[Val<'k>], lanes: u32) -> Val<'k> {
    let mut offset = shader.uniform(Uniform::Offset { access: index });
    for (axis, &coordinate) in at.iter().enumerate() {
        if access.access.axes[axis].is_none() {
            continue;
        }
        if lanes > 1 && axis + 1 == at.len() {
            offset = offset + coordinate;
        } else {
            offset = offset + coordinate * shader.uniform(Uniform::Stride { access: index, axis: axis as u8 });
        }
    }
    offset
}

/// Declares `finish(batch, b0 …, row, column, sum)`, which stores partial sums of the split `split`. In scratch memory,
/// splits vary slowest, then products, then elements.
pub(super) fn declare_partial<'k>(shader: &mut Shader<'k>, axes: &Axes<'k>, sum: DType, lanes: u32) {
    let scratch = shader.buffer(Slot::Scratch, sum, lanes, true);
    let batches = axes.batches(shader);
    let split = shader.private("split", Ty::U32);
    let arena = shader.arena();
    let accumulators = axes.accumulators(Ty::of(sum, lanes));
    let [batch, row, column] = ["batch", "row", "column"].map(|name| arena.name(name, Ty::U32));
    let body = Block::of(|b| {
        b.return_if(row.ge(axes.rows).or(column.ge(axes.columns)));
        for ((product, suffix), &accumulator) in (0..).zip(axes.product_suffixes()).zip(&accumulators) {
            let part = split * axes.products + product;
            let at =
                b.bind(format!("at{suffix}"), ((part * batches + batch) * axes.rows + row) * axes.columns + column);
            b.set(scratch.at(at / lanes), accumulator);
        }
    });
    let parameters = place_parameters(axes).into_iter().chain(parameters(&accumulators)).collect();
    shader.function(Function { name: "finish".to_owned(), parameters, result: None, body });
}

pub(super) fn declare_each<'k>(shader: &mut Shader<'k>, axes: &Axes<'k>, name: &str, sum: DType) {
    let (arena, sums) = (shader.arena(), axes.accumulators(Ty::of(sum, 4)));
    let [batch, row, column] = ["batch", "row", "column"].map(|name| arena.name(name, Ty::U32));
    let body = Block::of(|b| {
        for e in 0..4 {
            let each: Vec<Val<'k>> = sums.iter().map(|sum| sum.lane(e)).collect();
            b.run(finish_call("finish", axes, [batch, row, column + e], &each));
        }
    });
    let parameters = place_parameters(axes).into_iter().chain(parameters(&sums)).collect();
    shader.function(Function { name: name.to_owned(), parameters, result: None, body });
}

pub(super) fn finish_call<'k>(
    name: &str,
    axes: &Axes<'k>,
    [batch, row, column]: [Val<'k>; 3],
    values: &[Val<'k>],
) -> Val<'k> {
    let arguments: Vec<Val<'k>> =
        [batch].into_iter().chain(axes.at([row, column])).chain(values.iter().copied()).collect();
    batch.arena().call(name, &arguments, Ty::Void)
}

pub(super) fn multiply_add<'k>(sum: Val<'k>, a: Val<'k>, b: Val<'k>) -> Val<'k> {
    match sum.ty().scalar() {
        Some(Scalar::F32) => a.fma(b, sum),
        _ => sum + a * b,
    }
}
