//! Refinement of a quantized row: codes and scales are changed one after another while the output error falls.
//!
//! Input: a [`Row`] and the curvature `H` of its error `(w - ŵ)·H·(w - ŵ)ᵀ`. Output: the row with an error that is not larger.
//! Each step is the exact minimum along its coordinates, rounded to what can be stored, and is taken only if the error falls
//! (cyclic coordinate descent).

use crate::{
    Symmetry,
    calibration::{Curvature, dot},
    feedback::Row,
    pair::Pair,
    search::storable_symmetric,
};

/// Rounds over all groups after which we are content.
const ROUNDS: usize = 4;

/// Parts of the error by which a step must lower it, so that rounding errors do not keep us busy.
const LEAST_GAIN: f64 = 1e-9;

/// Refines a row; its pairs only where `pairs_are_free`.
pub(crate) fn refine(row: &mut Row<'_>, curvature: &Curvature, pairs_are_free: bool) {
    let errors: Vec<f64> =
        (0..row.weights.len()).map(|k| f64::from(row.weights[k]) - f64::from(row.value(k))).collect();
    // Half of the gradient: H·(w - ŵ).
    let mut pull: Vec<f64> = (0..errors.len()).map(|k| dot(curvature.row(k), &errors)).collect();
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

/// The best code of one weight, all others as they are.
fn recode(row: &mut Row<'_>, curvature: &Curvature, k: usize, pull: &mut [f64], least_gain: f64) -> bool {
    let (pair, value, diagonal) = (row.pairs[k / row.group], f64::from(row.value(k)), curvature.diagonal(k));
    let code = pair.code((value + pull[k] / diagonal) as f32, row.packing.largest());
    if code == row.codes[k] {
        return false;
    }
    let step = f64::from(pair.value(code)) - value;
    if 2.0 * step * pull[k] - step * step * diagonal <= least_gain {
        return false;
    }
    row.codes[k] = code;
    pull.iter_mut().zip(curvature.row(k)).for_each(|(pull, h)| *pull -= step * h);
    true
}

/// The best pair of a group, its codes and all other groups as they are.
fn refit(row: &mut Row<'_>, curvature: &Curvature, group: usize, pull: &mut [f64], least_gain: f64) -> bool {
    let places = group * row.group..(group + 1) * row.group;
    let pair = row.pairs[group];
    let step =
        |new: Pair, k: usize| f64::from(new.value(row.codes[k])) - f64::from(row.pairs[group].value(row.codes[k]));
    // H restricted to the group, times a vector over it.
    let times = |vector: &[f64]| -> Vec<f64> {
        places.clone().map(|k| dot(&curvature.row(k)[places.clone()], vector)).collect()
    };
    let scale_direction: Vec<f64> = match row.scheme.symmetry {
        Symmetry::Symmetric => {
            let per_scale = if pair.scale == 0.0 { 0.0 } else { f64::from(pair.offset) / f64::from(pair.scale) };
            places.clone().map(|k| f64::from(row.codes[k]) + per_scale).collect()
        }
        Symmetry::Asymmetric => places.clone().map(|k| f64::from(row.codes[k])).collect(),
    };
    let along = times(&scale_direction);
    let (a, b) = (dot(&scale_direction, &along), dot(&scale_direction, &pull[places.clone()]));
    let new = match row.scheme.symmetry {
        Symmetry::Symmetric => storable_symmetric(row.packing, (f64::from(pair.scale) + b / a) as f32, row.scheme),
        Symmetry::Asymmetric => {
            let ones = vec![1.0; row.group];
            let across = times(&ones);
            let (c, d) = (across.iter().sum::<f64>(), pull[places.clone()].iter().sum::<f64>());
            let mixed = along.iter().sum::<f64>();
            // Where all codes are equal, only the offset can move.
            let scale_step =
                if a * c - mixed * mixed > 1e-12 * a * c { (b * c - d * mixed) / (a * c - mixed * mixed) } else { 0.0 };
            let dtype = row.scheme.scales;
            let scale = dtype.nearest((f64::from(pair.scale) + scale_step) as f32);
            // The scale was rounded: the offset makes up for it.
            let offset_step = (d - (f64::from(scale) - f64::from(pair.scale)) * mixed) / c;
            Some(Pair { scale, offset: dtype.nearest((f64::from(pair.offset) + offset_step) as f32) })
        }
    };
    let finite = |pair: &Pair| (row.packing.largest() as f32 * pair.scale).is_finite() && pair.offset.is_finite();
    let Some(new) = new.filter(finite).filter(|new| *new != pair) else { return false };
    let steps: Vec<f64> = places.clone().map(|k| step(new, k)).collect();
    if 2.0 * dot(&steps, &pull[places.clone()]) - dot(&steps, &times(&steps)) <= least_gain {
        return false;
    }
    row.pairs[group] = new;
    for (k, step) in places.zip(steps) {
        pull.iter_mut().zip(curvature.row(k)).for_each(|(pull, h)| *pull -= step * h);
    }
    true
}
