//! Bodies: straight-line pointwise programs over one space of a kernel, with memory accesses resolved.
//!
//! Input: nodes of a graph and the set of values that are in memory. Output: a [`Body`], in which every
//! value comes after its operands, equal values appear once, and values that depend on literals only are
//! folded by the interpreter's definition of the operation.

use std::collections::HashMap;

use fuse_artifact::{Access, DType, Size, Slot, Space};
use half::f16;

use super::index::{IndexMap, strip_reshapes, through_movement};
use crate::{
    graph::{BinaryOp, CompareOp, Graph, Literal, NodeId, Op, UnaryOp},
    interp::Element,
};

/// Index of a value in a [`Body`].
pub type ValueId = usize;

/// A pointwise program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The values, operands first.
    pub values: Vec<Value>,
}

/// One value of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// How it is computed.
    pub op: ValueOp,
    /// Its dtype; `f16` values are computed in `f32`.
    pub dtype: DType,
}

/// How a value is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueOp {
    /// Read through the kernel's access with this index.
    Load(u16),
    /// The sum of products that the contraction computed for this element.
    Sum,
    /// `start + coordinate` along an axis of the space.
    Coordinate {
        /// The axis, if the coordinate varies.
        axis: Option<u8>,
        /// The first coordinate.
        start: Size,
    },
    /// A host scalar.
    Scalar(u16),
    /// A constant.
    Literal(Literal),
    /// A function of one value.
    Unary(UnaryOp, ValueId),
    /// A function of two values.
    Binary(BinaryOp, ValueId, ValueId),
    /// A comparison.
    Compare(CompareOp, ValueId, ValueId),
    /// A choice: condition, taken where it holds, taken elsewhere.
    Select(ValueId, ValueId, ValueId),
    /// A conversion to the value's dtype.
    Cast(ValueId),
}

/// An access of a kernel, with what the compiler knows about its strides.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelAccess {
    /// The access as the runtime sees it.
    pub access: Access,
    /// The element type of the buffer.
    pub dtype: DType,
    /// For each axis of the space, whether it may turn out to be broadcast at launch.
    pub may_repeat: Vec<bool>,
}

/// Why a body could not be built: `node` would have to be in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedsStorage {
    /// The value to store.
    pub node: NodeId,
    /// Its consumer.
    pub consumer: NodeId,
    /// Why.
    pub reason: &'static str,
}

/// Builds the bodies of one kernel, which share their accesses.
pub struct BodyBuilder<'a> {
    graph: &'a Graph,
    uses_coordinates: &'a [bool],
    stored: &'a dyn Fn(NodeId) -> Option<Slot>,
    accesses: Vec<KernelAccess>,
    fixed: bool,
}

impl<'a> BodyBuilder<'a> {
    /// A builder for a kernel that may read the values for which `stored` gives a slot.
    pub fn new(graph: &'a Graph, uses_coordinates: &'a [bool], stored: &'a dyn Fn(NodeId) -> Option<Slot>) -> Self {
        Self { graph, uses_coordinates, stored, accesses: vec![], fixed: false }
    }

    /// The body that computes `outputs` over a space with `rank` axes, and the value of each output.
    ///
    /// Nodes in `inside` are computed even if they are stored: the kernel itself stores them. `sum` is the
    /// contraction whose result the body starts from.
    pub fn body(
        &mut self,
        space: Space,
        rank: usize,
        outputs: &[NodeId],
        inside: &dyn Fn(NodeId) -> bool,
        sum: Option<NodeId>,
    ) -> Result<(Body, Vec<ValueId>), NeedsStorage> {
        let mut walk = Walk { builder: self, space, rank, inside, sum, body: Body::default(), memo: HashMap::new() };
        let mut values = Vec::with_capacity(outputs.len());
        for &output in outputs {
            let axes = walk.builder.graph.nodes[output].ty.rank();
            let map = walk.output_map(axes, output);
            values.push(walk.value(output, &map, output)?);
        }
        let body = walk.body;
        Ok((body, values))
    }

    /// The kernel's accesses, and whether it uses coordinates as values.
    pub fn finish(self) -> (Vec<KernelAccess>, bool) {
        (self.accesses, self.fixed)
    }

    fn access(&mut self, access: KernelAccess) -> u16 {
        let index = self.accesses.iter().position(|known| *known == access).unwrap_or_else(|| {
            self.accesses.push(access);
            self.accesses.len() - 1
        });
        index as u16
    }
}

struct Walk<'w, 'a> {
    builder: &'w mut BodyBuilder<'a>,
    space: Space,
    rank: usize,
    inside: &'w dyn Fn(NodeId) -> bool,
    sum: Option<NodeId>,
    body: Body,
    memo: HashMap<(NodeId, IndexMap), ValueId>,
}

impl Walk<'_, '_> {
    /// Operands of a contraction may lack or repeat batch axes: literal ones repeat, others may at launch.
    fn output_map(&self, axes: usize, output: NodeId) -> IndexMap {
        let identity = IndexMap::identity(self.rank);
        let (Some(matmul), true) = (self.sum, self.space != Space::Point) else { return identity };
        let batch = axes - 2;
        let to = &self.builder.graph.nodes[matmul].ty.shape;
        let from = &self.builder.graph.nodes[output].ty.shape;
        let mut full = to[..batch].to_vec();
        full.extend_from_slice(&from[batch..]);
        identity.through_broadcast(from, &full)
    }

    fn value(&mut self, node: NodeId, map: &IndexMap, consumer: NodeId) -> Result<ValueId, NeedsStorage> {
        let key = (node, map.clone());
        if let Some(&value) = self.memo.get(&key) {
            return Ok(value);
        }
        let value = self.compute(node, map, consumer)?;
        self.memo.insert(key, value);
        Ok(value)
    }

    fn compute(&mut self, node: NodeId, map: &IndexMap, consumer: NodeId) -> Result<ValueId, NeedsStorage> {
        let graph = self.builder.graph;
        if let Some(value) = self.load(node, map)? {
            return Ok(value);
        }
        if Some(node) == self.sum && self.space == Space::Point && map.is_identity(self.rank) {
            return Ok(self.push(ValueOp::Sum, graph.nodes[node].ty.dtype));
        }
        match through_movement(graph, self.builder.uses_coordinates, node, map) {
            Ok(Some((x, map))) => return self.value(x, &map, node),
            Ok(None) => {}
            Err(reason) => {
                let node = graph.nodes[node].op.operands()[0];
                return Err(NeedsStorage { node, consumer, reason });
            }
        }
        let dtype = graph.nodes[node].ty.dtype;
        let mut operand = |x: NodeId| self.value(x, map, node);
        let op = match graph.nodes[node].op {
            Op::Scalar(param) => ValueOp::Scalar(param),
            Op::Literal(literal) => ValueOp::Literal(literal),
            Op::Unary(op, x) => ValueOp::Unary(op, operand(x)?),
            Op::Binary(op, x, y) => ValueOp::Binary(op, operand(x)?, operand(y)?),
            Op::Compare(op, x, y) => ValueOp::Compare(op, operand(x)?, operand(y)?),
            Op::Select { condition, on_true, on_false } => {
                ValueOp::Select(operand(condition)?, operand(on_true)?, operand(on_false)?)
            }
            Op::Cast(x) => ValueOp::Cast(operand(x)?),
            Op::Index { axis } => {
                let axis = &map.axes[axis];
                self.builder.fixed |= axis.axis.is_some();
                ValueOp::Coordinate { axis: axis.axis, start: axis.start.clone() }
            }
            Op::Matmul { .. } | Op::Input(_) => {
                return Err(NeedsStorage {
                    node,
                    consumer,
                    reason: "its value is read in another order than it is computed",
                });
            }
            Op::Permute { .. } | Op::Reshape(_) | Op::Slice { .. } | Op::Broadcast(_) => {
                unreachable!("movements were handled above")
            }
        };
        Ok(self.push(op, dtype))
    }

    /// A load, if `node` (or what it reshapes) is in memory.
    fn load(&mut self, node: NodeId, map: &IndexMap) -> Result<Option<ValueId>, NeedsStorage> {
        let graph = self.builder.graph;
        let source = strip_reshapes(graph, node);
        let Some(slot) = (self.builder.stored)(source) else { return Ok(None) };
        if (self.inside)(source) && !matches!(graph.nodes[source].op, Op::Input(_)) {
            // The kernel computes this value itself: it may use it in place, but not at other coordinates.
            if source == node && map.is_identity(self.rank) {
                return Ok(None);
            }
            return Err(NeedsStorage {
                node: source,
                consumer: node,
                reason: "the kernel that computes it would read it at other coordinates",
            });
        }
        let ty = &graph.nodes[node].ty;
        let access = map.access(slot, self.space, &ty.shape, self.rank);
        let mut may_repeat = vec![false; self.rank];
        for axis in map.axes.iter().filter(|axis| axis.may_repeat) {
            if let Some(d) = axis.axis {
                may_repeat[usize::from(d)] = true;
            }
        }
        let access = self.builder.access(KernelAccess { access, dtype: ty.dtype, may_repeat });
        Ok(Some(self.push(ValueOp::Load(access), ty.dtype)))
    }

    fn push(&mut self, op: ValueOp, dtype: DType) -> ValueId {
        let value = Value { op: self.fold(&op, dtype).map_or(op, ValueOp::Literal), dtype };
        if let Some(known) = self.body.values.iter().position(|v| *v == value) {
            return known;
        }
        self.body.values.push(value);
        self.body.values.len() - 1
    }

    /// The value as a literal, if all operands are.
    fn fold(&self, op: &ValueOp, dtype: DType) -> Option<Literal> {
        let literal = |id: ValueId| match self.body.values[id] {
            Value { op: ValueOp::Literal(literal), dtype } => Some((literal, dtype)),
            _ => None,
        };
        let number = |id| literal(id).map(|(literal, dtype)| (literal_value(literal, dtype), dtype));
        let value = match *op {
            ValueOp::Unary(op, x) => f64::unary(op, dtype, &number(x)?.0),
            ValueOp::Binary(op, x, y) => f64::binary(op, dtype, &number(x)?.0, &number(y)?.0),
            ValueOp::Compare(op, x, y) => {
                let (x, operands) = number(x)?;
                f64::compare(op, operands, &x, &number(y)?.0)
            }
            ValueOp::Select(c, x, y) => number(if number(c)?.0 != 0.0 { x } else { y })?.0,
            ValueOp::Cast(x) => {
                let (x, from) = number(x)?;
                f64::cast(from, dtype, &x)
            }
            ValueOp::Load(_) | ValueOp::Sum | ValueOp::Coordinate { .. } | ValueOp::Scalar(_) | ValueOp::Literal(_) => {
                return None;
            }
        };
        Some(to_literal(dtype, value))
    }
}

/// The value of a literal, rounded to its dtype.
fn literal_value(literal: Literal, dtype: DType) -> f64 {
    match literal {
        Literal::Float(x) if dtype == DType::F16 => f16::from_f64(x).to_f64(),
        Literal::Float(x) => f64::from(x as f32),
        Literal::Integer(x) => x as f64,
        Literal::Bool(x) => f64::from(u8::from(x)),
    }
}

fn to_literal(dtype: DType, value: f64) -> Literal {
    match dtype {
        DType::F32 | DType::F16 => Literal::Float(value),
        DType::I32 | DType::U32 => Literal::Integer(value as i64),
        DType::Bool => Literal::Bool(value != 0.0),
    }
}
