//! Identifiers of a shader: readable, unique, never reserved.
//!
//! Every name that comes from the user gets a suffix or prefix that no WGSL keyword, builtin or
//! cooperative-matrix role has, so no list of reserved words is needed.

use fuse_artifact::{Slot, Uniform};

use crate::graph::Graph;

/// The names of one function's tensors and scalars.
pub struct Names {
    params: Vec<String>,
}

impl Names {
    /// The names for a graph.
    pub fn new(graph: &Graph) -> Self {
        Self { params: graph.params.iter().enumerate().map(|(i, param)| sanitized(&param.name, i)).collect() }
    }

    /// The buffer of a slot.
    pub fn slot(&self, slot: Slot) -> String {
        match slot {
            Slot::Param(i) => format!("in_{}", self.params[usize::from(i)]),
            Slot::Scales(i) => format!("scales_{}", self.params[usize::from(i)]),
            Slot::Temporary(i) => format!("temporary_{i}"),
            Slot::Result(i) => format!("result_{i}"),
            Slot::Scratch => "scratch".to_owned(),
        }
    }

    /// The field of a uniform word; `index` makes the names of sizes unique.
    pub fn uniform(&self, uniform: &Uniform, index: usize) -> String {
        match uniform {
            Uniform::Workgroups => "workgroups".to_owned(),
            Uniform::Count => "count".to_owned(),
            Uniform::RowLength => "row_length".to_owned(),
            Uniform::Extent { axis } => format!("extent_{axis}"),
            Uniform::Offset { access } => format!("offset_{access}"),
            Uniform::Stride { access, axis } => format!("stride_{access}_{axis}"),
            Uniform::ViewStride { access, axis } => format!("step_{access}_{axis}"),
            Uniform::Scalar { param } => format!("scalar_{}", self.params[usize::from(*param)]),
            Uniform::RowTiles => "row_tiles".to_owned(),
            Uniform::ColumnTiles => "column_tiles".to_owned(),
            Uniform::Splits => "splits".to_owned(),
            Uniform::SplitDepth => "split_depth".to_owned(),
            Uniform::WholeTiles => "whole_tiles".to_owned(),
            Uniform::Size { .. } => format!("size_{index}"),
        }
    }
}

/// An ASCII form of a Rust identifier, unique by `index` where characters had to go.
fn sanitized(name: &str, index: usize) -> String {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let unchanged = plain == name && !plain.contains("__") && !plain.ends_with('_');
    if unchanged { plain } else { format!("p{index}") }
}
