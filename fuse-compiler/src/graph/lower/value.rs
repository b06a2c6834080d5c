//! Values during lowering: nodes, and pointwise values that wait for a dtype or shape.

use std::rc::Rc;

use fuse_artifact::{DType, Size};

use super::catalog::Pointwise;
use crate::{diag::SourceRange, graph::NodeId, syntax::ast::Literal};

#[derive(Clone)]
pub(crate) enum Value {
    Node(NodeId),
    /// Pointwise function of literals and `index(…)`.
    Lazy(Rc<Lazy>),
    Tuple(Vec<Value>),
    Poison,
}

#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) range: SourceRange,
}

/// Pointwise value whose dtype (literals) or shape (`index`) depends on others.
pub(crate) struct Lazy {
    pub(crate) kind: LazyKind,
    pub(crate) dtype: LazyDType,
    /// True if an `index` needs a shape.
    pub(crate) indexed: bool,
    /// Operations that it becomes. Shared parts count once per use.
    pub(crate) weight: usize,
    pub(crate) range: SourceRange,
}

pub(crate) enum LazyKind {
    Literal(Literal),
    Index(Axis),
    /// Node combined with an `index` without shaping it.
    Node(NodeId),
    Apply(Pointwise, Vec<Rc<Lazy>>),
    Cast(Rc<Lazy>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LazyDType {
    Known(DType),
    /// Integer literals: any number. With the default dtype.
    Number(DType),
    /// Some with a decimal point: `f32` or `f16`. With the default dtype.
    Float(DType),
}

/// Dtype without any known one.
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
    /// Negative from the end.
    Number(i64),
    Named(String, Size),
}

impl Lazy {
    /// Takes the other operands' dtype, or its kind's default.
    pub(crate) fn literal(literal: Literal, range: SourceRange) -> Value {
        Self::inferred(literal, None, range)
    }

    /// Takes the other operands' dtype, or else the inferred one.
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
