//! Quantization of a tensor by its values alone.

use fuse_artifact::Packing;

use crate::{
    Granularity, QuantScheme, QuantizeError, Quantized, Rounding, layout::Layout, pair::Pair, search::least_squares,
    statistics::span,
};

/// Quantizes `values`, row-major of `shape`.
///
/// Scales and offsets are rounded to their storage first. A value's code is the largest `q` with `(q - 1/2)·scale <=
/// x - offset` in `f32`, clamped to `0..=2^bits - 1`. With [`Rounding::Nearest`] and at least 2 bits, the error is at
/// most half a scale.
///
/// ```
/// use fuse_quantize::{Packing, QuantScheme, quantize};
///
/// let weights: Vec<f32> = (0..64).map(|i| (i as f32).sin()).collect();
/// let quantized = quantize(Packing::Q4, &weights, &[1, 64], &QuantScheme::symmetric().axis(1))?;
/// assert_eq!((quantized.words.len(), quantized.scales.len()), (8, 2));
/// assert!(quantized.dequantize().iter().zip(&weights).all(|(a, b)| (a - b).abs() < 0.08));
/// # Ok::<(), fuse_quantize::QuantizeError>(())
/// ```
///
/// # Errors
/// If values do not match the shape or are not finite, a scale does not fit its storage, the axis does not exist, or
/// groups do not divide it or do not start at words.
pub fn quantize(
    packing: Packing,
    values: &[f32],
    shape: &[usize],
    scheme: &QuantScheme,
) -> Result<Quantized, QuantizeError> {
    let (axis, groups) = scheme.axis_and_groups(shape)?;
    let layout = Layout::new(packing, shape, axis, groups)?;
    layout.check_values("values", values)?;

    let mut quantized = Quantized::zeros(&layout, shape, axis, scheme.scales)?;
    let shared = match scheme.granularity {
        Granularity::Tensor => Some(checked(pair_of(packing, scheme, values, None), &layout, 0, 0, scheme)?),
        _ => None,
    };
    let mut line_values = vec![];
    for line in 0..layout.lines {
        layout.gather(values, line, &mut line_values);
        for group in 0..layout.groups {
            let start = group * layout.group;
            let group_values = &line_values[start..start + layout.group];
            let pair = match shared {
                Some(pair) => pair,
                None => checked(pair_of(packing, scheme, group_values, None), &layout, line, group, scheme)?,
            };
            quantized.set_pair(&layout, line, group, pair);
            for (k, &x) in (start..).zip(group_values) {
                quantized.set_code(&layout, line, k, pair.code(x, packing.largest()));
            }
        }
    }
    Ok(quantized)
}

pub(crate) fn pair_of(packing: Packing, scheme: &QuantScheme, values: &[f32], costs: Option<&[f64]>) -> Pair {
    match scheme.rounding {
        Rounding::Nearest => span(packing, scheme, values),
        Rounding::LeastSquares => least_squares(packing, scheme, values, costs),
    }
}

/// Pair, if it and all values of its codes are finite.
pub(crate) fn checked(
    pair: Pair,
    layout: &Layout,
    line: usize,
    group: usize,
    scheme: &QuantScheme,
) -> Result<Pair, QuantizeError> {
    let reach = layout.packing().largest() as f32 * pair.scale;
    let what = match (pair.scale.is_finite() && reach.is_finite(), pair.offset.is_finite()) {
        (true, true) => return Ok(pair),
        (false, _) => "scale",
        (true, false) => "offset",
    };
    let dtype = scheme.scales;
    let found = if what == "scale" { pair.scale } else { pair.offset };
    let index = layout.index(line, group);
    Err(QuantizeError::ScaleRange { what, index, dtype: dtype.name(), most: dtype.largest(), found })
}
