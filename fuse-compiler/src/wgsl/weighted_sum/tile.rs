//! Tiled weighted-sum kernels.
//!
//! For each step of keys a workgroup computes tiles of its products in registers, and from them the weights. These are
//! stored to workgroup memory, transposed, one sum after the other, and multiplied with the values of the sum. Operands
//! are staged in slices; while one is multiplied, the next is loaded into registers.

use fuse_artifact::{
    Grid, Pass,
    schedule::{LANES, WeightedSum as Tile},
};

use super::{Extents, Input, Place, Source, VECTOR, weights};
use crate::{
    kernel::{Block, Val},
    wgsl::{
        epilogue::finish_call,
        row_tile::{RowTile, Shape, Sums, SumsType},
        shader::Shader,
        stage::{ElementStage, Slice, is_multiple},
    },
};

/// Builds the rest of the pass, after the declarations and the place of the workgroup. `weights` is the type of a row's
/// weights.
pub(super) fn write<'k>(
    mut shader: Shader<'k>,
    mut b: Block<'k>,
    source: Source<'k>,
    extents: Extents<'k>,
    place: Place<'k>,
) -> Pass {
    let tile = source.scheduled.schedule;
    let Tile { rows, invocation_rows, across, depth_step, value_step, columns, .. } = tile;
    let mut array = |name: &str, elements: u32| shader.workgroup_array(name, VECTOR, elements / LANES);
    let lhs_tile = array("lhs_tile", tile.lhs_elements());
    let stage = array("stage", tile.stage_elements());
    let weight_tile = array("weight_tile", tile.weight_elements());
    let mut slices = |input, array, [steps, span]: [u32; 2]| {
        let slice = Slice::of_steps(array, span, true);
        let elements = source.elements(&mut shader, &extents, input, slice, [steps, span]);
        ElementStage::declare(&mut shader, &mut b, elements)
    };
    let operands = |i| Operands {
        lhs: slices(Input::Lhs(i), lhs_tile, [depth_step, rows]),
        rhs: slices(Input::Rhs(i), stage, [depth_step, tile.keys()]),
        row0: place.row0,
    };
    let products: Vec<Operands<'k>> = (0..source.sum.products.len()).map(operands).collect();
    let values: Vec<ElementStage<'k>> =
        (0..source.sum.values.len()).map(|i| slices(Input::Value(i), stage, [value_step, columns])).collect();
    let products_type = SumsType::declare(&mut shader, "Products", "add_products", [invocation_rows, 1]);
    let outputs = SumsType::declare(&mut shader, "Outputs", "add_outputs", [invocation_rows, tile.outputs() / LANES]);
    let shape = Shape { rows, invocation_rows, across, keys: tile.keys(), depth_step, value_step };
    let row_tile = RowTile::new(&shader, &mut b, shape, place.row0, [stage, weight_tile]);
    let outputs: Vec<Sums<'k>> = (0..values.len()).map(|i| outputs.var(&shader, &mut b, format!("o{i}"))).collect();
    let mut kernel =
        WeightedSumTile { shader, source, tile, extents, place, row_tile, products, values, products_type, outputs };
    kernel.walk(&mut b);
    kernel.store(&mut b);
    let mut shader = kernel.shader;
    shader.main = b;
    shader.finish(Grid::Tiles { rows, columns }, tile.invocations())
}

/// The operands of a product.
struct Operands<'k> {
    lhs: ElementStage<'k>,
    rhs: ElementStage<'k>,
    row0: Val<'k>,
}

impl<'k> Operands<'k> {
    /// Loads the slices that begin at a depth, for the keys from `first` on.
    fn fetch(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, [depth, first]: [Val<'k>; 2]) {
        self.lhs.fetch(shader, b, [depth, self.row0]);
        self.rhs.fetch(shader, b, [depth, first]);
    }
}

struct WeightedSumTile<'k> {
    shader: Shader<'k>,
    source: Source<'k>,
    tile: Tile,
    extents: Extents<'k>,
    place: Place<'k>,
    row_tile: RowTile<'k>,
    products: Vec<Operands<'k>>,
    values: Vec<ElementStage<'k>>,
    products_type: SumsType,
    outputs: Vec<Sums<'k>>,
}

impl<'k> WeightedSumTile<'k> {
    /// True if every product certainly has a nonzero depth: schedules with vector loads require it.
    const fn has_depth(&self) -> bool {
        self.tile.lanes > 1
    }

    fn walk(&mut self, b: &mut Block<'k>) {
        let Place { key_begin, key_end, .. } = self.place;
        if self.has_depth() {
            let zero = self.shader.u32(0);
            b.when(key_begin.lt(key_end), |b| self.products[0].fetch(&mut self.shader, b, [zero, key_begin]));
        }
        b.range("k0", key_begin, key_end, self.tile.keys(), |b, k0| {
            let products: Vec<Sums<'k>> = (0..self.products.len()).map(|i| self.product(b, i, k0)).collect();
            let weights = self.weights(b, k0, &products);
            for sum in 0..self.values.len() {
                self.add_values(b, sum, &weights, k0);
            }
        });
    }

    /// The products of rows and of a step's keys.
    fn product(&mut self, b: &mut Block<'k>, product: usize, k0: Val<'k>) -> Sums<'k> {
        let (step, row0, has_depth) = (self.tile.depth_step, self.place.row0, self.has_depth());
        let (shader, operands) = (&mut self.shader, &self.products[product]);
        let (zero, depth) = (shader.u32(0), self.source.depth(shader, product));
        let sums = self.products_type.var(shader, b, format!("c{product}"));
        if !has_depth {
            b.when(depth.gt(0), |b| operands.fetch(shader, b, [zero, k0]));
        }
        b.range("d0", zero, depth, step, |b, d0| {
            operands.lhs.fill(shader, b, [d0, row0], zero);
            operands.rhs.fill(shader, b, [d0, k0], zero);
            b.workgroup_barrier();
            b.when((d0 + step).lt(depth), |b| operands.fetch(shader, b, [d0 + step, k0]));
            if has_depth {
                b.otherwise(|b| match self.products.get(product + 1) {
                    Some(next) => next.fetch(shader, b, [zero, k0]),
                    None => self.values[0].fetch(shader, b, [k0, zero]),
                });
            }
            self.row_tile.add_products(b, sums, &operands.lhs.slice, |rows, turn| rows ^ turn);
            b.workgroup_barrier();
        });
        sums
    }

    /// The weights of each row and the invocation's four keys: for each sum a vector.
    fn weights(&self, b: &mut Block<'k>, k0: Val<'k>, products: &[Sums<'k>]) -> Vec<Vec<Val<'k>>> {
        let (arena, keys, key) = (self.shader.arena(), self.tile.keys(), k0 + self.row_tile.column(0));
        let mut weights = vec![];
        for i in 0..self.tile.invocation_rows {
            let products: Vec<Val<'k>> = products.iter().map(|product| product.at(i, 0)).collect();
            let call = weights::call(self.source, &self.extents, [self.row_tile.row(i), key], &products);
            let of_row = b.var(format!("w{i}"), call);
            weights.push((0..self.values.len()).map(|sum| of_row.field(&format!("w{sum}"))).collect::<Vec<_>>());
        }
        if !is_multiple(&self.source.sum.keys, keys) {
            b.when((k0 + keys).gt(self.extents.keys()), |b| {
                let exists = b.bind("exists", self.extents.four_exist(key));
                for &weight in weights.iter().flatten() {
                    b.set(weight, exists.select(weight, arena.construct(VECTOR, &[])));
                }
            });
        }
        weights
    }

    /// Accumulates the weighted values of a step for a sum.
    fn add_values(&mut self, b: &mut Block<'k>, sum: usize, weights: &[Vec<Val<'k>>], k0: Val<'k>) {
        let (has_depth, keys, key_end) = (self.has_depth(), self.tile.keys(), self.place.key_end);
        let (shader, zero) = (&mut self.shader, k0.arena().u32(0));
        let values = &self.values[sum];
        if !has_depth {
            values.fetch(shader, b, [k0, zero]);
        }
        self.row_tile.write_weights(b, sum, |i| weights[i as usize][sum]);
        let next = |shader: &mut Shader<'k>, b: &mut Block<'k>| match self.values.get(sum + 1) {
            _ if !has_depth => {}
            Some(next) => next.fetch(shader, b, [k0, zero]),
            None => b.when((k0 + keys).lt(key_end), |b| self.products[0].fetch(shader, b, [zero, k0 + keys])),
        };
        self.row_tile.add_values(shader, b, (self.outputs[sum], values), [k0, key_end], [0, keys], next);
    }

    fn store(&self, b: &mut Block<'k>) {
        let finish = if self.tile.lanes == 1 { "finish_four" } else { "finish" };
        for i in 0..self.tile.invocation_rows {
            for j in 0..self.tile.outputs() / LANES {
                let place = [self.place.batch, self.row_tile.row(i), self.row_tile.column(j)];
                let sums: Vec<Val<'k>> = self.outputs.iter().map(|sums| sums.at(i, j)).collect();
                b.run(finish_call(finish, &self.extents.axes, place, &sums));
            }
        }
    }
}
