//! Fusion: partitions a graph into groups, one kernel each.
//!
//! Input: a verified [`Graph`]. Output: [`Groups`] in launch order; a group reads only parameters and stores of earlier
//! groups. Contractions take pointwise operations behind them (epilogue) and cheap ones before them (prologue).
//! `legality` decides correctness, `heuristics` profitability. Not here: tiles, workgroups, shaders (`schedule`,
//! `wgsl`).

pub mod assume;
pub mod attention;
pub mod attention_gradient;
pub mod attention_pattern;
pub mod body;
mod body_builder;
pub mod chains;
mod contraction;
pub mod cost;
mod dependencies;
mod group;
pub mod heuristics;
mod in_place;
pub mod index;
pub mod legality;
pub mod moe;
mod pieces;
mod pointwise;
pub mod print;
mod reasons;
mod recompute;
mod reduction;
pub mod reduction_depth;
mod regions;
mod rematerialize;
mod row_prologue;
mod rows;
pub mod scatter;
mod stages;
pub mod unroll_reductions;
pub mod verify;
pub mod weighted_sum;

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Check, Refusal, Slot};

pub use group::{Attention, Contraction, Group, GroupKind, Reduction, ScoreProduct, Store, WeightedSum};

use crate::graph::{Graph, NodeId, Op};
use attention::is_of_row;
use body::{NeedsStorage, ValueId};
use dependencies::{Dependencies, InPlace};
use heuristics::STORE_COST;
use legality::MAX_STORAGE_BUFFERS;
use regions::{Anchor, Region};
use rows::RowSpace;

/// Result buffers per value; more would exceed the binding limit together with an operation's inputs.
const MOST_RESULTS: usize = 2;

/// A graph partitioned into kernels.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Kernels in launch order.
    pub groups: Vec<Group>,
    /// Materialized nodes by index of the temporary.
    pub temporaries: Vec<NodeId>,
    /// Pairs that did not fuse, with the reason.
    pub refusals: Vec<Refusal>,
    /// Checks at launch.
    pub assumes: Vec<Check>,
}

/// Profitability knobs: all policies give correct plans.
///
/// The launch selects among policies by sizes and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Maximum storage buffers per kernel.
    pub bindings: usize,
    /// Fuses products that share their left operand.
    pub siblings: bool,
    /// Maximum row length that a product's epilogue may reduce; a workgroup must own whole rows.
    pub owned_columns: u64,
    /// Maximum cost of a product's prologue, in simple operations per tile load.
    pub prologue: u32,
    /// Maximum cost of repeated evaluations, in simple operations per element.
    pub repeats: u32,
    /// Lets a product reduce the rows of its left operand; every workgroup repeats this for its rows.
    pub row_prologue: bool,
    /// Stores all `f16` operands, for cooperative matrices.
    pub stores_f16: bool,
    /// Recomputes cheap functions of reduced columns in their consumers. Otherwise the reducing kernel's workgroups
    /// must keep whole columns.
    pub inlined_columns: bool,
    /// Permits assumptions about run-time dimensions.
    pub assumes: bool,
}

impl Policy {
    /// Fewest kernels, best at small sizes.
    pub const INLINED: Self = Self { prologue: 64, repeats: 4 * STORE_COST, row_prologue: true, ..Self::FUSED };
    /// Few kernels. A tile of 32 columns loads each left element N/32 times, so transcendental operands are stored.
    pub const FUSED: Self = Self {
        bindings: 16,
        siblings: true,
        owned_columns: 512,
        prologue: 6,
        repeats: STORE_COST,
        row_prologue: false,
        stores_f16: false,
        inlined_columns: true,
        assumes: true,
    };
    /// Kernels that run on every device at every size.
    pub const SEPARATE: Self = Self {
        bindings: MAX_STORAGE_BUFFERS,
        siblings: false,
        owned_columns: 0,
        stores_f16: true,
        inlined_columns: false,
        assumes: false,
        ..Self::FUSED
    };
    /// All policies, fewest kernels first.
    pub const ALL: [Self; 3] = [Self::INLINED, Self::FUSED, Self::SEPARATE];
}

/// Partitions a graph into groups.
///
/// # Errors
/// A defect of this stage: storing a value did not make its consumer possible.
pub fn fuse(graph: &Graph, policy: Policy) -> Result<Groups, String> {
    Planner::new(graph, policy).plan()
}

/// Partitions a graph with `forced` materialized, for plan search.
///
/// # Errors
/// As [`fuse`].
pub fn fuse_with(graph: &Graph, policy: Policy, forced: &BTreeSet<NodeId>) -> Result<Groups, String> {
    let mut planner = Planner::new(graph, policy);
    planner.forced = forced.iter().map(|&node| index::strip_reshapes(graph, node)).collect();
    planner.refusals.clear();
    planner.plan()
}

#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// `None` for a pointwise kernel.
    anchor: Option<Anchor>,
    outputs: Vec<NodeId>,
    region: BTreeSet<NodeId>,
}

pub(crate) struct Planner<'g> {
    graph: &'g Graph,
    policy: Policy,
    uses_coordinates: Vec<bool>,
    live: BTreeSet<NodeId>,
    users: Vec<BTreeSet<NodeId>>,
    first_products: Vec<Option<NodeId>>,
    /// In simple operations per element, from materialized reductions and products.
    costs: Vec<u32>,
    attentions: Vec<attention_pattern::Pattern>,
    /// Parts of attentions and their gradients.
    recomputed: BTreeSet<NodeId>,
    results: Vec<NodeId>,
    results_of: BTreeMap<NodeId, Vec<usize>>,
    /// Nodes to materialize beyond results.
    forced: BTreeSet<NodeId>,
    copied: BTreeSet<u16>,
    apart: BTreeSet<NodeId>,
    refusals: Vec<Refusal>,
}

impl<'g> Planner<'g> {
    fn new(graph: &'g Graph, policy: Policy) -> Self {
        let mut live = live_nodes(graph);
        if !graph.options.no_fuse {
            // The kernel stores row statistics even if its output is unread.
            let unread = attention_gradient::unread_outputs(graph, &live);
            live = leading_to(graph, live.into_iter().chain(unread));
        }
        let results: Vec<NodeId> = graph.results.iter().map(|&result| index::strip_reshapes(graph, result)).collect();
        let mut results_of: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (number, &node) in results.iter().enumerate() {
            results_of.entry(node).or_default().push(number);
        }
        let mut users = vec![BTreeSet::new(); graph.nodes.len()];
        for &node in &live {
            for operand in graph.nodes[node].op.operands() {
                users[operand.index()].insert(node);
            }
        }
        let first_products = row_prologue::first_products(graph, &users);
        let mut planner = Self {
            graph,
            policy,
            uses_coordinates: index::uses_coordinates(graph),
            live,
            users,
            first_products,
            costs: heuristics::recompute_costs(graph),
            attentions: vec![],
            recomputed: BTreeSet::new(),
            results,
            results_of,
            forced: BTreeSet::new(),
            copied: BTreeSet::new(),
            apart: BTreeSet::new(),
            refusals: vec![],
        };
        if !graph.options.no_fuse {
            let recognized = attention::recognize(graph, &planner.live, policy.assumes, &planner.apart);
            planner.attentions = recognized.patterns;
            planner.find_recomputed();
            recognized.read.iter().for_each(|read| planner.refuse(read.node, read.by, read.reason));
        }
        planner.force_by_heuristics();
        for [value, _, comparison] in legality::compared_extremes(graph, &planner.live) {
            planner.refuse(value, comparison, "a kernel that computes it again may miss its own largest element");
            planner.forced.insert(value);
        }
        planner
    }

    fn plan(mut self) -> Result<Groups, String> {
        // Each failing round stores or copies more values, or separates more pairs.
        loop {
            let (forced, known) = (&self.forced, self.attentions.len());
            self.attentions.retain(|pattern| pattern.unstored().all(|node| !forced.contains(&node)));
            if self.attentions.len() < known {
                self.find_recomputed();
            }
            let (cuts, in_place) = self.cut();
            match self.build(&cuts, &in_place) {
                Ok(mut groups) => {
                    reasons::explain(self.graph, &mut groups, self.policy);
                    return Ok(groups);
                }
                Err(obstacles) => obstacles.into_iter().try_for_each(|obstacle| self.avoid(obstacle))?,
            }
        }
    }

    fn avoid(&mut self, obstacle: Obstacle) -> Result<(), String> {
        match obstacle {
            Obstacle::Needs(needs) => self.store(needs)?,
            Obstacle::Hazard(param) => _ = self.copied.insert(param),
            Obstacle::TooMany(products) => {
                self.apart.extend(products);
                if !self.attentions.is_empty() {
                    let recognized = attention::recognize(self.graph, &self.live, self.policy.assumes, &self.apart);
                    self.attentions = recognized.patterns;
                    self.find_recomputed();
                }
            }
        }
        Ok(())
    }

    fn force_by_heuristics(&mut self) {
        for (node, consumer, reason) in heuristics::values_to_store(
            self.graph,
            (&self.live, &self.users),
            &self.attentions,
            &self.costs,
            self.policy,
        ) {
            self.refuse(node, consumer, reason);
            self.forced.insert(index::strip_reshapes(self.graph, node));
        }
        if !self.graph.options.no_fuse {
            self.force_values_read_at_several_places();
        }
    }

    fn force_values_read_at_several_places(&mut self) {
        let unstored: BTreeSet<NodeId> =
            self.attentions.iter().flat_map(attention_pattern::Pattern::unstored).collect();
        let is_stored = |node| self.forced.contains(&node) || self.is_result(node);
        let found = recompute::read_at_several_places(self.graph, &self.users, is_stored, self.policy.repeats);
        for node in found.into_iter().filter(|node| !unstored.contains(node)) {
            let consumer = self.users[node.index()].last().copied().unwrap_or(node);
            self.refuse(node, consumer, "one kernel would compute it again at each place where it reads it");
            self.forced.insert(node);
        }
    }

    fn refuse(&mut self, producer: NodeId, consumer: NodeId, reason: &str) {
        let refusal = Refusal {
            producer: reasons::name(self.graph, producer).into(),
            consumer: reasons::name(self.graph, consumer).into(),
            reason: reason.to_owned().into(),
        };
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    fn store(&mut self, needs: NeedsStorage) -> Result<(), String> {
        self.refuse(needs.node, needs.consumer, needs.reason);
        let node = index::strip_reshapes(self.graph, needs.node);
        if self.forced.insert(node) {
            Ok(())
        } else {
            Err(format!("{node} is stored, yet {} cannot be computed: {}", needs.consumer, needs.reason))
        }
    }

    fn find_recomputed(&mut self) {
        let of_pattern =
            |pattern| attention_pattern::Pattern::unstored(pattern).filter(|node| !pattern.statistics.contains(node));
        self.recomputed = self.attentions.iter().flat_map(of_pattern).collect();
    }

    fn is_recomputed(&self, node: NodeId) -> bool {
        self.recomputed.contains(&node)
    }

    fn is_result(&self, node: NodeId) -> bool {
        self.results_of.contains_key(&node)
    }

    fn may_own_rows(&self, product: NodeId) -> bool {
        let Some(columns) = self.graph.nodes[product].ty.shape.last() else { return false };
        let most = self.policy.owned_columns;
        columns.as_constant().map_or(self.policy.assumes && most > 0, |columns| (1..=most).contains(&columns))
    }

    fn cut(&self) -> (Vec<Cut>, InPlace) {
        let mut regions = regions::regions(self);
        let needed = self.needed_in_memory(&regions, &regions::owners(&regions));
        rematerialize::leave(self, &mut regions, &needed);
        let owner = regions::owners(&regions);
        let needed = self.needed_in_memory(&regions, &owner);
        let mut cuts: Vec<Cut> = regions
            .into_iter()
            .map(|region| Cut {
                outputs: region.nodes.iter().copied().filter(|node| needed.contains(node)).collect(),
                anchor: Some(region.anchor),
                region: region.nodes,
            })
            .filter(|cut: &Cut| !cut.outputs.is_empty())
            .collect();
        let pointwise = needed.iter().copied().filter(|node| !owner.contains_key(node)).collect::<Vec<_>>();
        let first = cuts.len();
        cuts.extend(pointwise::singles(&pointwise));
        let mut dependencies = Dependencies::new(self.graph, &cuts);
        let in_place = in_place::ordered(self, &mut dependencies);
        pointwise::merge(self, (&mut cuts, first), &mut dependencies, &in_place);
        let order = dependencies.order();
        let mut cuts: Vec<Option<Cut>> = cuts.into_iter().map(Some).collect();
        (order.into_iter().filter_map(|number| cuts[number].take()).collect(), in_place)
    }

    fn needed_in_memory(&self, regions: &[Region], owner: &BTreeMap<NodeId, usize>) -> BTreeSet<NodeId> {
        let mut needed: BTreeSet<NodeId> = self.results_of.keys().copied().collect();
        needed.extend(self.forced.iter().copied().filter(|&node| !matches!(self.graph.nodes[node].op, Op::Input(_))));
        let inner: BTreeSet<NodeId> = regions.iter().flat_map(|region| region.movements.iter().copied()).collect();
        for &node in self.live.iter().filter(|node| !inner.contains(node)) {
            for operand in self.graph.nodes[node].op.operands() {
                // Movements inside a region rename values in registers.
                let mut source = operand;
                while let Some(x) = self.renamed(source, &inner) {
                    source = x;
                }
                let elsewhere = owner.contains_key(&source) && owner.get(&source) != owner.get(&node);
                if elsewhere && !self.is_recomputed(source) {
                    needed.insert(source);
                }
            }
        }
        needed
    }

    fn renamed(&self, node: NodeId, inner: &BTreeSet<NodeId>) -> Option<NodeId> {
        match self.graph.nodes[node].op {
            Op::Reshape(x) => Some(x),
            ref op if inner.contains(&node) => op.operands().first().copied(),
            _ => None,
        }
    }

    fn build(&self, cuts: &[Cut], in_place: &InPlace) -> Result<Groups, Vec<Obstacle>> {
        let (slots, temporaries) = self.slots(cuts, in_place);
        let stored = |node: NodeId| match self.graph.nodes[node].op {
            Op::Input(param) => Some(Slot::Param(param)),
            _ => slots.get(&node).and_then(|slots| slots.first().copied()),
        };
        let mut groups = Vec::with_capacity(cuts.len());
        let mut assumes = vec![];
        let (mut obstacles, mut concerned) = (vec![], BTreeSet::new());
        for cut in cuts {
            match self.group(cut, &slots, &stored, &mut assumes) {
                Ok((main, group)) => {
                    groups.push(Group { name: format!("{}.{}.{main}", self.graph.name, groups.len()), ..group });
                }
                Err(obstacle) => {
                    let mut computed = self.computed(cut, &stored);
                    if let Obstacle::Needs(needs) = &obstacle {
                        computed.insert(index::strip_reshapes(self.graph, needs.node));
                    }
                    if concerned.is_disjoint(&computed) {
                        obstacles.push(obstacle);
                    }
                    concerned.extend(computed);
                }
            }
        }
        if !obstacles.is_empty() {
            return Err(obstacles);
        }
        for group in in_place::copies(self, in_place, &slots).map_err(|needs| vec![needs.into()])? {
            groups.push(Group { name: format!("{}.{}.copy", self.graph.name, groups.len()), ..group });
        }
        let refusals = self.refusals.iter().cloned().chain(in_place::refusals(self, in_place)).collect();
        Ok(Groups { groups, temporaries, refusals, assumes })
    }

    fn computed(&self, cut: &Cut, stored: &dyn Fn(NodeId) -> Option<Slot>) -> BTreeSet<NodeId> {
        let roots: BTreeSet<NodeId> = cut.outputs.iter().chain(&cut.region).copied().collect();
        let outside = |node: NodeId| if roots.contains(&node) { None } else { stored(node) };
        let roots: Vec<NodeId> = roots.iter().copied().collect();
        let nodes = contraction::prologue_nodes(self, &roots, &outside).into_iter();
        nodes.filter(|&node| !self.graph.nodes[node].ty.elements().is_one()).collect()
    }

    fn group(
        &self,
        cut: &Cut,
        slots: &BTreeMap<NodeId, Vec<Slot>>,
        stored: &dyn Fn(NodeId) -> Option<Slot>,
        assumes: &mut Vec<Check>,
    ) -> Result<(String, Group), Obstacle> {
        let (main, group) = match &cut.anchor {
            None => ("pointwise".to_owned(), pointwise::group(self, cut, slots, stored)?),
            Some(Anchor::Products(products)) => {
                let group = contraction::group(self, cut, products, slots, stored)?;
                assumes.extend(contraction::assumptions(self.graph, &group));
                ("matmul".to_owned(), group)
            }
            Some(Anchor::Rows(rows)) => (reduction::name(self, cut), reduction::group(self, cut, rows, slots, stored)?),
            Some(Anchor::Attention(pattern)) => {
                let group = self.attention_group(cut, pattern, slots, stored)?;
                assumes.extend(attention::assumptions(self.graph, pattern));
                ("attention".to_owned(), group)
            }
            Some(Anchor::WeightedSums(sums)) => {
                let (graph, uses) = (self.graph, &self.uses_coordinates);
                let (group, values) = weighted_sum::group(graph, uses, stored, sums, &cut.region, &cut.outputs)?;
                ("weighted_sum".to_owned(), self.with_stores(group, cut, &values, slots))
            }
        };
        if let Some(param) = in_place::hazard(&group) {
            return Err(Obstacle::Hazard(param));
        }
        legality::check_bindings(self.graph, &group, self.policy.bindings, &self.forced)?;
        Ok((main, group))
    }

    fn attention_group(
        &self,
        cut: &Cut,
        pattern: &attention_pattern::Pattern,
        slots: &BTreeMap<NodeId, Vec<Slot>>,
        stored: &dyn Fn(NodeId) -> Option<Slot>,
    ) -> Result<Group, NeedsStorage> {
        let (graph, uses) = (self.graph, &self.uses_coordinates);
        let (group, values) = attention::group(graph, uses, stored, pattern, &cut.region, &cut.outputs)?;
        Ok(self.with_stores(group, cut, &values, slots))
    }

    /// Adds stores; permuted values and row statistics get accesses of their own.
    fn with_stores(&self, group: Group, cut: &Cut, values: &[ValueId], slots: &BTreeMap<NodeId, Vec<Slot>>) -> Group {
        let graph = self.graph;
        let rows = RowSpace { axes: vec![group.shape.len() - 1], shape: group.shape.clone() };
        let mut stores = Self::stores(&cut.outputs, values, slots);
        let is_row =
            |store: &Store| matches!(group.kind, GroupKind::Attention(_)) && is_of_row(&group.body, store.value);
        for store in &mut stores {
            if is_row(store) || matches!(graph.nodes[store.node].op, Op::Permute { .. }) {
                store.access = Some(reduction::store_access(graph, &rows, store.node, store.slot));
            }
        }
        // Generators index the accesses of other stores without them.
        stores.sort_by_key(is_row);
        Group { stores, ..group }
    }

    fn slots(&self, cuts: &[Cut], in_place: &InPlace) -> (BTreeMap<NodeId, Vec<Slot>>, Vec<NodeId>) {
        let mut slots: BTreeMap<NodeId, Vec<Slot>> = BTreeMap::new();
        let mut temporaries = vec![];
        for &node in cuts.iter().flat_map(|cut| &cut.outputs) {
            let results = self.results_of.get(&node).map_or(&[][..], Vec::as_slice).iter();
            let mut left = MOST_RESULTS;
            let mut places: Vec<Slot> = results
                .filter_map(|&i| match self.graph.updated_by(i) {
                    None if left == 0 => None,
                    None => {
                        left -= 1;
                        Some(Slot::Result(i as u16))
                    }
                    Some(param) => in_place.contains_key(&param).then_some(Slot::Param(param)),
                })
                .collect();
            if places.is_empty() {
                places.push(Slot::Temporary(temporaries.len() as u16));
                temporaries.push(node);
            }
            slots.insert(node, places);
        }
        (slots, temporaries)
    }

    fn stores(outputs: &[NodeId], values: &[ValueId], slots: &BTreeMap<NodeId, Vec<Slot>>) -> Vec<Store> {
        let pairs = outputs.iter().zip(values);
        pairs
            .flat_map(|(&node, &value)| slots[&node].iter().map(move |&slot| Store { node, value, slot, access: None }))
            .collect()
    }
}

pub(crate) enum Obstacle {
    Needs(NeedsStorage),
    /// Products or reductions of one kernel exceed the binding limit.
    TooMany(Vec<NodeId>),
    /// In-place hazard of this parameter.
    Hazard(u16),
}

impl From<NeedsStorage> for Obstacle {
    fn from(needs: NeedsStorage) -> Self {
        Self::Needs(needs)
    }
}

pub(crate) fn live_nodes(graph: &Graph) -> BTreeSet<NodeId> {
    leading_to(graph, graph.results.iter().copied())
}

fn leading_to(graph: &Graph, roots: impl Iterator<Item = NodeId>) -> BTreeSet<NodeId> {
    let mut live: BTreeSet<NodeId> = roots.collect();
    for id in graph.nodes.handles().rev() {
        if live.contains(&id) {
            live.extend(graph.nodes[id].op.operands());
        }
    }
    live
}
