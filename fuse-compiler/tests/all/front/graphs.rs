//! Tests of printed graphs of functions.

use fuse_compiler::graph::print::print;

use super::items_of;

pub(super) fn graph(source: &str) -> String {
    let items = items_of(source);
    let messages: Vec<String> = items.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{messages:?}");
    let last = items.functions.last().expect("the test has a function");
    print(&last.instances[0].graph)
}

pub(super) fn nodes(source: &str) -> Vec<String> {
    graph(source).lines().filter(|line| line.starts_with("  %")).map(|line| line.trim().to_string()).collect()
}

#[test]
fn a_linear_layer() {
    let text = graph(
        "pub fn linear(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
            relu(matmul(x, w) + b + r)
        }",
    );
    assert_eq!(
        text,
        "fn linear(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N])
  %0: f32[M, K] = input x
  %1: f32[K, N] = input w
  %2: f32[N] = input b
  %3: f32[M, N] = input r
  %4: f32[M, N] = matmul %0, %1
  %5: f32[1, N] = reshape %2
  %6: f32[M, N] = broadcast %5
  %7: f32[M, N] = add %4, %6
  %8: f32[M, N] = add %7, %3
  %9: f32[M, N] = relu %8
  return %9
"
    );
}

#[test]
fn literals_take_the_dtype_of_what_they_meet() {
    let half = nodes("fn f(x: f16[N]) -> f16[N] { x * (1 / 4.0) + 2 }");
    assert_eq!(half[1..3], ["%1: f16[] = literal 0.25", "%2: f16[N] = broadcast %1"]);
    assert_eq!(half[4], "%4: f16[] = literal 2.0");
    let unsigned = nodes("fn f(x: u32[N]) -> u32[N] { x % 7 }");
    assert_eq!(unsigned[1], "%1: u32[] = literal 7");
    // It waits for the dtype: a quarter among floats.
    let quarter = nodes("fn f(x: f32[N]) -> f32[N] { x * (1 / 4) }");
    assert_eq!(quarter[1..4], ["%1: f32[] = literal 1.0", "%2: f32[] = literal 4.0", "%3: f32[] = div %1, %2"]);
}

#[test]
fn scalars_broadcast() {
    assert_eq!(
        nodes("fn f(x: f32[N], s: f32) -> f32[N] { s * x }"),
        ["%0: f32[N] = input x", "%1: f32[] = scalar s", "%2: f32[N] = broadcast %1", "%3: f32[N] = mul %2, %0",]
    );
}

#[test]
fn index_takes_the_shape_that_it_meets() {
    assert_eq!(
        nodes("fn f(s: f32[N, N]) -> f32[N, N] { select(index(axis = 0) >= index(axis = 1), s, -1e9) }"),
        [
            "%0: f32[N, N] = input s",
            "%1: i32[N, N] = index axis=0",
            "%2: i32[N, N] = index axis=1",
            "%3: bool[N, N] = ge %1, %2",
            "%4: f32[] = literal -1000000000.0",
            "%5: f32[N, N] = broadcast %4",
            "%6: f32[N, N] = select %3, %0, %5",
        ]
    );
    let scalar = nodes("fn f(x: f32[N], n: i32) -> f32[N] { select(index(axis = 0) < n, x, 0) }");
    assert_eq!(scalar[2], "%2: i32[N] = index axis=0");
    assert_eq!(scalar[3], "%3: i32[N] = broadcast %1");
    let named = nodes("fn f(x: f32[M, N]) -> i32[M, N] { index(x, axis = N) }");
    assert_eq!(named, ["%0: i32[M, N] = index axis=1"]);
    let declared = nodes("fn f(_x: f32[M, N]) -> i32[M, N] { index(axis = M) * 2 }");
    assert_eq!(declared[0], "%0: i32[M, N] = index axis=0");
}

#[test]
fn matmul_broadcasts_batch_axes() {
    assert_eq!(
        nodes("fn f(a: f16[B, 1, M, K], b: f16[H, N, K]) -> f16[B, H, M, N] { matmul(a, transpose(b)) }"),
        [
            "%0: f16[B, 1, M, K] = input a",
            "%1: f16[H, N, K] = input b",
            "%2: f16[H, K, N] = permute %1 [0, 2, 1]",
            "%3: f16[1, H, K, N] = reshape %2",
            "%4: f16[B, H, M, N] = matmul %0, %3",
        ]
    );
}

#[test]
fn functions_are_inlined() {
    let source = "
        fn linear<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] { matmul(x, w) + b }
        fn halves(x: f16[M, N], s: f16) -> (f16[M, N], bool[M, N]) { (x * s, x > 0) }
        pub fn net(x: f16[B, I], w: f16[I, O], b: f16[O]) -> f16[B, O] {
            let h = linear(x, w, b);
            let (a, mask) = halves(h, 0.5);
            select(mask, a, h)
        }";
    let lines = nodes(source);
    assert_eq!(lines[3], "%3: f16[B, O] = matmul %0, %1");
    assert_eq!(lines.last().map(String::as_str), Some("%13: f16[B, O] = select %12, %9, %6"), "{lines:#?}");
}

#[test]
fn generic_functions_have_two_instances() {
    let items = items_of("fn f<T: Float>(x: T[N]) -> T[N] { select(x > 0.5, x, -1e4) }");
    let dtypes: Vec<_> = items.functions[0].instances.iter().map(|instance| instance.dtypes.clone()).collect();
    assert_eq!(dtypes, [[fuse_artifact::DType::F32], [fuse_artifact::DType::F16]]);
    let two = items_of("fn f<T: Float, U: Float>(x: T[N], y: U[N]) -> T[N] { x + y as T }");
    assert_eq!(two.functions[0].instances.len(), 4);
}

#[test]
fn composite_operations() {
    assert_eq!(
        nodes("fn f(x: f32[N], s: f32) -> f32[N] { elu(x, alpha = s) }"),
        [
            "%0: f32[N] = input x",
            "%1: f32[] = scalar s",
            "%2: f32[] = literal 0.0",
            "%3: f32[N] = broadcast %2",
            "%4: bool[N] = gt %0, %3",
            "%5: f32[] = literal 0.0",
            "%6: f32[N] = broadcast %5",
            "%7: f32[N] = select %4, %6, %0",
            "%8: f32[N] = expm1 %7",
            "%9: f32[N] = broadcast %1",
            "%10: f32[N] = mul %9, %8",
            "%11: f32[N] = select %4, %0, %10"
        ]
    );
    let clamp = nodes("fn f(x: i32[N]) -> i32[N] { clamp(x, -1, 1) }");
    assert_eq!(clamp[3], "%3: i32[N] = max %0, %2");
    let dot = nodes("fn f(a: f32[K], b: f32[K]) -> f32 { dot(a, b) }");
    assert_eq!(
        dot[2..],
        [
            "%2: f32[1, K] = reshape %0",
            "%3: f32[K, 1] = reshape %1",
            "%4: f32[1, 1] = matmul %2, %3",
            "%5: f32[] = reshape %4",
        ]
    );
    let outer = nodes("fn f(a: f32[M], b: f32[N]) -> f32[M, N] { outer(a, b) }");
    assert_eq!(outer.last().map(String::as_str), Some("%6: f32[M, N] = mul %4, %5"));
}

#[test]
fn shape_operations() {
    let text = graph(
        "fn f(x: f32[N, H * D], y: f32[B, H, D]) -> f32[B, H, 64, D] {
            permute(reshape(x, [B, 64, H, D]), [0, 2, 1, 3]) + unsqueeze(y, axis = -2)
        }",
    );
    assert!(text.contains("  %2: f32[B, 64, H, D] = reshape %0\n"), "{text}");
    assert!(text.contains("  %3: f32[B, H, 64, D] = permute %2 [0, 2, 1, 3]\n"), "{text}");
    assert!(text.contains("  check N*H*D == 64*B*H*D (number of elements of `reshape`)\n"), "{text}");
    assert!(text.contains("  %4: f32[B, H, 1, D] = reshape %1\n"), "{text}");
    let slice = graph("fn f(x: f32[M, N]) -> f32[M, 4] { slice(x, axis = N, start = 2, end = 6) }");
    assert!(slice.contains("  %1: f32[M, 4] = slice %0 axis=1 start=2\n"), "{slice}");
    assert!(slice.contains("  check 6 <= N (end of `slice`)\n"), "{slice}");
    let tail = graph("fn f(x: f32[N]) -> f32[N - 1] { slice(x, axis = 0, start = 1) }");
    assert!(tail.contains("f32[N - 1] = slice %0 axis=0 start=1"), "{tail}");
    assert!(tail.contains("check 1 <= N (start of `slice`)"), "{tail}");
    let squeeze = graph("fn f(x: f32[M, 1, N]) -> f32[M, N] { squeeze(x, axis = 1) }");
    assert!(squeeze.contains("f32[M, N] = reshape %0"), "{squeeze}");
    let to = graph("fn f(x: f32[N], y: f32[M]) -> (f32[M, N], f32[M]) { (broadcast_to(x, [M, N]), y) }");
    assert!(to.contains("f32[M, N] = broadcast %"), "{to}");
}

#[test]
fn casts() {
    let lines = nodes("fn f(x: f32[N], b: bool[N]) -> f32[N] { x as f32 + b as f32 + 1 as f32 }");
    assert_eq!(lines[2], "%2: f32[N] = cast %1");
    assert_eq!(lines.len(), 7, "a cast to the own dtype is nothing: {lines:#?}");
}

#[test]
fn attributes_reach_the_graph() {
    let items = items_of(
        "#[no_fuse] #[schedule(tile = [64, 32, 8], workgroup = 64)] #[explain] fn f(x: f32[N]) -> f32[N] { x }",
    );
    let options = &items.functions[0].instances[0].graph.options;
    assert!(options.no_fuse && items.functions[0].header.explain);
    let schedule = options.schedule.as_ref().expect("the schedule is read");
    assert_eq!((schedule.tile, schedule.workgroup), (Some([64, 32, 8]), Some(64)));
}

#[test]
fn printing_is_canonical() {
    let a = graph("fn f(x: f32[N]) -> f32[N] { let _dead = exp(x); x + 1.0 }");
    let b = graph("fn f(x: f32[N]) -> f32[N] { x + 1.0 }");
    assert_eq!(a, b);
}
