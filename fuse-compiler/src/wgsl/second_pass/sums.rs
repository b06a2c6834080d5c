//! Sums of parts of the depth, one element or vector of the result per invocation.

use fuse_artifact::{Grid, Pass, Uniform};

use super::{Parts, WORKGROUP};
use crate::{
    fusion::{Contraction, Group},
    wgsl::{builtins::vector_type, epilogue::Epilogue, grid, names::Names, shader::CodeBuffer},
};

/// The second pass of a split schedule: adds the partial sums and applies the epilogue.
pub fn sums(group: &Group, contraction: &Contraction, names: &Names, lanes: u32) -> Pass {
    let Parts { mut shader, scratch, axes, sum } = Parts::new(names, group, contraction, lanes);
    Epilogue::new(group, &axes, sum, lanes, lanes).declare(&mut shader);
    let splits = shader.uniform(Uniform::Splits);
    let mut main = CodeBuffer::indented();
    grid::result_units(&mut shader, &mut main, &axes, [WORKGROUP, lanes]);
    let names = axes.sum_names();
    for name in &names {
        main.line(format!("var {name} = {}();", vector_type(sum, lanes)));
    }
    main.unrollable("s", "0u", &splits, 1);
    for (p, name) in names.iter().enumerate() {
        let part = if axes.products == 1 { "s".to_owned() } else { format!("(s * {}u + {p}u)", axes.products) };
        main.line(format!("{name} += {scratch}[{part} * units + i];"));
    }
    main.line("}");
    main.line(format!("finish(batch, {}row, column, {});", axes.batch_arguments(), names.join(", ")));
    shader.main = main;
    shader.finish(Grid::Elements { per_workgroup: WORKGROUP * lanes }, WORKGROUP)
}
