//! Back-end tests on hand-written graphs: all schedules pass naga, and plans have the expected groups.

use fuse_artifact::{DType, DomainKind, Grid, Schedule, Size, Symbol, SymbolSource, Variant};
use fuse_compiler::{
    compile::{Compiled, Options, compile},
    graph::{FunctionOptions, Graph, Literal, Node, NodeId, Op, Param, ReduceOp, TensorType},
    operations::{BinaryOp, UnaryOp},
    span::Span,
};

struct Builder {
    graph: Graph,
}

impl Builder {
    fn new(name: &str) -> Self {
        let graph = Graph {
            name: name.to_owned(),
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

    fn sizes(&mut self, dims: &str) -> Vec<Size> {
        let param = self.graph.params.len() as u16;
        let mut sizes = vec![];
        for (axis, letter) in dims.chars().enumerate() {
            if let Some(digit) = letter.to_digit(10) {
                sizes.push(Size::constant(digit.into()));
                continue;
            }
            let name = letter.to_string();
            let known = self.graph.symbols.iter().position(|symbol| symbol.name == name);
            let id = known.unwrap_or_else(|| {
                let source = SymbolSource::Axis { param, axis: axis as u8 };
                self.graph.symbols.push(Symbol { name: name.into(), source });
                self.graph.symbols.len() - 1
            });
            sizes.push(Size::symbol(id as u16));
        }
        sizes
    }

    fn push(&mut self, op: Op, dtype: DType, shape: Vec<Size>) -> NodeId {
        self.graph.nodes.push(Node { op, ty: TensorType::new(dtype, shape), span: Span::default() })
    }

    fn input(&mut self, name: &str, dtype: DType, dims: &str) -> NodeId {
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

    fn broadcast(&mut self, x: NodeId, shape: &[Size]) -> NodeId {
        let ty = self.ty(x);
        if ty.shape == shape {
            return x;
        }
        let mut x = x;
        if ty.shape.len() < shape.len() {
            let mut padded = vec![Size::ONE; shape.len() - ty.shape.len()];
            padded.extend(ty.shape);
            x = self.push(Op::Reshape(x), ty.dtype, padded);
        }
        self.push(Op::Broadcast(x), ty.dtype, shape.to_vec())
    }

    fn transpose(&mut self, x: NodeId) -> NodeId {
        let ty = self.ty(x);
        let rank = ty.shape.len();
        let mut permutation: Vec<usize> = (0..rank).collect();
        permutation.swap(rank - 2, rank - 1);
        let shape = permutation.iter().map(|&d| ty.shape[d].clone()).collect();
        self.push(Op::Permute { x, permutation }, ty.dtype, shape)
    }

    fn matmul(&mut self, lhs: NodeId, rhs: NodeId) -> NodeId {
        let (l, r) = (self.ty(lhs), self.ty(rhs));
        let mut shape = l.shape.clone();
        let rank = shape.len();
        shape[rank - 1] = r.shape[rank - 1].clone();
        self.push(Op::Matmul { lhs, rhs }, l.dtype, shape)
    }

    fn row_mean(&mut self, x: NodeId) -> NodeId {
        let TensorType { dtype, mut shape } = self.ty(x);
        let axis = shape.len() - 1;
        let columns = std::mem::replace(&mut shape[axis], Size::ONE);
        let sum = self.push(Op::Reduce { op: ReduceOp::Sum, x, axes: vec![axis] }, dtype, shape);
        let columns = self.push(Op::Size(columns), dtype, vec![]);
        self.binary(BinaryOp::Div, sum, columns)
    }

    fn compile(mut self, results: &[NodeId]) -> Compiled {
        self.graph.results = results.to_vec();
        compile(&self.graph, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn linear(dtype: DType, transposed: bool) -> Compiled {
    let mut b = Builder::new("linear");
    let x = b.input("x", dtype, "MK");
    let w = b.input("w", dtype, if transposed { "NK" } else { "KN" });
    let bias = b.input("b", dtype, "N");
    let residual = b.input("r", dtype, "MN");
    let w = if transposed { b.transpose(w) } else { w };
    let product = b.matmul(x, w);
    let biased = b.binary(BinaryOp::Add, product, bias);
    let sum = b.binary(BinaryOp::Add, biased, residual);
    let result = b.unary(UnaryOp::Relu, sum);
    b.compile(&[result])
}

#[test]
fn a_linear_layer_is_one_kernel_in_every_layout_and_dtype() {
    for dtype in [DType::F32, DType::F16, DType::I32] {
        for transposed in [false, true] {
            let compiled = linear(dtype, transposed);
            assert_eq!(compiled.function.kernels.len(), 1, "{}", compiled.function.plan);
            let variants = &compiled.function.kernels[0].variants;
            let names: Vec<&str> = variants.iter().map(|variant| &*variant.name).collect();
            assert!(names.contains(&"tile 128x256x8"), "{names:?}");
            assert_eq!(names.contains(&"dot 8"), transposed, "{names:?}");
            assert_eq!(names.contains(&"gemv 1x64 split"), !transposed, "{names:?}");
            assert_eq!(names.last(), Some(&"scalar tile 32x32x16"));
        }
    }
}

#[test]
fn an_expensive_prologue_may_be_stored_and_a_cheap_one_is_not() {
    for (op, kernels) in [(UnaryOp::Relu, 1), (UnaryOp::Gelu, 2)] {
        let mut b = Builder::new("prologue");
        let x = b.input("x", DType::F32, "MK");
        let w = b.input("w", DType::F32, "KN");
        let x = b.unary(op, x);
        let product = b.matmul(x, w);
        let function = b.compile(&[product]).function;
        let last = function.alternatives.last().unwrap_or(&function);
        assert_eq!(last.kernels.len(), kernels, "{}", function.plan);
    }
}

#[test]
fn every_pointwise_operation_validates_at_both_widths() {
    for &op in UnaryOp::ALL.iter().filter(|op| op.takes(DType::F32)) {
        let mut b = Builder::new("unary");
        let x = b.input("x", DType::F32, "MN");
        let c = b.input("c", DType::F32, "N");
        let x = b.binary(BinaryOp::Mul, x, c);
        let y = b.unary(op, x);
        let variants = &b.compile(&[y]).function.kernels[0].variants;
        assert_eq!(variants.iter().map(|v| &*v.name).collect::<Vec<_>>(), ["rows", "strided"]);
    }
}

#[test]
fn nine_inputs_take_two_kernels_on_small_devices() {
    let mut b = Builder::new("sum");
    let mut sum = b.input("x0", DType::F32, "MN");
    for i in 1..9 {
        let x = b.input(&format!("x{i}"), DType::F32, "MN");
        sum = b.binary(BinaryOp::Add, sum, x);
    }
    let function = b.compile(&[sum]).function;
    assert_eq!(function.kernels.len(), 1, "where the device binds as many: {}", function.plan);
    let last = function.alternatives.last().expect("a plan for every device");
    assert_eq!(last.kernels.len(), 2, "{}", last.plan);
    assert!(last.plan.to_string().contains("at most 8 storage buffers"), "{}", last.plan);
}

#[test]
fn siblings_share_a_kernel_and_no_fuse_separates_them() {
    for no_fuse in [false, true] {
        let mut b = Builder::new("siblings");
        b.graph.options.no_fuse = no_fuse;
        let x = b.input("x", DType::F32, "MN");
        let two = b.push(Op::Literal(Literal::Float(2.0)), DType::F32, vec![]);
        let double = b.binary(BinaryOp::Mul, x, two);
        let (exp, log) = (b.unary(UnaryOp::Exp, double), b.unary(UnaryOp::Log, double));
        let function = b.compile(&[exp, log]).function;
        assert_eq!(function.kernels.len(), if no_fuse { 3 } else { 1 }, "{}", function.plan);
    }
}

#[test]
fn a_value_read_in_another_order_goes_through_memory() {
    let mut b = Builder::new("symmetric");
    let x = b.input("x", DType::F32, "NN");
    let y = b.unary(UnaryOp::Exp, x);
    let t = b.transpose(y);
    let sum = b.binary(BinaryOp::Add, y, t);
    let function = b.compile(&[y, sum]).function;
    assert_eq!(function.kernels.len(), 2, "{}", function.plan);
}

#[test]
fn two_layers_are_two_kernels_with_a_residual_across_them() {
    let mut b = Builder::new("mlp");
    let x = b.input("x", DType::F32, "ME");
    let w = b.input("w", DType::F32, "EH");
    let v = b.input("v", DType::F32, "HE");
    let hidden = b.matmul(x, w);
    let hidden = b.unary(UnaryOp::Gelu, hidden);
    let out = b.matmul(hidden, v);
    let out = b.binary(BinaryOp::Add, out, x);
    let compiled = b.compile(&[out]);
    assert_eq!(compiled.function.kernels.len(), 2, "{}", compiled.function.plan);
}

#[test]
fn output_is_deterministic() {
    let text = |compiled: Compiled| format!("{:?}", compiled.function);
    assert_eq!(text(linear(DType::F32, true)), text(linear(DType::F32, true)));
}

#[test]
fn products_of_one_operand_run_side_by_side() {
    for dtype in [DType::F32, DType::F16, DType::I32] {
        for transposed in [false, true] {
            for (count, expected) in [(2, "tile 128x128x8"), (3, "tile 64x64x16"), (4, "tile 64x64x16")] {
                let mut b = Builder::new("siblings");
                let x = b.input("x", dtype, "MK");
                let sums: Vec<NodeId> = (0..count)
                    .map(|i| {
                        let w = b.input(&format!("w{i}"), dtype, if transposed { "NK" } else { "KN" });
                        let w = if transposed { b.transpose(w) } else { w };
                        b.matmul(x, w)
                    })
                    .collect();
                let total = sums[1..].iter().fold(sums[0], |total, &sum| b.binary(BinaryOp::Add, total, sum));
                let kernels = b.compile(&[total]).function.kernels;
                assert_eq!(kernels.len(), 1, "{count} products");
                assert_eq!(kernels[0].domain.kind, DomainKind::Contraction { products: count as u8 });
                let names: Vec<&str> = kernels[0].variants.iter().map(|variant| &*variant.name).collect();
                assert!(names.contains(&expected), "{names:?}");
                assert_eq!(
                    names.contains(&"tile 128x128x8"),
                    count == 2,
                    "registers are for at most 128 sums: {names:?}"
                );
                assert_eq!(names.contains(&"dot 8"), transposed, "{names:?}");
                assert_eq!(names.contains(&"gemv 1x64 split"), !transposed, "{names:?}");
                for variant in kernels[0].variants.iter() {
                    let words = if variant.passes.len() > 1 { count as u32 } else { 0 };
                    assert_eq!(variant.scratch.per_output, words, "{}", variant.name);
                }
            }
        }
    }
}

#[test]
fn a_reduction_of_rows_joins_a_product_where_a_workgroup_owns_rows() {
    let mut b = Builder::new("centered");
    let x = b.input("x", DType::F32, "MK");
    let w = b.input("w", DType::F32, "KN");
    let product = b.matmul(x, w);
    let mean = b.row_mean(product);
    let centered = b.binary(BinaryOp::Sub, product, mean);
    let function = b.compile(&[centered, mean]).function;
    assert_eq!(function.kernels.len(), 1, "{}", function.plan);
    assert_eq!(function.assumes.len(), 2, "rows of at most 512 columns, and of one at least");
    let last = function.alternatives.last().expect("longer rows have a plan");
    assert!(last.kernels.len() > 1 && last.assumes.is_empty(), "{}", last.plan);
    let variants = &function.kernels[0].variants;
    let finishes = |v: &Variant| v.passes.last().is_some_and(|pass| matches!(pass.grid, Grid::WholeRows { .. }));
    let whole = |v: &Variant| matches!(v.schedule, Schedule::Tile(_)) && !v.schedule.is_split() || finishes(v);
    assert!(variants.iter().all(whole), "a workgroup owns each row");
    assert!(variants.iter().any(finishes), "few rows share the depth");
    assert!(variants.last().is_some_and(|v| v.requires.is_empty() && !v.schedule.loads_vectors()));
    let small = |variant: &&Variant| variant.passes[0].workgroup_bytes <= 16 * 1024;
    assert!(variants.iter().filter(small).any(|v| v.schedule.loads_vectors()), "vector loads on every adapter");
}
