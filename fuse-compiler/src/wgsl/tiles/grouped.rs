//! Products that share their left operand and have workgroups of their own: the text branches on the number of the
//! workgroup's product, and each branch is what the product's kernel would do alone.
//!
//! A branch where right operands are read would be shorter, but it took a third longer on an NVIDIA H200
//! (docs/experiments.md).

use crate::{
    fusion::{
        Contraction, Group,
        body::{Body, ValueId, ValueOp},
    },
    graph::Literal,
    schedule::contraction::sums_of,
    wgsl::epilogue::rhs_prefixes,
};

use super::MatmulKernel;

/// For each product, the kernel as if it were alone; accesses and stores keep their numbers.
pub(super) struct Grouped {
    pub(super) groups: Vec<Group>,
    pub(super) contractions: Vec<Contraction>,
    /// What the names of their right operands start with.
    prefixes: Vec<&'static str>,
}

impl Grouped {
    /// The products of a group.
    pub(super) fn new(group: &Group, contraction: &Contraction) -> Self {
        let alone = |product: usize| {
            let stored = group.stores.iter().map(|store| store.value);
            let roots: Vec<ValueId> =
                stored.filter(|&value| sums_of(&group.body, value).contains(&(product as u8))).collect();
            Group { body: only(&group.body, &roots), ..group.clone() }
        };
        let contraction_of = |product: usize| Contraction {
            matmuls: vec![contraction.matmuls[product]],
            rhs: vec![contraction.rhs[product].clone()],
            ..contraction.clone()
        };
        let products = 0..contraction.rhs.len();
        Self {
            groups: products.clone().map(alone).collect(),
            contractions: products.map(contraction_of).collect(),
            prefixes: rhs_prefixes(contraction),
        }
    }
}

impl<'a> MatmulKernel<'a> {
    /// Multiplies and stores the product of this workgroup.
    pub(super) fn branches(&mut self, grouped: &'a Grouped) {
        let products = grouped.groups.len();
        self.main.line("switch product {");
        for product in 0..products {
            self.main.line(match product + 1 == products {
                true => "default: {".to_owned(),
                false => format!("case {product}u: {{"),
            });
            (self.group, self.contraction) = (&grouped.groups[product], &grouped.contractions[product]);
            self.rhs_prefixes = vec![grouped.prefixes[product]];
            self.product = Some(product as u8);
            self.preload();
            self.multiply();
            self.store();
            self.main.line("}");
        }
        self.main.line("}");
    }
}

/// The part of a program that computes `roots`, of a single product; everything else is replaced by literals, which take
/// no text.
fn only(body: &Body, roots: &[ValueId]) -> Body {
    let needed = body.needed(roots);
    let mut body = body.clone();
    for (value, known) in body.values.iter_mut().enumerate() {
        if !needed.contains(&value) {
            known.op = ValueOp::Literal(Literal::Bool(false));
        } else if let ValueOp::Accumulator(product) = &mut known.op {
            *product = 0;
        }
    }
    body
}
