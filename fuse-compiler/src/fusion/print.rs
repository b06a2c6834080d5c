//! Canonical text of groups, for goldens and `FUSE_DUMP_DIR`.

use std::fmt::Write;

use fuse_artifact::{Size, Slot, Space};

use super::{
    Group, GroupKind, Groups,
    body::{Body, KernelAccess, ValueOp},
};
use crate::graph::{Graph, Literal};

/// Prints all groups and refusals.
pub fn print(graph: &Graph, groups: &Groups) -> String {
    let mut text = String::new();
    for group in &groups.groups {
        print_group(graph, group, &mut text);
    }
    for refusal in &groups.refusals {
        text += &format!("not fused: {} into {}: {}\n", refusal.producer, refusal.consumer, refusal.reason);
    }
    text
}

/// Formats a size with names.
pub fn size(graph: &Graph, size: &Size) -> String {
    size.display(|id| graph.symbols[usize::from(id)].name.as_ref()).to_string()
}

/// Formats a shape with names, for example `[M, 64]`.
pub fn shape(graph: &Graph, sizes: &[Size]) -> String {
    format!("[{}]", sizes.iter().map(|s| size(graph, s)).collect::<Vec<_>>().join(", "))
}

/// Name of a slot.
pub fn slot(graph: &Graph, slot: Slot) -> String {
    match slot {
        Slot::Param(i) => graph.params[usize::from(i)].name.clone(),
        Slot::Scales(i) => format!("scales of {}", graph.params[usize::from(i)].name),
        Slot::Temporary(i) => format!("temporary{i}"),
        Slot::Result(i) => format!("result{i}"),
        Slot::Scratch => "scratch".to_owned(),
    }
}

fn print_group(graph: &Graph, group: &Group, text: &mut String) {
    let _ = writeln!(
        text,
        "{} over {}{}",
        group.name,
        shape(graph, &group.shape),
        if group.fixed { " (fixed)" } else { "" }
    );
    for (i, access) in group.accesses.iter().enumerate() {
        let _ = writeln!(text, "  a{i} = {}", access_text(graph, access));
    }
    let mut programs: Vec<(&str, &Body, Vec<usize>)> = vec![];
    match &group.kind {
        GroupKind::Pointwise => {}
        GroupKind::Reduction(reduction) => {
            let _ = writeln!(text, "  reduces the last {}", reduction.axes);
        }
        GroupKind::Contraction(contraction) => {
            let _ = writeln!(text, "  depth {}", size(graph, &contraction.depth));
            programs.push(one("lhs", &contraction.lhs));
            programs.extend(contraction.rhs.iter().map(|rhs| one("rhs", rhs)));
        }
        GroupKind::Attention(attention) => {
            let _ = writeln!(text, "  keys {}, depth {}", size(graph, &attention.keys), size(graph, &attention.depth));
            programs.extend([one("query", &attention.query), one("key", &attention.key)]);
            programs.extend([one("score", &attention.score), one("value", &attention.value)]);
        }
        GroupKind::WeightedSum(sum) => {
            let _ = writeln!(text, "  keys {}", size(graph, &sum.keys));
            for product in &sum.products {
                let _ = writeln!(text, "  depth {}", size(graph, &product.depth));
                programs.extend([one("lhs", &product.lhs), one("rhs", &product.rhs)]);
            }
            programs.push(("weights", &sum.weights.0, sum.weights.1.clone()));
            programs.extend(sum.values.iter().map(|value| one("value", value)));
        }
    }
    for (name, body, values) in &programs {
        let _ = writeln!(text, "  {name}:");
        print_body(graph, body, text);
        let values: Vec<String> = values.iter().map(|value| format!("v{value}")).collect();
        let _ = writeln!(text, "    -> {}", values.join(", "));
    }
    if !programs.is_empty() {
        let _ = writeln!(text, "  epilogue:");
    }
    print_body(graph, &group.body, text);
    for store in &group.stores {
        let at = store.access.as_ref().map(|access| format!(" at {}", access_text(graph, access))).unwrap_or_default();
        let _ = writeln!(text, "    {} <- v{}{at}", slot(graph, store.slot), store.value);
    }
}

fn one<'a>(name: &'static str, (body, value): &'a (Body, usize)) -> (&'static str, &'a Body, Vec<usize>) {
    (name, body, vec![*value])
}

fn access_text(graph: &Graph, access: &KernelAccess) -> String {
    let a = &access.access;
    let index = |v: usize| {
        let axis = a.axes.iter().position(|x| *x == Some(v as u8));
        let start = a.starts.get(v).filter(|start| start.as_constant() != Some(0)).map(|start| size(graph, start));
        match (axis, start) {
            (Some(d), Some(start)) => format!("{start} + i{d}"),
            (Some(d), None) => format!("i{d}{}", if access.may_repeat[d] { "?" } else { "" }),
            (None, Some(start)) => start,
            (None, None) if access.gathered => "_".to_owned(),
            (None, None) => "0".to_owned(),
        }
    };
    let space = match a.space {
        Space::Point => "",
        Space::Lhs => "lhs ",
        Space::Rhs => "rhs ",
        Space::SecondLhs => "second lhs ",
        Space::SecondRhs => "second rhs ",
        Space::Score => "score ",
        Space::Value => "value ",
    };
    let indices: Vec<String> = (0..a.view.len()).map(index).collect();
    format!("{space}{}: {}{} at [{}]", slot(graph, a.slot), access.dtype, shape(graph, &a.view), indices.join(", "))
}

fn print_body(graph: &Graph, body: &Body, text: &mut String) {
    for (i, value) in body.values.iter().enumerate() {
        let rhs = match &value.op {
            ValueOp::Load(access) => format!("load a{access}"),
            ValueOp::Gather { access, at } => {
                let at: Vec<String> = at.iter().map(|(axis, value)| format!("v{value} along {axis}")).collect();
                format!("load a{access} at {}", at.join(", "))
            }
            ValueOp::Dequantize(value) => {
                let at: String = value.at.iter().map(|(axis, x)| format!(", v{x} along {axis}")).collect();
                let (name, words, scales) = (value.packing.name(), value.words, value.scales);
                format!("dequantize {name} a{words}, a{scales} at v{} along {}{at}", value.index, value.axis)
            }
            ValueOp::Accumulator(0) => "sum".to_owned(),
            ValueOp::Accumulator(product) => format!("sum {product}"),
            ValueOp::Reduce(op, x) => format!("{} of v{x} along the row", op.name()),
            ValueOp::Size(s) => format!("size {}", size(graph, s)),
            ValueOp::Coordinate { axis: Some(axis), start } => format!("coordinate i{axis} + {}", size(graph, start)),
            ValueOp::Coordinate { axis: None, start } => format!("coordinate {}", size(graph, start)),
            ValueOp::Scalar(param) => format!("scalar {}", graph.params[usize::from(*param)].name),
            ValueOp::Literal(Literal::Float(x)) => format!("{x:?}"),
            ValueOp::Literal(Literal::Integer(x)) => format!("{x}"),
            ValueOp::Literal(Literal::Bool(x)) => format!("{x}"),
            ValueOp::Unary(op, x) => format!("{} v{x}", op.name()),
            ValueOp::Binary(op, x, y) => format!("{} v{x}, v{y}", op.name()),
            ValueOp::Compare(op, x, y) => format!("{} v{x}, v{y}", op.name()),
            ValueOp::Select(c, x, y) => format!("select v{c}, v{x}, v{y}"),
            ValueOp::Cast(x) => format!("cast v{x}"),
        };
        let _ = writeln!(text, "    v{i}: {} = {rhs}", value.dtype);
    }
}
