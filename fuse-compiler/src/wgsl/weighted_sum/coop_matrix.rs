//! Weighted-sum kernels with cooperative matrices.
//!
//! A subgroup keeps its rows of left operands and its accumulators in matrices throughout. Right operands and values
//! pass through shared slices; if both are the same tensor, as in gradients of attentions, they are one slice. Products
//! leave their matrices through the subgroup's strips of workgroup memory, one per product, and return as weights, as
//! in `attention/coop_matrix`.
//!
//! The last tile of rows is shifted inside; its rows before the edge belong to the previous tile.

use fuse_artifact::{Grid, Pass, Uniform, schedule::LANES};

use super::{Extents, Input, Source, weights};
use crate::{
    kernel::{Block, Scalar, Ty, Val},
    schedule::weighted_sum,
    wgsl::{
        matrices::{HALVES, Keys, Matrices, Places, SIZE, declare_sums, multiply_keys},
        shader::Shader,
        stage::{LineStage, Lines, SliceExtents},
    },
};

pub(super) fn write<'k>(mut shader: Shader<'k>, mut main: Block<'k>, source: Source<'_>, extents: Extents<'k>) -> Pass {
    let tile = source.scheduled.schedule;
    shader.use_coop_matrix(SIZE);
    shader.pin_loads();
    let kernel = MatrixKernel::prepare(&mut shader, &mut main, source, extents);
    kernel.walk(&mut main);
    kernel.store(&mut main);
    shader.main = main;
    shader.finish(Grid::Tiles { rows: tile.rows, columns: tile.columns }, tile.invocations())
}

struct MatrixKernel<'a, 'k> {
    source: Source<'a>,
    extents: Extents<'k>,
    places: Places<'k>,
    keys: Keys<'k>,
    slices: Vec<LineStage<'k>>,
    /// For each sum, its values' slice and its weights' array.
    values: Vec<(usize, Val<'k>)>,
    rows: Vec<Matrices<'k>>,
    outputs: Vec<Matrices<'k>>,
}

impl<'a, 'k> MatrixKernel<'a, 'k> {
    fn prepare(shader: &mut Shader<'k>, b: &mut Block<'k>, source: Source<'a>, extents: Extents<'k>) -> Self {
        let (arena, tile, batch) = (shader.arena(), source.scheduled.schedule, extents.axes.batch());
        let [halves, floats] = [Scalar::F16, Scalar::F32].map(|scalar| Ty::vector(scalar, LANES));
        let (products, sums) = (source.sum.products.len(), source.sum.values.len());
        let slices = weighted_sum::slices(source.group, source.sum);
        let mut arrays = |name: &str, count: usize, vectors: u32| -> Vec<Val<'k>> {
            (0..count).map(|i| shader.workgroup_array(&format!("{name}{i}"), halves, vectors)).collect()
        };
        let slice_arrays = arrays("slice", slices.count(), tile.slice_vectors());
        let weights = arrays("weights", sums, tile.weight_vectors());
        let strips = products.max(sums) as u32;
        let strips = (shader.workgroup_array("strips", floats, strips * tile.strip_vectors()), strips);
        let mut inputs: Vec<Input> = (0..products).map(Input::Rhs).collect();
        let of_values: Vec<usize> = (slices.of_values.iter().enumerate())
            .map(|(sum, own)| {
                own.unwrap_or_else(|| {
                    inputs.push(Input::Value(sum));
                    inputs.len() - 1
                })
            })
            .collect();
        let places = Places::bind(shader, b, [tile.subgroup_rows(), tile.keys()], strips);
        let lines = |shader: &mut Shader<'k>, b: &mut Block<'k>, input| {
            let line_axis = if let Input::Rhs(_) = input { source.batch() + 1 } else { source.batch() };
            let operand = source.operand(input);
            let stride = shader.uniform(Uniform::Stride { access: operand.loads()[0], axis: line_axis as u8 });
            Lines::bind(shader, b, &operand, stride, &batch)
        };
        let keys = Keys::bind(b, (extents.keys(), &source.sum.keys), tile.keys());
        let slice_extents =
            SliceExtents { lines: tile.keys(), elements: tile.columns, invocations: tile.invocations() };
        let slice = |(input, array)| {
            let lines = lines(shader, b, input);
            LineStage::declare(shader, b, lines, keys.advance(), array, slice_extents)
        };
        let slices = inputs.into_iter().zip(slice_arrays).map(slice).collect();
        let counts = [tile.subgroup_rows() / SIZE, tile.columns / SIZE];
        let rows = |i| {
            let lines = lines(shader, b, Input::Lhs(i));
            places.load_rows(b, lines, &format!("row{i}_"), counts)
        };
        let rows = (0..products).map(rows).collect();
        let outputs = (0..sums).map(|i| declare_sums(arena, b, &format!("o{i}_"), counts)).collect();
        let values = of_values.into_iter().zip(weights).collect();
        Self { source, extents, places, keys, slices, values, rows, outputs }
    }

    fn walk(&self, b: &mut Block<'k>) {
        self.keys.walk(b, &self.slices, |b, k0| {
            let products = self.rows.iter().zip(&self.slices).enumerate();
            let products: Vec<Matrices<'k>> =
                products.map(|(i, (rows, slice))| multiply_keys(b, slice, rows, &format!("s{i}_"))).collect();
            self.weigh(b, &products, k0);
            b.workgroup_barrier();
            for (&(slice, weights), outputs) in self.values.iter().zip(&self.outputs) {
                self.places.multiply_values(b, &self.slices[slice], weights, outputs);
            }
        });
    }

    fn weigh(&self, b: &mut Block<'k>, products: &[Matrices<'k>], k0: Val<'k>) {
        let places = &self.places;
        places.read(b, products, |b, [r, m]| {
            let key = places.key(k0, m);
            let exist = self.keys.last.map(|_| b.bind(format!("exists{r}_{m}"), self.keys.exist(key)));
            for half in 0..HALVES {
                let of_products: Vec<Val<'k>> = (0..products.len()).map(|i| places.on_strip(i, half)).collect();
                let weights = weights::call(self.source, &self.extents, [places.row(r, half), key], &of_products);
                let weights = b.bind(format!("w{r}_{m}_{half}"), weights);
                for (sum, &(_, array)) in self.values.iter().enumerate() {
                    let weight = weights.field(&format!("w{sum}"));
                    let zero = weight.arena().construct(weight.ty(), &[]);
                    let weight = exist.map_or(weight, |exist| exist.select(weight, zero));
                    b.set(places.weights(array, [r, m, half]), weight.convert(Scalar::F16));
                }
            }
        });
    }

    fn store(&self, b: &mut Block<'k>) {
        let row = |b: &mut Block<'k>, r, half| (b.bind(format!("last{r}_{half}"), self.places.row(r, half)), None);
        let rows: Vec<_> = (0..self.outputs[0].len()).map(|r| [0, 1].map(|half| row(b, r, half))).collect();
        self.places.store(b, &self.extents.axes, &self.outputs, &rows);
    }
}
