//! Operations of other libraries, with counterparts in this language.
//!
//! Input: a call of an unknown operation. Output: help.

use super::catalog::{self, Operation};
use crate::syntax::ast::{Argument, Call};

#[derive(Clone, Copy)]
enum Here {
    /// Same arguments.
    Named(&'static str),
    /// Example expression.
    Written(&'static str),
    /// No counterpart.
    Advice(&'static str),
}
use Here::{Advice, Named, Written};

const ON_HOST: &str = "return the values, read them with `to_vec_blocking()`, and do this in Rust";
const NO_MATRIX_ALGORITHMS: &str = "matrix decompositions are not kernels: do this in Rust, before or after the launch";
const WINDOWS: &str = "add shifted inputs, of which each is one place of the window: \
     `let p = pad(x, axis = 0, before = 1, after = 1);` and \
     `w0 * slice(p, axis = 0, start = 0, end = N) + w1 * slice(p, axis = 0, start = 1, end = N + 1)`, and so on";
const POOLS: &str = "split each axis into windows and reduce these: `max(reshape(x, [N, 2]), axis = 1)` of `x: f32[N * 2]`; \
     for windows that overlap, take `max` of shifted slices";
const ON_ALL: &str = "operations work on all elements at once: `x * 2.0` doubles each of them";
const SIZES: &str = "a dimension's name is its size: of `x: f32[M, N]` it is `M as f32`, and in lists such as \
     `reshape(x, [N, M])` just `M`";
const NO_COPY: &str = "leave it out: values are neither copied nor moved";
const RANDOM: &str = "random numbers come from the host, `Tensor2::<f32>::randn(&device, [8, 4], seed)`, or are hashes of \
     a counter: `philox(index(axis = 0) as u32, key)`";

const NAMES: &[(&str, Here)] = &[
    ("absolute", Named("abs")),
    ("addmm", Written("matmul(a, b) + c")),
    ("amax", Named("max")),
    ("amin", Named("min")),
    ("arange", Written("index(axis = 0)")),
    ("arccos", Named("acos")),
    ("arcsin", Named("asin")),
    ("arctan", Named("atan")),
    ("arctan2", Named("atan2")),
    ("argsort", Advice(ON_HOST)),
    ("as_type", Written("x as f32")),
    ("astype", Written("x as f32")),
    ("attention", Written("matmul(softmax(matmul(q, transpose(k))), v)")),
    ("average", Named("mean")),
    ("avg_pool", Advice(POOLS)),
    ("avg_pool2d", Advice(POOLS)),
    ("backward", Written("grad(loss, wrt = w)")),
    ("bitcast", Written("to_bits(x)` or `from_bits(x)")),
    ("bitwise_and", Written("x & y")),
    ("bitwise_not", Written("!x")),
    ("bitwise_or", Written("x | y")),
    ("bitwise_xor", Written("x ^ y")),
    ("bmm", Named("matmul")),
    ("cast", Written("x as f32")),
    ("cat", Named("concat")),
    ("chunk", Written("split(x, axis = 1, parts = 2)")),
    ("clip", Named("clamp")),
    ("clone", Advice(NO_COPY)),
    ("concatenate", Named("concat")),
    ("contiguous", Advice(NO_COPY)),
    ("conv", Advice(WINDOWS)),
    ("conv1d", Advice(WINDOWS)),
    ("conv2d", Advice(WINDOWS)),
    ("conv3d", Advice(WINDOWS)),
    ("convolve", Advice(WINDOWS)),
    ("copy", Advice(NO_COPY)),
    ("count_ones", Named("popcount")),
    (
        "cross",
        Written(
            "a * roll(b, axis = 0, shift = 1) - roll(a, axis = 0, shift = 1) * b` of vectors of 3, rolled once more",
        ),
    ),
    (
        "cumprod",
        Written("exp(matmul(log(x), triu(broadcast_to(1.0, [N, N]))))` for the rows of a positive `x: f32[M, N]"),
    ),
    ("cumsum", Written("matmul(x, triu(broadcast_to(1.0, [N, N])))` for the rows of `x: f32[M, N]")),
    ("det", Advice(NO_MATRIX_ALGORITHMS)),
    ("detach", Named("stop_gradient")),
    ("diag", Written("sum(select(index(axis = 0) == index(axis = 1), x, 0.0), axis = 1)")),
    ("divide", Named("div")),
    ("einsum", Written("matmul(a, b)` with `permute` and `reshape` around it, or `sum(a * b, axis = 1)")),
    ("expand", Named("broadcast_to")),
    ("eye", Written("select(index(axis = 0) == index(axis = 1), x, 0.0)` for `x` on the diagonal")),
    (
        "fft",
        Advice("multiply by the matrices of sines and cosines, which the host computes once, or transform in Rust"),
    ),
    ("filter", Advice("sizes do not depend on values: keep all elements and write `select(condition, x, 0.0)`")),
    ("fix", Named("trunc")),
    ("flatten", Written("reshape(x, [-1])")),
    ("floor_divide", Written("floor(x / y)` of floats; `/` of integers drops the fraction")),
    ("fold", Advice(ON_ALL)),
    ("for_each", Advice(ON_ALL)),
    ("frac", Named("fract")),
    ("full_like", Written("broadcast_to(1.0, [M, N])")),
    ("gradient", Written("grad(loss, wrt = w)")),
    ("index_select", Written("gather(x, ids, axis = 1)")),
    ("inv", Advice(NO_MATRIX_ALGORITHMS)),
    ("inverse", Named("recip")),
    ("iota", Written("index(axis = 0)")),
    ("is_finite", Named("isfinite")),
    ("is_infinite", Named("isinf")),
    ("is_nan", Named("isnan")),
    ("item", Advice("a value is read after the launch: return it, and call `to_vec_blocking()`")),
    ("iter", Advice(ON_ALL)),
    ("layernorm", Named("layer_norm")),
    ("len", Advice(SIZES)),
    ("lgamma", Advice(ON_HOST)),
    ("linear", Written("matmul(x, transpose(w)) + b` for `w: f32[N, K]")),
    ("linspace", Written("low + (high - low) * index(axis = 0) as f32 / 99.0` for 100 numbers")),
    ("ln", Named("log")),
    ("log10", Written("log(x) * 0.4342944819")),
    ("map", Advice(ON_ALL)),
    ("masked_fill", Written("select(mask, value, x)")),
    ("max_pool", Advice(POOLS)),
    ("max_pool2d", Advice(POOLS)),
    ("maximum", Named("max")),
    ("median", Advice(ON_HOST)),
    ("minimum", Named("min")),
    ("mix", Named("lerp")),
    ("mm", Named("matmul")),
    ("mode", Advice(ON_HOST)),
    ("multiply", Named("mul")),
    ("mv", Written("sum(a * x, axis = 1)")),
    ("ndim", Advice("the number of axes is that of the declared type: `x: f32[M, N]` has 2")),
    ("negative", Named("neg")),
    ("nonzero", Advice(ON_HOST)),
    ("normalize", Written("x / norm(x, axis = -1, keepdim = true)")),
    ("numel", Advice(SIZES)),
    ("onehot", Named("one_hot")),
    ("ones", Written("broadcast_to(1.0, [M, N])")),
    ("ones_like", Written("broadcast_to(1.0, [M, N])")),
    ("power", Named("pow")),
    ("powf", Named("pow")),
    ("powi", Written("pow(x, 2.0)")),
    ("product", Named("prod")),
    ("quantile", Advice(ON_HOST)),
    ("rand", Advice(RANDOM)),
    ("randn", Advice(RANDOM)),
    ("reciprocal", Named("recip")),
    ("reduce_max", Named("max")),
    ("reduce_mean", Named("mean")),
    ("reduce_sum", Named("sum")),
    ("relu6", Written("clamp(x, 0.0, 6.0)")),
    ("repeat_interleave", Written("repeat(x, axis = 1, times = 2)")),
    ("reverse", Named("flip")),
    ("rmsnorm", Named("rms_norm")),
    ("scaled_dot_product_attention", Written("matmul(softmax(matmul(q, transpose(k))), v)")),
    ("scatter", Written("matmul(transpose(one_hot(ids, classes = 10)), x)` for the sum of the rows of each id")),
    ("shape", Advice(SIZES)),
    ("size", Advice(SIZES)),
    ("solve", Advice(NO_MATRIX_ALGORITHMS)),
    ("sort", Advice(ON_HOST)),
    ("square", Written("x * x")),
    ("std", Written("sqrt(var(x))")),
    ("subtract", Named("sub")),
    ("svd", Advice(NO_MATRIX_ALGORITHMS)),
    ("swapaxes", Written("permute(x, [0, 2, 1])")),
    ("swish", Named("silu")),
    ("t", Named("transpose")),
    ("take", Written("gather(x, ids, axis = 1)")),
    ("tanh_gelu", Named("gelu_tanh")),
    (
        "topk",
        Advice(
            "the largest is `max(x, axis = 1)`, at `argmax(x, axis = 1)`; for more of them, return the values, \
         read them with `to_vec_blocking()`, and sort in Rust",
        ),
    ),
    ("trace", Written("sum(select(index(axis = 0) == index(axis = 1), x, 0.0))")),
    ("unique", Advice(ON_HOST)),
    ("unwrap", Advice("leave it out: the launch returns the `Result`")),
    ("variance", Named("var")),
    ("view", Named("reshape")),
    ("vjp", Written("grad(y, wrt = x, cotangent = g)")),
    ("where_", Named("select")),
    ("zeros", Written("broadcast_to(0.0, [M, N])")),
    ("zeros_like", Written("broadcast_to(0.0, [M, N])")),
];

const OPTIONS: &[(&str, &str)] = &[("dim", "axis"), ("keepdims", "keepdim"), ("num_classes", "classes")];

const CONVERSIONS: &[(&str, &str)] = &[
    ("float", "f32"),
    ("half", "f16"),
    ("int", "i32"),
    ("f32", "f32"),
    ("f16", "f16"),
    ("i32", "i32"),
    ("u32", "u32"),
];

pub(super) fn help(call: &Call) -> Option<String> {
    let name = call.name.to_string();
    if let (Some(dtype), [Argument::Expr(x)]) = (find(CONVERSIONS, &name), &call.arguments[..]) {
        return Some(format!("write `{x} as {dtype}`"));
    }
    let here = find(NAMES, &name)?;
    Some(match here {
        Named(operation) => format!("write `{}`", renamed(call, operation)),
        Written(text) => format!("write `{text}`"),
        Advice(text) => format!("`fuse!` has no `{name}`; {text}"),
    })
}

pub(super) fn method_help(call: &Call) -> Option<String> {
    let name = call.name.to_string();
    match catalog::find(&name) {
        Some(operation) => Some(format!("write `{}`", called(call, &operation))),
        None => help(call),
    }
}

/// True if a method of this name is no getter.
pub(super) fn is_operation(name: &str) -> bool {
    catalog::find(name).is_some() || find(NAMES, name).is_some_and(|here| !matches!(here, Advice(_)))
}

fn renamed(call: &Call, name: &'static str) -> String {
    match catalog::find_call(&Call { name: syn::Ident::new(name, call.name.span()), ..call.clone() }) {
        Some(operation) => called(call, &operation),
        None => name.into(),
    }
}

fn called(call: &Call, operation: &Operation) -> String {
    let mut call = Call { name: syn::Ident::new(operation.name, call.name.span()), ..call.clone() };
    for (option, _) in &mut call.options {
        if let Some(here) = find(OPTIONS, &option.to_string()) {
            *option = syn::Ident::new(here, option.span());
        }
    }
    if operation.usage.contains("(x, [")
        && call.arguments.len() > 1
        && !matches!(call.arguments[1], Argument::List(..))
        && call.arguments.iter().all(|argument| matches!(argument, Argument::Expr(_)))
    {
        let sizes = call.arguments.split_off(1).into_iter().filter_map(|argument| match argument {
            Argument::Expr(expr) => Some(expr),
            Argument::List(..) => None,
        });
        call.arguments.push(Argument::List(sizes.collect(), call.name.span()));
    }
    let (least, most) = operation.arguments;
    let known = |name: &syn::Ident| operation.options.iter().any(|option| *name == option.name);
    let given = |name: &str| call.options.iter().any(|(option, _)| *option == name);
    let fits = (least..=most).contains(&call.arguments.len())
        && call.options.iter().all(|(name, _)| known(name))
        && operation.options.iter().all(|option| !option.required || given(option.name));
    if fits { call.to_string() } else { operation.usage() }
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(other, _)| *other == name).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operation_has_a_foreign_name() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| *name), "sorted");
        for (name, here) in NAMES {
            assert!(catalog::find(name).is_none(), "`{name}` is an operation");
            if let Named(operation) = here {
                assert!(catalog::find(operation).is_some(), "`{operation}` is none");
            }
        }
    }
}
