//! Construction of bodies.
//!
//! Input: nodes and materialized values. Output: a [`Body`], operands first. Equal values appear once; constants fold
//! as in the interpreter.

use std::collections::{BTreeMap, HashMap};

use fuse_artifact::{DType, Size, Slot, Space};
use half::f16;

use super::{
    body::{Body, Dequantize, KernelAccess, NeedsStorage, Value, ValueId, ValueOp},
    index::{AxisMap, IndexMap, strip_reshapes, through_movement},
    row_prologue::row_of,
};
use crate::{
    graph::{Graph, Literal, NodeId, Op},
    interp::Element,
    operations::BinaryOp,
};

/// Repeated evaluations per body. `recompute` stores most values read at several places; this bounds its misses.
const MAX_REPEATS: usize = 1024;

pub(super) struct BodyBuilder<'a> {
    graph: &'a Graph,
    uses_coordinates: &'a [bool],
    stored: &'a dyn Fn(NodeId) -> Option<Slot>,
    accesses: Vec<KernelAccess>,
    fixed: bool,
}

impl<'a> BodyBuilder<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        uses_coordinates: &'a [bool],
        stored: &'a dyn Fn(NodeId) -> Option<Slot>,
    ) -> Self {
        Self { graph, uses_coordinates, stored, accesses: vec![], fixed: false }
    }

    pub(super) fn body(
        &mut self,
        region: &Region<'_>,
        outputs: &[NodeId],
    ) -> Result<(Body, Vec<ValueId>), NeedsStorage> {
        let mut walk = Walk {
            builder: self,
            region,
            body: Body::default(),
            memo: HashMap::new(),
            numbers: HashMap::new(),
            evaluated: BTreeMap::new(),
            repeats: 0,
        };
        let mut values = Vec::with_capacity(outputs.len());
        for &output in outputs {
            let map = walk.output_map(output);
            values.push(walk.value(output, &map, output)?);
        }
        let body = walk.body;
        Ok((body, values))
    }

    /// Accesses, and a flag for coordinates used as values.
    pub(super) fn finish(self) -> (Vec<KernelAccess>, bool) {
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

pub(super) struct Region<'r> {
    /// Space of the body's coordinates.
    pub space: Space,
    /// Rank of the space.
    pub rank: usize,
    /// Nodes that the kernel computes and stores itself.
    pub inside: &'r dyn Fn(NodeId) -> bool,
    /// Coordinates of a node of `inside` or `sums`.
    pub place: &'r dyn Fn(NodeId) -> IndexMap,
    /// Contractions whose accumulators the body starts from.
    pub sums: &'r [NodeId],
    /// Contraction whose operand the outputs are; its batch axes are the space's.
    pub operand_of: Option<NodeId>,
    /// True if the operand's last two axes are exchanged.
    pub exchanged: bool,
    /// Extent of the last axis, if the kernel reduces operand rows along it.
    pub row_prologue: Option<&'r Size>,
}

impl<'r> Region<'r> {
    pub(super) fn new(
        space: Space,
        rank: usize,
        inside: &'r dyn Fn(NodeId) -> bool,
        place: &'r dyn Fn(NodeId) -> IndexMap,
    ) -> Self {
        Self { space, rank, inside, place, sums: &[], operand_of: None, exchanged: false, row_prologue: None }
    }
}

struct Walk<'w, 'a> {
    builder: &'w mut BodyBuilder<'a>,
    region: &'w Region<'w>,
    body: Body,
    memo: HashMap<(NodeId, IndexMap), ValueId>,
    numbers: HashMap<Value, ValueId>,
    evaluated: BTreeMap<NodeId, Evaluated>,
    repeats: usize,
}

struct Evaluated {
    places: usize,
    values: usize,
    consumer: NodeId,
}

struct Pending {
    node: NodeId,
    map: IndexMap,
    consumer: NodeId,
    before: usize,
}

enum Unfinished {
    Operand(Pending),
    Impossible(NeedsStorage),
}

impl From<NeedsStorage> for Unfinished {
    fn from(needs: NeedsStorage) -> Self {
        Self::Impossible(needs)
    }
}

impl Walk<'_, '_> {
    /// Output coordinates. Operands of a contraction may lack or repeat batch axes: literal 1s repeat, others may at
    /// launch.
    fn output_map(&self, output: NodeId) -> IndexMap {
        let nodes = &self.builder.graph.nodes;
        let Some(matmul) = self.region.operand_of else { return (self.region.place)(output) };
        let from = &nodes[output].ty.shape;
        let batch = from.len() - 2;
        let mut full = nodes[matmul].ty.shape[..batch].to_vec();
        full.extend_from_slice(&from[batch..]);
        let rank = self.region.rank;
        let own = if self.region.exchanged { IndexMap::exchanged(rank) } else { IndexMap::identity(rank) };
        own.through_broadcast(from, &full)
    }

    fn is_in_place(&self, node: NodeId, map: &IndexMap) -> bool {
        map.agrees(&(self.region.place)(node), &self.builder.graph.nodes[node].ty.shape)
    }

    /// Computes `node` at `map` with its operands. Iterative, since graphs are deeper than stacks: a value that lacks
    /// an operand is retried.
    fn value(&mut self, node: NodeId, map: &IndexMap, consumer: NodeId) -> Result<ValueId, NeedsStorage> {
        let mut pending = vec![Pending { node, map: map.clone(), consumer, before: self.body.values.len() }];
        while let Some(wanted) = pending.pop() {
            match self.compute(&wanted) {
                Ok(value) => {
                    self.count(&wanted)?;
                    self.memo.insert((wanted.node, wanted.map), value);
                }
                Err(Unfinished::Operand(first)) => pending.extend([wanted, first]),
                Err(Unfinished::Impossible(needs)) => return Err(needs),
            }
        }
        Ok(self.memo[&(node, map.clone())])
    }

    /// # Errors
    /// Names the value with most repeated work if the body repeats too much.
    fn count(&mut self, wanted: &Pending) -> Result<(), NeedsStorage> {
        let &Pending { node, consumer, before, .. } = wanted;
        let source = |node| (self.builder.stored)(node).is_some() || (self.region.inside)(node);
        if !self.builder.graph.nodes[node].op.is_computed() || source(node) {
            return Ok(());
        }
        let values = self.body.values.len() - before;
        let evaluated = self.evaluated.entry(node).or_insert(Evaluated { places: 0, values, consumer });
        evaluated.places += 1;
        self.repeats += usize::from(evaluated.places > 1);
        if self.repeats <= MAX_REPEATS {
            return Ok(());
        }
        let repeated = |evaluated: &Evaluated| (evaluated.places - 1) * evaluated.values;
        let most = self.evaluated.iter().max_by_key(|(_, evaluated)| repeated(evaluated));
        most.map_or(Ok(()), |(&node, &Evaluated { consumer, .. })| {
            Err(NeedsStorage { node, consumer, reason: "a kernel that computes it at each place would be too large" })
        })
    }

    fn known(&self, node: NodeId, map: IndexMap, consumer: NodeId) -> Result<ValueId, Unfinished> {
        let key = (node, map);
        let before = self.body.values.len();
        self.memo.get(&key).copied().ok_or(Unfinished::Operand(Pending { node, map: key.1, consumer, before }))
    }

    fn compute(&mut self, &Pending { node, ref map, consumer, .. }: &Pending) -> Result<ValueId, Unfinished> {
        let graph = self.builder.graph;
        if let Some(value) = self.load(node, map)? {
            return Ok(value);
        }
        let dtype = graph.nodes[node].ty.dtype;
        if let Some(sum) = self.region.sums.iter().position(|&sum| sum == node)
            && self.is_in_place(node, map)
        {
            return Ok(self.push(ValueOp::Accumulator(sum as u8), dtype));
        }
        let in_memory = |x: NodeId| (self.builder.stored)(strip_reshapes(graph, x)).is_some();
        let uses_coordinates = |x: NodeId| self.builder.uses_coordinates[x.index()] && !in_memory(x);
        match through_movement(graph, uses_coordinates, node, map) {
            Ok(Some((x, map))) => return self.known(x, map, node),
            Ok(None) => {}
            Err(reason) => {
                let node = graph.nodes[node].op.operands()[0];
                return Err(NeedsStorage { node, consumer, reason }.into());
            }
        }
        let operand = |x: NodeId| self.known(x, map.clone(), node);
        let op = match graph.nodes[node].op {
            Op::Scalar(param) => ValueOp::Scalar(param),
            Op::Literal(literal) => ValueOp::Literal(literal),
            Op::Size(ref size) => ValueOp::Size(size.clone()),
            Op::Unary(op, x) => ValueOp::Unary(op, operand(x)?),
            Op::Binary(op, x, y) => ValueOp::Binary(op, operand(x)?, operand(y)?),
            Op::Compare(op, x, y) => ValueOp::Compare(op, operand(x)?, operand(y)?),
            Op::Select { condition, on_true, on_false } => {
                ValueOp::Select(operand(condition)?, operand(on_true)?, operand(on_false)?)
            }
            Op::Cast(x) => ValueOp::Cast(operand(x)?),
            Op::Index { axis } => return Ok(self.coordinate(&map.axes[axis])),
            Op::Dequantize(param) => return Ok(self.dequantize(node, param, map)),
            Op::Take { x, axis, index } => {
                let index = operand(index)?;
                let map = self.taken(x, axis, index, map);
                return self.known(x, map, node);
            }
            Op::Reduce { op, x, .. } if (self.region.inside)(node) && self.is_in_place(node, map) => {
                let elements = (self.region.place)(x);
                ValueOp::Reduce(op, self.known(x, elements, node)?)
            }
            Op::Reduce { op, x, ref axes } if let Some(row) = self.operand_row((x, axes), map) => {
                ValueOp::Reduce(op, self.known(x, row, node)?)
            }
            Op::Matmul { .. } | Op::Reduce { .. } | Op::Input(_) => {
                let reason = "its value is read in another order than it is computed";
                return Err(NeedsStorage { node, consumer, reason }.into());
            }
            Op::Permute { .. } | Op::Reshape(_) | Op::Slice { .. } | Op::Broadcast(_) => {
                unreachable!("movements were handled above")
            }
        };
        Ok(self.push(op, dtype))
    }

    fn operand_row(&self, reduction: (NodeId, &[usize]), map: &IndexMap) -> Option<IndexMap> {
        row_of(self.builder.graph, reduction, map, self.region.rank, self.region.row_prologue?)
    }

    fn coordinate(&mut self, axis: &AxisMap) -> ValueId {
        self.builder.fixed |= axis.axis.is_some();
        match axis.value {
            None => self.push(ValueOp::Coordinate { axis: axis.axis, start: axis.start.clone() }, DType::I32),
            Some(value) if axis.start == Size::default() => value,
            Some(value) => {
                let start = self.push(ValueOp::Size(axis.start.clone()), DType::I32);
                self.push(ValueOp::Binary(BinaryOp::Add, value, start), DType::I32)
            }
        }
    }

    fn taken(&mut self, x: NodeId, axis: usize, index: ValueId, map: &IndexMap) -> IndexMap {
        let extent = self.builder.graph.nodes[x].ty.shape[axis].clone();
        let mut map = map.clone();
        map.axes[axis] = AxisMap::computed(self.inside_extent(index, extent));
        map
    }

    /// `max(min(index, extent - 1), 0)`: an empty extent gives 0.
    fn inside_extent(&mut self, index: ValueId, extent: Size) -> ValueId {
        let below = self.below_extent(index, extent);
        let zero = self.integer(0);
        self.push(ValueOp::Binary(BinaryOp::Max, below, zero), DType::I32)
    }

    fn below_extent(&mut self, index: ValueId, extent: Size) -> ValueId {
        let extent = match extent.as_constant() {
            Some(value) => self.integer(value as i64),
            None => self.push(ValueOp::Size(extent), DType::I32),
        };
        let one = self.integer(1);
        let last = self.push(ValueOp::Binary(BinaryOp::Sub, extent, one), DType::I32);
        self.push(ValueOp::Binary(BinaryOp::Min, index, last), DType::I32)
    }

    fn integer(&mut self, value: i64) -> ValueId {
        self.push(ValueOp::Literal(Literal::Integer(value)), DType::I32)
    }

    fn load(&mut self, node: NodeId, map: &IndexMap) -> Result<Option<ValueId>, NeedsStorage> {
        let graph = self.builder.graph;
        let source = strip_reshapes(graph, node);
        let Some(slot) = (self.builder.stored)(source) else { return Ok(None) };
        if (self.region.inside)(source) && !matches!(graph.nodes[source].op, Op::Input(_)) {
            // Usable in place, but not at other coordinates.
            if source == node && self.is_in_place(node, map) {
                return Ok(None);
            }
            return Err(NeedsStorage {
                node: source,
                consumer: node,
                reason: "the kernel that computes it would read it at other coordinates",
            });
        }
        let ty = &graph.nodes[node].ty;
        let (access, at) = self.access((slot, ty.dtype), &ty.shape, map, false);
        let op = if at.is_empty() { ValueOp::Load(access) } else { ValueOp::Gather { access, at } };
        Ok(Some(self.push(op, ty.dtype)))
    }

    /// Access through `map` to a buffer of shape `view`, and its computed coordinates.
    fn access(
        &mut self,
        (slot, dtype): (Slot, DType),
        view: &[Size],
        map: &IndexMap,
        gathered: bool,
    ) -> (u16, Vec<(u8, ValueId)>) {
        let rank = self.region.rank;
        let access = map.access(slot, self.region.space, view, rank);
        let mut may_repeat = vec![false; rank];
        let mut at = vec![];
        for (view_axis, axis) in map.axes.iter().enumerate() {
            match (axis.axis, axis.value) {
                (Some(d), _) => may_repeat[usize::from(d)] = axis.may_repeat,
                // Axes broadcast at launch have a single coordinate.
                (None, Some(value)) if axis.may_repeat => {
                    at.push((view_axis as u8, self.inside_extent(value, view[view_axis].clone())));
                }
                (None, Some(value)) => at.push((view_axis as u8, value)),
                (None, None) => {}
            }
        }
        let gathered = gathered || !at.is_empty();
        (self.builder.access(KernelAccess { access, dtype, may_repeat, gathered }), at)
    }

    fn dequantize(&mut self, node: NodeId, param: u16, map: &IndexMap) -> ValueId {
        let graph = self.builder.graph;
        let shape = &graph.nodes[node].ty.shape;
        let quantized = graph.params[usize::from(param)].quantized.as_ref().expect("the graph is verified");
        let packed = &map.axes[quantized.axis];
        let along = packed.axis.filter(|_| packed.start == Size::default());
        let index = self.packed_coordinate(packed, &shape[quantized.axis]);
        let mut map = map.clone();
        map.axes[quantized.axis] = AxisMap::FIXED;
        let of = |slot: Slot| (slot, DType::U32);
        let (words, at) = self.access(of(Slot::Param(param)), &quantized.words_shape(shape), &map, true);
        let (scales, _) = self.access(of(Slot::Scales(param)), &quantized.groups_shape(shape), &map, true);
        let (packing, axis, group) = (quantized.packing, quantized.axis as u8, quantized.group.clone());
        let value = Dequantize { param, packing, words, scales, axis, index, along, at, group };
        self.push(ValueOp::Dequantize(Box::new(value)), DType::F32)
    }

    /// Coordinate along the packed axis, clamped for masked lanes.
    fn packed_coordinate(&mut self, packed: &AxisMap, extent: &Size) -> ValueId {
        let Some(axis) = packed.axis else {
            return match packed.value {
                Some(_) => self.coordinate(packed),
                None => self.push(ValueOp::Size(packed.start.clone()), DType::I32),
            };
        };
        // The last two axes stay as they are, except rows with folded batches.
        let inner = usize::from(axis) + 2 >= self.region.rank;
        let last = usize::from(axis) + 1 == self.region.rank;
        self.builder.fixed |= match self.region.space {
            Space::Rhs | Space::SecondLhs | Space::SecondRhs | Space::Value => !inner,
            Space::Lhs => !last,
            Space::Point | Space::Score => true,
        };
        let coordinate = self.push(ValueOp::Coordinate { axis: Some(axis), start: packed.start.clone() }, DType::I32);
        self.below_extent(coordinate, extent.clone())
    }

    fn push(&mut self, op: ValueOp, dtype: DType) -> ValueId {
        let value = Value { op: self.fold(&op, dtype).map_or(op, ValueOp::Literal), dtype };
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.body.values.push(value.clone());
            self.body.values.len() - 1
        })
    }

    fn fold(&self, op: &ValueOp, dtype: DType) -> Option<Literal> {
        let literal = |id: ValueId| match self.body.values[id] {
            Value { op: ValueOp::Literal(literal), dtype } => Some((literal, dtype)),
            _ => None,
        };
        let number = |id| literal(id).map(|(literal, dtype)| (literal_value(literal, dtype), dtype));
        let value = match *op {
            ValueOp::Unary(op, x) => {
                let (x, operand) = number(x)?;
                f64::unary(op, operand, &x)
            }
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
            ValueOp::Load(_)
            | ValueOp::Gather { .. }
            | ValueOp::Dequantize(_)
            | ValueOp::Accumulator(_)
            | ValueOp::Reduce(..)
            | ValueOp::Size(_)
            | ValueOp::Coordinate { .. }
            | ValueOp::Scalar(_)
            | ValueOp::Literal(_) => return None,
        };
        Some(to_literal(dtype, value))
    }
}

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
