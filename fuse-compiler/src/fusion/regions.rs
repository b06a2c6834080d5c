//! Regions: operations that contractions and reductions take into their kernels.
//!
//! Input: the graph and its forced nodes. Output: disjoint, acyclic [`Region`]s, one per kernel that is not pointwise,
//! grown over their anchors' users. `contraction` and `reduction` decide if the kernel can be written.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fuse_artifact::Size;

use super::{
    Planner, Policy,
    attention_pattern::{Pattern, WeightedSums},
    heuristics::{is_cheap_to_repeat, operation_cost},
    index::strip_reshapes,
    row_prologue,
    rows::{Extent, RowSpace},
    stages::Stages,
};
use crate::graph::{Graph, NodeId, Op};

#[derive(Clone, Debug)]
pub(super) enum Anchor {
    /// Products of equal shape and left operand.
    Products(Vec<NodeId>),
    Rows(RowSpace),
    Attention(Box<Pattern>),
    WeightedSums(WeightedSums),
}

#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) anchor: Anchor,
    pub(super) nodes: BTreeSet<NodeId>,
    pub(super) movements: BTreeSet<NodeId>,
}

impl Region {
    fn holds(&self, node: NodeId) -> bool {
        self.nodes.contains(&node) || self.movements.contains(&node)
    }

    fn reduces(&self, graph: &Graph) -> bool {
        self.nodes.iter().any(|&node| matches!(graph.nodes[node].op, Op::Reduce { .. }))
    }

    pub(super) fn rows(&self, graph: &Graph) -> RowSpace {
        match &self.anchor {
            Anchor::Rows(rows) => rows.clone(),
            Anchor::Products(products) => last_axis_rows(graph, products[0]),
            Anchor::Attention(pattern) => last_axis_rows(graph, pattern.output),
            Anchor::WeightedSums(sums) => last_axis_rows(graph, sums.outputs[0]),
        }
    }
}

fn last_axis_rows(graph: &Graph, node: NodeId) -> RowSpace {
    let shape = graph.nodes[node].ty.shape.clone();
    RowSpace { axes: vec![shape.len() - 1], shape }
}

pub(super) fn regions(planner: &Planner<'_>) -> Vec<Region> {
    let mut growth = Growth::new(planner);
    for pattern in &planner.attentions {
        growth.claim(Region {
            anchor: Anchor::Attention(Box::new(pattern.clone())),
            nodes: pattern.nodes.clone(),
            movements: BTreeSet::new(),
        });
    }
    for sums in planner.attentions.iter().flat_map(|pattern| &pattern.gradient.sums) {
        growth.claim(Region {
            anchor: Anchor::WeightedSums(sums.clone()),
            nodes: sums.outputs.iter().copied().collect(),
            movements: BTreeSet::new(),
        });
    }
    for number in 0..growth.regions.len() {
        growth.grow(number);
    }
    for &node in &planner.live {
        if !growth.is_free(node) {
            continue;
        }
        let graph = planner.graph;
        if let Op::Reduce { .. } = graph.nodes[node].op {
            // Earlier products choose first: reducing rows that they load anyway costs less.
            let claim = row_prologue::claim(planner, &growth.owner, node, |product| growth.siblings(product));
            if let Some(claim) = claim {
                growth.claimed.extend(claim);
                continue;
            }
        }
        let anchor = match &graph.nodes[node].op {
            Op::Matmul { .. } => Anchor::Products(growth.siblings(node)),
            Op::Reduce { x, axes, .. } => {
                Anchor::Rows(RowSpace { shape: graph.nodes[*x].ty.shape.clone(), axes: axes.clone() })
            }
            _ => continue,
        };
        let nodes = match &anchor {
            Anchor::Products(products) => products.iter().copied().collect(),
            _ => BTreeSet::from([node]),
        };
        let number = growth.claim(Region { anchor, nodes, movements: BTreeSet::new() });
        growth.grow(number);
        growth.take_shared_operands(number);
        growth.leave_columns(number);
    }
    growth.regions
}

pub(super) fn owners(regions: &[Region]) -> BTreeMap<NodeId, usize> {
    let nodes = |(number, region): (usize, &Region)| region.nodes.iter().map(move |&n| (n, number)).collect::<Vec<_>>();
    regions.iter().enumerate().flat_map(nodes).collect()
}

struct Growth<'a, 'g> {
    planner: &'a Planner<'g>,
    regions: Vec<Region>,
    owner: BTreeMap<NodeId, usize>,
    /// Nodes of row prologues.
    claimed: BTreeSet<NodeId>,
    reductions: HashMap<(&'a [Size], &'a [usize]), Vec<NodeId>>,
    stages: Stages,
    /// Latest stage that each region waits for.
    latest: Vec<u32>,
}

struct Frontier {
    rows: RowSpace,
    reduces: bool,
    first: u32,
    /// It formed a cycle before it grew.
    waits: bool,
    /// Values whose inputs `reads` lacks.
    unread: Vec<NodeId>,
    reads: Reads,
}

/// Tensors that a kernel would read, and all values computed from them.
#[derive(Default)]
struct Reads {
    inputs: BTreeSet<NodeId>,
    seen: BTreeSet<NodeId>,
}

impl<'a, 'g> Growth<'a, 'g> {
    fn new(planner: &'a Planner<'g>) -> Self {
        let graph = planner.graph;
        let mut reductions: HashMap<_, Vec<NodeId>> = HashMap::new();
        for &node in &planner.live {
            if let Op::Reduce { x, axes, .. } = &graph.nodes[node].op {
                reductions.entry((&graph.nodes[*x].ty.shape[..], &axes[..])).or_default().push(node);
            }
        }
        Self {
            planner,
            regions: vec![],
            owner: BTreeMap::new(),
            claimed: BTreeSet::new(),
            reductions,
            stages: Stages::new(graph),
            latest: vec![],
        }
    }

    fn claim(&mut self, region: Region) -> usize {
        let number = self.regions.len();
        let nodes: Vec<NodeId> = region.nodes.iter().copied().collect();
        self.owner.extend(nodes.iter().map(|&node| (node, number)));
        self.regions.push(region);
        self.latest.push(0);
        self.complete_together(number, nodes);
        number
    }

    fn add(&mut self, number: usize, node: NodeId) {
        let op = &self.planner.graph.nodes[node].op;
        // Permutes change the store.
        let movement = op.is_movement() && !matches!(op, Op::Permute { .. });
        let region = &mut self.regions[number];
        if movement {
            region.movements.insert(node);
        } else {
            region.nodes.insert(node);
            self.owner.insert(node, number);
            self.complete_together(number, vec![node]);
        }
    }

    /// Propagates stages: readers of one value of a region wait for all of them.
    fn complete_together(&mut self, number: usize, new: Vec<NodeId>) {
        let latest = new.iter().map(|&node| self.stages.latest(node)).max().unwrap_or(0).max(self.latest[number]);
        let mut pending = new;
        if latest > self.latest[number] {
            self.latest[number] = latest;
            pending.extend(&self.regions[number].nodes);
        }
        while let Some(node) = pending.pop() {
            if !self.stages.wait(node, latest) {
                continue;
            }
            pending.extend(&self.planner.users[node.index()]);
            if let Some(&other) = self.owner.get(&node)
                && self.latest[other] < latest
            {
                self.latest[other] = latest;
                pending.extend(&self.regions[other].nodes);
            }
        }
    }

    /// A product with later products of equal left operand and shape that may run with it.
    fn siblings(&self, product: NodeId) -> Vec<NodeId> {
        let graph = self.planner.graph;
        let mut found = vec![product];
        let (Op::Matmul { lhs, rhs }, true) = (&graph.nodes[product].op, self.planner.policy.siblings) else {
            return found;
        };
        if self.planner.apart.contains(&product) {
            return found;
        }
        let shape_of = |node: NodeId| &graph.nodes[node].ty.shape;
        for &other in self.planner.users[lhs.index()].range(product..).skip(1) {
            let Op::Matmul { lhs: other_lhs, rhs: other_rhs } = graph.nodes[other].op else { continue };
            let alike = other_lhs == *lhs
                && shape_of(other) == shape_of(product)
                && shape_of(other_rhs) == shape_of(*rhs)
                && graph.nodes[other].ty.dtype == graph.nodes[product].ty.dtype;
            if alike && !self.owner.contains_key(&other) && !self.planner.apart.contains(&other) {
                let together: BTreeSet<NodeId> = found.iter().copied().chain([other]).collect();
                let operands = together.iter().flat_map(|&node| graph.nodes[node].op.operands()).collect();
                let first = self.stages.first(together.iter().copied());
                if found.len() < MAX_SIBLINGS && !self.reach(operands, |node| together.contains(&node), first) {
                    found.push(other);
                }
            }
        }
        found
    }

    fn is_free(&self, node: NodeId) -> bool {
        !(self.owner.contains_key(&node) || self.claimed.contains(&node) || self.planner.is_recomputed(node))
    }

    /// Extends a region over users as far as its kernel may compute them.
    fn grow(&mut self, number: usize) {
        let (planner, region) = (self.planner, &self.regions[number]);
        let mut frontier = Frontier {
            rows: region.rows(planner.graph),
            reduces: region.reduces(planner.graph),
            first: self.stages.first(region.nodes.iter().copied()),
            waits: self.waits_for_itself(&region.nodes),
            unread: region.nodes.iter().copied().collect(),
            reads: Reads::default(),
        };
        let mut candidates: BTreeSet<NodeId> =
            region.nodes.iter().flat_map(|node| &planner.users[node.index()]).copied().collect();
        if let (Anchor::Rows(rows), Some(&first)) = (&region.anchor, region.nodes.first()) {
            let alike = self.reductions.get(&(&rows.shape[..], &rows.axes[..])).into_iter().flatten();
            candidates.extend(alike.filter(|&&node| node > first));
        }
        while let Some(candidate) = candidates.pop_first() {
            let free = self.is_free(candidate) && !self.regions[number].movements.contains(&candidate);
            if free
                && self.extends(number, candidate, &mut frontier)
                && self.stays_acyclic(number, candidate, &frontier)
            {
                self.add(number, candidate);
                frontier.reduces |= matches!(planner.graph.nodes[candidate].op, Op::Reduce { .. });
                frontier.first = frontier.first.min(self.stages.first([candidate].into_iter()));
                frontier.unread.push(candidate);
                candidates.extend(&planner.users[candidate.index()]);
            }
        }
    }

    fn extends(&self, number: usize, candidate: NodeId, frontier: &mut Frontier) -> bool {
        let (graph, region) = (self.planner.graph, &self.regions[number]);
        let node = &graph.nodes[candidate];
        let operands = node.op.operands();
        let held = |x: NodeId| region.holds(x) && !self.planner.is_recomputed(x);
        if operands.iter().any(|&x| held(x) && self.planner.forced.contains(&self.source(number, x))) {
            return false;
        }
        let rows = &frontier.rows;
        let extent = |id: NodeId| rows.extent(&graph.nodes[id].ty.shape);
        let with_rows = matches!(region.anchor, Anchor::Rows(_)) || frontier.reduces;
        match &node.op {
            op if op.is_pointwise() => {
                let fits = match extent(candidate) {
                    Some(Extent::Element) => true,
                    Some(Extent::Row) => with_rows,
                    None => false,
                };
                fits && operands.iter().any(|&x| held(x))
            }
            Op::Broadcast(x) => {
                // Once per row.
                let repeats = !matches!(region.anchor, Anchor::Attention(_));
                repeats
                    && with_rows
                    && held(*x)
                    && extent(*x) == Some(Extent::Row)
                    && extent(candidate) == Some(Extent::Element)
            }
            Op::Permute { x, permutation } => {
                let only_user = self.planner.users[x.index()].len() == 1 && !self.planner.is_result(*x);
                // Whole rows keep stores vectors.
                let whole_rows = permutation.last().is_some_and(|last| last + 1 == permutation.len());
                let stores_by_stride = match region.anchor {
                    // Products read operands in either direction.
                    Anchor::Rows(_) => whole_rows || !self.is_operand(candidate),
                    Anchor::Attention(_) | Anchor::WeightedSums(_) => whole_rows,
                    Anchor::Products(_) => false,
                };
                stores_by_stride && held(*x) && only_user && !graph.nodes[*x].op.is_movement()
            }
            Op::Reshape(x) => with_rows && held(*x) && [*x, candidate].map(extent) == [Some(Extent::Row); 2],
            Op::Reduce { x, axes, .. } => {
                let same_rows = graph.nodes[*x].ty.shape == rows.shape && *axes == rows.axes;
                same_rows
                    && !self.planner.apart.contains(&candidate)
                    && match &region.anchor {
                        Anchor::Rows(_) => held(*x) || self.shares_input(number, *x, frontier),
                        Anchor::Products(products) => {
                            products.len() == 1 && held(*x) && self.planner.may_own_rows(products[0])
                        }
                        Anchor::Attention(_) | Anchor::WeightedSums(_) => false,
                    }
            }
            _ => false,
        }
    }

    fn is_operand(&self, node: NodeId) -> bool {
        let product = |&user: &NodeId| matches!(self.planner.graph.nodes[user].op, Op::Matmul { .. });
        !self.planner.is_result(node) && self.planner.users[node.index()].iter().all(product)
    }

    fn source(&self, number: usize, mut node: NodeId) -> NodeId {
        while self.regions[number].movements.contains(&node) {
            node = self.planner.graph.nodes[node].op.operands()[0];
        }
        strip_reshapes(self.planner.graph, node)
    }

    fn stays_acyclic(&self, number: usize, candidate: NodeId, frontier: &Frontier) -> bool {
        let region = &self.regions[number];
        let operands = self.planner.graph.nodes[candidate].op.operands();
        if frontier.waits || !operands.iter().any(|&x| region.holds(x)) {
            let mut nodes: BTreeSet<NodeId> = region.nodes.union(&region.movements).copied().collect();
            nodes.insert(candidate);
            return !self.waits_for_itself(&nodes);
        }
        // Only the candidate's operands can form a cycle.
        let inside = |node: NodeId| node == candidate || region.holds(node);
        let outside = operands.into_iter().filter(|&x| !inside(x)).collect();
        !self.reach(outside, inside, frontier.first)
    }

    fn waits_for_itself(&self, nodes: &BTreeSet<NodeId>) -> bool {
        let operands = nodes.iter().flat_map(|&node| self.planner.graph.nodes[node].op.operands());
        let outside = operands.filter(|x| !nodes.contains(x)).collect();
        self.reach(outside, |node| nodes.contains(&node), self.stages.first(nodes.iter().copied()))
    }

    /// True if some of `pending` depend on `inside`, whose first stage is `first`. Other regions complete first.
    fn reach(&self, mut pending: Vec<NodeId>, inside: impl Fn(NodeId) -> bool, first: u32) -> bool {
        let graph = self.planner.graph;
        let mut seen = HashSet::new();
        while let Some(node) = pending.pop() {
            if inside(node) {
                return true;
            }
            if self.stages.latest(node) < first || !seen.insert(node) {
                continue;
            }
            pending.extend(graph.nodes[node].op.operands());
            if let Some(&other) = self.owner.get(&node) {
                pending.extend(&self.regions[other].nodes);
            }
        }
        false
    }

    fn computed_inline(&self, number: usize) -> BTreeSet<NodeId> {
        let graph = self.planner.graph;
        let (mut found, mut pending) = (BTreeSet::new(), vec![]);
        pending.extend(self.regions[number].nodes.iter().flat_map(|&node| graph.nodes[node].op.operands()));
        while let Some(node) = pending.pop() {
            let op = &graph.nodes[node].op;
            let inline = op.is_pointwise() || op.is_movement();
            if inline && !self.owner.contains_key(&node) && !self.planner.forced.contains(&node) && found.insert(node) {
                pending.extend(op.operands());
            }
        }
        found
    }

    fn shares_input(&self, number: usize, x: NodeId, frontier: &mut Frontier) -> bool {
        self.read(number, std::mem::take(&mut frontier.unread), &mut frontier.reads);
        self.inputs(number, x).iter().any(|input| frontier.reads.inputs.contains(input))
    }

    fn inputs(&self, number: usize, node: NodeId) -> BTreeSet<NodeId> {
        let mut reads = Reads::default();
        self.read(number, vec![node], &mut reads);
        reads.inputs
    }

    fn read(&self, number: usize, mut pending: Vec<NodeId>, reads: &mut Reads) {
        let graph = self.planner.graph;
        while let Some(node) = pending.pop() {
            if !reads.seen.insert(node) {
                continue;
            }
            let elsewhere = self.owner.get(&node).is_some_and(|&owner| owner != number);
            match graph.nodes[node].op {
                Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Index { .. } => {}
                Op::Input(_) | Op::Dequantize(_) => {
                    reads.inputs.insert(node);
                }
                _ if elsewhere || self.planner.forced.contains(&node) => {
                    reads.inputs.insert(node);
                }
                ref op => pending.extend(op.operands()),
            }
        }
    }

    /// Takes shared pointwise inputs of the reductions, to store them once.
    fn take_shared_operands(&mut self, number: usize) {
        let graph = self.planner.graph;
        let Anchor::Rows(rows) = self.regions[number].anchor.clone() else { return };
        let at_hand = self.computed_inline(number);
        // One answer for all candidates.
        let mut waits = None;
        for &candidate in at_hand.iter().rev() {
            let node = &graph.nodes[candidate];
            if !node.op.is_pointwise() || node.ty.shape != rows.shape {
                continue;
            }
            let users = &self.planner.users[candidate.index()];
            let computes = |user: &NodeId| at_hand.contains(user) || self.regions[number].holds(*user);
            let result = self.planner.is_result(candidate);
            let outside = !users.iter().all(computes);
            let saves_reads = || !is_cheap_to_repeat(graph, candidate) && self.inputs(number, candidate).len() > 1;
            let worth = result || outside && saves_reads();
            let all = || self.regions[number].nodes.union(&self.regions[number].movements).chain(&at_hand).copied();
            if worth && !*waits.get_or_insert_with(|| self.waits_for_itself(&all().collect())) {
                self.add(number, candidate);
            }
        }
    }

    /// Leaves cheap functions of reduced columns to readers, which avoids storing full-size values.
    fn leave_columns(&mut self, number: usize) {
        let (graph, planner) = (self.planner.graph, self.planner);
        let region = &self.regions[number];
        let Anchor::Rows(rows) = &region.anchor else { return };
        if rows.axes.contains(&(rows.shape.len() - 1)) || !planner.policy.inlined_columns {
            return;
        }
        let element = |node: &NodeId| rows.extent(&graph.nodes[*node].ty.shape) == Some(Extent::Element);
        let read_outside = |node: &NodeId| planner.users[node.index()].iter().any(|&user| !region.holds(user));
        let roots: Vec<NodeId> =
            region.nodes.iter().copied().filter(|node| element(node) && read_outside(node)).collect();
        let (mut left, mut pending) = (BTreeSet::new(), roots.clone());
        while let Some(node) = pending.pop() {
            if region.holds(node) && element(&node) && left.insert(node) {
                pending.extend(graph.nodes[node].op.operands());
            }
        }
        let inline = |node: &NodeId| {
            let op = &graph.nodes[*node].op;
            let stored = planner.is_result(*node) || planner.forced.contains(node);
            !stored && (op.is_pointwise() || matches!(op, Op::Broadcast(_)))
        };
        let work: u32 = left.iter().map(|&node| operation_cost(&graph.nodes[node].op)).sum();
        if left.iter().all(inline) && work <= Policy::FUSED.prologue {
            let region = &mut self.regions[number];
            for node in left {
                region.nodes.remove(&node);
                region.movements.remove(&node);
                self.owner.remove(&node);
            }
        }
    }
}

/// Register limit of products in one kernel.
pub(super) const MAX_SIBLINGS: usize = 4;
