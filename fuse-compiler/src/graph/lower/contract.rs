//! Contractions: `matmul`; `dot` and `outer` in terms of it.

use fuse_artifact::{DType, Relation, Size};

use super::{
    Lowering, axes_text,
    catalog::Pointwise,
    output::RankExpr,
    ranks,
    resolve::ones,
    value::{Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic, SourceRange},
    graph::{NodeId, Op},
    operations::BinaryOp,
};

const INNER: &str = "inner dimension of `matmul`";

impl Lowering<'_> {
    pub(super) fn matmul(&mut self, a: &Operand, b: &Operand, at: SourceRange) -> Option<NodeId> {
        let lhs = self.force(a);
        let dtype = lhs.map_or(DType::F32, |lhs| self.dtype(lhs));
        let rhs = self.product_operand(b, dtype);
        let (lhs, rhs) = (lhs?, rhs?);
        self.contraction_dtype("matmul", (lhs, a.range), (rhs, b.range), at)?;
        let (left_ok, right_ok) = (self.require_matrix(lhs, a.range), self.require_matrix(rhs, b.range));
        if !left_ok || !right_ok {
            return None;
        }
        self.require_inner(lhs, rhs, at)?;
        let (left, right) = (self.shape(lhs).to_vec(), self.shape(rhs).to_vec());
        let (left_batch, right_batch) = (&left[..left.len() - 2], &right[..right.len() - 2]);
        let mut shape = match self.broadcast_pair(left_batch, right_batch) {
            Ok(shape) => shape,
            Err((m, n)) => {
                let message = format!(
                    "batch dimensions `[{}]` and `[{}]` do not broadcast: expected `{}`, found `{}`",
                    self.shape_text(left_batch),
                    self.shape_text(right_batch),
                    self.size_text(&m),
                    self.size_text(&n),
                );
                let diagnostic = self
                    .with_origins(Diagnostic::new(Code::MatmulBatch, at, message), &[&m, &n])
                    .help("all axes but the last two are batch axes; they must be equal or 1");
                self.sink.report(diagnostic);
                return None;
            }
        };
        shape.push(left[left.len() - 2].clone());
        shape.push(right[right.len() - 1].clone());
        let rank = ranks::matmul(self.rank_of(lhs).clone(), self.rank_of(rhs).clone());
        let lhs = self.with_leading_ones(lhs, shape.len(), a.range);
        let rhs = self.with_leading_ones(rhs, shape.len(), b.range);
        let dtype = self.dtype(lhs);
        let node = self.push(Op::Matmul { lhs, rhs }, dtype, shape, at);
        self.set_rank(node, rank);
        Some(node)
    }

    fn require_matrix(&self, node: NodeId, at: SourceRange) -> bool {
        let Some(rank) = self.visible_rank(node).filter(|rank| *rank < 2) else { return true };
        let diagnostic = Diagnostic::new(
            Code::MatmulRank,
            at,
            format!("`matmul` takes matrices, found `{}` with {}", self.type_text(node), axes_text(rank)),
        );
        self.sink.report(match rank {
            1 => diagnostic.help(format!(
                "for two vectors write `dot(a, b)`; `unsqueeze({0}, axis = 0)` is a row, \
                 `unsqueeze({0}, axis = 1)` a column",
                self.label(node)
            )),
            _ => diagnostic.help("to scale a matrix by a number write `s * x`"),
        });
        false
    }

    fn require_inner(&mut self, lhs: NodeId, rhs: NodeId, at: SourceRange) -> Option<()> {
        let (left, right) = (self.shape(lhs), self.shape(rhs));
        let inner = left[left.len() - 1].clone();
        let outer = right[right.len() - 2].clone();
        if inner == outer {
            return Some(());
        }
        if self.padded && (inner.as_constant().is_none() || outer.as_constant().is_none()) {
            self.check(Relation::Equal, inner, outer, INNER);
            return Some(());
        }
        let (k, j) = (self.size_text(&inner), self.size_text(&outer));
        let transposed = if right[right.len() - 1] == inner {
            Some(format!("transpose the right operand: `matmul({}, transpose({}))`", self.label(lhs), self.label(rhs)))
        } else if left[left.len() - 2] == outer {
            Some(format!("transpose the left operand: `matmul(transpose({}), {})`", self.label(lhs), self.label(rhs)))
        } else {
            None
        };
        let message = format!(
            "cannot multiply `{}` by `{}`: inner dimensions differ, expected `{k}`, found `{j}`",
            self.type_text(lhs),
            self.type_text(rhs),
        );
        let diagnostic = self.with_origins(Diagnostic::new(Code::MatmulInner, at, message), &[&inner, &outer]);
        self.sink.report(diagnostic.help(transposed.unwrap_or_else(|| {
            "`matmul` multiplies `[.., M, K]` by `[.., K, N]`; give both dimensions one name".into()
        })));
        None
    }

    fn contraction_dtype(
        &self,
        name: &str,
        (lhs, left): (NodeId, SourceRange),
        (rhs, right): (NodeId, SourceRange),
        at: SourceRange,
    ) -> Option<DType> {
        let (a, b) = (self.dtype(lhs), self.dtype(rhs));
        for (dtype, range) in [(a, left), (b, right)] {
            if dtype == DType::Bool {
                let message = format!("`{name}` takes numbers, found `bool`");
                self.sink.report(Diagnostic::new(Code::NumberRequired, range, message).help("convert it: `x as f32`"));
                return None;
            }
        }
        if a != b {
            self.sink.report(
                Diagnostic::new(
                    Code::DTypeMismatch,
                    at,
                    format!("operands of `{name}` have different dtypes: `{a}` on the left, `{b}` on the right"),
                )
                .help(format!("convert one of them, for example `{} as {a}`", self.label(rhs))),
            );
            return None;
        }
        Some(a)
    }

    pub(super) fn dot(&mut self, a: &Operand, b: &Operand, at: SourceRange) -> Option<NodeId> {
        let (lhs, rhs) = (self.force(a), self.force(b));
        let (lhs, rhs) = (lhs?, rhs?);
        let dtype = self.contraction_dtype("dot", (lhs, a.range), (rhs, b.range), at)?;
        let (k, j) = (self.require_vector(lhs, "dot", a.range), self.require_vector(rhs, "dot", b.range));
        let (k, j) = (k?, j?);
        if k != j && self.padded {
            self.check(Relation::Equal, k.clone(), j.clone(), "length of the vectors of `dot`");
        } else if k != j {
            let (expected, found) = (self.size_text(&k), self.size_text(&j));
            let message = format!("the vectors of `dot` differ in length: expected `{expected}`, found `{found}`");
            let diagnostic = self.with_origins(Diagnostic::new(Code::DimensionMismatch, at, message), &[&k, &j]);
            self.sink.report(diagnostic.help("give both dimensions one name"));
            return None;
        }
        let outer = vec![Size::ONE; if self.padded { 4 } else { 0 }];
        let with = |last: [Size; 2]| outer.iter().cloned().chain(last).collect::<Vec<_>>();
        let row = self.push(Op::Reshape(lhs), dtype, with([Size::ONE, k]), a.range);
        let column = self.push(Op::Reshape(rhs), dtype, with([j, Size::ONE]), b.range);
        let product = Op::Matmul { lhs: row, rhs: column };
        let product = self.push(product, dtype, with([Size::ONE, Size::ONE]), at);
        if self.padded {
            self.set_rank(product, RankExpr::Known(0));
            return Some(product);
        }
        Some(self.push(Op::Reshape(product), dtype, vec![], at))
    }

    pub(super) fn outer(&mut self, a: &Operand, b: &Operand, at: SourceRange) -> Option<NodeId> {
        let (lhs, rhs) = (self.force(a), self.force(b));
        let (lhs, rhs) = (lhs?, rhs?);
        let dtype = self.contraction_dtype("outer", (lhs, a.range), (rhs, b.range), at)?;
        let (m, n) = (self.require_vector(lhs, "outer", a.range), self.require_vector(rhs, "outer", b.range));
        let (m, n) = (m?, n?);
        let column: Vec<Size> = if self.padded {
            let mut shape = ones();
            shape[4] = m;
            shape
        } else {
            vec![m, Size::ONE]
        };
        let row: Vec<Size> = if self.padded {
            let mut shape = ones();
            shape[5] = n;
            shape
        } else {
            vec![Size::ONE, n]
        };
        let column = self.push(Op::Reshape(lhs), dtype, column, a.range);
        let row = self.push(Op::Reshape(rhs), dtype, row, b.range);
        let operands =
            [(column, a.range), (row, b.range)].map(|(node, range)| Operand { value: Value::Node(node), range });
        let Value::Node(node) = self.pointwise(Pointwise::Binary(BinaryOp::Mul), &operands, at) else { return None };
        self.set_rank(node, RankExpr::Known(2));
        Some(node)
    }

    /// Length of a vector; the expression form checks at launch that other axes are 1.
    pub(super) fn require_vector(&mut self, node: NodeId, name: &str, at: SourceRange) -> Option<Size> {
        let shape = self.shape(node).to_vec();
        match self.visible_rank(node) {
            Some(1) => {}
            None => {
                self.require_rank_expr(&ranks::exactly(1, self.rank_of(node).clone()));
                let outer = Size::product(&shape[..shape.len() - 1]);
                self.check(Relation::Equal, outer, Size::ONE, format!("outer dimensions of a vector of `{name}`"));
            }
            Some(rank) => {
                let message =
                    format!("`{name}` takes vectors, found `{}` with {}", self.type_text(node), axes_text(rank));
                self.sink.report(
                    Diagnostic::new(Code::VectorRequired, at, message).help("for matrices write `matmul(a, b)`"),
                );
                return None;
            }
        }
        shape.last().cloned()
    }
}
