//! Values during lowering: nodes, and pointwise values that wait for a dtype or a shape.

use std::rc::Rc;

use fuse_artifact::{DType, Size};

use super::catalog::Pointwise;
use crate::{diag::SourceRange, graph::NodeId, syntax::ast::Literal};

#[derive(Clone)]
pub(crate) enum Value {
    Node(NodeId),
    /// Literal or `index(…)`, or a pointwise function of those.
    Lazy(Rc<Lazy>),
    /// Results of a call with several, or a tuple.
    Tuple(Vec<Value>),
    /// Placeholder for a reported value.
    Poison,
}

#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) range: SourceRange,
}

/// Pointwise value whose dtype (literals) or shape (`index`) depends on other operands.
pub(crate) struct Lazy {
    pub(crate) kind: LazyKind,
    pub(crate) dtype: LazyDType,
    /// True if it contains an `index`, so that it needs a shape.
    pub(crate) indexed: bool,
    /// Number of operations that it becomes. Shared parts count once per use.
    pub(crate) weight: usize,
    pub(crate) range: SourceRange,
}

pub(crate) enum LazyKind {
    Literal(Literal),
    Index(Axis),
    /// Node combined with an `index` without giving it a shape.
    Node(NodeId),
    Apply(Pointwise, Vec<Rc<Lazy>>),
    Cast(Rc<Lazy>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LazyDType {
    Known(DType),
    /// Integer literals only: any number. With the default dtype.
    Number(DType),
    /// Literals, some with a decimal point: `f32` or `f16`. With the default dtype.
    Float(DType),
}

/// Dtype of operands without any known dtype.
pub(crate) const NUMBER: LazyDType = LazyDType::Number(DType::I32);

impl LazyDType {
    pub(crate) fn default_dtype(self) -> DType {
        match self {
            Self::Known(dtype) | Self::Number(dtype) | Self::Float(dtype) => dtype,
        }
    }

    pub(crate) fn as_float(self) -> Self {
        match self {
            Self::Number(dtype) => Self::Float(if dtype.is_float() { dtype } else { DType::F32 }),
            other => other,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) kind: AxisKind,
    pub(crate) range: SourceRange,
}

#[derive(Clone)]
pub(crate) enum AxisKind {
    /// Counted from the front or, if negative, from the end.
    Number(i64),
    Named(String, Size),
}

impl Lazy {
    /// Literal with the dtype of the other operands, or the default of its kind.
    pub(crate) fn literal(literal: Literal, range: SourceRange) -> Value {
        Self::inferred(literal, None, range)
    }

    /// Literal with the dtype of the other operands, or else the one that inference found for it.
    pub(crate) fn inferred(literal: Literal, dtype: Option<DType>, range: SourceRange) -> Value {
        let dtype = match literal {
            Literal::Integer(_, Some(dtype)) | Literal::Float(_, Some(dtype)) => LazyDType::Known(dtype),
            Literal::Integer(_, None) => {
                LazyDType::Number(dtype.filter(|dtype| *dtype != DType::Bool).unwrap_or(DType::I32))
            }
            Literal::Float(_, None) => LazyDType::Float(dtype.filter(|dtype| dtype.is_float()).unwrap_or(DType::F32)),
            Literal::Bool(_) => LazyDType::Known(DType::Bool),
        };
        Value::Lazy(Rc::new(Self { kind: LazyKind::Literal(literal), dtype, indexed: false, weight: 1, range }))
    }

    pub(crate) fn index(axis: Axis, range: SourceRange) -> Value {
        let dtype = LazyDType::Known(DType::I32);
        Value::Lazy(Rc::new(Self { kind: LazyKind::Index(axis), dtype, indexed: true, weight: 1, range }))
    }

    pub(crate) fn as_literal(&self) -> Option<&Literal> {
        match &self.kind {
            LazyKind::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        match &self.kind {
            LazyKind::Literal(_) | LazyKind::Index(_) => vec![],
            LazyKind::Node(node) => vec![*node],
            LazyKind::Cast(x) => x.nodes(),
            LazyKind::Apply(_, operands) if self.indexed => operands.iter().flat_map(|x| x.nodes()).collect(),
            LazyKind::Apply(..) => vec![],
        }
    }
}

impl Value {
    pub(crate) fn as_literal(&self) -> Option<&Literal> {
        match self {
            Self::Lazy(lazy) => lazy.as_literal(),
            _ => None,
        }
    }

    pub(crate) fn is_indexed(&self) -> bool {
        matches!(self, Self::Lazy(lazy) if lazy.indexed)
    }
}
