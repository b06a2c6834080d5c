//! Dtype constraints: a class of dtypes, or a known dtype.

use fuse_artifact::DType;

use crate::graph::lower::output::DTypeClass;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constraint {
    Class(DTypeClass),
    Known(DType),
}

pub(super) fn meet(a: Constraint, b: Constraint) -> Option<Constraint> {
    use Constraint::{Class, Known};
    match (a, b) {
        (Known(x), Known(y)) => (x == y).then_some(a),
        (Known(dtype), Class(class)) | (Class(class), Known(dtype)) => {
            class.dtypes().contains(&dtype).then_some(Known(dtype))
        }
        (Class(x), Class(y)) => {
            let both: Vec<DType> = x.dtypes().iter().copied().filter(|dtype| y.dtypes().contains(dtype)).collect();
            match *both {
                [] => None,
                [only] => Some(Known(only)),
                _ => DTypeClass::ALL.into_iter().find(|class| class.dtypes() == both).map(Class),
            }
        }
    }
}

impl DTypeClass {
    /// Each class precedes those that contain it.
    pub(super) const ALL: [Self; 8] = [
        Self::Float,
        Self::Integer,
        Self::Signed,
        Self::Number,
        Self::Wide,
        Self::SignedWide,
        Self::UnsignedWide,
        Self::Any,
    ];

    /// Dtypes in the order of an expression's instances.
    pub fn dtypes(self) -> &'static [DType] {
        const ALL: &[DType] = &[DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];
        match self {
            Self::Float => &ALL[..2],
            Self::Integer => &ALL[2..4],
            Self::Signed => &ALL[..3],
            Self::Number => &ALL[..4],
            Self::Wide => &[DType::F32, DType::I32, DType::U32],
            Self::SignedWide => &[DType::F32, DType::I32],
            Self::UnsignedWide => &[DType::F32, DType::U32],
            Self::Any => ALL,
        }
    }
}
