//! What happens to a contraction's sums: the epilogue and the stores, or partial sums for a second pass.

use fuse_artifact::{DType, Slot, Uniform};

use super::{
    builtins::{scalar_type, vector_type},
    expr::emit,
    operand::{Operand, OperandPlace},
    shader::{CodeBuffer, Shader, to_storage},
};
use crate::{
    fusion::{
        Contraction, Group,
        body::{KernelAccess, ValueOp},
    },
    schedule::contraction::{MAX_PRODUCTS, sums_of},
};

/// The axes of a contraction's domain.
pub(super) struct Axes {
    /// Number of batch axes.
    pub batch: usize,
    /// Expressions of M, N and K.
    pub rows: String,
    /// Columns of the result.
    pub columns: String,
    /// The extent that is summed over.
    pub depth: String,
    /// The products that share the left operand.
    pub products: u32,
}

impl Axes {
    /// The axes of a group.
    pub(super) fn new(shader: &mut Shader<'_>, group: &Group, contraction: &Contraction) -> Self {
        Self::of_products(shader, group, contraction.rhs.len() as u32)
    }

    /// The axes of a group with this many products; an attention has one.
    pub(super) fn of_products(shader: &mut Shader<'_>, group: &Group, products: u32) -> Self {
        let batch = group.shape.len() - 2;
        let mut extent = |axis: usize| shader.uniform(Uniform::Extent { axis: axis as u8 });
        Self { batch, rows: extent(batch), columns: extent(batch + 1), depth: extent(batch + 2), products }
    }

    /// For each product, what tells its names from those of the others: nothing for a single one.
    pub(super) fn product_suffixes(&self) -> Vec<String> {
        if self.products == 1 { vec![String::new()] } else { (0..self.products).map(|p| p.to_string()).collect() }
    }

    /// The names of the sums of all products.
    pub(super) fn sum_names(&self) -> Vec<String> {
        self.product_suffixes().iter().map(|suffix| format!("sum{suffix}")).collect()
    }

    /// The parameters `sum: T` (`sum0: T, sum1: T …`).
    pub(super) fn sum_parameters(&self, ty: &str) -> String {
        self.sum_names().iter().map(|name| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
    }

    /// The number of batches.
    pub(super) fn batches(&self, shader: &mut Shader<'_>) -> String {
        let extents = (0..self.batch).map(|axis| shader.uniform(Uniform::Extent { axis: axis as u8 }));
        let extents: Vec<String> = extents.collect();
        if extents.is_empty() { "1u".to_owned() } else { extents.join(" * ") }
    }

    /// Declares `b0 …`, the coordinates of the batch whose number is in `batch`.
    pub(super) fn decode_batch(&self, shader: &mut Shader<'_>, lines: &mut CodeBuffer) {
        for axis in (0..self.batch).rev() {
            let rest = if axis + 1 == self.batch { "batch".to_owned() } else { format!("batch_rest{}", axis + 1) };
            if axis == 0 {
                lines.line(format!("let b0 = {rest};"));
            } else {
                let extent = shader.uniform(Uniform::Extent { axis: axis as u8 });
                lines.line(format!("let batch_rest{axis} = {rest} / {extent};"));
                lines.line(format!("let b{axis} = {rest} % {extent};"));
            }
        }
    }

    /// Declares `column`, `row` and the coordinates of the batch of the result's element whose number is in `element`.
    pub(super) fn decode_element(&self, shader: &mut Shader<'_>, lines: &mut CodeBuffer) {
        lines.line(format!("let column = element % {};", self.columns));
        lines.line(format!("let row = (element / {}) % {};", self.columns, self.rows));
        lines.line(format!("let batch = element / ({} * {});", self.columns, self.rows));
        self.decode_batch(shader, lines);
    }

    /// The names of the batch coordinates.
    pub(super) fn batch_names(&self) -> Vec<String> {
        (0..self.batch).map(|axis| format!("b{axis}")).collect()
    }

    /// Batch arguments of a function call, with a trailing comma.
    pub(super) fn batch_arguments(&self) -> String {
        self.batch_names().iter().map(|name| format!("{name}, ")).collect()
    }

    /// Batch parameters of a function, with a trailing comma.
    pub(super) fn batch_parameters(&self) -> String {
        self.batch_names().iter().map(|name| format!("{name}: u32, ")).collect()
    }
}

/// The dtype in which a contraction's sums are kept.
pub(super) fn sum_dtype(group: &Group, contraction: &Contraction) -> DType {
    match contraction.lhs.0.values[contraction.lhs.1].dtype {
        DType::F16 => DType::F32,
        other => {
            debug_assert!(other != DType::Bool, "{} sums truth values", group.name);
            other
        }
    }
}

/// Names of right operands that differ from those of batch coordinates.
const RHS_PREFIXES: [&str; MAX_PRODUCTS] = ["w0_", "w1_", "w2_", "w3_", "w4_", "w5_", "w6_", "w7_"];

/// The prefixes of the names of all right operands. A single one is `b`, unless its program uses coordinates: those of
/// batch axes are called `b0 …` as well.
pub(super) fn rhs_prefixes(contraction: &Contraction) -> Vec<&'static str> {
    let at_coordinates =
        |op: &ValueOp| matches!(op, ValueOp::Coordinate { .. } | ValueOp::Gather { .. } | ValueOp::Dequantize(_));
    match &*contraction.rhs {
        [(body, _)] if !body.values.iter().any(|value| at_coordinates(&value.op)) => vec!["b"],
        several => RHS_PREFIXES[..several.len()].to_vec(),
    }
}

/// The epilogue of a contraction, `lanes` neighbouring elements of a row at a time.
pub(super) struct Epilogue<'a> {
    operand: Operand<'a>,
    axes: &'a Axes,
    sum: DType,
    /// Whether callers of `finish` load what the epilogue reads, before they know the sum.
    preloaded: bool,
    /// The product whose values are stored, if each has a function of its own.
    product: Option<u8>,
    /// What `finish` does first.
    first: CodeBuffer,
}

impl<'a> Epilogue<'a> {
    /// The epilogue of `group`, whose inputs are bound `buffer_lanes` wide.
    pub(super) fn new(group: &'a Group, axes: &'a Axes, sum: DType, lanes: u32, buffer_lanes: u32) -> Self {
        let lane_axis = axes.batch + 1;
        let operand = Operand { group, body: &group.body, value: 0, prefix: "v", lanes, buffer_lanes, lane_axis };
        Self { operand, axes, sum, preloaded: false, product: None, first: CodeBuffer::default() }
    }

    /// For a product whose function has its number as suffix, in a group whose body computes nothing of the others.
    pub(super) fn of_product(self, product: u8) -> Self {
        Self { product: Some(product), ..self }
    }

    /// After these lines of `finish`.
    pub(super) fn after(self, first: CodeBuffer) -> Self {
        Self { first, ..self }
    }

    /// Loads happen at [`Epilogue::preload`] instead of in `finish`.
    pub(super) fn preloaded(self) -> Self {
        Self { preloaded: true, ..self }
    }

    /// The value of an access at a place of the result.
    fn load(&self, shader: &mut Shader<'_>, access: u16, [row, column]: [&str; 2]) -> String {
        let mut at: Vec<Option<String>> = self.axes.batch_names().into_iter().map(Some).collect();
        at.extend([Some(row.to_owned()), Some(column.to_owned())]);
        let offset = self.operand.offset(shader, access, &at);
        self.operand.load(shader, access, &offset)
    }

    /// Loads what the epilogue of one place reads, clamped to the result, into names that end in `suffix`.
    pub(super) fn preload(&self, shader: &mut Shader<'_>, lines: &mut CodeBuffer, place: [&str; 2], suffix: &str) {
        let [row, column] = place;
        for access in self.operand.loads() {
            let name = self.declare_preload(shader, access);
            let batch = self.axes.batch_arguments();
            lines.line(format!("let x{access}{suffix} = {name}({batch}{row}, {column});"));
        }
    }

    /// The name of the function that loads through an access, declared once: an invocation has many places.
    fn declare_preload(&self, shader: &mut Shader<'_>, access: u16) -> String {
        let name = format!("preload_{access}");
        if !shader.is_declared(&name) {
            let Operand { group, lanes, .. } = self.operand;
            let (rows, columns, batch) = (&self.axes.rows, &self.axes.columns, self.axes.batch_parameters());
            let inside = [format!("min(row, {rows} - 1u)"), format!("min(column, {columns} - {lanes}u)")];
            let load = self.load(shader, access, [&inside[0], &inside[1]]);
            let ty = vector_type(group.accesses[usize::from(access)].dtype, lanes);
            let mut text = CodeBuffer::default();
            text.line(format!("fn {name}({batch}row: u32, column: u32) -> {ty} {{"));
            text.line(format!("return {load};"));
            text.line("}");
            shader.declare(name.clone(), text);
        }
        name
    }

    /// The arguments of `finish` after the sum, for values that were preloaded.
    pub(super) fn preloaded_arguments(&self, suffix: &str) -> String {
        let loads = if self.preloaded { self.operand.loads() } else { vec![] };
        loads.into_iter().map(|access| format!(", x{access}{suffix}")).collect()
    }

    /// Declares `finish(batch, b0 …, row, column, sum)`, which stores the epilogue of neighbouring sums (one per product)
    /// if they are inside the result.
    pub(super) fn declare(&self, shader: &mut Shader<'_>) {
        let Operand { group, lanes, .. } = self.operand;
        let axes = self.axes;
        shader.bind_stores(group, lanes);
        let ty = vector_type(self.sum, lanes);
        let loads = if self.preloaded { self.operand.loads() } else { vec![] };
        let loaded_parameters = loads.iter().map(|&access| {
            let dtype = group.accesses[usize::from(access)].dtype;
            format!(", x{access}: {}", vector_type(dtype, lanes))
        });
        let (batch, loaded) = (axes.batch_parameters(), loaded_parameters.collect::<String>());
        let (sums, names) = (axes.sum_parameters(&ty), axes.sum_names());
        let mut lines = CodeBuffer::default();
        let suffix = self.product.map_or(String::new(), |product| product.to_string());
        lines.line(format!("fn finish{suffix}(batch: u32, {batch}row: u32, column: u32, {sums}{loaded}) {{"));
        lines.append(&self.first);
        lines.line(format!("if row >= {} || column >= {} {{", axes.rows, axes.columns));
        lines.line("return;");
        lines.line("}");
        if !self.preloaded {
            for access in self.operand.loads() {
                let load = self.load(shader, access, ["row", "column"]);
                lines.line(format!("let x{access} = {load};"));
            }
        }
        let mut at = axes.batch_names();
        at.extend(["row".to_owned(), "column".to_owned()]);
        let loaded = |access: u16| format!("x{access}");
        let place = OperandPlace { operand: &self.operand, loaded: &loaded, at: &at, sums: &names };
        let values = emit(shader, &mut lines, &group.body, lanes, "v", &place);
        lines.line(format!("let at = (batch * {} + row) * {} + column;", axes.rows, axes.columns));
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
                None => "at".to_owned(),
                Some(access) => format!("({})", strided(shader, access, access_index, &at, lanes)),
            };
            let index = if lanes == 1 { offset } else { format!("{offset} / {lanes}u") };
            lines.line(format!("{buffer}[{index}] = {};", to_storage(dtype, lanes, &values[store.value])));
        }
        lines.line("}");
        shader.module.append(&lines);
    }
}

/// The element offset of a store in an order of its own, in which rows of the output stay whole.
fn strided(shader: &mut Shader<'_>, access: &KernelAccess, index: u16, at: &[String], lanes: u32) -> String {
    let mut offset = shader.uniform(Uniform::Offset { access: index });
    for (axis, coordinate) in at.iter().enumerate() {
        if access.access.axes[axis].is_none() {
            continue;
        }
        if lanes > 1 && axis + 1 == at.len() {
            offset += &format!(" + {coordinate}");
        } else {
            let stride = shader.uniform(Uniform::Stride { access: index, axis: axis as u8 });
            offset += &format!(" + {coordinate} * {stride}");
        }
    }
    offset
}

/// Declares `finish(batch, b0 …, row, column, sum)`, which stores partial sums of the split `split`: in scratch memory,
/// splits vary slowest, then products, then elements.
pub(super) fn declare_partial(shader: &mut Shader<'_>, axes: &Axes, sum: DType, lanes: u32) {
    let scratch = shader.buffer(Slot::Scratch, sum, lanes, true);
    let batches = axes.batches(shader);
    let ty = vector_type(sum, lanes);
    let mut lines = CodeBuffer::default();
    lines.line("var<private> split: u32;");
    let (parameters, sums) = (axes.batch_parameters(), axes.sum_parameters(&ty));
    lines.line(format!("fn finish(batch: u32, {parameters}row: u32, column: u32, {sums}) {{"));
    lines.line(format!("if row >= {} || column >= {} {{", axes.rows, axes.columns));
    lines.line("return;");
    lines.line("}");
    let index = |at: &str| if lanes == 1 { at.to_owned() } else { format!("{at} / {lanes}u") };
    for (p, name) in axes.sum_names().iter().enumerate() {
        let part = if axes.products == 1 { "split".to_owned() } else { format!("(split * {}u + {p}u)", axes.products) };
        let at = if axes.products == 1 { "at".to_owned() } else { format!("at{p}") };
        let (rows, columns) = (&axes.rows, &axes.columns);
        lines.line(format!("let {at} = (({part} * {batches} + batch) * {rows} + row) * {columns} + column;"));
        lines.line(format!("{scratch}[{}] = {name};", index(&at)));
    }
    lines.line("}");
    shader.module.append(&lines);
}

/// The statement that adds a product to a sum.
pub(super) fn multiply_add(dtype: DType, sum: &str, a: &str, b: &str) -> String {
    match scalar_type(dtype) {
        "f32" => format!("{sum} = fma({a}, {b}, {sum});"),
        _ => format!("{sum} += {a} * {b};"),
    }
}
