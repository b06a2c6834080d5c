//! Refinement of a quantized row by cyclic coordinate descent on codes and scales.
//!
//! The error is `(w - ŵ)·H·(w - ŵ)ᵀ`. Each step is the exact minimum along its coordinates, rounded to storage, and is
//! taken only if the error falls.

use crate::{
    Symmetry,
    calibration::{Curvature, dot},
    pair::Pair,
    row::Row,
    search::storable_symmetric,
};

const ROUNDS: usize = 4;

/// Minimum relative gain of a step, so that rounding errors do not prolong the search.
const LEAST_GAIN: f32 = 1e-6;

pub(crate) fn refine(row: &mut Row<'_>, curvature: &Curvature, pairs_are_free: bool) {
    let errors: Vec<f32> = (0..row.weights.len()).map(|k| row.weights[k] - row.value(k)).collect();
    // Half of the gradient: H·(w - ŵ).
    let mut pull: Vec<f32> = (0..errors.len()).map(|k| dot(curvature.row(k), &errors)).collect();
    let least_gain = LEAST_GAIN * dot(&pull, &errors);
    for _ in 0..ROUNDS {
        let mut improved = false;
        for group in 0..row.pairs.len() {
            if pairs_are_free {
                improved |= refit(row, curvature, group, &mut pull, least_gain);
            }
            for k in group * row.group..(group + 1) * row.group {
                improved |= recode(row, curvature, k, &mut pull, least_gain);
            }
        }
        if !improved {
            break;
        }
    }
}

/// Best code of one weight, all else fixed.
fn recode(row: &mut Row<'_>, curvature: &Curvature, k: usize, pull: &mut [f32], least_gain: f32) -> bool {
    let (pair, value, diagonal) = (row.pairs[k / row.group], row.value(k), curvature.diagonal(k));
    let code = pair.code(value + pull[k] / diagonal, row.packing.largest());
    if code == row.codes[k] {
        return false;
    }
    let step = pair.value(code) - value;
    if 2.0 * step * pull[k] - step * step * diagonal <= least_gain {
        return false;
    }
    row.codes[k] = code;
    pull.iter_mut().zip(curvature.row(k)).for_each(|(pull, h)| *pull -= step * h);
    true
}

/// Best pair of a group, its codes and other groups fixed.
fn refit(row: &mut Row<'_>, curvature: &Curvature, group: usize, pull: &mut [f32], least_gain: f32) -> bool {
    let places = group * row.group..(group + 1) * row.group;
    let (pair, symmetry, dtype) = (row.pairs[group], row.scheme.symmetry, row.scheme.scales);
    // H restricted to the group, times a vector over it.
    let times = |vector: &[f32]| -> Vec<f32> {
        places.clone().map(|k| dot(&curvature.row(k)[places.clone()], vector)).collect()
    };
    let sum = |vector: &[f32]| vector.iter().map(|&x| f64::from(x)).sum::<f64>();
    let codes: Vec<f32> = row.codes[places.clone()].iter().map(|&code| code as f32).collect();
    // Scale changes turn values around the code of zero, or around the middle of the codes with an adjusted offset.
    let center = match symmetry {
        Symmetry::Symmetric if pair.scale == 0.0 => 0.0,
        Symmetry::Symmetric => -pair.offset / pair.scale,
        Symmetry::Asymmetric => (sum(&codes) / codes.len() as f64) as f32,
    };
    let turn: Vec<f32> = codes.iter().map(|code| code - center).collect();
    let (turned, pulled) = (times(&turn), &pull[places.clone()]);
    let (turn_turn, turn_pull) = (f64::from(dot(&turn, &turned)), f64::from(dot(&turn, pulled)));
    let new = match symmetry {
        Symmetry::Symmetric => {
            storable_symmetric(row.packing, (f64::from(pair.scale) + turn_pull / turn_turn) as f32, row.scheme)
        }
        Symmetry::Asymmetric => {
            let (one_one, turn_one) = (sum(&times(&vec![1.0; row.group])), sum(&turned));
            let one_pull = sum(pulled);
            let determinant = turn_turn * one_one - turn_one * turn_one;
            // With equal codes, only the offset can move.
            let solvable = determinant > 1e-6 * turn_turn * one_one;
            let by_turn = if solvable { (turn_pull * one_one - one_pull * turn_one) / determinant } else { 0.0 };
            let scale = dtype.nearest((f64::from(pair.scale) + by_turn) as f32);
            // The offset also compensates for the rounding of the scale.
            let by_turn = f64::from(scale) - f64::from(pair.scale);
            let shift = (one_pull - by_turn * turn_one) / one_one - by_turn * f64::from(center);
            Some(Pair { scale, offset: dtype.nearest((f64::from(pair.offset) + shift) as f32) })
        }
    };
    let finite = |pair: &Pair| (row.packing.largest() as f32 * pair.scale).is_finite() && pair.offset.is_finite();
    let Some(new) = new.filter(finite).filter(|new| *new != pair) else { return false };
    let steps: Vec<f32> = row.codes[places.clone()].iter().map(|&code| new.value(code) - pair.value(code)).collect();
    if 2.0 * dot(&steps, pulled) - dot(&steps, &times(&steps)) <= least_gain {
        return false;
    }
    row.pairs[group] = new;
    for (k, step) in places.zip(steps) {
        pull.iter_mut().zip(curvature.row(k)).for_each(|(pull, h)| *pull -= step * h);
    }
    true
}
