//! Mask bounds: limits of the keys outside which every score is exactly -inf.
//!
//! Input: the program of an attention's scores. Output: [`Limit`]s, from scores of the form `select(condition, x,
//! -inf)` whose condition implies a comparison of integers affine in the coordinates of query and key. A kernel may
//! skip keys outside the limits: their probability is 0. A row without visible keys is NaN either way. Not here:
//! shaders that compute a workgroup's limit (`wgsl/attention`).

use std::{cell::Cell, collections::BTreeSet};

use fuse_artifact::{DType, Size};

use crate::{
    fusion::body::{Body, KernelAccess, ValueId, ValueOp},
    graph::{CompareOp, Literal},
    operations::{BinaryOp, UnaryOp},
};

/// Maximum coefficient of the query, to keep bounds far from the ends of `i32`.
const MAX_SLOPE: i64 = 64;

/// Maximum values visited, since nested searches revisit shared values. Real masks have a few dozen; a missed limit
/// costs only time.
const MAX_VALUES: usize = 1000;

/// Factor of a term.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// The constant 1.
    One,
    /// A size.
    Size(Size),
    /// A value that is constant across queries and keys of a batch.
    Value(ValueId),
}

/// Side of the visible keys that a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Inclusive lower bound.
    First,
    /// Exclusive upper bound.
    End,
}

/// A bound of a query's visible keys: `slope·query + Σ coefficient·leaf`.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The bounded side.
    pub side: Side,
    /// Coefficient of the query's coordinate.
    pub slope: i64,
    /// Terms independent of query and key.
    pub terms: Vec<(Leaf, i64)>,
    /// Absolute coefficients of the comparison's leaves, to detect possible 32-bit overflow.
    pub weights: Vec<(Leaf, i64)>,
    /// Sum of absolute coefficients of the query.
    pub query_weight: i64,
    /// Sum of absolute coefficients of the key.
    pub key_weight: i64,
}

/// Limits of the keys with scores other than -inf; `batch` is the number of batch axes.
pub fn limits(body: &Body, score: ValueId, accesses: &[KernelAccess], batch: usize) -> Vec<Limit> {
    let search = Search::new(body, accesses, batch);
    let mut limits = vec![];
    search.score(score, &mut limits);
    limits
}

/// Limits of the keys with nonzero weights, common to all `weights`. A row without visible keys has empty sums.
pub fn weight_limits(body: &Body, weights: &[ValueId], accesses: &[KernelAccess], batch: usize) -> Vec<Limit> {
    let of = |&weight: &ValueId| {
        let (search, mut limits) = (Search::new(body, accesses, batch), vec![]);
        search.weight(weight, &mut BTreeSet::new(), &mut limits);
        limits
    };
    let mut each = weights.iter().map(of);
    let first = each.next().unwrap_or_default();
    each.fold(first, |common, other| common.into_iter().filter(|limit| other.contains(limit)).collect())
}

/// True if later queries see more keys and lose none: half of all scores are visible, most to the last queries.
pub fn grows(limits: &[Limit]) -> bool {
    let moves = |side| limits.iter().any(|limit| limit.side == side && limit.slope > 0);
    moves(Side::End) && !moves(Side::First)
}

/// Minimum number of keys between parallel limits that differ by a constant.
pub fn window(limits: &[Limit]) -> Option<u32> {
    let of = |side| limits.iter().filter(move |limit| limit.side == side);
    let pairs = of(Side::First).flat_map(|first| of(Side::End).map(move |end| (first, end)));
    let apart = pairs.filter(|(first, end)| first.slope == end.slope && end.slope != 0).filter_map(|(first, end)| {
        let others =
            |limit: &Limit| limit.terms.iter().filter(|(leaf, _)| *leaf != Leaf::One).cloned().collect::<Vec<_>>();
        let number =
            |limit: &Limit| limit.terms.iter().filter(|(leaf, _)| *leaf == Leaf::One).map(|(_, x)| x).sum::<i64>();
        let width = number(end).checked_sub(number(first))?;
        (others(first) == others(end)).then(|| u32::try_from(width.max(0)).ok()).flatten()
    });
    apart.min()
}

struct Search<'a> {
    body: &'a Body,
    accesses: &'a [KernelAccess],
    batch: u8,
    left: Cell<usize>,
}

/// An uncombined sum: coefficients of query, key and terms.
#[derive(Clone, Debug, Default)]
struct Affine {
    query: Vec<i64>,
    key: Vec<i64>,
    terms: Vec<(Leaf, i64)>,
}

impl Affine {
    fn scaled(self, by: i64) -> Option<Self> {
        let scale = |x: i64| x.checked_mul(by).filter(|x| x.abs() <= i64::from(i32::MAX));
        let all = |list: Vec<i64>| list.into_iter().map(scale).collect::<Option<Vec<_>>>();
        let terms = self.terms.into_iter().map(|(leaf, x)| scale(x).map(|x| (leaf, x))).collect::<Option<Vec<_>>>()?;
        Some(Self { query: all(self.query)?, key: all(self.key)?, terms })
    }

    fn plus(mut self, other: Self) -> Self {
        self.query.extend(other.query);
        self.key.extend(other.key);
        self.terms.extend(other.terms);
        self
    }
}

impl<'a> Search<'a> {
    fn new(body: &'a Body, accesses: &'a [KernelAccess], batch: usize) -> Self {
        Self { body, accesses, batch: batch as u8, left: Cell::new(MAX_VALUES) }
    }

    fn is_over(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 0
    }

    fn score(&self, value: ValueId, limits: &mut Vec<Limit>) {
        match self.body.values[value].op {
            _ if self.is_over() => {}
            ValueOp::Select(condition, x, y) if self.is_negative_infinity(y) => {
                self.condition(condition, true, limits);
                self.score(x, limits);
            }
            ValueOp::Select(condition, x, y) if self.is_negative_infinity(x) => {
                self.condition(condition, false, limits);
                self.score(y, limits);
            }
            ValueOp::Cast(x) if self.body.values[x].dtype.is_float() => self.score(x, limits),
            _ => {}
        }
    }

    /// Limits outside which a factor is exactly 0. `seen` prevents repeated visits of factors of powers.
    fn weight(&self, value: ValueId, seen: &mut BTreeSet<ValueId>, limits: &mut Vec<Limit>) {
        if self.is_over() || !seen.insert(value) {
            return;
        }
        match self.body.values[value].op {
            ValueOp::Binary(BinaryOp::Mul, x, y) => {
                self.weight(x, seen, limits);
                self.weight(y, seen, limits);
            }
            ValueOp::Binary(BinaryOp::Div, x, _) | ValueOp::Unary(UnaryOp::Neg, x) | ValueOp::Cast(x) => {
                self.weight(x, seen, limits);
            }
            ValueOp::Unary(UnaryOp::Exp, x) => match self.body.values[x].op {
                // Scores minus a row statistic.
                ValueOp::Binary(BinaryOp::Sub, score, _) => self.score(score, limits),
                _ => self.score(x, limits),
            },
            ValueOp::Select(condition, x, y) if self.is_zero(y) => {
                self.condition(condition, true, limits);
                self.weight(x, seen, limits);
            }
            ValueOp::Select(condition, x, y) if self.is_zero(x) => {
                self.condition(condition, false, limits);
                self.weight(y, seen, limits);
            }
            _ => {}
        }
    }

    fn is_zero(&self, value: ValueId) -> bool {
        matches!(self.body.values[value].op, ValueOp::Literal(Literal::Float(0.0)))
    }

    fn is_negative_infinity(&self, value: ValueId) -> bool {
        matches!(self.body.values[value].op, ValueOp::Literal(Literal::Float(x)) if x == f64::NEG_INFINITY)
    }

    fn condition(&self, value: ValueId, wanted: bool, limits: &mut Vec<Limit>) {
        match self.body.values[value].op {
            _ if self.is_over() => {}
            ValueOp::Unary(UnaryOp::Not, x) => self.condition(x, !wanted, limits),
            ValueOp::Binary(BinaryOp::And, x, y) if wanted => {
                self.condition(x, true, limits);
                self.condition(y, true, limits);
            }
            ValueOp::Binary(BinaryOp::Or, x, y) if !wanted => {
                self.condition(x, false, limits);
                self.condition(y, false, limits);
            }
            ValueOp::Compare(op, x, y) => {
                let op = if wanted { Some(op) } else { negated(op) };
                if let Some(op) = op {
                    self.comparison(op, x, y, limits);
                }
            }
            _ => {}
        }
    }

    fn comparison(&self, op: CompareOp, x: ValueId, y: ValueId, limits: &mut Vec<Limit>) {
        let (Some(left), Some(right)) = (self.affine(x), self.affine(y)) else { return };
        let Some(minus_right) = right.scaled(-1) else { return };
        let difference = left.plus(minus_right);
        let (key, query) = (difference.key.iter().sum::<i64>(), difference.query.iter().sum::<i64>());
        if key.abs() != 1 || query.abs() > MAX_SLOPE {
            return;
        }
        let absolute = |list: &[i64]| list.iter().map(|x| x.abs()).sum();
        let limit = |side: Side, plus: i64| {
            // Solves `key·n + query·m + terms` compared with 0 for n.
            let mut terms: Vec<(Leaf, i64)> =
                difference.terms.iter().cloned().map(|(leaf, x)| (leaf, -key * x)).collect();
            if plus != 0 {
                terms.push((Leaf::One, plus));
            }
            let weights = difference.terms.iter().cloned().map(|(leaf, x)| (leaf, x.abs())).collect();
            let (query_weight, key_weight) = (absolute(&difference.query), absolute(&difference.key));
            Limit { side, slope: -key * query, terms, weights, query_weight, key_weight }
        };
        let op = if key > 0 { op } else { op.mirrored() };
        match op {
            CompareOp::Lt => limits.push(limit(Side::End, 0)),
            CompareOp::Le => limits.push(limit(Side::End, 1)),
            CompareOp::Gt => limits.push(limit(Side::First, 1)),
            CompareOp::Ge => limits.push(limit(Side::First, 0)),
            CompareOp::Eq => limits.extend([limit(Side::First, 0), limit(Side::End, 1)]),
            CompareOp::Ne => {}
        }
    }

    fn affine(&self, value: ValueId) -> Option<Affine> {
        let node = &self.body.values[value];
        if node.dtype != DType::I32 || self.is_over() {
            return None;
        }
        let start = |start: &Size| match start.as_constant() {
            Some(0) => vec![],
            _ => vec![(Leaf::Size(start.clone()), 1)],
        };
        match &node.op {
            ValueOp::Coordinate { axis: Some(axis), start: first } if *axis == self.batch => {
                Some(Affine { query: vec![1], key: vec![], terms: start(first) })
            }
            ValueOp::Coordinate { axis: Some(axis), start: first } if *axis == self.batch + 1 => {
                Some(Affine { query: vec![], key: vec![1], terms: start(first) })
            }
            ValueOp::Literal(Literal::Integer(x)) => Some(Affine { terms: vec![(Leaf::One, *x)], ..Affine::default() }),
            _ if self.is_of_batch(value) => Some(Affine { terms: vec![(Leaf::Value(value), 1)], ..Affine::default() }),
            ValueOp::Binary(BinaryOp::Add, x, y) => Some(self.affine(*x)?.plus(self.affine(*y)?)),
            ValueOp::Binary(BinaryOp::Sub, x, y) => Some(self.affine(*x)?.plus(self.affine(*y)?.scaled(-1)?)),
            ValueOp::Unary(UnaryOp::Neg, x) => self.affine(*x)?.scaled(-1),
            ValueOp::Binary(BinaryOp::Mul, x, y) => match (&self.body.values[*x].op, &self.body.values[*y].op) {
                (ValueOp::Literal(Literal::Integer(by)), _) => self.affine(*y)?.scaled(*by),
                (_, ValueOp::Literal(Literal::Integer(by))) => self.affine(*x)?.scaled(*by),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_of_batch(&self, value: ValueId) -> bool {
        let op = &self.body.values[value].op;
        let moves = |access: u16| {
            let axes = &self.accesses[usize::from(access)].access.axes;
            axes[usize::from(self.batch)..].iter().any(Option::is_some)
        };
        let own = match op {
            ValueOp::Coordinate { axis: Some(axis), .. } => *axis < self.batch,
            ValueOp::Accumulator(_) | ValueOp::Reduce(..) => false,
            op => !op.accesses().into_iter().any(moves),
        };
        own && !self.is_over() && Body::operands(op).iter().all(|&x| self.is_of_batch(x))
    }
}

/// Negation of a comparison; integers have no NaN.
fn negated(op: CompareOp) -> Option<CompareOp> {
    Some(match op {
        CompareOp::Eq => return None,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    })
}
