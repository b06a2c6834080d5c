//! Dependencies between kernels before they are built.
//!
//! A kernel waits for producers of its inputs, and if it writes a parameter in place, for other readers of the old
//! value. Kernels may merge if this creates no cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::Cut;
use crate::graph::{Graph, NodeId, Op};

pub(super) type InPlace = BTreeMap<u16, NodeId>;

pub(super) struct Dependencies {
    needs: Vec<BTreeSet<usize>>,
    users: Vec<BTreeSet<usize>>,
    merged: Vec<bool>,
    producer: BTreeMap<NodeId, usize>,
    readers: BTreeMap<u16, BTreeSet<usize>>,
    params: BTreeMap<u16, NodeId>,
    reads: Vec<BTreeSet<NodeId>>,
}

impl Dependencies {
    pub(super) fn new(graph: &Graph, cuts: &[Cut]) -> Self {
        let outputs =
            |(number, cut): (usize, &Cut)| cut.outputs.iter().map(move |&node| (node, number)).collect::<Vec<_>>();
        let mut found = Self {
            needs: vec![BTreeSet::new(); cuts.len()],
            users: vec![BTreeSet::new(); cuts.len()],
            merged: vec![false; cuts.len()],
            producer: cuts.iter().enumerate().flat_map(outputs).collect(),
            readers: BTreeMap::new(),
            params: BTreeMap::new(),
            reads: vec![BTreeSet::new(); cuts.len()],
        };
        for (number, cut) in cuts.iter().enumerate() {
            found.read(graph, number, cut);
        }
        found
    }

    fn read(&mut self, graph: &Graph, number: usize, cut: &Cut) {
        let mut seen = BTreeSet::new();
        let mut pending: Vec<NodeId> = cut.outputs.iter().chain(&cut.region).copied().collect();
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Op::Input(param) = graph.nodes[node].op {
                self.readers.entry(param).or_default().insert(number);
                self.params.insert(param, node);
                self.reads[number].insert(node);
                continue;
            }
            match self.producer.get(&node) {
                Some(&other) if other != number => {
                    self.wait(number, other);
                    self.reads[number].insert(node);
                }
                _ => pending.extend(graph.nodes[node].op.operands()),
            }
        }
    }

    fn wait(&mut self, number: usize, other: usize) {
        self.needs[number].insert(other);
        self.users[other].insert(number);
    }

    /// Lets the producer of `node` write `param` in place after all other readers; fails if one depends on it.
    pub(super) fn write_in_place(&mut self, param: u16, node: NodeId) -> bool {
        let (Some(&writer), Some(readers)) = (self.producer.get(&node), self.readers.get(&param)) else { return true };
        let mut readers = readers.clone();
        readers.remove(&writer);
        let later = beyond(&self.users, self.users[writer].iter().copied());
        if readers.iter().any(|reader| self.users[writer].contains(reader) || later[*reader]) {
            return false;
        }
        readers.into_iter().for_each(|reader| self.wait(writer, reader));
        true
    }

    /// Cuts whose merge with `number` would form a cycle.
    pub(super) fn parted_from(&self, number: usize) -> Vec<bool> {
        let [before, after] = [&self.needs, &self.users].map(|edges| beyond(edges, edges[number].iter().copied()));
        before.into_iter().zip(after).map(|(before, after)| before || after).collect()
    }

    /// Lower bound of each cut's buffers, as parameters and stored nodes.
    pub(super) fn buffers(&self, cuts: &[Cut], in_place: &InPlace) -> Vec<BTreeSet<NodeId>> {
        let params: BTreeMap<NodeId, NodeId> =
            in_place.iter().filter_map(|(param, &node)| Some((node, *self.params.get(param)?))).collect();
        let stored = |node: &NodeId| params.get(node).copied().unwrap_or(*node);
        let all = |(cut, reads): (&Cut, &BTreeSet<NodeId>)| cut.outputs.iter().chain(reads).map(stored).collect();
        cuts.iter().zip(&self.reads).map(all).collect()
    }

    /// Merges `number`; [`parted_from`](Self::parted_from) must permit it.
    pub(super) fn merge(&mut self, into: usize, number: usize) {
        for other in std::mem::take(&mut self.needs[number]) {
            self.users[other].remove(&number);
            if other != into {
                self.wait(into, other);
            }
        }
        for other in std::mem::take(&mut self.users[number]) {
            self.needs[other].remove(&number);
            if other != into {
                self.wait(other, into);
            }
        }
        self.merged[number] = true;
    }

    /// Topological order, smaller numbers first; incomplete if there is a cycle.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut left: Vec<usize> = self.needs.iter().map(BTreeSet::len).collect();
        let mut ready: BTreeSet<usize> = (0..left.len()).filter(|&i| left[i] == 0 && !self.merged[i]).collect();
        let mut ordered = Vec::with_capacity(left.len());
        while let Some(next) = ready.pop_first() {
            ordered.push(next);
            for &user in &self.users[next] {
                left[user] -= 1;
                if left[user] == 0 {
                    ready.insert(user);
                }
            }
        }
        ordered
    }
}

fn beyond(edges: &[BTreeSet<usize>], start: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut found = vec![false; edges.len()];
    let mut pending: Vec<usize> = start.collect();
    while let Some(number) = pending.pop() {
        for &next in &edges[number] {
            if !std::mem::replace(&mut found[next], true) {
                pending.push(next);
            }
        }
    }
    found
}
