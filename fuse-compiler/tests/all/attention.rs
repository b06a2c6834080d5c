//! Attention without front end and device: recognition, and validation of all schedules.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Features, Size, Slot, Symbol, SymbolSource, Variant};
use fuse_compiler::{
    fusion::{Group, GroupKind, Store, attention, attention_pattern::Pattern, index},
    graph::{CompareOp, FunctionOptions, Graph, Literal, Node, NodeId, Op, Param, ReduceOp, TensorType},
    operations::{BinaryOp, UnaryOp},
    schedule::{
        attention::family,
        mask_bounds::{self, Side},
    },
    span::Span,
    validate, wgsl,
    wgsl::names::Names,
};

struct Builder {
    graph: Graph,
}

impl Builder {
    fn new() -> Self {
        let graph = Graph {
            name: "f".to_owned(),
            params: vec![],
            symbols: vec![],
            checks: vec![],
            nodes: Default::default(),
            results: vec![],
            updates: vec![],
            gradients: vec![],
            statements: vec![],
            options: FunctionOptions::default(),
        };
        Self { graph }
    }

    fn sizes(&mut self, dims: &[&str]) -> Vec<Size> {
        let param = self.graph.params.len() as u16;
        let mut sizes = vec![];
        for (axis, dim) in dims.iter().enumerate() {
            if let Ok(value) = dim.parse::<u64>() {
                sizes.push(Size::constant(value));
                continue;
            }
            let known = self.graph.symbols.iter().position(|symbol| symbol.name == *dim);
            let id = known.unwrap_or_else(|| {
                let source = SymbolSource::Axis { param, axis: axis as u8 };
                self.graph.symbols.push(Symbol { name: (*dim).to_owned().into(), source });
                self.graph.symbols.len() - 1
            });
            sizes.push(Size::symbol(id as u16));
        }
        sizes
    }

    fn push(&mut self, op: Op, dtype: DType, shape: Vec<Size>) -> NodeId {
        self.graph.nodes.push(Node { op, ty: TensorType::new(dtype, shape), span: Span::default() })
    }

    fn input(&mut self, name: &str, dtype: DType, dims: &[&str]) -> NodeId {
        let shape = self.sizes(dims);
        let index = self.graph.params.len() as u16;
        let ty = TensorType::new(dtype, shape.clone());
        self.graph.params.push(Param { name: name.to_owned(), ty, scalar: false, padded: false, quantized: None });
        self.push(Op::Input(index), dtype, shape)
    }

    fn ty(&self, node: NodeId) -> TensorType {
        self.graph.nodes[node].ty.clone()
    }

    fn unary(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        let ty = self.ty(x);
        self.push(Op::Unary(op, x), op.result(ty.dtype), ty.shape)
    }

    fn binary(&mut self, op: BinaryOp, x: NodeId, y: NodeId) -> NodeId {
        let ty = self.ty(x);
        let y = self.broadcast(y, &ty.shape);
        self.push(Op::Binary(op, x, y), ty.dtype, ty.shape)
    }

    fn compare(&mut self, op: CompareOp, x: NodeId, y: NodeId) -> NodeId {
        let shape = self.ty(x).shape;
        let y = self.broadcast(y, &shape);
        self.push(Op::Compare(op, x, y), DType::Bool, shape)
    }

    fn select(&mut self, condition: NodeId, x: NodeId, y: NodeId) -> NodeId {
        let ty = self.ty(x);
        let y = self.broadcast(y, &ty.shape);
        self.push(Op::Select { condition, on_true: x, on_false: y }, ty.dtype, ty.shape)
    }

    fn broadcast(&mut self, x: NodeId, shape: &[Size]) -> NodeId {
        let ty = self.ty(x);
        if ty.shape == shape { x } else { self.push(Op::Broadcast(x), ty.dtype, shape.to_vec()) }
    }

    fn literal(&mut self, value: f64) -> NodeId {
        self.push(Op::Literal(Literal::Float(value)), DType::F32, vec![])
    }

    fn integer(&mut self, value: i64) -> NodeId {
        self.push(Op::Literal(Literal::Integer(value)), DType::I32, vec![])
    }

    fn coordinate(&mut self, like: NodeId, axis: usize) -> NodeId {
        let shape = self.ty(like).shape;
        self.push(Op::Index { axis }, DType::I32, shape)
    }

    fn transpose(&mut self, x: NodeId) -> NodeId {
        let TensorType { dtype, mut shape } = self.ty(x);
        let rank = shape.len();
        shape.swap(rank - 2, rank - 1);
        let mut permutation: Vec<usize> = (0..rank).collect();
        permutation.swap(rank - 2, rank - 1);
        self.push(Op::Permute { x, permutation }, dtype, shape)
    }

    fn matmul(&mut self, lhs: NodeId, rhs: NodeId) -> NodeId {
        let (l, r) = (self.ty(lhs), self.ty(rhs));
        let rank = l.rank();
        let wider = |(a, b): (&Size, &Size)| if a.is_one() { b.clone() } else { a.clone() };
        let mut shape: Vec<Size> = l.shape[..rank - 2].iter().zip(&r.shape).map(wider).collect();
        shape.extend([l.shape[rank - 2].clone(), r.shape[rank - 1].clone()]);
        self.push(Op::Matmul { lhs, rhs }, l.dtype, shape)
    }

    fn reduce(&mut self, op: ReduceOp, x: NodeId) -> NodeId {
        let TensorType { dtype, mut shape } = self.ty(x);
        let last = shape.len() - 1;
        shape[last] = Size::ONE;
        self.push(Op::Reduce { op, x, axes: vec![last] }, dtype, shape)
    }

    fn softmax(&mut self, x: NodeId) -> NodeId {
        let largest = self.reduce(ReduceOp::Max, x);
        let difference = self.binary(BinaryOp::Sub, x, largest);
        let e = self.unary(UnaryOp::Exp, difference);
        let total = self.reduce(ReduceOp::Sum, e);
        self.binary(BinaryOp::Div, e, total)
    }

    fn attention(
        &mut self,
        dtype: DType,
        dims: [&[&str]; 3],
        f: impl FnOnce(&mut Self, NodeId) -> NodeId,
    ) -> [NodeId; 3] {
        let q = self.input("q", dtype, dims[0]);
        let k = self.input("k", dtype, dims[1]);
        let v = self.input("v", dtype, dims[2]);
        let keys = self.transpose(k);
        let product = self.matmul(q, keys);
        let scores = f(self, product);
        let p = self.softmax(scores);
        let output = self.matmul(p, v);
        self.graph.results = vec![output];
        [product, scores, output]
    }

    fn patterns(&self) -> Vec<Pattern> {
        let live: BTreeSet<NodeId> = self.graph.nodes.handles().collect();
        attention::recognize(&self.graph, &live, true, &BTreeSet::new()).patterns
    }

    fn group(&self) -> Group {
        let patterns = self.patterns();
        let [pattern] = &patterns[..] else { panic!("{} patterns", patterns.len()) };
        let uses_coordinates = index::uses_coordinates(&self.graph);
        let stored = |node: NodeId| match self.graph.nodes[node].op {
            Op::Input(param) => Some(Slot::Param(param)),
            _ => None,
        };
        let region = BTreeSet::from([pattern.output]);
        let outputs = [pattern.output];
        let (mut group, values) =
            attention::group(&self.graph, &uses_coordinates, &stored, pattern, &region, &outputs).unwrap();
        group.stores = vec![Store { node: pattern.output, value: values[0], slot: Slot::Result(0), access: None }];
        group
    }

    fn variants(&self) -> Vec<Variant> {
        let group = self.group();
        let GroupKind::Attention(attention) = &group.kind else { panic!("not an attention") };
        let names = Names::new(&group, fuse_compiler::kernel::print::Dialect::Naga);
        let variant = |scheduled| wgsl::attention::variant(&group, attention, &names, scheduled);
        let variants: Vec<Variant> = family(&group, attention).iter().map(variant).collect();
        for variant in &variants {
            for pass in variant.passes.iter() {
                let wgsl = pass.wgsl.text();
                let features = Features { f16: group.uses_f16(), ..variant.features };
                if let Err(error) = validate::validate(&wgsl, features) {
                    panic!("{}: {error}\n{wgsl}", variant.name);
                }
                assert!(pass.workgroup_bytes <= 48 * 1024, "{}: {} bytes", variant.name, pass.workgroup_bytes);
            }
        }
        let last = variants.last().unwrap();
        assert!(last.requires.is_empty(), "{} requires something", last.name);
        for pass in last.passes.iter() {
            assert!(pass.workgroup_bytes <= 16 * 1024 && pass.workgroup_size <= 256, "{}", last.name);
        }
        variants
    }
}

const SYMBOLIC: [&[&str]; 3] = [&["B", "M", "D"], &["B", "N", "D"], &["B", "N", "E"]];

fn plain(b: &mut Builder, s: NodeId) -> NodeId {
    let scale = b.literal(0.125);
    b.binary(BinaryOp::Mul, s, scale)
}

fn causal(b: &mut Builder, s: NodeId) -> NodeId {
    let s = plain(b, s);
    let rank = b.ty(s).rank();
    let (query, key) = (b.coordinate(s, rank - 2), b.coordinate(s, rank - 1));
    let seen = b.compare(CompareOp::Le, key, query);
    let hidden = b.literal(f64::NEG_INFINITY);
    b.select(seen, s, hidden)
}

fn window(b: &mut Builder, s: NodeId, window: i64) -> NodeId {
    let rank = b.ty(s).rank();
    let (query, key) = (b.coordinate(s, rank - 2), b.coordinate(s, rank - 1));
    let width = b.integer(window);
    let first = b.binary(BinaryOp::Sub, query, width);
    let (late, early) = (b.compare(CompareOp::Gt, key, first), b.compare(CompareOp::Le, key, query));
    let seen = b.binary(BinaryOp::And, late, early);
    let hidden = b.literal(f64::NEG_INFINITY);
    b.select(seen, s, hidden)
}

#[test]
fn symbolic_sizes_have_valid_members() {
    let mut b = Builder::new();
    b.attention(DType::F32, SYMBOLIC, plain);
    let names: Vec<String> = b.variants().iter().map(|variant| variant.name.to_string()).collect();
    for wanted in [
        "tile 128x64 8x8 head 64",
        "decode 1 head 128 split",
        "scalar tile 32x32 4x4 head 64",
        "scalar tile 32x64 4x4 head 256",
    ] {
        assert!(names.iter().any(|name| name == wanted), "no {wanted} among {names:?}");
    }
}

#[test]
fn literal_heads_have_valid_members() {
    for (depth, columns) in
        [("1", "1"), ("8", "8"), ("32", "32"), ("40", "40"), ("64", "64"), ("96", "32"), ("128", "128")]
    {
        let mut b = Builder::new();
        b.attention(DType::F32, [&["B", "M", depth], &["B", "N", depth], &["B", "N", columns]], causal);
        b.variants();
    }
    for (depth, columns) in [("256", "256"), ("256", "8"), ("16", "256"), ("200", "200"), ("0", "8")] {
        let mut b = Builder::new();
        b.attention(DType::F32, [&["M", depth], &["N", depth], &["N", columns]], plain);
        b.variants();
    }
}

#[test]
fn f16_has_valid_members() {
    let mut b = Builder::new();
    let shared: [&[&str]; 3] = [&["B", "H", "M", "64"], &["B", "1", "N", "64"], &["B", "1", "N", "64"]];
    b.attention(DType::F16, shared, |_, s| s);
    let names: Vec<String> = b.variants().iter().map(|variant| variant.name.to_string()).collect();
    for wanted in [
        "coop-matrix 128x32 32x32 head 64",
        "coop-matrix 128x32 32x32 head 64 split",
        "coop-matrix 64x32 16x32 head 64",
    ] {
        assert!(names.iter().any(|name| name == wanted), "no {wanted} among {names:?}");
    }
}

#[test]
fn only_stored_f16_of_usual_heads_is_in_matrices() {
    let uses_matrices = |dtype, depth, scores: &dyn Fn(&mut Builder, NodeId) -> NodeId| {
        let mut b = Builder::new();
        b.attention(dtype, [&["B", "M", depth], &["B", "N", depth], &["B", "N", "64"]], |b, s| scores(b, s));
        b.variants().iter().any(|variant| variant.features.coop_matrix > 0)
    };
    assert!(uses_matrices(DType::F16, "64", &|_, s| s));
    assert!(uses_matrices(DType::F16, "D", &|_, s| s));
    assert!(!uses_matrices(DType::F16, "40", &|_, s| s), "invocations do not load rows of 40 evenly");
    assert!(!uses_matrices(DType::F16, "256", &|_, s| s), "its outputs would not fit the registers");
    assert!(!uses_matrices(DType::F32, "64", &plain));
}

#[test]
fn a_bias_is_read_by_every_member() {
    for dims in [&["B", "M", "N"][..], &["1", "M", "N"], &["B", "1", "N"], &["B", "M", "1"], &["N"], &["1"]] {
        let mut b = Builder::new();
        b.attention(DType::F32, [&["B", "M", "64"], &["B", "N", "64"], &["B", "N", "64"]], |b, s| {
            let mut bias = b.input("bias", DType::F32, dims);
            if dims.len() == 1 {
                let shape = [vec![Size::ONE; 2], b.ty(bias).shape].concat();
                bias = b.push(Op::Reshape(bias), DType::F32, shape);
            }
            b.binary(BinaryOp::Add, s, bias)
        });
        for variant in b.variants() {
            assert!(variant.passes[0].wgsl.contains("in_2["), "{}", variant.name);
        }
    }
}

#[test]
fn masks_limit_the_keys() {
    let limits = |visible_window: Option<u32>, f: &dyn Fn(&mut Builder, NodeId) -> NodeId| {
        let mut b = Builder::new();
        b.attention(DType::F32, SYMBOLIC, |b, s| f(b, s));
        b.variants();
        let group = b.group();
        let GroupKind::Attention(attention) = &group.kind else { panic!("not an attention") };
        let limits = mask_bounds::limits(&attention.score.0, attention.score.1, &group.accesses, 1);
        assert_eq!(mask_bounds::window(&limits), visible_window, "{limits:?}");
        limits.iter().map(|limit| (limit.side, limit.slope)).collect::<Vec<_>>()
    };
    assert_eq!(limits(None, &plain), []);
    assert_eq!(limits(None, &causal), [(Side::End, 1)]);
    assert_eq!(limits(Some(128), &|b, s| window(b, s, 128)), [(Side::First, 1), (Side::End, 1)]);
    let of_length = |b: &mut Builder, s: NodeId| {
        let lengths = b.input("lengths", DType::I32, &["B"]);
        let shape = [b.ty(lengths).shape, vec![Size::ONE; 2]].concat();
        let lengths = b.push(Op::Reshape(lengths), DType::I32, shape);
        let key = b.coordinate(s, 2);
        let lengths = b.broadcast(lengths, &b.ty(s).shape);
        let outside = b.compare(CompareOp::Le, lengths, key);
        let hidden = b.literal(f64::NEG_INFINITY);
        let hidden = b.broadcast(hidden, &b.ty(s).shape);
        b.push(Op::Select { condition: outside, on_true: hidden, on_false: s }, DType::F32, b.ty(s).shape)
    };
    assert_eq!(limits(None, &of_length), [(Side::End, 0)]);
    // A fully masked row is the mean of all values.
    let finite = |b: &mut Builder, s: NodeId| {
        let (query, key) = (b.coordinate(s, 1), b.coordinate(s, 2));
        let seen = b.compare(CompareOp::Le, key, query);
        let hidden = b.literal(-1e9);
        b.select(seen, s, hidden)
    };
    assert_eq!(limits(None, &finite), []);
}

#[test]
fn probabilities_used_elsewhere_are_no_attention() {
    let mut b = Builder::new();
    let [_, scores, output] = b.attention(DType::F32, SYMBOLIC, plain);
    assert_eq!(b.patterns().len(), 1);
    b.graph.results = vec![output, scores];
    assert_eq!(b.patterns(), []);
    let extra = b.unary(UnaryOp::Exp, scores);
    b.graph.results = vec![output, extra];
    assert_eq!(b.patterns(), []);
}

#[test]
fn only_a_softmax_over_the_keys_is_recognized() {
    let build = |op: ReduceOp, axis: usize| {
        let mut b = Builder::new();
        let (q, k) = (b.input("q", DType::F32, &["8", "8"]), b.input("k", DType::F32, &["8", "8"]));
        let keys = b.transpose(k);
        let s = b.matmul(q, keys);
        let mut shape = b.ty(s).shape;
        shape[axis] = Size::ONE;
        let largest = b.push(Op::Reduce { op, x: s, axes: vec![axis] }, DType::F32, shape);
        let difference = b.binary(BinaryOp::Sub, s, largest);
        let e = b.unary(UnaryOp::Exp, difference);
        let total = b.reduce(ReduceOp::Sum, e);
        let p = b.binary(BinaryOp::Div, e, total);
        let output = b.matmul(p, k);
        b.graph.results = vec![output];
        b.patterns().len()
    };
    assert_eq!(build(ReduceOp::Max, 1), 1);
    assert_eq!(build(ReduceOp::Min, 1), 0);
    assert_eq!(build(ReduceOp::Max, 0), 0);
}

#[test]
fn heads_that_do_not_fit_are_no_attention() {
    let count = |depth, columns| {
        let mut b = Builder::new();
        b.attention(DType::F32, [&["M", depth], &["N", depth], &["N", columns]], plain);
        b.patterns().len()
    };
    assert_eq!([count("256", "256"), count("257", "8"), count("8", "512")], [1, 0, 0]);
    let mut b = Builder::new();
    b.attention(DType::F32, SYMBOLIC, plain);
    assert_eq!(attention::assumptions(&b.graph, &b.patterns()[0]).len(), 2);
    let live: BTreeSet<NodeId> = b.graph.nodes.handles().collect();
    assert_eq!(attention::recognize(&b.graph, &live, false, &BTreeSet::new()).patterns, []);
}

#[test]
fn another_product_may_be_part_of_the_scores() {
    let mut b = Builder::new();
    let [product, ..] = b.attention(DType::F32, [&["M", "64"], &["N", "64"], &["N", "64"]], |b, s| {
        let r = b.input("r", DType::F32, &["N", "64"]);
        let positions = b.transpose(r);
        let q = b.graph.nodes.handles().next().unwrap();
        let relative = b.matmul(q, positions);
        b.binary(BinaryOp::Add, s, relative)
    });
    let patterns = b.patterns();
    assert_eq!(patterns.len(), 1);
    assert_eq!(patterns[0].product, product);
}
