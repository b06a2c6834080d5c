//! Runs of the left operand beside weights that are read by words: 32 depths of a row, in registers, and their products with a
//! run of weights, which share a scale. It is applied once: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.
//!
//! The values of the left operand are those in memory, or rounded to 8 bits (`int8`).

use super::{
    epilogue::Axes,
    int8,
    layers::Layers,
    operand::Operand,
    row::read_vectors,
    shader::{Lines, Shader},
    weights::{RUN, WeightText},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::LANES,
};

/// A column of weights, or four that are neighbours.
pub(super) struct Column<'a> {
    pub weights: WeightText<'a>,
    /// The number of its product.
    pub product: usize,
    /// What names of the product's sums end in.
    pub suffix: String,
    /// Which of four columns that share a sum it is, if not all.
    pub lane: Option<u32>,
}

impl<'a> Column<'a> {
    /// The columns of an invocation: the four from `column` on at a time where they are neighbours.
    pub(super) fn all(
        shader: &mut Shader<'_>,
        main: &mut Lines,
        products: &[WeightText<'a>],
        axes: &Axes,
    ) -> Vec<Self> {
        let mut columns = vec![];
        for (product, (weights, suffix)) in products.iter().zip(axes.product_suffixes()).enumerate() {
            let lanes = if weights.is_vector() { vec![None] } else { (0..LANES).map(Some).collect() };
            for lane in lanes {
                let mut weights = weights.clone();
                let mut column = "column".to_owned();
                if let Some(lane) = lane {
                    weights.prefix += &format!("_c{lane}");
                    column = format!("(column + {lane}u)");
                }
                weights.locate(shader, main, &axes.batch_names(), &column);
                columns.push(Self { weights, product, suffix: suffix.clone(), lane });
            }
        }
        columns
    }

    /// Its sum of a row.
    fn sum(&self, layers: &Layers, row: u32) -> String {
        let sum = layers.sum(&self.suffix, row);
        self.lane.map_or(sum.clone(), |lane| format!("{sum}[{lane}]"))
    }
}

/// The left operand of a contraction, in runs.
pub(super) struct Runs<'a> {
    lhs: Operand<'a>,
    axes: &'a Axes,
    layers: &'a Layers,
    /// Whether it is rounded to 8 bits: a single row then.
    int8: bool,
}

impl<'a> Runs<'a> {
    /// The left operand, of which each invocation has a row or several.
    pub(super) fn new(
        group: &'a Group,
        contraction: &'a Contraction,
        axes: &'a Axes,
        layers: &'a Layers,
        int8: bool,
    ) -> Self {
        debug_assert!(!int8 || layers.rows() == 1, "rows of 8 bits have workgroups of their own");
        let (body, value) = &contraction.lhs;
        let lane_axis = axes.batch + 1;
        let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
        Self { lhs, axes, layers, int8 }
    }

    /// Declares the sums of columns of several products and adds the left operand times those columns to them, from `k_begin` to
    /// `k_end`: layers take turns with the runs.
    pub(super) fn multiply(
        &self,
        shader: &mut Shader<'_>,
        main: &mut Lines,
        products: &[WeightText<'_>],
        columns: &[Column<'_>],
    ) {
        let Layers { count: layers, .. } = *self.layers;
        let invocations = self.layers.invocations();
        self.layers.declare_sums(main, self.axes, "vec4<f32>");
        let [first, last] = if self.int8 {
            int8::begin(shader, main, self, products, ["k_begin", "k_end"], invocations);
            ["held", "held_end"]
        } else {
            ["k_begin", "k_end"]
        };
        main.unrollable("k", &format!("{first} + layer * {RUN}u"), last, layers * RUN);
        if self.int8 {
            int8::locate(main, products);
        } else {
            for weights in products {
                let group = weights.group(shader, "k");
                main.line(format!("let {}_group = {group};", weights.prefix));
            }
        }
        for Column { weights, product, .. } in columns {
            weights.load_run(shader, main, "k", &format!("{}_group", products[*product].prefix));
        }
        match (self.int8, self.layers.rows()) {
            (true, _) => self.add_integers(main, columns, invocations),
            (false, 1) => self.add_row(shader, main, columns),
            _ => self.add_rows(shader, main, columns),
        }
        main.line("}");
        if self.int8 {
            main.line("}");
        }
    }

    /// Declares `x0 …`, so many vectors of values of the only row from a depth on.
    pub(super) fn read_vectors(&self, shader: &mut Shader<'_>, main: &mut Lines, depth: &str, vectors: u32) {
        let row = self.layers.row(self.axes, 0);
        read_vectors(shader, main, &self.lhs, (self.axes, &row, depth), ("x", "vec4<f32>"), vectors);
    }

    fn add_integers(&self, main: &mut Lines, columns: &[Column<'_>], invocations: u32) {
        int8::read(main, invocations);
        for column in columns {
            main.line("{");
            column.weights.unpack_scales(main);
            int8::add(main, &column.weights, &column.sum(self.layers, 0));
            main.line("}");
        }
    }

    fn add_row(&self, shader: &mut Shader<'_>, main: &mut Lines, columns: &[Column<'_>]) {
        self.read_vectors(shader, main, "k", RUN / LANES);
        let sum = (0..RUN / LANES).map(|vector| format!("x{vector}")).collect::<Vec<_>>().join(" + ");
        main.line(format!("let x_sum = dot({sum}, vec4<f32>(1.0));"));
        for column in columns {
            let (weights, ty) = (&column.weights, column.weights.ty("f32"));
            let p = &weights.prefix;
            main.line("{");
            weights.unpack_scales(main);
            main.line(format!("var {p}_part = {ty}();"));
            for i in 0..RUN {
                let (vector, lane, fraction) = (i / LANES, i % LANES, weights.run_fraction(i));
                main.line(format!("{p}_part = fma({ty}(x{vector}[{lane}]), {fraction}, {p}_part);"));
            }
            declare_span(main, weights);
            main.line(scaled(weights, &format!("{p}_part"), "x_sum", &column.sum(self.layers, 0)));
            main.line("}");
        }
    }

    /// Codes are taken apart once for all rows, some depths at a time.
    fn add_rows(&self, shader: &mut Shader<'_>, main: &mut Lines, columns: &[Column<'_>]) {
        let rows = 0..self.layers.rows();
        for row in rows.clone() {
            main.line(format!("var x_sum_r{row} = 0.0;"));
            for Column { weights, .. } in columns {
                main.line(format!("var {}_part_r{row} = {}();", weights.prefix, weights.ty("f32")));
            }
        }
        for first in (0..RUN).step_by(CHUNK as usize) {
            main.line("{");
            for Column { weights, .. } in columns {
                for i in 0..CHUNK {
                    main.line(format!("let {}_f{i} = {};", weights.prefix, weights.run_fraction(first + i)));
                }
            }
            self.layers.bundles(main, self.axes, |main, bundle| {
                for row in bundle {
                    main.line("{");
                    let (at, depth) = (self.layers.row(self.axes, row), format!("k + {first}u"));
                    let vectors = CHUNK / LANES;
                    read_vectors(shader, main, &self.lhs, (self.axes, &at, &depth), ("x", "vec4<f32>"), vectors);
                    let sum = (0..vectors).map(|vector| format!("x{vector}")).collect::<Vec<_>>().join(" + ");
                    main.line(format!("x_sum_r{row} += dot({sum}, vec4<f32>(1.0));"));
                    for Column { weights, .. } in columns {
                        let (p, ty) = (&weights.prefix, weights.ty("f32"));
                        for i in 0..CHUNK {
                            let x = format!("x{}[{}]", i / LANES, i % LANES);
                            main.line(format!("{p}_part_r{row} = fma({ty}({x}), {p}_f{i}, {p}_part_r{row});"));
                        }
                    }
                    main.line("}");
                }
            });
            main.line("}");
        }
        for column in columns {
            let p = &column.weights.prefix;
            main.line("{");
            column.weights.unpack_scales(main);
            declare_span(main, &column.weights);
            for row in rows.clone() {
                let sum = column.sum(self.layers, row);
                main.line(scaled(&column.weights, &format!("{p}_part_r{row}"), &format!("x_sum_r{row}"), &sum));
            }
            main.line("}");
        }
    }
}

/// Depths of a run whose codes are in registers as floats at a time, where several rows share them.
const CHUNK: u32 = 4;

/// Declares `_span`: what a fraction's whole range means, as fractions are 1 + q·2^-bits.
fn declare_span(main: &mut Lines, weights: &WeightText<'_>) {
    let p = &weights.prefix;
    main.line(format!("let {p}_span = {p}_scale * {:?};", f64::from(1u32 << weights.bits())));
}

/// The statement that adds the products of a run with fractions to a sum.
fn scaled(weights: &WeightText<'_>, part: &str, x_sum: &str, sum: &str) -> String {
    let (p, ty) = (&weights.prefix, weights.ty("f32"));
    format!("{sum} = fma({part}, {p}_span, fma({ty}({x_sum}), {p}_offset - {p}_span, {sum}));")
}
