//! Tiled weighted-sum kernels.
//!
//! For each step of keys a workgroup computes its products in registers, and from them the weights. These are stored to
//! workgroup memory, transposed, one sum after the other, and multiplied with the sum's values (`key_loop`).

use fuse_artifact::{
    Grid, Pass,
    schedule::{LANES, WeightedSum as Tile},
};

use super::{Extents, Input, Place, Source, VECTOR, weights};
use crate::{
    kernel::{Block, Val},
    wgsl::{
        epilogue::finish_call,
        key_loop::{KeyLoop, Product, Weights},
        row_tile::{RowTile, Shape, Sums, SumsType},
        shader::Shader,
        stage::{ElementStage, Slice, is_multiple, is_nonzero},
    },
};

/// Builds the rest of the pass, after declarations and the workgroup's place. `weights` is the type of a row's weights.
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
    let operands = |i| {
        let lhs = slices(Input::Lhs(i), lhs_tile, [depth_step, rows]);
        [lhs, slices(Input::Rhs(i), stage, [depth_step, tile.keys()])]
    };
    let operands: Vec<[ElementStage<'k>; 2]> = (0..source.sum.products.len()).map(operands).collect();
    let values: Vec<ElementStage<'k>> =
        (0..source.sum.values.len()).map(|i| slices(Input::Value(i), stage, [value_step, columns])).collect();
    let products_type = SumsType::declare(&mut shader, "Products", "add_products", [invocation_rows, 1]);
    let outputs = SumsType::declare(&mut shader, "Outputs", "add_outputs", [invocation_rows, tile.outputs() / LANES]);
    let shape = Shape { rows, invocation_rows, across, keys: tile.keys(), depth_step, value_step };
    let row_tile = RowTile::new(&shader, &mut b, shape, place.row0, [stage, weight_tile]);
    let values = (0..).zip(values).map(|(i, values)| (values, outputs.var(&shader, &mut b, format!("o{i}")))).collect();
    let mut products = vec![];
    for (i, [lhs, rhs]) in operands.into_iter().enumerate() {
        products.push(Product { lhs, rhs, depth: source.depth(&mut shader, i), resident: false });
    }
    let has_depth = tile.lanes > 1 || source.sum.products.iter().all(|product| is_nonzero(&product.depth));
    let key_loop = KeyLoop { row_tile, place, products, products_type, values, has_depth };
    let kernel = WeightedSumTile { source, tile, extents, key_loop };
    kernel.key_loop.walk(&mut shader, &mut b, |b, k0, products| kernel.weigh(b, k0, products));
    kernel.store(&mut b);
    shader.main = b;
    shader.finish(Grid::Tiles { rows, columns }, tile.invocations())
}

struct WeightedSumTile<'k> {
    source: Source<'k>,
    tile: Tile,
    extents: Extents<'k>,
    key_loop: KeyLoop<'k>,
}

impl<'k> WeightedSumTile<'k> {
    fn weigh(&self, b: &mut Block<'k>, k0: Val<'k>, products: &[Sums<'k>]) -> Weights<'k> {
        let row_tile = &self.key_loop.row_tile;
        let (keys, key) = (self.tile.keys(), k0 + row_tile.column(0));
        let mut weights = vec![vec![]; self.key_loop.values.len()];
        for i in 0..self.tile.invocation_rows {
            let products: Vec<Val<'k>> = products.iter().map(|product| product.at(i, 0)).collect();
            let call = weights::call(self.source, &self.extents, [row_tile.row(i), key], &products);
            let of_row = b.var(format!("w{i}"), call);
            for (sum, weights) in weights.iter_mut().enumerate() {
                weights.push(of_row.field(&format!("w{sum}")));
            }
        }
        if !is_multiple(&self.source.sum.keys, keys) {
            b.when((k0 + keys).gt(self.extents.keys()), |b| {
                let exists = b.bind("exists", self.extents.four_exist(key));
                for row in 0..self.tile.invocation_rows as usize {
                    for weight in weights.iter().map(|weights| weights[row]) {
                        b.set(weight, exists.select(weight, k0.arena().construct(VECTOR, &[])));
                    }
                }
            });
        }
        weights.into_iter().map(|of_rows| vec![of_rows]).collect()
    }

    fn store(&self, b: &mut Block<'k>) {
        let KeyLoop { row_tile, place, values, .. } = &self.key_loop;
        let finish = if self.tile.lanes == 1 { "finish_four" } else { "finish" };
        for i in 0..self.tile.invocation_rows {
            for j in 0..self.tile.outputs() / LANES {
                let at = [place.batch, row_tile.row(i), row_tile.column(j)];
                let sums: Vec<Val<'k>> = values.iter().map(|(_, sums)| sums.at(i, j)).collect();
                b.run(finish_call(finish, &self.extents.axes, at, &sums));
            }
        }
    }
}
