//! Runs of the left operand beside weights that are read by words: 32 depths of a row, in registers, and their products with a
//! run of weights, which share a scale. It is applied once: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.
//!
//! The values of the left operand are those in memory, or rounded to 8 bits (`int8`).

use super::{
    epilogue::Axes,
    int8,
    operand::Operand,
    row::read_vectors,
    shader::{Lines, Shader},
    weights::{RUN, WeightText},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::LANES,
};

/// A column of weights, or four that are neighbours, and its sum.
pub(super) struct Column<'a> {
    pub weights: WeightText<'a>,
    /// The number of its product.
    pub product: usize,
    /// The name of its sum.
    pub sum: String,
}

/// The left operand of a contraction, in runs.
pub(super) struct Runs<'a> {
    lhs: Operand<'a>,
    axes: &'a Axes,
    /// The expression of its row.
    row: &'static str,
    /// Whether it is rounded to 8 bits.
    int8: bool,
}

impl<'a> Runs<'a> {
    /// The left operand, in a row that an expression tells.
    pub(super) fn new(
        group: &'a Group,
        contraction: &'a Contraction,
        axes: &'a Axes,
        row: &'static str,
        int8: bool,
    ) -> Self {
        let (body, value) = &contraction.lhs;
        let lane_axis = axes.batch + 1;
        let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
        Self { lhs, axes, row, int8 }
    }

    /// Adds the left operand times columns of several products to the columns' sums, from one depth to another: in a workgroup
    /// of so many invocations, so many layers take turns with the runs.
    pub(super) fn multiply(
        &self,
        shader: &mut Shader<'_>,
        main: &mut Lines,
        (products, columns): (&[WeightText<'_>], &[Column<'_>]),
        [begin, end]: [&str; 2],
        [layers, invocations]: [u32; 2],
    ) {
        let [first, last] = if self.int8 {
            int8::begin(shader, main, self, products, [begin, end], invocations);
            ["held", "held_end"]
        } else {
            [begin, end]
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
        if self.int8 {
            int8::read(main, invocations);
        } else {
            self.read_vectors(shader, main, "k", RUN / LANES);
            let sum = (0..RUN / LANES).map(|vector| format!("x{vector}")).collect::<Vec<_>>().join(" + ");
            main.line(format!("let x_sum = dot({sum}, vec4<f32>(1.0));"));
        }
        for Column { weights, sum, .. } in columns {
            main.line("{");
            weights.unpack_scales(main);
            if self.int8 {
                int8::add(main, weights, sum);
            } else {
                add_floats(main, weights, sum);
            }
            main.line("}");
        }
        main.line("}");
        if self.int8 {
            main.line("}");
        }
    }

    /// Declares `x0 …`, so many vectors of values from a depth on.
    pub(super) fn read_vectors(&self, shader: &mut Shader<'_>, main: &mut Lines, depth: &str, vectors: u32) {
        read_vectors(shader, main, &self.lhs, (self.axes, self.row, depth), ("x", "vec4<f32>"), vectors);
    }
}

fn add_floats(main: &mut Lines, weights: &WeightText<'_>, sum: &str) {
    let (p, ty) = (&weights.prefix, weights.ty("f32"));
    main.line(format!("var {p}_part = {ty}();"));
    for i in 0..RUN {
        let (vector, lane, fraction) = (i / LANES, i % LANES, weights.run_fraction(i));
        main.line(format!("{p}_part = fma({ty}(x{vector}[{lane}]), {fraction}, {p}_part);"));
    }
    // Fractions are 1 + q·2^-bits.
    main.line(format!("let {p}_span = {p}_scale * {:?};", f64::from(1u32 << weights.bits())));
    let offsets = format!("fma({ty}(x_sum), {p}_offset - {p}_span, {sum})");
    main.line(format!("{sum} = fma({p}_part, {p}_span, {offsets});"));
}
