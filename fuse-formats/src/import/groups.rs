//! Regroups scales of a format's runs as groups of a quantized tensor, without rounding.

use fuse_quantize::{Packing, Quantized, ScaleDType};
use half::f16;

use super::Error;
use crate::codes::Codes;

const MULTIPLE: usize = Packing::GROUP_MULTIPLE;

pub(super) fn quantized(what: String, codes: Codes, shape: &[usize], axis: usize) -> Result<Quantized, Error> {
    if codes.codes.is_empty() {
        return Err(Error::Empty { what, shape: shape.to_vec() });
    }
    let packing = match codes.bits {
        ..=2 => Packing::Q2,
        3 => Packing::Q3,
        4 => Packing::Q4,
        _ => Packing::Q8,
    };
    let (extent, run) = (shape[axis], codes.run);
    let refused = |what, index| Error::Runs { what, axis, extent, multiple: MULTIPLE, found: run, index };
    let Some(group) = group_of(run, extent) else { return Err(refused(what, None)) };
    let groups = extent / group;
    let (scales, offsets) = if group == run {
        (codes.scales, codes.offsets)
    } else {
        match regrouped(&codes, shape, axis, group) {
            Ok(pairs) => pairs,
            Err(index) => return Err(refused(what, Some(index))),
        }
    };
    // `f16` only if it is exact.
    let narrow = scales.iter().chain(&offsets).all(|&x| f16::from_f32(x).to_f32() == x);
    let dtype = if narrow { ScaleDType::F16 } else { ScaleDType::F32 };
    let quantized = Quantized::from_codes(packing, shape, axis, groups, dtype, &codes.codes, (&scales, &offsets));
    let quantized = quantized.map_err(|error| Error::Quantized { what: what.clone(), error })?;
    // `q·scale` may overflow where a format's `(q - zero)·scale` does not.
    let code = (1 << codes.bits) - 1;
    let overflows = |(scale, offset): (&f32, &f32)| !(code as f32 * scale + offset).is_finite();
    match scales.iter().zip(&offsets).position(overflows) {
        None => Ok(quantized),
        Some(place) => {
            let mut pairs = shape.to_vec();
            pairs[axis] = groups;
            Err(Error::Range { what, code, index: index_of(place, &pairs), found: scales[place] })
        }
    }
}

/// Group size aligned with runs, if any.
fn group_of(run: usize, extent: usize) -> Option<usize> {
    if run >= extent {
        return Some(extent);
    }
    let group = if run.is_multiple_of(MULTIPLE) { greatest_common_divisor(run, extent) } else { MULTIPLE };
    let (larger, smaller) = (run.max(group), run.min(group));
    let fits = group.is_multiple_of(MULTIPLE) && extent.is_multiple_of(group) && larger.is_multiple_of(smaller);
    fits.then_some(group)
}

/// Scales and offsets of groups, or the first value of a group whose runs differ.
fn regrouped(codes: &Codes, shape: &[usize], axis: usize, group: usize) -> Result<(Vec<f32>, Vec<f32>), Vec<usize>> {
    let (extent, run) = (shape[axis], codes.run);
    let (outer, inner): (usize, usize) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
    let (mut scales, mut offsets) = (vec![], vec![]);
    for line in 0..outer {
        for start in (0..extent).step_by(group) {
            for column in 0..inner {
                let pair = |k: usize| {
                    let place = (line * extent.div_ceil(run) + k / run) * inner + column;
                    (codes.scales[place], codes.offsets[place])
                };
                // Compares bits, so that NaNs reach the check that reports them.
                let bits = |k: usize| (pair(k).0.to_bits(), pair(k).1.to_bits());
                if (start..start + group).step_by(run).any(|k| bits(k) != bits(start)) {
                    return Err(index_of((line * extent + start) * inner + column, shape));
                }
                scales.push(pair(start).0);
                offsets.push(pair(start).1);
            }
        }
    }
    Ok((scales, offsets))
}

fn index_of(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (index, size) in index.iter_mut().zip(shape).rev() {
        (*index, place) = (place % size, place / size);
    }
    index
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
