//! Values while a body is lowered: nodes, and pointwise values that wait for a dtype or a shape.

use std::rc::Rc;

use fuse_artifact::{DType, Size};

use super::catalog::Pointwise;
use crate::{diag::SourceRange, graph::NodeId, syntax::ast::Literal};

/// What an expression evaluates to.
#[derive(Clone)]
pub(crate) enum Value {
    /// A node of the graph.
    Node(NodeId),
    /// A literal or `index(…)`, or a pointwise function of such.
    Lazy(Rc<Lazy>),
    /// Several results of a call, or a tuple.
    Tuple(Vec<Value>),
    /// Something that was already reported.
    Poison,
}

/// A value with the place where it was written.
#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) range: SourceRange,
}

/// A pointwise value that takes its dtype (literals) or its shape (`index`) from what it meets.
pub(crate) struct Lazy {
    pub(crate) kind: LazyKind,
    pub(crate) dtype: LazyDType,
    /// Whether there is an `index` in it, so that it needs a shape.
    pub(crate) indexed: bool,
    /// Operations that it becomes, counting shared parts as often as they are used.
    pub(crate) weight: usize,
    pub(crate) range: SourceRange,
}

pub(crate) enum LazyKind {
    Literal(Literal),
    Index(Axis),
    /// A node that met an `index` without giving it a shape.
    Node(NodeId),
    Apply(Pointwise, Vec<Rc<Lazy>>),
    Cast(Rc<Lazy>),
}

/// The dtype of a value that may wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LazyDType {
    Known(DType),
    /// Made of integer literals: any number. With the dtype if nothing else decides.
    Number(DType),
    /// Made of literals with a decimal point among others: `f32` or `f16`. With the dtype if nothing else decides.
    Float(DType),
}

/// The dtype of operands among which none has a dtype.
pub(crate) const NUMBER: LazyDType = LazyDType::Number(DType::I32);

impl LazyDType {
    /// The dtype if nothing else decides.
    pub(crate) fn default_dtype(self) -> DType {
        match self {
            Self::Known(dtype) | Self::Number(dtype) | Self::Float(dtype) => dtype,
        }
    }

    /// A number that takes floats, too.
    pub(crate) fn as_float(self) -> Self {
        match self {
            Self::Number(dtype) => Self::Float(if dtype.is_float() { dtype } else { DType::F32 }),
            other => other,
        }
    }
}

/// An axis as written.
#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) kind: AxisKind,
    pub(crate) range: SourceRange,
}

#[derive(Clone)]
pub(crate) enum AxisKind {
    /// Counted from the front or, negative, from the end.
    Number(i64),
    /// By the dimension's name.
    Named(String, Size),
}

impl Lazy {
    /// A literal whose dtype is what it meets, or the default of its kind.
    pub(crate) fn literal(literal: Literal, range: SourceRange) -> Value {
        Self::inferred(literal, None, range)
    }

    /// A literal whose dtype is what it meets, or else the one that inference found for it.
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

    /// The literal, if it is one.
    pub(crate) fn as_literal(&self) -> Option<&Literal> {
        match &self.kind {
            LazyKind::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The nodes in it.
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
