//! Products that share their left operand in separate workgroups: the kernel branches to the kernel of the workgroup's
//! product.
//!
//! Branching only at reads of right operands would be shorter, but took a third longer on an NVIDIA H200
//! (docs/experiments.md).

use crate::{
    fusion::{
        Contraction, Group,
        body::{Body, ValueId, ValueOp},
    },
    graph::Literal,
    kernel::Ty,
    schedule::contraction::sums_of,
    wgsl::epilogue::rhs_prefixes,
};

use super::MatmulKernel;

/// Each product's kernel alone; accesses and stores keep their indices.
pub(super) struct Grouped {
    pub(super) groups: Vec<Group>,
    pub(super) contractions: Vec<Contraction>,
    prefixes: Vec<&'static str>,
}

impl Grouped {
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
    pub(super) fn branches(&mut self, grouped: &'a Grouped) {
        let (arena, mut branches) = (self.shader.arena(), vec![]);
        for (product, group) in grouped.groups.iter().enumerate() {
            (self.group, self.contraction) = (group, &grouped.contractions[product]);
            self.rhs_prefixes = vec![grouped.prefixes[product]];
            self.product = Some(product as u8);
            branches.push(self.block(|kernel| {
                kernel.bind_sums();
                kernel.multiply_and_store();
            }));
        }
        self.shader.branch(&mut self.main, arena.name("product", Ty::U32), "product", branches, true);
    }
}

/// A product's part of a program, which computes `roots`; the rest become literals, which need no statements.
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
