//! The loop over keys of tiled attentions and weighted sums.
//!
//! A step multiplies rows with its keys, computes weights from the products, and adds values by these weights. Operands
//! pass through workgroup memory in slices. While one is multiplied, the next is loaded into registers, in the order of
//! products and values, then of the next step.

use super::{
    attention::Place,
    row_tile::{RowTile, Sums, SumsType},
    shader::Shader,
    stage::ElementStage,
};
use crate::kernel::{Block, Val};

pub(super) struct Product<'k> {
    pub(super) lhs: ElementStage<'k>,
    pub(super) rhs: ElementStage<'k>,
    pub(super) depth: Val<'k>,
    /// True if the whole left operand was loaded before.
    pub(super) resident: bool,
}

impl<'k> Product<'k> {
    pub(super) fn load_resident(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        row_tile: &RowTile<'k>,
        row0: Val<'k>,
    ) {
        if !self.resident {
            return;
        }
        b.range("d0", shader.u32(0), self.depth, row_tile.shape.depth_step, |b, d0| {
            self.lhs.fetch(shader, b, [d0, row0]);
            self.lhs.fill(shader, b, [d0, row0], d0 * row_tile.row_vectors());
        });
    }
}

/// Weights of a step: by sum, vector of four keys, and row of the invocation.
pub(super) type Weights<'k> = Vec<Vec<Vec<Val<'k>>>>;

pub(super) struct KeyLoop<'k> {
    pub(super) row_tile: RowTile<'k>,
    pub(super) place: Place<'k>,
    pub(super) products: Vec<Product<'k>>,
    pub(super) products_type: SumsType,
    pub(super) values: Vec<(ElementStage<'k>, Sums<'k>)>,
    /// True if every depth is certainly nonzero. Otherwise products and values are not loaded ahead of each other.
    pub(super) has_depth: bool,
}

impl<'k> KeyLoop<'k> {
    /// Writes the loop. `weigh` computes a step's weights from its products.
    pub(super) fn walk(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        weigh: impl FnOnce(&mut Block<'k>, Val<'k>, &[Sums<'k>]) -> Weights<'k>,
    ) {
        let Place { key_begin, key_end, .. } = self.place;
        if self.has_depth {
            b.when(key_begin.lt(key_end), |b| self.fetch_product(shader, b, 0, [shader.u32(0), key_begin]));
        }
        b.range("k0", key_begin, key_end, self.row_tile.shape.keys, |b, k0| {
            let products: Vec<Sums<'k>> = (0..self.products.len()).map(|i| self.multiply(shader, b, i, k0)).collect();
            for (sum, weights) in weigh(b, k0, &products).iter().enumerate() {
                self.add_values(shader, b, sum, weights, k0);
            }
        });
    }

    fn fetch_product(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, i: usize, [depth, first]: [Val<'k>; 2]) {
        let Product { lhs, rhs, resident, .. } = &self.products[i];
        rhs.fetch(shader, b, [depth, first]);
        if !resident {
            lhs.fetch(shader, b, [depth, self.place.row0]);
        }
    }

    fn fetch_values(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, sum: usize, k0: Val<'k>) {
        self.values[sum].0.fetch(shader, b, [k0, k0.arena().u32(0)]);
    }

    fn multiply(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, i: usize, k0: Val<'k>) -> Sums<'k> {
        let Product { lhs, rhs, depth, resident } = &self.products[i];
        let (step, row0, zero) = (self.row_tile.shape.depth_step, self.place.row0, shader.u32(0));
        let sums = self.products_type.var(shader, b, format!("c{i}"));
        if !self.has_depth {
            b.when(depth.gt(0), |b| self.fetch_product(shader, b, i, [zero, k0]));
        }
        b.range("d0", zero, *depth, step, |b, d0| {
            rhs.fill(shader, b, [d0, k0], zero);
            if !resident {
                lhs.fill(shader, b, [d0, row0], zero);
            }
            b.workgroup_barrier();
            b.when((d0 + step).lt(*depth), |b| self.fetch_product(shader, b, i, [d0 + step, k0]));
            if self.has_depth {
                b.otherwise(|b| match i + 1 < self.products.len() {
                    true => self.fetch_product(shader, b, i + 1, [zero, k0]),
                    false => self.fetch_values(shader, b, 0, k0),
                });
            }
            self.row_tile.add_products(b, sums, &lhs.slice, |rows, turn| {
                let rows = if turn > 0 { rows ^ turn } else { rows };
                if *resident { d0 * self.row_tile.row_vectors() + rows } else { rows }
            });
            b.workgroup_barrier();
        });
        sums
    }

    /// Adds a step's values to a sum, by weights that pass through workgroup memory one vector of keys at a time.
    fn add_values(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        sum: usize,
        weights: &[Vec<Val<'k>>],
        k0: Val<'k>,
    ) {
        let shape = self.row_tile.shape;
        let (key_end, zero, next_step) = (self.place.key_end, shader.u32(0), k0 + shape.keys);
        if !self.has_depth {
            self.fetch_values(shader, b, sum, k0);
        }
        let (values, sums) = &self.values[sum];
        for (part, of_rows) in weights.iter().enumerate() {
            self.row_tile.write_weights(b, sum * weights.len() + part, |row| of_rows[row as usize]);
            let keys = [part, part + 1].map(|part| part as u32 * 4 * shape.across);
            let next = |shader: &mut Shader<'k>, b: &mut Block<'k>| match sum + 1 < self.values.len() {
                _ if !self.has_depth => {}
                true => self.fetch_values(shader, b, sum + 1, k0),
                false => b.when(next_step.lt(key_end), |b| self.fetch_product(shader, b, 0, [zero, next_step])),
            };
            self.row_tile.add_values(shader, b, (*sums, values), [k0, key_end], keys, next);
        }
    }
}
