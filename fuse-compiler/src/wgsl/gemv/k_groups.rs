//! Passes with few rows, whose workgroups share the depth.
//!
//! Each invocation accumulates four neighboring columns of all rows, in k-groups that interleave the depth. The
//! k-groups' sums are added in workgroup memory. More than four rows go in bundles, so that workgroups with fewer rows
//! skip the later ones.

use std::ops::Range;

use fuse_artifact::{
    Grid, Pass, Space, Uniform,
    schedule::{Gemv, GemvRows, LANES},
};

use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Ty, Val},
    wgsl::{
        epilogue::{Axes, Epilogue, declare_partial, finish_call, sum_dtype},
        grid,
        names::Names,
        shader::Shader,
    },
};

const TOGETHER: u32 = 4;

/// Accumulators of four columns, by product and row.
pub(super) type Sums<'k> = Vec<Vec<Val<'k>>>;

/// A workgroup's layout: a k-group shares four columns.
#[derive(Clone, Copy)]
pub(super) struct KGroups(pub Gemv);

pub(super) struct Place<'k> {
    pub axes: Axes<'k>,
    batch: Val<'k>,
    row: Option<Val<'k>>,
    /// First of its four columns, clamped.
    pub column: Val<'k>,
    /// True if the columns exist, instead of repeating the last ones.
    stores: Val<'k>,
    /// Index of its columns in the workgroup, and of its k-group.
    lane: Val<'k>,
    pub k_group: Val<'k>,
    pub depths: [Val<'k>; 2],
}

impl KGroups {
    pub(super) const fn count(&self) -> u32 {
        self.0.depth_lanes
    }

    pub(super) const fn invocations(&self) -> u32 {
        self.0.across() * self.count()
    }

    pub(super) const fn rows(&self) -> u32 {
        self.0.rows()
    }

    const fn is_split(&self) -> bool {
        self.0.is_split()
    }

    pub(super) fn declare_sums<'k>(&self, b: &mut Block<'k>, axes: &Axes<'k>, ty: Ty) -> Sums<'k> {
        let zero = axes.rows.arena().construct(ty, &[]);
        let mut of_product = |suffix: &String| match self.rows() {
            1 => vec![b.var(format!("sum{suffix}"), zero)],
            rows => (0..rows).map(|row| b.var(format!("sum{suffix}_r{row}"), zero)).collect(),
        };
        axes.product_suffixes().iter().map(&mut of_product).collect()
    }

    pub(super) fn row<'k>(&self, place: &Place<'k>, row: u32) -> Val<'k> {
        let number = place.column.arena().u32(row);
        match place.row {
            Some(row) => row,
            None if row == 0 => number,
            None => number.min(place.axes.rows - 1),
        }
    }

    pub(super) fn bundles<'k>(
        &self,
        b: &mut Block<'k>,
        axes: &Axes<'k>,
        mut body: impl FnMut(&mut Block<'k>, Range<u32>),
    ) {
        for first in (0..self.rows()).step_by(TOGETHER as usize) {
            let bundle = first..self.rows().min(first + TOGETHER);
            let exists = (first > 0).then(|| axes.rows.gt(first));
            b.when_some(exists, |b| body(b, bundle));
        }
    }

    pub(super) fn pass(
        &self,
        group: &Group,
        contraction: &Contraction,
        names: &Names,
        products: impl for<'k> FnOnce(&mut Shader<'k>, &mut Block<'k>, &Place<'k>) -> Sums<'k>,
    ) -> Pass {
        let arena = Arena::default();
        let mut shader = Shader::new(&arena, names, group);
        let sum = sum_dtype(group, contraction);
        for access in &group.accesses {
            if !(self.is_split() && access.access.space == Space::Point) {
                shader.buffer(access.access.slot, access.dtype, LANES, false);
            }
        }
        let axes = Axes::new(&mut shader, group, contraction);
        if self.is_split() {
            declare_partial(&mut shader, &axes, sum, LANES);
        } else {
            Epilogue::new(group, axes, sum, LANES, LANES).declare(&mut shader);
        }
        let places = self.places() * self.rows().min(TOGETHER);
        let partial = |suffix| shader.workgroup_array(&format!("partial{suffix}"), Ty::of(sum, LANES), places);
        let partials: Vec<Val<'_>> = axes.product_suffixes().into_iter().map(partial).collect();
        let mut b = Block::new();
        let place = self.locate(&mut shader, &mut b, axes);
        let sums = products(&mut shader, &mut b, &place);
        self.bundles(&mut b, &axes, |b, bundle| self.finish(b, &place, &partials, &sums, &bundle));
        shader.main = b;
        let grid = match self.0.rows {
            GemvRows::AtMost { rows, .. } => Grid::Tiles { rows, columns: self.0.columns },
            GemvRows::One => Grid::Elements { per_workgroup: self.0.columns },
        };
        shader.finish(grid, self.invocations())
    }

    fn locate<'k>(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, axes: Axes<'k>) -> Place<'k> {
        let id = grid::workgroups(shader, b);
        let (local, across) = (shader.local(), self.0.across());
        let (lane, k_group) = match self.0.along_depth() {
            true => (local / self.count(), local % self.count()),
            false => (local % across, local / across),
        };
        let lane = b.bind("lane", lane);
        let k_group = b.bind("k_group", k_group);
        if let GemvRows::One = self.0.rows {
            let count = shader.uniform(Uniform::Count);
            let output = b.bind("output", id * self.0.columns + lane * LANES);
            let stores = b.bind("stores", output.lt(count));
            let element = b.bind("element", output.min(count - LANES));
            let [batch, row, column] = axes.decode_element(shader, b, element);
            let depths = grid::whole_depth(b, &axes);
            return Place { axes, batch, row: Some(row), column, stores, lane, k_group, depths };
        }
        let tiles = shader.uniform(Uniform::ColumnTiles);
        let (batch, depths) = if self.is_split() {
            let [batch, part] = grid::batch_and_part(shader, b, &axes, id, tiles);
            (batch, grid::depth_of_part(shader, b, &axes, part))
        } else {
            (b.bind("batch", id / tiles), grid::whole_depth(b, &axes))
        };
        axes.decode_batch(shader, b, batch);
        let first = b.bind("first", id % tiles * across);
        let units = b.bind("columns_in_units", axes.columns / LANES);
        let stores = b.bind("stores", (first + lane).lt(units));
        let column = b.bind("column", (first + lane).min(units - 1) * LANES);
        Place { axes, batch, row: None, column, stores, lane, k_group, depths }
    }

    /// K-groups with space in workgroup memory: the others add their sums to these.
    const fn half(&self) -> u32 {
        self.count() / 2
    }

    const fn places(&self) -> u32 {
        self.0.across() * self.half()
    }

    fn finish<'k>(
        &self,
        b: &mut Block<'k>,
        place: &Place<'k>,
        partials: &[Val<'k>],
        sums: &Sums<'k>,
        bundle: &Range<u32>,
    ) {
        let (half, places, k_group) = (self.half(), self.places(), place.k_group);
        let (of_lane, next) = match self.0.along_depth() {
            true => (place.lane * half, 1),
            false => (place.lane, self.0.across()),
        };
        let bind_place = |b: &mut Block<'k>, k_group: Val<'k>| b.bind("place", of_lane + k_group * next);
        let each = || {
            partials.iter().zip(sums).flat_map(|(&partial, sums)| {
                bundle.clone().map(move |row| (partial, sums[row as usize], (row - bundle.start) * places))
            })
        };
        if bundle.start > 0 {
            b.workgroup_barrier();
        }
        b.when(k_group.ge(half), |b| {
            let place = bind_place(b, k_group - half);
            each().for_each(|(partial, sum, at)| b.set(partial.at(place + at), sum));
        });
        b.workgroup_barrier();
        let add = |b: &mut Block<'k>, target: Val<'k>, value: Val<'k>| b.set(target, target + value);
        b.when(k_group.lt(half), |b| {
            let place = bind_place(b, k_group);
            each().for_each(|(partial, sum, at)| add(b, partial.at(place + at), sum));
        });
        b.halve("left", k_group.arena().u32(half / 2), |b, left| {
            b.workgroup_barrier();
            b.when(k_group.lt(left), |b| {
                let place = bind_place(b, k_group);
                let other = b.bind("other", place + left * next);
                each().for_each(|(partial, _, at)| add(b, partial.at(place + at), partial.at(other + at)));
            });
        });
        // Each k-group stores a row.
        let rows = bundle.end - bundle.start;
        if rows > 1 {
            b.workgroup_barrier();
        }
        b.when(k_group.lt(rows).and(place.stores), |b| {
            let (at, row) = match rows {
                1 => (of_lane, self.row(place, bundle.start)),
                _ => (of_lane + k_group * places, k_group + bundle.start),
            };
            let sums: Vec<Val<'k>> = partials.iter().map(|partial| partial.at(at)).collect();
            b.run(finish_call("finish", &place.axes, [place.batch, row, place.column], &sums));
        });
    }
}
