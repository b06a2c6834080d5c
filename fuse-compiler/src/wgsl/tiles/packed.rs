//! Slices of quantized weights: an invocation loads chunks of words and writes what they mean to workgroup memory.
//!
//! Depths behind the end are those of the last chunk: the left operand is zero there.

use fuse_artifact::schedule::LANES;

use super::{MatmulKernel, slices::Side};
use crate::{
    schedule::contraction::{Direction, weights::Weights},
    wgsl::{builtins::vector_type, shader::storage_type, weights::WeightText},
};

impl<'a> MatmulKernel<'a> {
    /// The weights that a side's slices are filled from by whole words, if they are.
    pub(super) fn packed(&self, side: Side) -> Option<Weights<'a>> {
        let Side::Rhs(product) = side else { return None };
        let (body, value) = &self.contraction.rhs[product];
        let weights = Weights::new(self.group, (body, *value))?;
        let fits =
            self.tile.lanes == LANES && self.tile.k_groups() == 1 && self.tile.depth.is_multiple_of(weights.chunk());
        (fits && weights.layout == self.direction(side)).then_some(weights)
    }

    fn chunk_text(&self, side: Side, weights: Weights<'a>, load: u32) -> WeightText<'a> {
        let operand = self.operand(side);
        let prefix = format!("{}{load}", operand.prefix);
        WeightText { weights, operand, prefix }
    }

    /// Chunks of a slice.
    fn chunks(&self, weights: Weights<'_>) -> u32 {
        let columns = if weights.layout == Direction::Outer { LANES } else { 1 };
        self.tile.columns / columns * (self.tile.depth / weights.chunk())
    }

    fn chunk_loads(&self, weights: Weights<'_>) -> u32 {
        self.chunks(weights).div_ceil(self.tile.invocations())
    }

    /// Opens a block for the invocations that take part in a load.
    fn open_chunk(&mut self, weights: Weights<'_>, load: u32) {
        let (first, chunks) = (load * self.tile.invocations(), self.chunks(weights));
        self.main.line(match first + self.tile.invocations() <= chunks {
            true => "{".to_owned(),
            false => format!("if local + {first}u < {chunks}u {{"),
        });
    }

    /// Declares where each of this invocation's chunks lies: `{p}{l}_o` (column in the tile), `{p}{l}_k` (depth in the step).
    pub(super) fn declare_packed(&mut self, side: Side, weights: Weights<'a>) {
        let (chunk, columns) = (weights.chunk(), self.axes.columns);
        for l in 0..self.chunk_loads(weights) {
            let text = self.chunk_text(side, weights, l);
            let p = text.prefix.clone();
            text.declare(&mut self.shader);
            let unit = format!("(local + {}u)", l * self.tile.invocations());
            let (o, k, last) = match weights.layout {
                Direction::Outer => {
                    let across = self.tile.columns / LANES;
                    (format!("{unit} % {across}u * {LANES}u"), format!("{unit} / {across}u * {chunk}u"), LANES)
                }
                Direction::Depth => {
                    let chunks = self.tile.depth / chunk;
                    (format!("{unit} / {chunks}u"), format!("{unit} % {chunks}u * {chunk}u"), 1)
                }
            };
            self.main.line(format!("let {p}_o = {o};"));
            self.main.line(format!("let {p}_k = {k};"));
            self.main.line(format!("let {p}_column = min({} + {p}_o, {columns} - {last}u);", side.origin()));
            let batch = self.axes.batch_names();
            text.locate(&mut self.shader, &mut self.main, &batch, &format!("{p}_column"));
            text.declare_chunk(&mut self.main);
        }
    }

    /// Loads the chunks of the step that starts at depth `step` into registers.
    pub(super) fn fetch_packed(&mut self, side: Side, weights: Weights<'a>, step: &str) {
        let chunk = weights.chunk();
        for l in 0..self.chunk_loads(weights) {
            let text = self.chunk_text(side, weights, l);
            let p = text.prefix.clone();
            self.open_chunk(weights, l);
            self.main.line(match self.tile.k_aligned {
                true => format!("let chunk = {step} + {p}_k;"),
                false => format!("let chunk = min({step} + {p}_k, (k_end - 1u) / {chunk}u * {chunk}u);"),
            });
            text.load(&mut self.shader, &mut self.main, "chunk");
            self.main.line("}");
        }
    }

    /// Writes what the fetched chunks mean to workgroup memory.
    pub(super) fn fill_packed(&mut self, side: Side, weights: Weights<'a>) {
        for l in 0..self.chunk_loads(weights) {
            let text = self.chunk_text(side, weights, l);
            let p = text.prefix.clone();
            self.open_chunk(weights, l);
            text.unpack(&mut self.main);
            let values: Vec<String> = (0..weights.chunk()).map(|i| text.value(&mut self.shader, i)).collect();
            match weights.layout {
                Direction::Outer => self.fill_columns(side, &p, &values),
                Direction::Depth => self.fill_depths(side, &p, &values),
            }
            self.main.line("}");
        }
    }

    /// The type of a vector of a slice.
    fn slice_vector(&self) -> String {
        match self.tile.coop_matrix() {
            None => vector_type(self.sum, LANES),
            Some(_) => storage_type(fuse_artifact::DType::F16, LANES),
        }
    }

    /// Vectors of four columns, one for each depth.
    fn fill_columns(&mut self, side: Side, p: &str, values: &[String]) {
        let (array, ty) = (side.array(self.contraction), self.slice_vector());
        for (i, value) in values.iter().enumerate() {
            let depth = format!("({p}_k + {i}u)");
            let at = match self.tile.coop_matrix() {
                None => format!("{depth} * {}u + {p}_o / 4u", side.row_vectors(self.tile)),
                Some(_) => self.matrix_slice_place(side, &format!("{p}_o"), &depth),
            };
            self.main.line(format!("{array}[{at}] = {ty}({value});"));
        }
    }

    /// The depths of one column.
    fn fill_depths(&mut self, side: Side, p: &str, values: &[String]) {
        let (array, ty) = (side.array(self.contraction), self.slice_vector());
        if self.tile.coop_matrix().is_some() {
            for (i, four) in values.chunks(LANES as usize).enumerate() {
                let depth = format!("({p}_k + {}u)", i as u32 * LANES);
                let at = self.matrix_slice_place(side, &format!("{p}_o"), &depth);
                self.main.line(format!("{array}[{at}] = {ty}(vec4<f32>({}));", four.join(", ")));
            }
            return;
        }
        for (i, value) in values.iter().enumerate() {
            let at = format!("({p}_k + {i}u) * {}u + {p}_o / 4u", side.row_vectors(self.tile));
            self.main.line(format!("{array}[{at}][{p}_o % 4u] = {value};"));
        }
    }
}
