//! Scales by search: `Rounding::LeastSquares`.
//!
//! Minimizes the (weighted) sum of squared errors, in `f64`. Tries the [`Pair`] that spans the values and narrower ones
//! that clip. From the best, it alternates regression of values on codes with recoding until nothing improves (Lloyd
//! 1982, for evenly spaced levels).

use fuse_artifact::Packing;

use crate::{
    QuantScheme, Symmetry,
    pair::Pair,
    statistics::{between, span, symmetric},
};

/// Narrower symmetric scales to try, in steps of 1/32 of the widest. The last is 1/4 of it, which suits 2 bits and
/// heavy-tailed values.
const NARROWER: u32 = 24;

/// Ranges to try: each end may move inwards in steps of 1/16 of the range.
const INWARDS: u32 = 6;

const REGRESSIONS: usize = 12;

struct Group<'a> {
    packing: Packing,
    scheme: &'a QuantScheme,
    values: &'a [f32],
    costs: Option<&'a [f64]>,
}

pub(crate) fn least_squares(packing: Packing, scheme: &QuantScheme, values: &[f32], costs: Option<&[f64]>) -> Pair {
    let group = Group { packing, scheme, values, costs };
    let widest = span(packing, scheme, values);
    let error = group.error(widest);
    // The widest may not fit its storage.
    let mut best = (if error.is_nan() { f64::INFINITY } else { error }, widest);
    let mut offer = |pair: Pair| {
        let improves = pair.scale.is_finite() && pair.offset.is_finite() && pair.scale != 0.0;
        let error = if improves { group.error(pair) } else { f64::INFINITY };
        let better = error < best.0;
        if better {
            best = (error, pair);
        }
        better
    };
    match (scheme.symmetry, packing) {
        (_, Packing::Q1) => {}
        (Symmetry::Symmetric, _) => {
            for step in 0..=NARROWER {
                let scale = scheme.scales.nearest(widest.scale * (1.0 - step as f32 / 32.0));
                offer(symmetric(packing, scale, scheme.scales));
                // The lowest code has no counterpart; a negative scale moves it to the side that needs it.
                offer(symmetric(packing, -scale, scheme.scales));
            }
        }
        (Symmetry::Asymmetric, _) => {
            let least = values.iter().copied().fold(f32::INFINITY, f32::min);
            let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let step = (most - least) / 16.0;
            for (low, high) in (0..INWARDS).flat_map(|low| (0..INWARDS).map(move |high| (low, high))) {
                offer(between(packing, least + low as f32 * step, most - high as f32 * step, scheme.scales));
            }
        }
    }
    for _ in 0..REGRESSIONS {
        let next = group.regression(best.1);
        let error = next.map_or(f64::INFINITY, |pair| group.error(pair));
        match next {
            Some(pair) if error < best.0 => best = (error, pair),
            _ => break,
        }
    }
    best.1
}

impl Group<'_> {
    fn each(&self) -> impl Iterator<Item = (f32, f64)> {
        self.values.iter().enumerate().map(|(i, &x)| (x, self.costs.map_or(1.0, |costs| costs[i])))
    }

    fn error(&self, pair: Pair) -> f64 {
        let largest = self.packing.largest();
        let square = |(x, cost): (f32, f64)| {
            let difference = f64::from(x) - f64::from(pair.value(pair.code(x, largest)));
            cost * difference * difference
        };
        self.each().map(square).sum()
    }

    fn regression(&self, pair: Pair) -> Option<Pair> {
        let (largest, dtype) = (self.packing.largest(), self.scheme.scales);
        let coded = self.each().map(|(x, cost)| (f64::from(pair.code(x, largest)), f64::from(x), cost));
        match self.scheme.symmetry {
            Symmetry::Symmetric => {
                let zero = f64::from(largest).mul_add(0.5, if self.packing == Packing::Q1 { 0.0 } else { 0.5 });
                let (qq, qx) = coded.fold((0.0, 0.0), |(qq, qx), (q, x, cost)| {
                    let q = q - zero;
                    (qq + cost * q * q, qx + cost * q * x)
                });
                storable_symmetric(self.packing, (qx / qq) as f32, self.scheme)
            }
            Symmetry::Asymmetric => {
                let sums = coded.fold([0.0; 5], |[n, q1, x1, qq, qx], (q, x, cost)| {
                    [n + cost, q1 + cost * q, x1 + cost * x, qq + cost * q * q, qx + cost * q * x]
                });
                let [n, q1, x1, qq, qx] = sums;
                let scale = dtype.nearest(((n * qx - q1 * x1) / (n * qq - q1 * q1)) as f32);
                let offset = dtype.nearest(((x1 - f64::from(scale) * q1) / n) as f32);
                (scale.is_finite() && offset.is_finite() && scale != 0.0).then_some(Pair { scale, offset })
            }
        }
    }
}

/// Symmetric pair with the stored scale next to `scale`, if representable.
pub(crate) fn storable_symmetric(packing: Packing, scale: f32, scheme: &QuantScheme) -> Option<Pair> {
    let dtype = scheme.scales;
    // With 1 bit, rounds the offset, half of the scale, so that both are stored exactly.
    let scale = if packing == Packing::Q1 { 2.0 * dtype.nearest(0.5 * scale) } else { dtype.nearest(scale) };
    // Twice a stored number may not be representable.
    let is_stored = dtype.nearest(scale).is_finite() && scale != 0.0;
    is_stored.then(|| symmetric(packing, scale, dtype)).filter(|pair| pair.offset.is_finite())
}
