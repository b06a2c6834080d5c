//! Ranks in the expression form: simplified computations for the caller's type checker.
//!
//! Input: operand ranks. Output: ranks of values, and requirements that no result implies (`sum(transpose(x))` has rank
//! 0, but needs two axes).

use super::{Lowering, output::RankExpr};
use crate::graph::NodeId;

#[derive(Default)]
pub(crate) struct Ranks {
    pub(crate) results: Vec<RankExpr>,
    pub(crate) requirements: Vec<RankExpr>,
}

impl Lowering<'_> {
    pub(super) fn rank_of(&self, node: NodeId) -> &RankExpr {
        &self.ranks[node.index()]
    }

    /// Sets a visible rank, and requires that it exists.
    pub(super) fn set_rank(&mut self, node: NodeId, rank: RankExpr) {
        self.require_rank_expr(&rank);
        self.ranks[node.index()] = rank;
    }

    pub(super) fn require_rank_expr(&mut self, rank: &RankExpr) {
        if let RankExpr::Broadcast(a, b) = rank {
            self.require_rank_expr(a);
            self.require_rank_expr(b);
        } else if self.padded && is_conditional(rank) && !self.requirements.contains(rank) {
            self.requirements.push(rank.clone());
        }
    }

    pub(super) fn final_ranks(&self, results: &[NodeId]) -> Ranks {
        let results: Vec<RankExpr> = results.iter().map(|node| self.rank_of(*node).clone()).collect();
        let implied = |rank: &RankExpr, position: usize| {
            let others = self.requirements.iter().enumerate().filter(|(other, _)| *other != position);
            let mut others = others.map(|(_, other)| other).chain(&results);
            others.any(|other| other == rank && results.contains(other) || implies(other, rank))
        };
        let kept = self.requirements.iter().enumerate().filter(|(position, rank)| !implied(rank, *position));
        let requirements = kept.map(|(_, rank)| rank.clone()).collect();
        Ranks { results, requirements }
    }
}

fn parts(rank: &RankExpr) -> Vec<&RankExpr> {
    match rank {
        RankExpr::Known(_) | RankExpr::Of(_) => vec![],
        RankExpr::Broadcast(a, b) | RankExpr::Matmul(a, b) | RankExpr::Same(a, b) => vec![a, b],
        RankExpr::AtLeast(_, x) | RankExpr::Exactly(_, x) | RankExpr::Plus1(x) | RankExpr::Minus1(x) => vec![x],
    }
}

fn is_conditional(rank: &RankExpr) -> bool {
    let own = !matches!(rank, RankExpr::Known(_) | RankExpr::Of(_) | RankExpr::Broadcast(..));
    own || parts(rank).into_iter().any(is_conditional)
}

fn implies(rank: &RankExpr, other: &RankExpr) -> bool {
    let within = parts(rank).into_iter().any(|part| part == other || implies(part, other));
    let here = match (rank, other) {
        (RankExpr::AtLeast(n, x), RankExpr::AtLeast(m, y)) => n > m && x == y,
        (RankExpr::Exactly(n, x), RankExpr::AtLeast(m, y)) => n >= m && x == y,
        (RankExpr::Minus1(x), RankExpr::AtLeast(m, y)) => minus_chain(x, 1, y) >= *m,
        _ => false,
    };
    here || within
}

/// Axes removed from `y` in `Minus1(x)`, `count` of them seen; 0 if `y` is not inside.
fn minus_chain(x: &RankExpr, count: usize, y: &RankExpr) -> usize {
    match x {
        _ if x == y => count,
        RankExpr::Minus1(inner) => minus_chain(inner, count + 1, y),
        _ => 0,
    }
}

pub(super) fn known(rank: &RankExpr) -> Option<usize> {
    match rank {
        RankExpr::Known(rank) | RankExpr::Exactly(rank, _) => Some(*rank),
        RankExpr::AtLeast(_, x) => known(x),
        RankExpr::Same(a, b) => known(a).or_else(|| known(b)),
        RankExpr::Plus1(x) => known(x).map(|rank| rank + 1),
        RankExpr::Minus1(x) => known(x).map(|rank| rank.saturating_sub(1)),
        RankExpr::Of(_) | RankExpr::Broadcast(..) | RankExpr::Matmul(..) => None,
    }
}

fn certain(rank: &RankExpr) -> usize {
    match rank {
        RankExpr::Known(rank) | RankExpr::Exactly(rank, _) => *rank,
        RankExpr::Of(_) => 0,
        RankExpr::Broadcast(a, b) | RankExpr::Same(a, b) => certain(a).max(certain(b)),
        RankExpr::Matmul(a, b) => certain(a).max(certain(b)).max(2),
        RankExpr::AtLeast(least, x) => certain(x).max(*least),
        RankExpr::Plus1(x) => certain(x) + 1,
        RankExpr::Minus1(x) => certain(x).saturating_sub(1),
    }
}

pub(super) fn at_least(least: usize, rank: RankExpr) -> RankExpr {
    if certain(&rank) >= least || matches!(rank, RankExpr::Known(_)) {
        return rank;
    }
    RankExpr::AtLeast(least, Box::new(rank))
}

pub(super) fn exactly(exact: usize, rank: RankExpr) -> RankExpr {
    match &rank {
        RankExpr::Known(_) | RankExpr::Exactly(..) => rank,
        _ => RankExpr::Exactly(exact, Box::new(rank)),
    }
}

pub(super) fn same(a: RankExpr, b: RankExpr) -> RankExpr {
    match (known(&a), known(&b)) {
        _ if a == b => a,
        (Some(_), Some(_)) => a,
        (Some(rank), None) => exactly(rank, b),
        (None, Some(rank)) => exactly(rank, a),
        (None, None) => RankExpr::Same(Box::new(a), Box::new(b)),
    }
}

pub(super) fn plus_1(rank: RankExpr) -> RankExpr {
    match rank {
        RankExpr::Known(rank) => RankExpr::Known(rank + 1),
        RankExpr::Minus1(inner) => *inner,
        rank => RankExpr::Plus1(Box::new(rank)),
    }
}

pub(super) fn minus_1(rank: RankExpr) -> RankExpr {
    match rank {
        RankExpr::Known(rank) => RankExpr::Known(rank.saturating_sub(1)),
        RankExpr::Plus1(inner) => *inner,
        rank => RankExpr::Minus1(Box::new(rank)),
    }
}

/// Known ranks were checked to be at least 2.
pub(super) fn matmul(a: RankExpr, b: RankExpr) -> RankExpr {
    match (&a, &b) {
        (RankExpr::Known(m), RankExpr::Known(n)) => RankExpr::Known(*m.max(n)),
        _ => RankExpr::Matmul(Box::new(a), Box::new(b)),
    }
}

pub(super) fn broadcast(a: RankExpr, b: RankExpr) -> RankExpr {
    fn contains(rank: &RankExpr, part: &RankExpr) -> bool {
        rank == part || matches!(rank, RankExpr::Broadcast(a, b) if contains(a, part) || contains(b, part))
    }
    match (&a, &b) {
        (RankExpr::Known(m), RankExpr::Known(n)) => RankExpr::Known(*m.max(n)),
        (RankExpr::Known(0), _) => b,
        (_, RankExpr::Known(0)) => a,
        _ if contains(&a, &b) => a,
        _ if contains(&b, &a) => b,
        _ => RankExpr::Broadcast(Box::new(a), Box::new(b)),
    }
}
