//! The text of schedules with cooperative matrices.
//!
//! A subgroup keeps its rows of the products' left operands, and its sums, in matrices from the first key to the last. Right
//! operands and what is summed pass through slices that the workgroup shares; where both are the same tensor, as in gradients
//! of attentions, they are one slice. Products leave their matrices through strips of workgroup memory that belong to the
//! subgroup, one for each product, and come back as weights: as in attentions, whose text says more of it.
//!
//! The last tile of rows is moved inside; what lies before belongs to the tiles before.

use crate::kernel::Block;
use fuse_artifact::{
    Grid, Pass,
    schedule::{AttentionCoopMatrix, WeightedSum as Tile},
};

use super::{Extents, Input, Source};
use crate::{
    schedule::weighted_sum::slices,
    wgsl::{
        attention::matrices::{
            HALF_ROWS, HALF_VECTORS, HALVES, SIZE, STRIP_LINE, VECTORS, declare_places, declare_sums, load_rows,
            multiply_keys, multiply_values, row,
        },
        shader::Shader,
        slice::Slice,
        stage::is_multiple,
    },
};

/// The arrays of slices and of weights, by number.
const SLICES: [&str; 4] = ["slice0", "slice1", "slice2", "slice3"];

/// Writes the rest of the pass, after the declarations and the place of the workgroup.
pub(super) fn write<'k>(mut shader: Shader<'k>, main: Block<'k>, source: Source<'_>, extents: Extents<'k>) -> Pass {
    let tile = source.scheduled.schedule;
    shader.use_coop_matrix(SIZE);
    shader.pin_loads();
    let (products, sums) = (source.sum.products.len(), source.sum.values.len());
    let slices = slices(source.group, source.sum);
    for array in &SLICES[..slices.count()] {
        shader.workgroup_array_text(array, "vec4<f16>", tile.slice_vectors(), 8);
    }
    for sum in 0..sums {
        shader.workgroup_array_text(&weights_of(sum), "vec4<f16>", tile.weight_vectors(), 8);
    }
    let strips = products.max(sums) as u32;
    shader.workgroup_array_text("strips", "vec4<f32>", strips * tile.strip_vectors(), 16);
    let masked = !is_multiple(&source.sum.keys, tile.keys());
    let mut text =
        MatrixText { shader, main, source, tile, extents, masked, strips, slices: vec![], of_values: vec![] };
    text.slices = (0..products).map(|i| text.slice(Input::Rhs(i), SLICES[i])).collect();
    for (sum, own) in slices.of_values.iter().enumerate() {
        if let Some(slice) = *own {
            text.of_values.push(slice);
        } else {
            let slice = text.slice(Input::Value(sum), SLICES[text.slices.len()]);
            text.of_values.push(text.slices.len());
            text.slices.push(slice);
        }
    }
    text.prepare();
    text.walk();
    text.store();
    let MatrixText { mut shader, main, .. } = text;
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

/// The array of a sum's weights.
fn weights_of(sum: usize) -> String {
    format!("weights{sum}")
}

/// The names of a product's rows, of the product, and of a sum, before the numbers of a matrix.
fn rows_of(product: usize) -> String {
    format!("row{product}_")
}

fn products_of(product: usize) -> String {
    format!("s{product}_")
}

fn outputs_of(sum: usize) -> String {
    format!("o{sum}_")
}

struct MatrixText<'a> {
    shader: Shader<'a>,
    main: Block<'a>,
    source: Source<'a>,
    tile: Tile,
    extents: Extents<'a>,
    /// Whether a slice may have keys beyond the last.
    masked: bool,
    /// Strips of a subgroup.
    strips: u32,
    /// The slices, those of products first.
    slices: Vec<Slice<'a>>,
    /// The slice of what each sum adds up.
    of_values: Vec<usize>,
}

impl<'a> MatrixText<'a> {
    /// Matrices along a subgroup's rows, a step's keys and the head.
    const fn counts(&self) -> [u32; 3] {
        let tile = &self.tile;
        [tile.subgroup_rows() / SIZE, tile.keys() / SIZE, tile.columns / SIZE]
    }

    /// Every matrix of a step's products.
    fn products(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let [rows, keys, _] = self.counts();
        (0..rows).flat_map(move |r| (0..keys).map(move |m| (r, m)))
    }

    fn sums(&self) -> usize {
        self.source.sum.values.len()
    }

    fn weight_line(&self) -> u32 {
        AttentionCoopMatrix::line_vectors(self.tile.keys())
    }

    fn slice(&self, input: Input, array: &'static str) -> Slice<'a> {
        let batch = self.source.batch();
        let line_axis = if let Input::Rhs(_) = input { batch + 1 } else { batch };
        let (head, keys) = (self.tile.columns, self.tile.keys());
        let (operand, invocations) = (self.source.operand(input), self.tile.invocations());
        Slice { operand, line_axis, elements: head, lines: keys, invocations, array }
    }

    /// Places of this invocation and of its subgroup, the rows' matrices, and the sums.
    fn prepare(&mut self) {
        let (rows, weight_line, strips) = (self.tile.subgroup_rows(), self.weight_line(), self.strips);
        declare_places(&mut self.main, rows, weight_line, strips);
        for slice in &self.slices {
            slice.declare(&mut self.shader, &mut self.main, self.extents.axes.batch_names());
        }
        if self.masked {
            self.main.line(format!("let last_key = {} - 1u;", self.extents.keys()));
        }
        let [rows, _, columns] = self.counts();
        for product in 0..self.source.sum.products.len() {
            let (operand, batch) = (self.source.operand(Input::Lhs(product)), self.extents.axes.batch_names());
            let (operand, name) = ((&operand, self.source.batch()), rows_of(product));
            load_rows((&mut self.shader, &mut self.main), operand, batch, &name, [rows, columns]);
        }
        for sum in 0..self.sums() {
            declare_sums(&mut self.main, &outputs_of(sum), [rows, columns]);
        }
    }

    /// Loads the slices of the step that begins at a key.
    fn fetch(&mut self, first: &str) {
        for slice in &self.slices {
            slice.fetch(&mut self.shader, &mut self.main, first, self.masked.then_some("last_key"));
        }
    }

    fn barrier(&mut self) {
        self.main.line("workgroupBarrier();");
    }

    fn walk(&mut self) {
        let keys = self.tile.keys();
        self.main.line("if key_begin < key_end {");
        self.fetch("key_begin");
        self.main.line("}");
        self.main.line(format!("for (var k0 = key_begin; k0 < key_end; k0 += {keys}u) {{"));
        for slice in &self.slices {
            slice.fill(&mut self.main);
        }
        self.barrier();
        // What lies beyond the last slice is not used.
        self.main.line(match self.masked {
            true => format!("let next = k0 + {keys}u;"),
            false => format!("let next = min(k0 + {keys}u, {} - {keys}u);", self.extents.keys()),
        });
        self.fetch("next");
        for product in 0..self.source.sum.products.len() {
            let (counts, names) = (self.counts(), [&*rows_of(product), &*products_of(product)]);
            multiply_keys(&mut self.main, &self.slices[product], names, counts);
        }
        self.weights();
        self.barrier();
        for sum in 0..self.sums() {
            let (slice, weights) = (&self.slices[self.of_values[sum]], (&*weights_of(sum), self.weight_line()));
            let counts = self.counts();
            multiply_values(&mut self.main, slice, weights, &outputs_of(sum), counts);
        }
        self.barrier();
        self.main.line("}");
    }

    /// Takes the products out of their matrices and writes weights of them to workgroup memory.
    fn weights(&mut self) {
        let (products, batch) = (self.source.sum.products.len(), self.extents.axes.batch_arguments_text());
        for (number, (r, m)) in self.products().enumerate() {
            if number > 0 {
                // The matrices before were read from the same strips.
                self.barrier();
            }
            self.put_on_strips(products, |product| format!("{}{r}_{m}", products_of(product)));
            let key = format!("k0 + {}u + lane_column", m * SIZE);
            if self.masked {
                let places = format!("vec4<u32>({key}) + vec4<u32>(0u, 1u, 2u, 3u)");
                self.main.line(format!("let exists{r}_{m} = {places} < vec4<u32>({});", self.extents.keys()));
            }
            for half in 0..HALVES {
                let (row, name) = (row(r, half), format!("w{r}_{m}_{half}"));
                let of_products: Vec<String> = (0..products).map(|product| on_strip(product, half)).collect();
                let arguments = format!("{batch}{row}, {key}, {}", of_products.join(", "));
                self.main.line(format!("let {name} = weights({arguments});"));
                let at = (r * SIZE + half * HALF_ROWS) * self.weight_line() + m * SIZE / 4;
                for sum in 0..self.sums() {
                    let weight = format!("{name}.w{sum}");
                    let weight = match self.masked {
                        true => format!("select(vec4<f32>(), {weight}, exists{r}_{m})"),
                        false => weight,
                    };
                    self.main.line(format!("{}[weight_lane + {at}u] = vec4<f16>({weight});", weights_of(sum)));
                }
            }
        }
    }

    /// Puts matrices on the subgroup's strips, where its invocations see the elements.
    fn put_on_strips(&mut self, count: usize, matrix: impl Fn(usize) -> String) {
        for i in 0..count {
            let at = i as u32 * VECTORS;
            self.main.line(format!("coopStoreT({}, &strips[strip + {at}u], {STRIP_LINE}u);", matrix(i)));
        }
        self.barrier();
    }

    fn store(&mut self) {
        let ([rows, _, columns], batch) = (self.counts(), self.extents.axes.batch_arguments_text());
        let sums = self.sums();
        for r in 0..rows {
            for half in 0..HALVES {
                self.main.line(format!("let last{r}_{half} = {};", row(r, half)));
            }
            for j in 0..columns {
                if r + j > 0 {
                    self.barrier();
                }
                self.put_on_strips(sums, |sum| format!("{}{r}_{j}", outputs_of(sum)));
                for half in 0..HALVES {
                    let outputs: Vec<String> = (0..sums).map(|sum| on_strip(sum, half)).collect();
                    let column = format!("{}u + lane_column", j * SIZE);
                    self.main.line(format!("if last{r}_{half} >= first_row {{"));
                    let row = format!("last{r}_{half}");
                    self.main.line(format!("finish(batch, {batch}{row}, {column}, {});", outputs.join(", ")));
                    self.main.line("}");
                }
            }
        }
    }
}

/// This invocation's vector of a half of the matrix on one of its subgroup's strips.
fn on_strip(strip: usize, half: u32) -> String {
    format!("strips[strip_lane + {}u]", strip as u32 * VECTORS + half * HALF_VECTORS)
}
