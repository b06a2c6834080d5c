//! Runs of the left operand beside weights that are read by words: 32 depths of a row, in registers, and their products with a
//! run of weights, which share a scale. It is applied once: `Σ x·(q·s + o) = s·Σ x·q + o·Σ x`.
//!
//! The values of the left operand are those in memory, or rounded to 8 bits (`int8`).

use super::{
    epilogue::Axes,
    int8,
    operand::Operand,
    row::read,
    shader::{Lines, Shader},
    weights::{RUN, WeightText},
};
use crate::{
    fusion::{Contraction, Group},
    schedule::contraction::LANES,
};

/// The left operand of a contraction, in runs.
pub(super) struct Runs<'a> {
    lhs: Operand<'a>,
    axes: &'a Axes,
    /// The expression of its row.
    row: &'static str,
    /// Bits of the weights, if it is rounded to 8 bits.
    int8: Option<u32>,
}

impl<'a> Runs<'a> {
    /// The left operand; rounded to 8 bits if the bits of weights are given.
    pub(super) fn new(
        group: &'a Group,
        contraction: &'a Contraction,
        axes: &'a Axes,
        row: &'static str,
        int8: Option<u32>,
    ) -> Self {
        let (body, value) = &contraction.lhs;
        let lane_axis = axes.batch + 1;
        let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
        Self { lhs, axes, row, int8 }
    }

    /// Opens the loop over the runs of an invocation's layer, of so many in a workgroup, from one depth to another. The run of
    /// a round starts at `k`.
    pub(super) fn begin(
        &self,
        shader: &mut Shader<'_>,
        main: &mut Lines,
        [begin, end]: [&str; 2],
        [layers, invocations]: [u32; 2],
    ) {
        let first = |begin: &str| format!("{begin} + layer * {RUN}u");
        match self.int8 {
            Some(bits) => {
                int8::begin(shader, main, self, [begin, end], bits, invocations);
                main.unrollable("k", &first("held"), "held_end", layers * RUN);
            }
            None => main.unrollable("k", &first(begin), end, layers * RUN),
        }
    }

    /// Declares what [`add`](Self::add) needs of the run that starts at `k`; among it `x_sum`, the sum of its values.
    pub(super) fn read(&self, shader: &mut Shader<'_>, main: &mut Lines) {
        if self.int8.is_some() {
            return int8::read(main);
        }
        let vectors = RUN / LANES;
        self.read_vectors(shader, main, "k", vectors);
        let sum = (0..vectors).map(|vector| format!("x{vector}")).collect::<Vec<_>>().join(" + ");
        main.line(format!("let x_sum = dot({sum}, vec4<f32>(1.0));"));
    }

    /// Adds the products of a run to a sum.
    pub(super) fn add(&self, main: &mut Lines, weights: &WeightText<'_>, sum: &str) {
        weights.unpack_scales(main);
        match self.int8 {
            Some(_) => int8::add(main, weights, sum),
            None => add_floats(main, weights, sum),
        }
    }

    /// Ends the loop.
    pub(super) fn end(&self, main: &mut Lines) {
        main.line("}");
        if self.int8.is_some() {
            main.line("}");
        }
    }

    /// Declares `x0 …`, vectors of values from a depth on.
    pub(super) fn read_vectors(&self, shader: &mut Shader<'_>, main: &mut Lines, depth: &str, vectors: u32) {
        for vector in 0..vectors {
            main.line(format!("var x{vector}: vec4<f32>;"));
        }
        for vector in 0..vectors {
            main.line("{");
            let mut at = self.axes.batch_names();
            at.extend([self.row.to_owned(), format!("({depth} + {}u)", vector * LANES)]);
            let x = read(shader, main, &self.lhs, &at);
            main.line(format!("x{vector} = {x};"));
            main.line("}");
        }
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
