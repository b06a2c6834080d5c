//! Extracts values of a graph into a separate one.
//!
//! Input: a graph, wanted and given values. Output: a graph whose parameters are those that the wanted values need,
//! then the given values. Any tensor with a dimension as an axis determines it.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Check, Size, Symbol, SymbolId, SymbolSource, Term};

use crate::{
    arena::Arena,
    graph::{FunctionOptions, Graph, Node, NodeId, Op, Param, Quantized, TensorType, free_name},
};

/// Values to extract.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Name.
    pub name: String,
    /// Results.
    pub results: &'a [NodeId],
    /// Parameters to keep even if unread.
    pub params: BTreeSet<u16>,
    /// Values computed elsewhere: tensor parameters.
    pub given: BTreeSet<NodeId>,
}

/// Extracts a graph. Also returns the old parameters and the given values that became its parameters.
pub fn part(graph: &Graph, part: Part<'_>) -> (Graph, Vec<u16>, Vec<NodeId>) {
    let Part { name, results, params, given } = part;
    let live = live(graph, results, &given);
    let given: Vec<NodeId> = given.into_iter().filter(|node| live.contains(node)).collect();
    let mut cut = Cut { graph, live, params, given, symbols: BTreeMap::new() };
    cut.params.extend(cut.live.iter().filter_map(|&node| param_of(&graph.nodes[node].op)));
    let needed = cut.bind_symbols();
    let sources: Vec<_> = needed.iter().map(|&id| (id, cut.source(id))).collect();
    cut.symbols = needed.into_iter().enumerate().map(|(at, id)| (id, at as SymbolId)).collect();
    let part = cut.graph(name, results, sources);
    (part, cut.params.into_iter().collect(), cut.given)
}

fn live(graph: &Graph, results: &[NodeId], given: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let (mut live, mut pending) = (BTreeSet::new(), results.to_vec());
    while let Some(node) = pending.pop() {
        if live.insert(node) && !given.contains(&node) {
            pending.extend(graph.nodes[node].op.operands());
        }
    }
    live
}

fn param_of(op: &Op) -> Option<u16> {
    match op {
        Op::Input(index) | Op::Dequantize(index) | Op::Scalar(index) => Some(*index),
        _ => None,
    }
}

struct Cut<'a> {
    graph: &'a Graph,
    live: BTreeSet<NodeId>,
    params: BTreeSet<u16>,
    given: Vec<NodeId>,
    /// New symbols by old ones, in equal order, so that sizes stay in normal form.
    symbols: BTreeMap<SymbolId, SymbolId>,
}

impl Cut<'_> {
    /// Mentioned symbols. Adds parameters for those that no tensor determines.
    fn bind_symbols(&mut self) -> BTreeSet<SymbolId> {
        loop {
            let needed = self.mentioned();
            let untold = needed.iter().find_map(|&id| match self.graph.symbols[usize::from(id)].source {
                SymbolSource::Axis { param, .. } | SymbolSource::Scalar { param } if self.source(id).is_none() => {
                    Some(param)
                }
                _ => None,
            });
            match untold {
                Some(param) => self.params.insert(param),
                None => return needed,
            };
        }
    }

    fn mentioned(&self) -> BTreeSet<SymbolId> {
        let mut pending: Vec<SymbolId> = vec![];
        let mut add = |size: &Size| pending.extend(size.terms.iter().flat_map(|term| term.symbols.iter()));
        for &node in &self.live {
            let Node { op, ty, .. } = &self.graph.nodes[node];
            ty.shape.iter().for_each(&mut add);
            if let Op::Size(size) | Op::Slice { start: size, .. } = op {
                add(size);
            }
        }
        for &param in &self.params {
            let Param { ty, quantized, .. } = &self.graph.params[usize::from(param)];
            ty.shape.iter().for_each(&mut add);
            if let Some(Quantized { packing: _, axis: _, blocks, groups, group, scale_words }) = quantized {
                [blocks, groups, group, scale_words].into_iter().for_each(&mut add);
            }
        }
        let mut mentioned = BTreeSet::new();
        while let Some(id) = pending.pop() {
            if mentioned.insert(id) {
                let mut add = |size: &Size| pending.extend(size.terms.iter().flat_map(|term| term.symbols.iter()));
                match &self.graph.symbols[usize::from(id)].source {
                    SymbolSource::Axis { .. } | SymbolSource::Scalar { .. } => {}
                    SymbolSource::Broadcast(sizes) => sizes.iter().for_each(&mut add),
                    SymbolSource::Quotient { dividend, divisor } => [dividend, divisor].into_iter().for_each(&mut add),
                }
            }
        }
        mentioned
    }

    fn source(&self, id: SymbolId) -> Option<SymbolSource> {
        let position = |param: u16| self.params.iter().position(|&own| own == param).map(|position| position as u16);
        let own = match self.graph.symbols[usize::from(id)].source {
            SymbolSource::Axis { param, axis } => position(param).map(|param| SymbolSource::Axis { param, axis }),
            SymbolSource::Scalar { param } => position(param).map(|param| SymbolSource::Scalar { param }),
            SymbolSource::Broadcast(_) | SymbolSource::Quotient { .. } => return None,
        };
        if own.is_some() {
            return own;
        }
        let params = self.params.iter().map(|&param| {
            let Param { ty, quantized, .. } = &self.graph.params[usize::from(param)];
            if quantized.is_none() { &ty.shape[..] } else { &[] }
        });
        let given = self.given.iter().map(|&node| &self.graph.nodes[node].ty.shape[..]);
        params.chain(given).enumerate().find_map(|(position, shape)| {
            let axis = shape.iter().position(|size| size.as_symbol() == Some(id))?;
            Some(SymbolSource::Axis { param: position as u16, axis: axis as u8 })
        })
    }

    fn graph(&self, name: String, results: &[NodeId], sources: Vec<(SymbolId, Option<SymbolSource>)>) -> Graph {
        let params = self.params.iter().map(|&param| self.param(&self.graph.params[usize::from(param)]));
        let names: Vec<String> =
            self.params.iter().map(|&param| self.graph.params[usize::from(param)].name.clone()).collect();
        let given = self.given.iter().enumerate().map(|(i, &node)| Param {
            name: free_name(&format!("kept_{i}"), &names),
            ty: self.ty(&self.graph.nodes[node].ty),
            scalar: false,
            padded: false,
            quantized: None,
        });
        let symbols = sources.into_iter().map(|(id, source)| {
            let Symbol { name, source: original } = &self.graph.symbols[usize::from(id)];
            let source = source.unwrap_or_else(|| match original {
                SymbolSource::Axis { .. } | SymbolSource::Scalar { .. } => original.clone(),
                SymbolSource::Broadcast(sizes) => {
                    SymbolSource::Broadcast(sizes.iter().map(|size| self.size(size)).collect())
                }
                SymbolSource::Quotient { dividend, divisor } => {
                    SymbolSource::Quotient { dividend: self.size(dividend), divisor: self.size(divisor) }
                }
            });
            Symbol { name: name.clone(), source }
        });
        let known = |size: &Size| {
            size.terms.iter().flat_map(|term| term.symbols.iter()).all(|symbol| self.symbols.contains_key(symbol))
        };
        let checks = self.graph.checks.iter().filter(|check| known(&check.left) && known(&check.right));
        let (nodes, places) = self.nodes();
        Graph {
            name,
            params: params.chain(given).collect(),
            symbols: symbols.collect(),
            checks: checks
                .map(|check| Check { left: self.size(&check.left), right: self.size(&check.right), ..check.clone() })
                .collect(),
            nodes,
            results: results.iter().map(|node| places[node]).collect(),
            updates: Vec::new(),
            gradients: self.graph.gradients.clone(),
            statements: vec![],
            // WebNN was checked for the original.
            options: FunctionOptions { webnn: false, ..self.graph.options.clone() },
        }
    }

    fn nodes(&self) -> (Arena<Node>, BTreeMap<NodeId, NodeId>) {
        let (mut nodes, mut places) = (Arena::default(), BTreeMap::new());
        let position = |param: u16| self.params.iter().position(|&own| own == param).map(|at| at as u16);
        for (id, node) in self.graph.nodes.iter() {
            let read = param_of(&node.op);
            if !self.live.contains(&id) && read.and_then(position).is_none() {
                continue;
            }
            let given = self.given.iter().position(|&given| given == id);
            let mut op = match (given, read.and_then(position)) {
                (Some(given), _) => Op::Input((self.params.len() + given) as u16),
                (None, Some(param)) => match node.op {
                    Op::Dequantize(_) => Op::Dequantize(param),
                    Op::Scalar(_) => Op::Scalar(param),
                    _ => Op::Input(param),
                },
                (None, None) => node.op.clone(),
            };
            if let Op::Size(size) | Op::Slice { start: size, .. } = &mut op {
                *size = self.size(size);
            }
            op.operands_mut().into_iter().for_each(|operand| *operand = places[operand]);
            places.insert(id, nodes.push(Node { op, ty: self.ty(&node.ty), span: node.span }));
        }
        (nodes, places)
    }

    fn param(&self, param: &Param) -> Param {
        let quantized = param.quantized.as_ref().map(|quantized| Quantized {
            packing: quantized.packing,
            axis: quantized.axis,
            blocks: self.size(&quantized.blocks),
            groups: self.size(&quantized.groups),
            group: self.size(&quantized.group),
            scale_words: self.size(&quantized.scale_words),
        });
        Param { ty: self.ty(&param.ty), quantized, ..param.clone() }
    }

    fn ty(&self, ty: &TensorType) -> TensorType {
        TensorType::new(ty.dtype, ty.shape.iter().map(|size| self.size(size)).collect())
    }

    fn size(&self, size: &Size) -> Size {
        let term = |term: &Term| Term {
            symbols: term.symbols.iter().map(|symbol| self.symbols[symbol]).collect(),
            coefficient: term.coefficient,
        };
        Size { terms: size.terms.iter().map(term).collect() }
    }
}
