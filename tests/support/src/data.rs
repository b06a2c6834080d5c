//! Inputs for programs: deterministic numbers for given extents.

use fuse_artifact::{DType, SymbolSource};
use fuse_compiler::{
    graph::{Graph, Param, TensorType},
    interp::Value,
};
use half::f16;

use crate::quantized;

/// SplitMix64 generator (Steele et al. 2014); equal seeds give equal numbers.
pub struct Numbers(u64);

impl Numbers {
    /// Creates a generator.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Number from 0 to `count - 1`.
    pub fn below(&mut self, count: u64) -> u64 {
        self.bits() % count
    }

    /// Ordinary number: floats from -3 to 3 that `f16` holds exactly, or small integers.
    pub fn ordinary(&mut self, dtype: DType) -> f64 {
        match dtype {
            DType::F32 | DType::F16 => (self.below(385) as f64 - 192.0) / 64.0,
            DType::I32 => self.below(41) as f64 - 20.0,
            DType::U32 => self.below(41) as f64,
            DType::Bool => self.below(2) as f64,
        }
    }
}

/// Edge cases of a dtype.
pub fn special(dtype: DType) -> Vec<f64> {
    let signed = |magnitudes: &[f64]| magnitudes.iter().flat_map(|&x| [x, -x]).collect::<Vec<f64>>();
    let floats = |largest: f64, smallest: f64, subnormal: f64| {
        let ordinary = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1e-3, 0.1, 7.0, 9.5, 20.0, 50.0, 88.0, 100.0, 1000.0];
        let mut numbers = signed(&ordinary);
        numbers.extend(signed(&[largest, smallest, subnormal, f64::INFINITY]));
        numbers.push(f64::NAN);
        numbers.into_iter().map(|x| round(dtype, x)).collect()
    };
    match dtype {
        DType::F32 => floats(f32::MAX.into(), f32::MIN_POSITIVE.into(), 1e-40),
        DType::F16 => floats(f16::MAX.to_f64(), f16::MIN_POSITIVE.to_f64(), 1e-6),
        DType::I32 => {
            let mut numbers = signed(&[0.0, 1.0, 2.0, 3.0, 7.0, 31.0, 65536.0, 46341.0, i32::MAX.into()]);
            numbers.push(i32::MIN.into());
            numbers
        }
        DType::U32 => vec![0.0, 1.0, 2.0, 3.0, 7.0, 31.0, 65536.0, 2147483648.0, u32::MAX.into()],
        DType::Bool => vec![0.0, 1.0],
    }
}

/// Nearest number of a dtype.
pub fn round(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(x as f32),
        DType::F16 => f16::from_f64(x).to_f64(),
        DType::I32 | DType::U32 | DType::Bool => x,
    }
}

/// Tensor of ordinary numbers.
pub fn ordinary(dtype: DType, shape: &[usize], numbers: &mut Numbers) -> Value {
    let data = (0..shape.iter().product()).map(|_| numbers.ordinary(dtype)).collect();
    Value { dtype, shape: shape.to_vec(), data }
}

/// Numbers with heavy cancellation: mostly distant pairs of opposite sign, up to `largest`.
///
/// A running sum in `f32` loses all digits; a compensated or pairwise sum stays within the interpreter's bound.
pub fn cancelling(dtype: DType, shape: &[usize], largest: f64, numbers: &mut Numbers) -> Value {
    let count: usize = shape.iter().product();
    let mut data: Vec<f64> = Vec::with_capacity(count);
    while data.len() < count {
        let magnitude = largest * (1.0 + numbers.below(1 << 20) as f64) / f64::from(1u32 << 20);
        let x = if numbers.below(8) == 0 { numbers.ordinary(dtype) } else { round(dtype, magnitude) };
        data.extend([x, -x]);
    }
    data.truncate(count);
    // Fisher–Yates shuffle.
    for i in (1..count).rev() {
        data.swap(i, numbers.below(i as u64 + 1) as usize);
    }
    Value { dtype, shape: shape.to_vec(), data }
}

type RowKind = (&'static str, fn(usize, usize, f64) -> f64);

/// Named rows at which reductions, softmax and norms are likely to fail.
///
/// The functions take position, row length, and an ordinary number. Floats only.
pub const AWKWARD_ROWS: &[RowKind] = &[
    ("ordinary", |_, _, x| x),
    ("minus infinity only", |_, _, _| f64::NEG_INFINITY),
    ("a number among minus infinities", |i, n, x| if i == n / 2 { x } else { f64::NEG_INFINITY }),
    ("minus infinity in the second half", |i, n, x| if 2 * i < n { x } else { f64::NEG_INFINITY }),
    ("infinity only", |_, _, _| f64::INFINITY),
    ("an infinity at the end", |i, n, x| if i + 1 == n { f64::INFINITY } else { x }),
    ("both infinities", |i, n, x| match i {
        0 => f64::INFINITY,
        i if i + 1 == n => f64::NEG_INFINITY,
        _ => x,
    }),
    ("NaN only", |_, _, _| f64::NAN),
    ("NaN at the start", |i, _, x| if i == 0 { f64::NAN } else { x }),
    ("NaN at the end", |i, n, x| if i + 1 == n { f64::NAN } else { x }),
    ("NaN in the middle and later", |i, n, x| if 2 * i >= n && i % 3 == 0 { f64::NAN } else { x }),
    ("NaN before an infinity", |i, n, x| match i {
        i if i == n / 3 => f64::NAN,
        i if i == n / 2 => f64::INFINITY,
        _ => x,
    }),
    ("one number", |_, _, _| 0.3),
    ("zeros of both signs", |i, _, _| if i % 2 == 0 { -0.0 } else { 0.0 }),
    ("the extremes twice", |i, n, x| match i {
        i if i == n / 4 || i == n / 2 => 40.0,
        i if i == n / 3 || i + 1 == n => -40.0,
        _ => x,
    }),
    ("ascending", |i, _, _| i as f64 / 64.0),
    ("descending", |i, _, _| -(i as f64) / 64.0),
    ("far from zero", |_, _, x| 1000.0 + x / 64.0),
    ("far apart", |i, _, x| if i % 2 == 0 { 3e4 + x } else { x - 3e4 }),
    ("almost subnormal", |_, _, x| x * 2e-38),
];

/// A row of `columns` numbers for each of [`AWKWARD_ROWS`].
pub fn awkward_rows(dtype: DType, columns: usize, numbers: &mut Numbers) -> Value {
    let rows = AWKWARD_ROWS.iter().flat_map(|(_, element)| (0..columns).map(move |i| (i, element)));
    let data = rows.map(|(i, element)| round(dtype, element(i, columns, numbers.ordinary(dtype)))).collect();
    Value { dtype, shape: vec![AWKWARD_ROWS.len(), columns], data }
}

/// Ordinary inputs of every parameter, for the extents in `dims`.
///
/// # Panics
/// If `dims` lacks a dimension of the graph.
pub fn inputs(graph: &Graph, dims: &[(&str, usize)], seed: u64) -> Vec<Value> {
    let mut numbers = Numbers::new(seed);
    let input = |(index, param): (usize, &Param)| {
        if graph.size_param(index).is_some() {
            let size = dims.iter().find(|(dim, _)| *dim == param.name);
            let &(_, size) = size.unwrap_or_else(|| panic!("no value for size `{}`", param.name));
            return Value::scalar(DType::U32, size as f64);
        }
        let shape = extents(graph, &param.ty, dims);
        match &param.quantized {
            Some(quantized) => quantized::input(quantized, &shape, &mut numbers),
            None => ordinary(param.ty.dtype, &shape, &mut numbers),
        }
    };
    graph.params.iter().enumerate().map(input).collect()
}

/// Extents of a type, from those of named dimensions.
///
/// # Panics
/// If `dims` lacks a dimension of the graph.
pub fn extents(graph: &Graph, ty: &TensorType, dims: &[(&str, usize)]) -> Vec<usize> {
    let value = |name: &str| dims.iter().find(|(dim, _)| *dim == name).map(|&(_, extent)| extent as u64);
    let named: Vec<u64> = graph.symbols.iter().map(|symbol| value(&symbol.name).unwrap_or(0)).collect();
    let symbols: Vec<u64> = graph
        .symbols
        .iter()
        .map(|symbol| match (value(&symbol.name), &symbol.source) {
            (Some(extent), _) => extent,
            // An extent that is a product defines the dimension named there.
            (None, &SymbolSource::Axis { param, axis })
                if let Some(size) = graph.params[usize::from(param)].ty.shape.get(usize::from(axis))
                    && size.as_symbol().is_none() =>
            {
                size.eval(&named).expect("a size")
            }
            (None, SymbolSource::Quotient { .. }) => 0,
            (None, &SymbolSource::Axis { param, axis })
                if graph.params[usize::from(param)].ty.rank() <= axis.into() =>
            {
                0
            }
            (None, _) => panic!("no extent for dimension `{}`", symbol.name),
        })
        .collect();
    let extent = |size: &fuse_artifact::Size| size.eval(&symbols).expect("a size") as usize;
    ty.shape.iter().map(extent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_numbers_defeat_a_running_sum() {
        let x = cancelling(DType::F32, &[100, 1001], 1e6, &mut Numbers::new(3));
        assert_eq!(x.data.len(), 100_100);
        let magnitude: f64 = x.data.iter().map(|x| x.abs()).sum();
        let exact: f64 = x.data.iter().sum();
        assert!(magnitude > 1e10 && exact.abs() < 1e-4 * magnitude, "{exact} of {magnitude}");
        let running = x.data.iter().fold(0.0f32, |sum, &x| sum + x as f32);
        assert!((f64::from(running) - exact).abs() > 1e-7 * magnitude / 100.0, "{running}, exactly {exact}");
    }

    #[test]
    fn awkward_rows_hold_what_their_names_say() {
        let x = awkward_rows(DType::F32, 9, &mut Numbers::new(1));
        assert_eq!(x.shape, [AWKWARD_ROWS.len(), 9]);
        let row = |name: &str| {
            let row = AWKWARD_ROWS.iter().position(|(other, _)| *other == name).expect("a known row");
            &x.data[row * 9..][..9]
        };
        assert!(row("minus infinity only").iter().all(|&x| x == f64::NEG_INFINITY));
        assert!(row("NaN at the end")[8].is_nan() && !row("NaN at the end")[7].is_nan());
        assert!(row("NaN only").iter().all(|x| x.is_nan()));
        assert!(row("zeros of both signs")[0].is_sign_negative());
        assert_eq!(row("the extremes twice").iter().filter(|&&x| x == 40.0).count(), 2);
    }
}
