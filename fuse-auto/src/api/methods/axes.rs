//! Axes of arguments; negative axes count from the end.

use crate::{error::Error, node::Node};

/// Axes of a reduction: `1`, `-1`, `[0, 2]`, or `()` for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    pub(crate) axes: Option<Vec<i32>>,
    pub(crate) keepdim: bool,
}

impl Over {
    /// All axes.
    pub const ALL: Self = Self { axes: None, keepdim: false };

    /// Same axes, kept with extent 1.
    #[must_use]
    pub fn keep(self) -> Self {
        Self { keepdim: true, ..self }
    }
}

impl From<()> for Over {
    fn from((): ()) -> Self {
        Self::ALL
    }
}

impl From<i32> for Over {
    fn from(axis: i32) -> Self {
        Self { axes: Some(vec![axis]), keepdim: false }
    }
}

impl<const N: usize> From<[i32; N]> for Over {
    fn from(axes: [i32; N]) -> Self {
        Self { axes: Some(axes.to_vec()), keepdim: false }
    }
}

impl From<&[i32]> for Over {
    fn from(axes: &[i32]) -> Self {
        Self { axes: Some(axes.to_vec()), keepdim: false }
    }
}

pub(crate) fn position(operation: &'static str, axis: i32, rank: usize) -> Result<usize, Error> {
    let found = if axis < 0 {
        rank.checked_sub(axis.unsigned_abs() as usize)
    } else {
        Some(axis.unsigned_abs() as usize).filter(|&axis| axis < rank)
    };
    found.ok_or_else(|| {
        let help = match rank {
            0 => "a single number has no axes".to_owned(),
            _ => format!("its axes are 0 to {}, or -{rank} to -1 counted from the end", rank - 1),
        };
        Error::operation(operation, format!("axis {axis} of a value with {rank} axes"), help)
    })
}

pub(crate) fn axis_of(operation: &'static str, axis: i32, node: &Node) -> Result<u8, Error> {
    Ok(position(operation, axis, node.shape.len())? as u8)
}

pub(crate) fn axes_of(operation: &'static str, axes: &[i32], node: &Node) -> Result<Vec<usize>, Error> {
    if axes.is_empty() {
        return Err(Error::operation(operation, "an empty list of axes", "give `()` for all axes"));
    }
    let mut found = vec![];
    for &axis in axes {
        let position = position(operation, axis, node.shape.len())?;
        if found.contains(&position) {
            return Err(Error::operation(operation, format!("axis {axis} is listed twice"), "list every axis once"));
        }
        found.push(position);
    }
    Ok(found)
}
