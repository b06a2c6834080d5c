//! Compares operations with tables, identities and IEEE 754, and tests whole graphs.

mod reduce;

use fuse_artifact::{Check, Relation, Size, Symbol, SymbolSource};

use super::*;
use crate::{
    graph::{FunctionOptions, Param, TensorType},
    span::Span,
};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Within 1e-14 relative: `erfc` multiplies the rounding of its argument by `2·x²`.
fn assert_close(found: f64, expected: f64, what: &str) {
    let same = found == expected
        || (found.is_nan() && expected.is_nan())
        || (found - expected).abs() <= 1e-14 * expected.abs();
    assert!(same, "{what}: expected {expected:e}, found {found:e}");
}

#[test]
fn float_functions_have_their_known_values() {
    use UnaryOp as U;
    // Abramowitz and Stegun's tables, and mpmath with 50 digits.
    let cases = [
        (U::Erf, 0.5, 0.5204998778130465),
        (U::Erf, 2.0, 0.9953222650189527),
        (U::Erf, -INF, -1.0),
        (U::Gelu, 1.0, 0.8413447460685429),
        (U::Gelu, -10.0, -7.619853024160527e-23),
        (U::Gelu, INF, INF),
        (U::Gelu, -INF, NAN),
        (U::GeluTanh, 1.0, 0.8411919906082768),
        (U::Sigmoid, 2.0, 0.8807970779778823),
        (U::Sigmoid, -1000.0, 0.0),
        (U::Sigmoid, 1000.0, 1.0),
        (U::Silu, 1.0, 0.7310585786300049),
        (U::Silu, -INF, NAN),
        (U::Softplus, 0.0, std::f64::consts::LN_2),
        (U::Softplus, 1000.0, 1000.0),
        (U::Softplus, -1000.0, 0.0),
        (U::Mish, 1.0, 0.8650983882673103),
        (U::Mish, 1e30, 1e30),
        (U::Selu, 1.0, 1.0507009873554805),
        (U::Selu, -1.0, -1.1113307378125628),
        (U::Selu, -INF, -1.7580993408473766),
        (U::Tanh, 1e30, 1.0),
        (U::Tanh, 0.5, 0.46211715726000976),
        (U::Log1p, 1e-20, 1e-20),
        (U::Expm1, 1e-20, 1e-20),
        (U::Atan, 1.0, std::f64::consts::FRAC_PI_4),
        (U::Atan, -INF, -std::f64::consts::FRAC_PI_2),
        (U::Rsqrt, 16.0, 0.25),
        (U::Rsqrt, 0.0, INF),
        (U::Recip, -0.0, -INF),
        (U::Sqrt, -1.0, NAN),
        (U::Log, 0.0, -INF),
        (U::Log, -1.0, NAN),
        (U::Round, 2.5, 2.0),
        (U::Round, -3.5, -4.0),
        (U::Sign, -0.5, -1.0),
        (U::Sign, 0.0, 0.0),
        (U::HardSigmoid, 0.0, 0.5),
        (U::HardSigmoid, 4.0, 1.0),
        (U::HardSwish, -4.0, 0.0),
        (U::HardSwish, 1.0, 2.0 / 3.0),
        (U::Relu, -2.0, 0.0),
        (U::Asin, 1.0, std::f64::consts::FRAC_PI_2),
        (U::Asin, 0.5, std::f64::consts::FRAC_PI_6),
        (U::Asin, 1.5, NAN),
        (U::Acos, -1.0, std::f64::consts::PI),
        (U::Acos, 0.5, std::f64::consts::FRAC_PI_3),
        (U::Sinh, 1.0, 1.1752011936438014),
        (U::Sinh, -INF, -INF),
        (U::Cosh, 1.0, 1.543080634815244),
        (U::Asinh, 1.0, 0.881373587019543),
        (U::Asinh, -1e300, -691.4686750787736),
        (U::Acosh, 2.0, 1.3169578969248167),
        (U::Acosh, 1e300, 691.4686750787736),
        (U::Acosh, 0.5, NAN),
        (U::Atanh, 0.5, 0.5493061443340548),
        (U::Atanh, 1.0, INF),
        (U::Atanh, 2.0, NAN),
        (U::Erfc, 1.0, 0.15729920705028513),
        (U::Erfc, 5.0, 1.537459794428035e-12),
        (U::Erfc, -INF, 2.0),
        (U::Trunc, -2.7, -2.0),
        (U::Fract, -2.75, -0.75),
        (U::Fract, INF, NAN),
        (U::IsNan, NAN, 1.0),
        (U::IsNan, INF, 0.0),
        (U::IsInf, -INF, 1.0),
        (U::IsFinite, 1e38, 1.0),
        (U::IsFinite, NAN, 0.0),
        (U::ToBits, 1.0, 1065353216.0),
        (U::ToBits, -0.0, 2147483648.0),
    ];
    for (op, x, expected) in cases {
        assert_close(f64::unary(op, DType::F32, &x), expected, &format!("{}({x})", op.name()));
    }
}

#[test]
fn nan_propagates_through_every_float_operation() {
    let of_floats = UnaryOp::ALL.iter().filter(|op| op.takes(DType::F32) && op.row().yields.is_none());
    for &op in of_floats {
        assert!(f64::unary(op, DType::F32, &NAN).is_nan(), "{}", op.name());
    }
    for &op in BinaryOp::ALL.iter().filter(|op| op.takes(DType::F32)) {
        assert!(f64::binary(op, DType::F32, &NAN, &2.0).is_nan(), "{}", op.name());
        assert!(f64::binary(op, DType::F32, &2.0, &NAN).is_nan(), "{}", op.name());
    }
    for &op in CompareOp::ALL {
        let expected = f64::from(u8::from(op == CompareOp::Ne));
        assert_eq!(f64::compare(op, DType::F32, &NAN, &1.0), expected, "{}", op.name());
    }
}

#[test]
fn integers_wrap_and_divide_as_wgsl_says() {
    use BinaryOp as B;
    let (min, max) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let signed = [
        (B::Add, max, 1.0, min),
        (B::Mul, 65536.0, 65536.0, 0.0),
        (B::Mul, 46341.0, 46341.0, -2147479015.0),
        (B::Div, -7.0, 2.0, -3.0),
        (B::Div, 7.0, 0.0, 7.0),
        (B::Div, min, -1.0, min),
        (B::Rem, -7.0, 2.0, -1.0),
        (B::Rem, 7.0, 0.0, 0.0),
        (B::Rem, min, -1.0, 0.0),
        (B::Min, -1.0, 1.0, -1.0),
        (B::BitAnd, -2.0, 7.0, 6.0),
        (B::BitXor, -1.0, 7.0, -8.0),
        (B::Shl, 1.0, 31.0, min),
        (B::Shl, 3.0, 33.0, 6.0),
        (B::Shr, -5.0, 1.0, -3.0),
    ];
    for (op, x, y, expected) in signed {
        assert_eq!(f64::binary(op, DType::I32, &x, &y), expected, "{} {x} {y}", op.name());
    }
    let unsigned = [
        (B::Sub, 0.0, 1.0, f64::from(u32::MAX)),
        (B::Div, 7.0, 0.0, 7.0),
        (B::Rem, 7.0, 0.0, 0.0),
        (B::Mul, 4294967295.0, 2.0, 4294967294.0),
        (B::BitOr, 4294967294.0, 1.0, 4294967295.0),
        (B::Shl, 4294967295.0, 4.0, 4294967280.0),
        (B::Shr, 4294967295.0, 28.0, 15.0),
    ];
    for (op, x, y, expected) in unsigned {
        assert_eq!(f64::binary(op, DType::U32, &x, &y), expected, "{} {x} {y}", op.name());
    }
    assert_eq!(f64::unary(UnaryOp::Abs, DType::I32, &min), min);
    assert_eq!(f64::unary(UnaryOp::Neg, DType::U32, &1.0), f64::from(u32::MAX));
    assert_eq!(f64::unary(UnaryOp::Sign, DType::I32, &-9.0), -1.0);
    assert_eq!(f64::unary(UnaryOp::Not, DType::I32, &5.0), -6.0);
    assert_eq!(f64::unary(UnaryOp::Not, DType::U32, &0.0), f64::from(u32::MAX));
    assert_eq!(f64::unary(UnaryOp::PopCount, DType::I32, &-1.0), 32.0);
    assert_eq!(f64::unary(UnaryOp::FromBits, DType::U32, &1065353216.0), 1.0);
}

#[test]
fn casts_behave_as_rusts_as() {
    let cases = [
        (DType::F32, DType::I32, 3.99, 3.0),
        (DType::F32, DType::I32, -3.99, -3.0),
        (DType::F32, DType::I32, 1e20, f64::from(i32::MAX)),
        (DType::F32, DType::I32, NAN, 0.0),
        (DType::F32, DType::U32, -1.0, 0.0),
        (DType::F32, DType::U32, INF, f64::from(u32::MAX)),
        (DType::F32, DType::F16, 65520.0, INF),
        (DType::F32, DType::F16, 65519.0, 65504.0),
        (DType::F32, DType::F16, 2049.0, 2048.0),
        (DType::I32, DType::U32, -1.0, f64::from(u32::MAX)),
        (DType::U32, DType::I32, 2147483648.0, f64::from(i32::MIN)),
        (DType::I32, DType::F32, 16777217.0, 16777216.0),
        (DType::F32, DType::Bool, NAN, 1.0),
        (DType::F32, DType::Bool, -0.0, 0.0),
        (DType::Bool, DType::F32, 1.0, 1.0),
    ];
    for (from, to, x, expected) in cases {
        assert_eq!(f64::cast(from, to, &x), expected, "{x} from {from} to {to}");
    }
}

struct Builder(Graph);

impl Builder {
    fn new() -> Self {
        Self(Graph {
            name: "test".into(),
            params: vec![],
            symbols: vec![],
            checks: vec![],
            nodes: Arena::default(),
            results: vec![],
            updates: vec![],
            gradients: vec![],
            statements: vec![],
            options: FunctionOptions::default(),
        })
    }

    fn symbol(&mut self, source: SymbolSource) -> Size {
        self.0.symbols.push(Symbol { name: format!("D{}", self.0.symbols.len()).into(), source });
        Size::symbol(self.0.symbols.len() as u16 - 1)
    }

    fn input(&mut self, rank: u8, padded: bool) -> NodeId {
        let param = self.0.params.len() as u16;
        let shape = (0..rank).map(|axis| self.symbol(SymbolSource::Axis { param, axis })).collect();
        let ty = TensorType::new(DType::F32, shape);
        self.0.params.push(Param { name: format!("p{param}"), ty: ty.clone(), scalar: false, padded, quantized: None });
        self.node(Op::Input(param), ty)
    }

    fn node(&mut self, op: Op, ty: TensorType) -> NodeId {
        self.0.nodes.push(Node { op, ty, span: Span::default() })
    }

    fn shape(&self, id: NodeId) -> Vec<Size> {
        self.0.nodes[id].ty.shape.clone()
    }

    fn run(mut self, result: NodeId, inputs: &[Value]) -> Result<Value, InterpError> {
        self.0.results = vec![result];
        Ok(run(&self.0, inputs)?.remove(0))
    }
}

fn value(shape: &[usize], data: &[f64]) -> Value {
    Value::from_data(DType::F32, shape, data.to_vec()).unwrap()
}

fn iota(shape: &[usize]) -> Value {
    let data: Vec<f64> = (0..shape.iter().product::<usize>()).map(|i| i as f64).collect();
    value(shape, &data)
}

#[test]
fn movement_keeps_the_right_elements() {
    let mut b = Builder::new();
    let x = b.input(2, false);
    let [m, n] = <[Size; 2]>::try_from(b.shape(x)).unwrap();
    let permuted =
        b.node(Op::Permute { x, permutation: vec![1, 0] }, TensorType::new(DType::F32, vec![n.clone(), m.clone()]));
    let flat = b.node(Op::Reshape(permuted), TensorType::new(DType::F32, vec![m.mul(&n)]));
    let slice = Op::Slice { x: flat, axis: 0, start: 1.into() };
    let sliced = b.node(slice, TensorType::new(DType::F32, vec![3.into()]));
    assert_eq!(b.run(sliced, &[iota(&[2, 3])]).unwrap(), value(&[3], &[3.0, 1.0, 4.0]));
}

#[test]
fn matmul_repeats_batch_axes_of_extent_one() {
    let mut b = Builder::new();
    let (x, y) = (b.input(3, false), b.input(3, false));
    let (xs, ys) = (b.shape(x), b.shape(y));
    let shape = vec![xs[0].clone(), xs[1].clone(), ys[2].clone()];
    let z = b.node(Op::Matmul { lhs: x, rhs: y }, TensorType::new(DType::F32, shape));
    let z = b.run(z, &[iota(&[2, 1, 2]), value(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0])]).unwrap();
    assert_eq!(z, value(&[2, 1, 2], &[3.0, 4.0, 11.0, 16.0]));
}

#[test]
fn padded_parameters_broadcast_by_symbols() {
    let mut b = Builder::new();
    let (x, y) = (b.input(3, true), b.input(3, true));
    let (xs, ys) = (b.shape(x), b.shape(y));
    let shape: Vec<Size> =
        xs.into_iter().zip(ys).map(|(x, y)| b.symbol(SymbolSource::Broadcast(vec![x, y].into()))).collect();
    let ty = TensorType::new(DType::F32, shape);
    let (x, y) = (b.node(Op::Broadcast(x), ty.clone()), b.node(Op::Broadcast(y), ty.clone()));
    let sum = b.node(Op::Binary(BinaryOp::Add, x, y), ty);
    let inputs = [value(&[2, 1], &[10.0, 20.0]), value(&[2], &[1.0, 2.0])];
    let graph = Builder(b.0.clone());
    assert_eq!(graph.run(sum, &inputs).unwrap(), value(&[1, 2, 2], &[11.0, 12.0, 21.0, 22.0]));
    let error = b.run(sum, &[iota(&[3]), iota(&[2])]).unwrap_err();
    assert!(matches!(error, InterpError::Broadcast { extents, .. } if extents == [3, 2]));
}

#[test]
fn inputs_are_checked_before_anything_is_computed() {
    let mut b = Builder::new();
    let (x, y) = (b.input(1, false), b.input(1, false));
    let (left, right) = (b.shape(x).remove(0), b.shape(y).remove(0));
    b.0.checks.push(Check { relation: Relation::Equal, left, right, what: "`N`".into() });
    let run = |inputs: &[Value]| Builder(b.0.clone()).run(x, inputs).unwrap_err();
    assert_eq!(run(&[iota(&[2])]), InterpError::InputCount { expected: 2, found: 1 });
    assert_eq!(run(&[iota(&[2]), iota(&[3])]).to_string(), "`N`: 2 and 3 do not agree");
    assert_eq!(run(&[iota(&[2]), iota(&[1, 2])]).to_string(), "`p1`: expected 1 axes, found 2");
    let wrong = Value { dtype: DType::F16, ..iota(&[2]) };
    assert_eq!(run(&[wrong, iota(&[2])]).to_string(), "`p0`: expected `f32`, found `f16`");
    assert!(Value::from_data(DType::F32, &[3], vec![0.0]).is_err());
}

#[test]
fn index_counts_along_its_axis() {
    let mut b = Builder::new();
    let x = b.input(2, false);
    let ty = TensorType::new(DType::I32, b.shape(x));
    let index = b.node(Op::Index { axis: 1 }, ty);
    assert_eq!(b.run(index, &[iota(&[2, 3])]).unwrap().data, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
}

#[test]
fn half_precision_is_rounded_only_where_stored() {
    let mut b = Builder::new();
    let x = b.input(1, false);
    let shape = b.shape(x);
    let half = b.node(Op::Cast(x), TensorType::new(DType::F16, shape.clone()));
    let sum = b.node(Op::Binary(BinaryOp::Add, half, half), TensorType::new(DType::F16, shape));
    assert_eq!(b.run(sum, &[value(&[1], &[2049.0])]).unwrap().data, [4096.0]);
}
