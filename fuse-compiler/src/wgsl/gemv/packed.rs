//! The text of gemvs whose right operands are weights that are read by whole words: each step of a k-group (`k_groups`) is a run
//! of weights.
//!
//! Runs of the left operand beside weights that are read by words: 32 depths of a row, in registers, and their products with a
//! run of weights, which share a scale. For one row it is applied once: `Σ x·(q·s + o) = s·Σ x·(q - c) + (o + c·s)·Σ x` with the
//! code `c` in the middle, where symmetric schemes have 0; several rows share what codes mean.
//!
//! The values of the left operand are those in memory, or rounded to 8 bits (`int8`).

use crate::kernel::Block;
use fuse_artifact::{
    Pass,
    schedule::{GemvRhs, LANES},
};

use super::{elements::read_vectors, int8, k_groups::KGroups};
use crate::{
    fusion::{Contraction, Group},
    wgsl::{
        epilogue::Axes,
        names::Names,
        operand::Operand,
        shader::Shader,
        weights::{RUN, WeightText},
    },
};

/// The pass of a `packed` schedule, or, if the left operand is rounded to 8 bits, of an `int8` one.
pub(super) fn packed(group: &Group, contraction: &Contraction, names: &Names, k_groups: KGroups) -> Pass {
    let int8 = matches!(k_groups.0.rhs, GemvRhs::Int8 { .. });
    k_groups.pass(group, contraction, names, |shader, main, axes| {
        let products = WeightText::all(group, contraction);
        products.iter().for_each(|weights| weights.declare(shader));
        let columns = Column::all(shader, main, &products, axes);
        Runs::new(group, contraction, axes, &k_groups, int8).multiply(shader, main, &products, &columns);
    })
}

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
    pub(super) fn all<'k>(
        shader: &mut Shader<'k>,
        main: &mut Block<'k>,
        products: &[WeightText<'a>],
        axes: &Axes<'k>,
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
    fn sum(&self, k_groups: &KGroups, row: u32) -> String {
        let sum = k_groups.sum(&self.suffix, row);
        self.lane.map_or(sum.clone(), |lane| format!("{sum}[{lane}]"))
    }
}

/// The left operand of a contraction, in runs.
pub(super) struct Runs<'a, 'k> {
    lhs: Operand<'a>,
    axes: &'a Axes<'k>,
    k_groups: &'a KGroups,
    /// Whether it is rounded to 8 bits: a single row then.
    int8: bool,
}

impl<'a, 'k> Runs<'a, 'k> {
    /// The left operand, of which each invocation has a row or several.
    pub(super) fn new(
        group: &'a Group,
        contraction: &'a Contraction,
        axes: &'a Axes<'k>,
        k_groups: &'a KGroups,
        int8: bool,
    ) -> Self {
        debug_assert!(!int8 || k_groups.rows() == 1, "rows of 8 bits have workgroups of their own");
        let (body, value) = &contraction.lhs;
        let lane_axis = axes.batch + 1;
        let lhs = Operand { group, body, value: *value, prefix: "a", lanes: LANES, buffer_lanes: LANES, lane_axis };
        Self { lhs, axes, k_groups, int8 }
    }

    /// Declares the sums of columns of several products and adds the left operand times those columns to them, from `k_begin` to
    /// `k_end`: k-groups take turns with the runs.
    pub(super) fn multiply(
        &self,
        shader: &mut Shader<'k>,
        main: &mut Block<'k>,
        products: &[WeightText<'_>],
        columns: &[Column<'_>],
    ) {
        let k_groups = self.k_groups.count();
        let invocations = self.k_groups.invocations();
        self.k_groups.declare_sums(main, self.axes, "vec4<f32>");
        let [first, last] = if self.int8 {
            int8::begin(shader, main, self, products, ["k_begin", "k_end"], invocations);
            ["held", "held_end"]
        } else {
            ["k_begin", "k_end"]
        };
        main.unrollable_line("k", &format!("{first} + k_group * {RUN}u"), last, k_groups * RUN);
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
        match (self.int8, self.k_groups.rows()) {
            (true, _) => self.add_integers(main, columns, invocations),
            (false, 1) => self.add_row(shader, main, columns),
            _ => self.add_rows(shader, main, columns),
        }
        main.line("}");
        if self.int8 {
            main.line("}");
        }
        if self.k_groups.rows() == 1 {
            self.add_again(shader, main, columns);
        }
    }

    /// Declares `x0 …`, so many vectors of values of the only row from a depth on.
    pub(super) fn read_vectors(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, depth: &str, vectors: u32) {
        self.read(shader, main, 0, depth, vectors);
    }

    /// The same of any row.
    fn read(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, row: u32, depth: &str, vectors: u32) {
        let row = self.k_groups.row(self.axes, row);
        read_vectors(shader, main, &self.lhs, (self.axes, &row, depth), "x", vectors);
    }

    fn add_integers(&self, main: &mut Block<'k>, columns: &[Column<'_>], invocations: u32) {
        int8::read(main, invocations);
        for column in columns {
            main.line("{");
            column.weights.unpack_scales(main);
            int8::add(main, &column.weights, &column.sum(self.k_groups, 0));
            main.line("}");
        }
    }

    /// Sums codes less the centre and applies the scale once. A large activation beside a weight of 0 then adds nothing: not centred,
    /// its code and the offset would cancel, and take the digits of the others along. Four sums take turns, for asymmetric schemes,
    /// whose 0 is elsewhere.
    fn add_row(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, columns: &[Column<'_>]) {
        self.read_vectors(shader, main, "k", RUN / LANES);
        main.line("let x_sums = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));");
        main.line("let x_sum = (x_sums.x + x_sums.y) + (x_sums.z + x_sums.w);");
        for column in columns {
            let (weights, ty) = (&column.weights, column.weights.ty("f32"));
            let p = &weights.prefix;
            main.line("{");
            weights.unpack_scales(main);
            weights.declare_middle(main);
            for i in 0..RUN {
                weights.declare_field(main, i);
                let (vector, lane, code) = (i / LANES, i % LANES, weights.centred_code(i));
                let x = format!("{ty}(x{vector}[{lane}])");
                main.line(match vector {
                    0 => format!("var {p}_part{lane} = {x} * {code};"),
                    _ => format!("{p}_part{lane} = fma({x}, {code}, {p}_part{lane});"),
                });
            }
            let part = format!("({p}_part0 + {p}_part1) + ({p}_part2 + {p}_part3)");
            let sum = column.sum(self.k_groups, 0);
            main.line(format!("{sum} = fma({part}, {p}_scale, fma({ty}(x_sum), {p}_middle, {sum}));"));
            main.line("}");
        }
    }

    /// Values are made of codes once for all rows, some depths at a time.
    fn add_rows(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, columns: &[Column<'_>]) {
        for Column { weights, .. } in columns {
            weights.unpack_scales(main);
        }
        for first in (0..RUN).step_by(CHUNK as usize) {
            for Column { weights, .. } in columns {
                (first..first + CHUNK).for_each(|i| weights.declare_field(main, i));
            }
            main.line("{");
            for Column { weights, .. } in columns {
                for i in 0..CHUNK {
                    main.line(format!("let {}_value{i} = {};", weights.prefix, weights.run_value(first + i)));
                }
            }
            self.k_groups.bundles(main, self.axes, |main, bundle| {
                for row in bundle {
                    main.line("{");
                    self.read(shader, main, row, &format!("k + {first}u"), CHUNK / LANES);
                    for column in columns {
                        let (p, ty) = (&column.weights.prefix, column.weights.ty("f32"));
                        let sum = column.sum(self.k_groups, row);
                        for i in 0..CHUNK {
                            let x = format!("x{}[{}]", i / LANES, i % LANES);
                            main.line(format!("{sum} = fma({ty}({x}), {p}_value{i}, {sum});"));
                        }
                    }
                    main.line("}");
                }
            });
            main.line("}");
        }
    }

    /// Where a sum of codes is not finite, sums again what codes mean: an infinity times a code and the same infinity times the
    /// offset would cancel, or a code 0 swallow it.
    fn add_again(&self, shader: &mut Shader<'k>, main: &mut Block<'k>, columns: &[Column<'_>]) {
        let k_groups = self.k_groups.count();
        let sums: Vec<String> =
            self.axes.product_suffixes().iter().map(|suffix| self.k_groups.sum(suffix, 0)).collect();
        let infinite = |sum: &String| format!("any((bitcast<vec4<u32>>({sum}) & {EXPONENT}) == {EXPONENT})");
        main.line(format!("if {} {{", sums.iter().map(infinite).collect::<Vec<_>>().join(" || ")));
        for sum in &sums {
            main.line(format!("{sum} = vec4<f32>();"));
        }
        main.line(format!("for (var k = k_begin + k_group * {RUN}u; k < k_end; k += {}u) {{", k_groups * RUN));
        let chunk = columns[0].weights.weights.chunk();
        main.line(format!("for (var depth = k; depth < k + {RUN}u; depth += {chunk}u) {{"));
        self.read_vectors(shader, main, "depth", chunk / LANES);
        for column in columns {
            let (weights, sum) = (&column.weights, column.sum(self.k_groups, 0));
            main.line("{");
            weights.declare_chunk(main);
            weights.load(shader, main, "depth");
            weights.unpack(main);
            for i in 0..chunk {
                let (x, value) = (format!("x{}[{}]", i / LANES, i % LANES), weights.value(shader, i));
                main.line(format!("{sum} += {}({x}) * {value};", weights.ty("f32")));
            }
            main.line("}");
        }
        main.line("}");
        main.line("}");
        main.line("}");
    }
}

/// Depths of a run whose values are in registers at a time, where several rows share them.
const CHUNK: u32 = 4;

/// The bits of the exponents of four floats: all are set in infinities and NaN.
const EXPONENT: &str = "vec4<u32>(0x7f800000u)";
