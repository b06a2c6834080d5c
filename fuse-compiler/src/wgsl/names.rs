//! Identifiers of a shader: unique, never reserved, equal for kernels with the same computation.
//!
//! Buffers are named by role and order in the kernel. Kernels that differ only in tensor bindings, such as a network's
//! layers, thus share one shader. [`fuse_artifact::Pass::bindings`] maps names to tensors.

use fuse_artifact::{Slot, Uniform};

use crate::{fusion::Group, kernel::print::Dialect};

/// The names of one kernel's tensors.
pub struct Names {
    reads: Vec<Slot>,
    writes: Vec<Slot>,
    /// Syntax of the kernel's shaders.
    pub dialect: Dialect,
}

impl Names {
    /// Names for a group's kernel with this syntax.
    pub fn new(group: &Group, dialect: Dialect) -> Self {
        let distinct = |slots: &mut dyn Iterator<Item = Slot>, known: &[Slot]| {
            let mut found: Vec<Slot> = vec![];
            for slot in slots {
                if !found.contains(&slot) && !known.contains(&slot) {
                    found.push(slot);
                }
            }
            found
        };
        let writes = distinct(&mut group.stores.iter().map(|store| store.slot), &[]);
        let reads = distinct(&mut group.accesses.iter().map(|read| read.access.slot), &writes);
        Self { reads, writes, dialect }
    }

    /// The buffer of a slot.
    pub fn slot(&self, slot: Slot) -> String {
        let number = |slots: &[Slot], slot| slots.iter().position(|known| *known == slot);
        match slot {
            Slot::Scratch => "scratch".to_owned(),
            Slot::Scales(param) => match number(&self.reads, Slot::Param(param)) {
                Some(i) => format!("scales_{i}"),
                None => unreachable!("a kernel that reads scales reads their codes"),
            },
            slot => match (number(&self.writes, slot), number(&self.reads, slot)) {
                (Some(i), _) => format!("out_{i}"),
                (None, Some(i)) => format!("in_{i}"),
                (None, None) => unreachable!("a kernel binds what its group reads or writes"),
            },
        }
    }

    /// The field of a uniform word; `index` is its position among the words.
    pub fn uniform(&self, uniform: &Uniform, index: usize) -> String {
        match uniform {
            Uniform::Workgroups => "workgroups".to_owned(),
            Uniform::Count => "count".to_owned(),
            Uniform::RowLength => "row_length".to_owned(),
            Uniform::Extent { axis } => format!("extent_{axis}"),
            Uniform::Offset { access } => format!("offset_{access}"),
            Uniform::Stride { access, axis } => format!("stride_{access}_{axis}"),
            Uniform::ViewStride { access, axis } => format!("step_{access}_{axis}"),
            Uniform::Scalar { .. } => format!("scalar_{index}"),
            Uniform::RowTiles => "row_tiles".to_owned(),
            Uniform::ColumnTiles => "column_tiles".to_owned(),
            Uniform::Splits => "splits".to_owned(),
            Uniform::SplitDepth => "split_depth".to_owned(),
            Uniform::WholeTiles => "whole_tiles".to_owned(),
            Uniform::Size { .. } => format!("size_{index}"),
        }
    }
}
