//! Uniform block and grid of a pass.

use fuse_artifact::{DomainKind, Grid, Kernel, Pass, Schedule, Size, Uniform, Variant};

use crate::{
    context::{error::Error, step::Filled},
    plan::{
        domain::{Contraction, Domain, Strides},
        split::Split,
    },
};

pub(crate) struct Chosen<'f, 'n> {
    pub(crate) kernel: &'f Kernel,
    pub(crate) variant: &'f Variant,
    pub(crate) domain: &'n Domain,
    pub(crate) split: Split,
    /// Values of `Function::symbols`.
    pub(crate) symbols: &'n [u64],
}

/// `limit` is the device's, of workgroups per dimension.
pub(crate) fn fill(chosen: &Chosen<'_, '_>, pass: &Pass, limit: u32) -> Result<Filled, Error> {
    let [row_tiles, column_tiles] = tiles(chosen.variant, pass, chosen.domain);
    let Chosen { kernel, variant, domain, split, symbols } = *chosen;
    let context = Context { kernel, variant, domain, split, symbols, row_tiles, column_tiles };
    let workgroups = context.fit(context.workgroups(pass), "workgroups")?;
    let mut filled = Filled::new(&kernel.name, workgroups, limit)?;
    for (word, uniform) in pass.uniforms.iter().enumerate() {
        if let Uniform::Scalar { param } = uniform {
            filled.scalars.push((word as u16, *param));
        }
        filled.words.push(context.word(uniform, workgroups)?);
    }
    Ok(filled)
}

/// Tiles of the pass, or of the schedule for passes over elements.
fn tiles(variant: &Variant, pass: &Pass, domain: &Domain) -> [u64; 2] {
    let Contraction { rows, columns, .. } = domain.contraction();
    let [tile_rows, tile_columns] = match pass.grid {
        Grid::Tiles { rows, columns, .. } => [rows.into(), columns.into()],
        Grid::WholeRows { rows } => [rows.into(), columns],
        Grid::Elements { .. } | Grid::SharedTiles { .. } | Grid::Rows { .. } => {
            let [rows, columns, _] = variant.schedule.extents();
            [rows, columns]
        }
    };
    [rows.div_ceil(tile_rows.max(1)), columns.div_ceil(tile_columns.max(1))]
}

struct Context<'a> {
    kernel: &'a Kernel,
    variant: &'a Variant,
    domain: &'a Domain,
    split: Split,
    symbols: &'a [u64],
    row_tiles: u64,
    column_tiles: u64,
}

impl Context<'_> {
    fn workgroups(&self, pass: &Pass) -> u64 {
        match pass.grid {
            Grid::Elements { per_workgroup } => self.domain.count().div_ceil(per_workgroup.max(1).into()),
            Grid::Tiles { .. } if self.split.tiles != [0; 2] => {
                self.split.tiles[0].saturating_add(self.split.shares(self.domain.contraction().depth))
            }
            Grid::SharedTiles { workgroups } => self.split.tiles[1].saturating_mul(workgroups.into()),
            Grid::Tiles { .. } => {
                let tiles = self.row_tiles.saturating_mul(self.column_tiles).saturating_mul(self.stack());
                self.domain.contraction().batch.saturating_mul(tiles).saturating_mul(self.split.parts)
            }
            Grid::WholeRows { .. } => self.domain.contraction().batch.saturating_mul(self.row_tiles),
            Grid::Rows { rows } => self.domain.count().div_ceil(rows.max(1).into()).saturating_mul(self.split.parts),
        }
    }

    /// Products with their own workgroups; 1 if each computes all.
    fn stack(&self) -> u64 {
        match (&self.variant.schedule, self.domain.kind) {
            (Schedule::Tile(tile), DomainKind::Contraction { products }) if tile.is_grouped() => products.into(),
            _ => 1,
        }
    }

    fn word(&self, uniform: &Uniform, workgroups: u32) -> Result<u32, Error> {
        let value = match uniform {
            Uniform::Workgroups => workgroups.into(),
            Uniform::Count => self.domain.count(),
            Uniform::RowLength => self.domain.row_length(),
            Uniform::Extent { axis } => self.aligned(&self.domain.extents, *axis, 1),
            Uniform::Offset { access } => self.access(*access)?.offset,
            Uniform::Stride { access, axis } => self.aligned(&self.access(*access)?.strides, *axis, 0),
            Uniform::ViewStride { access, axis } => self.view_stride(*access, *axis)?,
            Uniform::Scalar { .. } => 0,
            Uniform::RowTiles => self.row_tiles,
            Uniform::ColumnTiles => self.column_tiles,
            Uniform::Splits => self.split.parts,
            Uniform::SplitDepth => self.split.depth,
            Uniform::WholeTiles => self.split.tiles[0],
            Uniform::Size { size } => self.size(size)?,
        };
        self.fit(value, "32-bit index of a kernel")
    }

    fn size(&self, size: &Size) -> Result<u64, Error> {
        size.eval(self.symbols).ok_or_else(|| Error::InvalidSize {
            kernel: self.kernel.name.to_string(),
            size: size.display(|_| "_").to_string(),
        })
    }

    /// The stride, or 0 in an empty view.
    fn view_stride(&self, access: u16, axis: u8) -> Result<u64, Error> {
        let access = self.kernel.accesses.get(usize::from(access)).ok_or_else(|| self.no_access(access))?;
        let mut stride: u64 = 1;
        for (place, size) in access.view.iter().enumerate() {
            match self.size(size)? {
                0 => return Ok(0),
                extent if place > usize::from(axis) => stride = stride.saturating_mul(extent),
                _ => {}
            }
        }
        Ok(stride)
    }

    /// `values[axis]`, where `axis` counts in the variant's shader.
    fn aligned(&self, values: &[u64], axis: u8, missing: u64) -> u64 {
        let index = self.domain.text_axis(&self.variant.schedule, axis);
        index.and_then(|index| values.get(index)).copied().unwrap_or(missing)
    }

    fn access(&self, index: u16) -> Result<&Strides, Error> {
        self.domain.accesses.get(usize::from(index)).ok_or_else(|| self.no_access(index))
    }

    fn no_access(&self, index: u16) -> Error {
        Error::Internal { message: format!("kernel `{}` has no access {index}", self.kernel.name) }
    }

    fn fit(&self, value: u64, limit: &'static str) -> Result<u32, Error> {
        u32::try_from(value).map_err(|_| Error::TooLarge {
            what: format!("kernel `{}`", self.kernel.name),
            limit,
            needed: value,
            allowed: u32::MAX.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{
        Features, Scratch, Slot, Space,
        schedule::{Attention, Decode, Reduction, ReductionOrder, RowLoads},
    };

    use super::*;

    fn filled(domain: &Domain, schedule: Schedule, split: Split, grid: Grid, uniforms: &[Uniform]) -> (Vec<u32>, u32) {
        let pass = Pass {
            wgsl: "".into(),
            bindings: vec![].into(),
            uniforms: uniforms.to_vec().into(),
            grid,
            workgroup_size: 64,
            workgroup_bytes: 0,
            pins_loads: false,
        };
        let variant = Variant {
            name: "v".into(),
            requires: vec![].into(),
            features: Features::default(),
            schedule,
            scratch: Scratch::default(),
            passes: vec![].into(),
        };
        let kernel = Kernel {
            name: "k".into(),
            domain: fuse_artifact::Domain { kind: domain.kind, extents: vec![].into(), fixed: false },
            accesses: vec![].into(),
            variants: vec![].into(),
            work: fuse_artifact::Work::default(),
        };
        let chosen = Chosen { kernel: &kernel, variant: &variant, domain, split, symbols: &[] };
        let filled = fill(&chosen, &pass, 65535).unwrap();
        (filled.words, filled.workgroups)
    }

    fn access(strides: &[u64]) -> Strides {
        Strides { slot: Slot::Param(0), space: Space::Point, offset: 0, strides: strides.to_vec() }
    }

    #[test]
    fn rows_have_a_length_and_parts() {
        let kind = DomainKind::Reduction { axes: 2 };
        // One of two kept axes and one of two reduced axes are left.
        let domain = Domain { kind, extents: vec![7, 100], accesses: vec![access(&[100, 1])], kept: 1 };
        let schedule = Schedule::Reduction(Reduction {
            split: true,
            ..Reduction::new(ReductionOrder::rows(RowLoads::Streamed), [2, 16], [2, 2])
        });
        let split = Split::even(3, 48);
        let extents = (0..4).map(|axis| Uniform::Extent { axis });
        let strides = (0..4).map(|axis| Uniform::Stride { access: 0, axis });
        let others = [Uniform::Workgroups, Uniform::Count, Uniform::RowLength, Uniform::Splits, Uniform::SplitDepth];
        let uniforms: Vec<Uniform> = others.into_iter().chain(extents).chain(strides).collect();
        let (words, workgroups) = filled(&domain, schedule, split, Grid::Rows { rows: 2 }, &uniforms);
        assert_eq!(workgroups, 12, "four pairs of rows in three parts");
        assert_eq!(words, [12, 7, 100, 3, 48, 1, 7, 1, 100, 0, 100, 0, 1]);
        let elements = Grid::Elements { per_workgroup: 4 };
        assert_eq!(filled(&domain, schedule, split, elements, &[]).1, 2, "elements are kept indices");
    }

    #[test]
    fn attentions_have_tiles_of_queries() {
        let kind = DomainKind::Attention;
        let domain = Domain { kind, extents: vec![2, 5, 40, 100, 32], accesses: vec![], kept: 5 };
        let schedule =
            Schedule::Attention(Attention::Decode(Decode { queries: 4, depth: 64, columns: 64, split: true }));
        let split = Split::even(2, 64);
        let uniforms = [Uniform::Count, Uniform::RowTiles, Uniform::ColumnTiles, Uniform::Extent { axis: 3 }];
        let (words, workgroups) = filled(&domain, schedule, split, Grid::Tiles { rows: 4, columns: 64 }, &uniforms);
        assert_eq!((words, workgroups), (vec![400, 2, 1, 100], 8));
        let elements = Grid::Elements { per_workgroup: 64 };
        assert_eq!(filled(&domain, schedule, split, elements, &[]).1, 7);
    }
}
