//! Writes a trace as a `fuse!` function in a canonical spelling: equal graphs have equal sources.
//!
//! Names in order of occurrence: tensors `x0`, numbers `s0`, sizes `n0`, values `v0`, extents `A`. The source is the
//! key of compiled functions and can be pasted into a crate.

use std::{fmt::Write, sync::Arc};

use fuse_artifact::{Size, SymbolId};
use smallvec::{SmallVec, smallvec};

use crate::{
    node::{Node, value::Value},
    op::{Op, extent::Extent},
    shape::{
        infer::{self, Dims, infer},
        symbols::{Required, Symbols},
    },
    trace::{Ref, Trace},
};

#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// `pub fn lazy_0123456789abcdef(…) -> … { … }`.
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) required: Vec<Required>,
    pub(crate) bytes: Vec<Size>,
    pub(crate) in_memory: Vec<usize>,
}

impl Source {
    /// A source that an earlier run wrote.
    ///
    /// # Errors
    /// If its checksum shows that [`source`] would write another.
    pub(crate) fn kept(text: String) -> Result<Self, String> {
        let line = text.lines().next().unwrap_or_default().to_owned();
        let damaged = || format!("damaged: `{line}`");
        let (attributes, function) = text.split_once("pub fn ").ok_or_else(damaged)?;
        let (name, rest) = function.split_at(function.find('(').ok_or_else(damaged)?);
        if name != name_of(attributes, rest) {
            return Err(damaged());
        }
        let name = name.to_owned();
        Ok(Self { text, name, required: vec![], bytes: vec![], in_memory: vec![] })
    }
}

/// Function name: a checksum of its source.
fn name_of(attributes: &str, rest: &str) -> String {
    format!("lazy_{:016x}", fnv(attributes.bytes().chain(rest.bytes())))
}

/// Source of a trace's function, preceded by `attributes`.
///
/// # Errors
/// If shapes contradict those of recording: a defect of this crate.
pub(crate) fn source(trace: &Trace, attributes: &str) -> Result<Source, String> {
    Writer::new(trace)?.write(attributes)
}

struct Writer<'t> {
    trace: &'t Trace,
    symbols: Symbols,
    shapes: Vec<Dims<Size>>,
    named: Vec<SymbolId>,
    /// Symbols of the size arguments, each as a shape of one axis.
    sizes: Vec<Dims<Size>>,
    /// Size arguments that occur in the source.
    used: Vec<bool>,
    /// Names per node: several for a gradient, else one.
    names: Vec<Vec<String>>,
    /// True for operands and results; other nodes are read for their extents only.
    read: Vec<bool>,
}

impl<'t> Writer<'t> {
    fn new(trace: &'t Trace) -> Result<Self, String> {
        let mut symbols = Symbols::default();
        let leaf_shape = |(leaf, _): &(u32, Value)| -> Dims<Size> {
            trace.nodes[*leaf as usize].shape.iter().map(|&extent| symbols.axis(extent)).collect()
        };
        let leaves: Vec<Dims<Size>> = trace.leaves.iter().map(leaf_shape).collect();
        let sizes: Vec<Dims<Size>> = trace.sizes.iter().map(|&size| smallvec![symbols.argument(size)]).collect();
        let mut leaves = leaves.into_iter();
        let mut shapes: Vec<Dims<Size>> = Vec::with_capacity(trace.nodes.len());
        for (index, node) in trace.nodes.iter().enumerate() {
            let leaf = if trace.is_leaf(index) { leaves.next() } else { None };
            let shape = match leaf {
                Some(shape) => shape,
                None => infer_node(trace, index, (&shapes, &sizes), &mut symbols)
                    .map_err(|misfit| format!("`{}`: {}", node.op.name(), misfit.message))?,
            };
            shapes.push(shape);
        }
        let used = vec![false; sizes.len()];
        Ok(Self { trace, symbols, shapes, named: vec![], sizes, used, names: vec![], read: read(trace) })
    }

    fn write(mut self, attributes: &str) -> Result<Source, String> {
        self.make_writable();
        let mut parameters = self.parameters();
        let body = self.statements(None, &mut 0);
        let results: Vec<String> = self.trace.outputs.iter().map(|&output| self.type_of(output as usize)).collect();
        for (position, used) in self.used.iter().enumerate() {
            parameters.push(format!("{}n{position}: u32", if *used { "" } else { "_" }));
        }
        let parameters = parameters.join(", ");
        let values: Vec<&str> = self.trace.outputs.iter().map(|&output| &*self.names[output as usize][0]).collect();
        let rest = format!("({parameters}) -> {} {{\n{body}    {}\n}}\n", tuple(&results), tuple(&values));
        let name = name_of(attributes, &rest);
        let text = format!("{attributes}pub fn {name}{rest}");
        let bytes = |(node, shape): (&Arc<Node>, &Dims<Size>)| {
            let elements = self.symbols.resolved(&Size::product(shape));
            elements.mul(&Size::constant(node.dtype.bytes()))
        };
        let bytes = self.trace.nodes.iter().zip(&self.shapes).map(bytes).collect();
        Ok(Source { text, name, bytes, required: self.symbols.required, in_memory: vec![] })
    }

    fn make_writable(&mut self) {
        loop {
            let before = self.symbols.required.len();
            for index in 0..self.trace.nodes.len() {
                let given = self.given(index);
                let sizes: Vec<Size> = self.shapes[index].iter().chain(&given).cloned().collect();
                sizes.iter().for_each(|size| self.symbols.keep_writable(size));
            }
            if self.symbols.required.len() == before {
                return;
            }
        }
    }

    fn given(&mut self, index: usize) -> Dims<Size> {
        let extents: SmallVec<[Extent; 6]> = match &self.trace.nodes[index].op {
            Op::Reshape(sizes) | Op::BroadcastTo(sizes) | Op::OneHot(sizes) | Op::GroupNorm(sizes) => sizes.extents(),
            Op::Pad(_, sizes) | Op::Repeat(_, _, sizes) => sizes.extents(),
            Op::Slice { bounds, .. } => bounds.iter().flatten().cloned().collect(),
            _ => return Dims::new(),
        };
        if self.trace.is_leaf(index) {
            return Dims::new();
        }
        let inputs = input_shapes(self.trace, index, (&self.shapes, &self.sizes));
        infer::extents(&extents, &inputs, &mut self.symbols)
    }

    /// Tensors and numbers, without sizes: only the body shows which of them occur.
    fn parameters(&mut self) -> Vec<String> {
        let mut parts = vec![];
        self.names = vec![vec![]; self.trace.nodes.len()];
        for (position, (leaf, _)) in self.trace.leaves.iter().enumerate() {
            let index = *leaf as usize;
            // The language requires an underscore for unused parameters.
            let name = if self.read[index] { format!("x{position}") } else { format!("_x{position}") };
            parts.push(format!("{name}: {}", self.type_of(index)));
            self.names[index] = vec![name];
        }
        for (position, (dtype, _)) in self.trace.numbers.iter().enumerate() {
            parts.push(format!("s{position}: {}", dtype.name()));
        }
        parts
    }

    fn type_of(&mut self, index: usize) -> String {
        let node = &self.trace.nodes[index];
        let element = match self.trace.packing(index) {
            Some(packing) => packing.name(),
            None => node.dtype.name(),
        };
        let sizes: Vec<String> = self.shapes[index].clone().iter().map(|size| self.size(size)).collect();
        format!("{element}[{}]", sizes.join(", "))
    }

    fn size(&mut self, size: &Size) -> String {
        let size = self.symbols.resolved(size);
        for term in size.terms.iter() {
            for symbol in term.symbols.iter() {
                match self.symbols.argument_position(*symbol) {
                    Some(position) => self.used[position] = true,
                    None if !self.named.contains(symbol) => self.named.push(*symbol),
                    None => {}
                }
            }
        }
        let axes: Vec<String> = (0..self.named.len()).map(symbol_name).collect();
        let sizes: Vec<String> = (0..self.used.len()).map(|position| format!("n{position}")).collect();
        let name = |symbol: SymbolId| {
            let size = self.symbols.argument_position(symbol).and_then(|position| sizes.get(position));
            let axis = || self.named.iter().position(|named| *named == symbol).and_then(|position| axes.get(position));
            size.or_else(axis).map_or("", String::as_str)
        };
        size.display(name).to_string()
    }

    /// Statements of the body or of a checkpoint's block; `count` numbers values.
    fn statements(&mut self, owner: Option<usize>, count: &mut usize) -> String {
        let mut text = String::new();
        for index in 0..self.trace.nodes.len() {
            if self.trace.is_leaf(index) || self.trace.owner(index) != owner {
                continue;
            }
            if let (Op::Part(number), [Ref::Node(of)]) = (&self.trace.nodes[index].op, self.trace.inputs(index)) {
                self.names[index] = vec![self.names[*of as usize][usize::from(*number)].clone()];
                continue;
            }
            let expression = match self.trace.nodes[index].op {
                Op::Checkpoint(..) => {
                    let within = self.statements(Some(index), count);
                    let value = self.operand(index, 0);
                    if within.is_empty() {
                        format!("checkpoint({value})")
                    } else {
                        format!("checkpoint({{\n{within}    {value}\n    }})")
                    }
                }
                _ => self.expression(index),
            };
            let unread = |is_read: bool| if is_read { "" } else { "_" };
            let names: Vec<String> = match self.results(index) {
                1 => vec![format!("{}v{count}", unread(self.read[index] || self.is_part_read(index, 0)))],
                results => {
                    let part = |part| format!("{}v{count}_{part}", unread(self.is_part_read(index, part)));
                    (0..results).map(part).collect()
                }
            };
            *count += 1;
            _ = writeln!(text, "    let {} = {expression};", tuple(&names));
            self.names[index] = names;
        }
        text
    }

    fn is_part_read(&self, index: usize, part: usize) -> bool {
        let is_part = |node: &usize| {
            matches!(self.trace.nodes[*node].op, Op::Part(number) if usize::from(number) == part)
                && self.trace.inputs(*node) == [Ref::Node(index as u32)]
        };
        (index + 1..self.trace.nodes.len()).filter(is_part).any(|node| self.read[node])
    }

    fn results(&self, index: usize) -> usize {
        match self.trace.nodes[index].op {
            Op::Grad { cotangent } => self.trace.inputs(index).len() - 1 - usize::from(cotangent),
            _ => 1,
        }
    }

    fn operand(&self, index: usize, input: usize) -> String {
        match self.trace.inputs(index)[input] {
            Ref::Node(node) => self.names[node as usize][0].clone(),
            Ref::Number(number) => format!("s{number}"),
            Ref::Size(size) => format!("n{size}"),
        }
    }

    fn expression(&mut self, index: usize) -> String {
        let node = &self.trace.nodes[index];
        let given: Vec<String> = self.given(index).iter().map(|size| self.size(size)).collect();
        let inputs = self.trace.inputs(index).len();
        let operands: Vec<String> = (0..node.op.operands(inputs)).map(|input| self.operand(index, input)).collect();
        let x = operands.first().cloned().unwrap_or_default();
        let all = operands.join(", ");
        let but_last = || operands[..operands.len().saturating_sub(1)].join(", ");
        let last = operands.last().cloned().unwrap_or_default();
        let name = node.op.name();
        match &node.op {
            Op::Pointwise(operation) => match (operation.symbol, operands.as_slice()) {
                (Some(symbol), [x]) => format!("{symbol}{x}"),
                (Some(symbol), [x, y]) => format!("{x} {symbol} {y}"),
                _ => format!("{name}({all})"),
            },
            Op::Cast(dtype) => format!("{x} as {}", dtype.name()),
            Op::Scaled(_, option) => format!("{name}({x}, {option} = {last})"),
            Op::Permute(axes) => {
                let axes: Vec<String> = axes.iter().map(|axis| axis.to_string()).collect();
                format!("permute({x}, [{}])", axes.join(", "))
            }
            Op::Reshape(_) | Op::BroadcastTo(_) => format!("{name}({x}, [{}])", given.join(", ")),
            Op::Slice { axis, bounds } => {
                let keys = ["start", "end"].into_iter().zip(bounds.iter()).filter(|(_, bound)| bound.is_some());
                let bounds: Vec<String> =
                    keys.zip(&given).map(|((key, _), size)| format!(", {key} = {size}")).collect();
                format!("slice({x}, axis = {axis}{})", bounds.concat())
            }
            Op::Squeeze(axis)
            | Op::Unsqueeze(axis)
            | Op::Index(axis)
            | Op::Row(_, axis)
            | Op::Glu(axis)
            | Op::Dequantize(axis) => format!("{name}({x}, axis = {axis})"),
            Op::Gather(axis) | Op::CrossEntropy(axis) => format!("{name}({all}, axis = {axis})"),
            Op::Reduce(_, over) => {
                let mut text = format!("{name}({x}");
                if let Some(axes) = over.axes {
                    text += &format!(", axis = {}", list((0..8).filter(|axis| axes >> axis & 1 == 1)));
                }
                if over.keepdim {
                    text += ", keepdim = true";
                }
                if over.correction != 0 {
                    text += &format!(", correction = {}", over.correction);
                }
                text + ")"
            }
            Op::Norm(_, axis) => format!("{name}({}, axis = {axis}, eps = {last})", but_last()),
            Op::GroupNorm(_) => format!("group_norm({}, groups = {}, eps = {last})", but_last(), given.concat()),
            Op::Concat(axis) | Op::Stack(axis) => format!("{name}([{all}], axis = {axis})"),
            Op::Flip(axes) => format!("flip({x}, axis = {})", list(axes.iter())),
            Op::OneHot(_) => format!("one_hot({x}, classes = {})", given.concat()),
            Op::Pad(axis, _) => {
                format!("pad({x}, axis = {axis}, before = {}, after = {}, value = {last})", given[0], given[1])
            }
            Op::Roll(axis) => format!("roll({x}, axis = {axis}, shift = {last})"),
            Op::Repeat(_, axis, _) => format!("{name}({x}, axis = {axis}, times = {})", given.concat()),
            Op::Triangle(_) => format!("{name}({x}, diagonal = {last})"),
            Op::Grad { cotangent } => {
                let (seed, wrt) = if *cotangent { (2, &operands[2..]) } else { (1, &operands[1..]) };
                let seed = if seed == 2 { format!(", cotangent = {}", operands[1]) } else { String::new() };
                match wrt {
                    [only] => format!("grad({x}, wrt = {only}{seed})"),
                    wrt => format!("grad({x}, wrt = [{}]{seed})", wrt.join(", ")),
                }
            }
            Op::Call(_) | Op::Matmul | Op::Dot | Op::Outer | Op::Transpose | Op::Dropout | Op::StopGradient => {
                format!("{name}({all})")
            }
            // Never written here: tensors are parameters, gradients name parts, checkpoints are blocks.
            Op::Leaf | Op::Part(_) | Op::Checkpoint(..) => x,
        }
    }
}

fn read(trace: &Trace) -> Vec<bool> {
    let mut read = vec![false; trace.nodes.len()];
    trace.outputs.iter().for_each(|&output| read[output as usize] = true);
    for (index, node) in trace.nodes.iter().enumerate() {
        // Leaves have no operands; readers of a gradient's part count for each part.
        if trace.is_leaf(index) || matches!(node.op, Op::Part(_)) {
            continue;
        }
        let inputs = trace.inputs(index);
        for input in &inputs[..node.op.operands(inputs.len())] {
            if let Ref::Node(input) = *input {
                read[input as usize] = true;
            }
        }
    }
    read
}

/// Shapes of nodes, and of size arguments.
type Known<'s> = (&'s [Dims<Size>], &'s [Dims<Size>]);

fn input_shapes<'s>(trace: &Trace, index: usize, (shapes, sizes): Known<'s>) -> Vec<&'s [Size]> {
    let of = |input: &Ref| match input {
        Ref::Node(node) => shapes[*node as usize].as_slice(),
        Ref::Number(_) => &[],
        Ref::Size(size) => sizes[*size as usize].as_slice(),
    };
    trace.inputs(index).iter().map(of).collect()
}

fn infer_node(
    trace: &Trace,
    index: usize,
    shapes: Known<'_>,
    symbols: &mut Symbols,
) -> Result<Dims<Size>, infer::ShapeError> {
    let mut inputs = input_shapes(trace, index, shapes);
    let op = &trace.nodes[index].op;
    if let (Op::Part(number), Some(Ref::Node(of))) = (op, trace.inputs(index).first()) {
        // A gradient has the shape of the differentiated value.
        let of = *of as usize;
        let cotangent = matches!(trace.nodes[of].op, Op::Grad { cotangent: true });
        let wrt = input_shapes(trace, of, shapes)[1 + usize::from(cotangent) + usize::from(*number)];
        inputs[0] = wrt;
    }
    infer(op, &inputs, symbols)
}

fn tuple(parts: &[impl AsRef<str>]) -> String {
    match parts {
        [only] => only.as_ref().to_owned(),
        parts => format!("({})", parts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
    }
}

fn list(axes: impl Iterator<Item = usize>) -> String {
    let axes: Vec<String> = axes.map(|axis| axis.to_string()).collect();
    match axes.as_slice() {
        [only] => only.clone(),
        _ => format!("[{}]", axes.join(", ")),
    }
}

fn symbol_name(position: usize) -> String {
    let letter = char::from(b'A' + (position % 26) as u8);
    if position < 26 { letter.to_string() } else { format!("{letter}{}", position / 26) }
}

/// 64-bit FNV-1a (Fowler, Noll, Vo).
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
