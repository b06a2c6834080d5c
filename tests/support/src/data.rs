//! Inputs for programs: deterministic numbers for given extents.

use fuse_artifact::DType;
use fuse_compiler::{
    graph::{Graph, TensorType},
    interp::Value,
};
use half::f16;

/// A small generator of well-spread numbers (SplitMix64, Steele et al. 2014); equal seeds give equal numbers.
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `count - 1`.
    pub fn below(&mut self, count: u64) -> u64 {
        self.bits() % count
    }

    /// An ordinary number of a dtype: floats from -3 to 3 that `f16` holds exactly, small integers.
    pub fn ordinary(&mut self, dtype: DType) -> f64 {
        match dtype {
            DType::F32 | DType::F16 => (self.below(385) as f64 - 192.0) / 64.0,
            DType::I32 => self.below(41) as f64 - 20.0,
            DType::U32 => self.below(41) as f64,
            DType::Bool => self.below(2) as f64,
        }
    }
}

/// Numbers at which operations of a dtype are likely to go wrong.
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

/// The nearest number that a dtype holds.
pub fn round(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(x as f32),
        DType::F16 => f16::from_f64(x).to_f64(),
        DType::I32 | DType::U32 | DType::Bool => x,
    }
}

/// A tensor of ordinary numbers.
pub fn ordinary(dtype: DType, shape: &[usize], numbers: &mut Numbers) -> Value {
    let data = (0..shape.iter().product()).map(|_| numbers.ordinary(dtype)).collect();
    Value { dtype, shape: shape.to_vec(), data }
}

/// Ordinary inputs for every parameter of `graph`, with the extents that `dims` names.
///
/// # Panics
/// When a dimension of the graph is not among `dims`.
pub fn inputs(graph: &Graph, dims: &[(&str, usize)], seed: u64) -> Vec<Value> {
    let mut numbers = Numbers::new(seed);
    graph.params.iter().map(|p| ordinary(p.ty.dtype, &extents(graph, &p.ty, dims), &mut numbers)).collect()
}

/// The extents of a type of `graph`, given those of the named dimensions.
///
/// # Panics
/// When a dimension of the graph is not among `dims`.
pub fn extents(graph: &Graph, ty: &TensorType, dims: &[(&str, usize)]) -> Vec<usize> {
    let value = |name: &str| dims.iter().find(|(dim, _)| *dim == name).map(|&(_, extent)| extent as u64);
    let symbols: Vec<u64> = graph
        .symbols
        .iter()
        .map(|symbol| value(&symbol.name).unwrap_or_else(|| panic!("no extent for dimension `{}`", symbol.name)))
        .collect();
    let extent = |size: &fuse_artifact::Size| size.eval(&symbols).expect("a size") as usize;
    ty.shape.iter().map(extent).collect()
}
