//! The `fuse!` macro: compiles tensor expressions to validated, fused WGSL while a crate builds.
//!
//! This crate connects rustc with `fuse-compiler`. The module `expand` works on `proc_macro2` tokens, so it runs
//! outside of rustc, too.

mod context;
mod expand;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Compiles tensor mathematics to GPU kernels.
///
/// `fuse! { pub fn f(x: f32[M, K]) -> f32[M, K] { relu(x) } }` defines a Rust function `f` on tensors. It also defines
/// a module `f` with `f::KERNELS`, `f::PLAN` and `f::launch_into`. `fuse!(relu(x + b))` launches on the variables in
/// scope and is a `Result`.
///
/// # Operations
///
/// Operators are `+ - * / % -x`, comparisons, `&& || !`, on integers `& | ^ << >> !`, and `x as f16`; all others are
/// calls. Options are named arguments. Axes are numbers (negative: from the end) or names of dimensions (`axis = N`).
/// `f16` is computed in `f32`. A literal takes the dtype of its context: `select(c, 255, 0)` is `u32` where a `u32` is
/// declared. An integer out of range, or a float that would become 0 or infinite, is an error. `f32::INFINITY`,
/// `std::f32::consts::PI` and their like are literals, too.
///
/// | pointwise | |
/// |---|---|
/// | arithmetic | `abs` `sign` `pow` `min(x, y)` `max(x, y)` `clamp(x, low, high)` `floor` `ceil` `round` `trunc` `sqrt` `rsqrt` `recip` |
/// | `fract(x)` | `x - trunc(x)`, with the sign of `x` |
/// | `lerp(x, y, t)` | `x + t·(y - x)` |
/// | `hypot(x, y)` | `√(x² + y²)`, which overflows only if the result does |
/// | functions | `exp` `exp2` `expm1` `log` `log2` `log1p` `sin` `cos` `tan` `asin` `acos` `atan` `sinh` `cosh` `tanh` `asinh` `acosh` `atanh` `erf` `erfc` |
/// | `atan2(y, x)` | the angle of the point `(x, y)`, -π to π |
/// | `isnan` `isinf` `isfinite` | tests of floats, as `bool` |
/// | bits | `& \| ^ << >> !` on integers (shifts by `y % 32`), `popcount`; `to_bits` of `f32` as `u32`, and its inverse `from_bits` |
/// | activations | `relu` `leaky_relu(x, slope = 0.01)` `elu(x, alpha = 1.0)` `selu` `gelu` `gelu_tanh` `silu` `sigmoid` `hard_sigmoid` `hard_swish` `softplus` `mish` |
/// | choice | `select(condition, a, b)`: `a` where the condition holds, `b` elsewhere |
/// | `index(axis = 1)`, `index(x, axis = 1)` | the coordinate along an axis, `i32` |
/// | `D as f32` | a dimension (also `H * D`) as a number: `matmul(q, transpose(k)) / sqrt(D as f32)` |
/// | `philox(counter, key)` | `u32` words of Philox4x32-10 (Salmon et al. 2011) |
///
/// | contractions and shapes | |
/// |---|---|
/// | `matmul(a, b)` | `[.., M, K] × [.., K, N]`, batch dimensions broadcast; `dot` and `outer` for vectors |
/// | `transpose(x)`, `permute(x, [0, 2, 1])` | swaps the last two axes; reorders axes |
/// | `reshape(x, [B, H * D])`, `broadcast_to(x, [M, N])` | the same elements in another shape, one size may be `-1` for the rest; broadcast to a shape |
/// | `squeeze(x, axis = 0)`, `unsqueeze(x, axis = 0)` | removes, or adds, an axis of extent 1 |
/// | `slice(x, axis = 1, start = 0, end = 64)` | elements `start .. end` of an axis |
/// | `concat([a, b], axis = 0)`, `stack([a, b], axis = 0)` | joins values along an axis, or along a new one |
/// | `flip(x, axis = 1)` | reverses an axis, or several (`axis = [0, 1]`) |
/// | `pad(x, axis = 1, before = 1, after = 1, value = 0)` | pads an axis with one value |
/// | `roll(x, axis = 1, shift = 1)` | rotates an axis towards higher coordinates; `shift` may be negative, or a host `i32` |
/// | `repeat(x, axis = 1, times = 2)`, `tile(x, axis = 1, times = 2)` | repeats each element (`a a b b`), or the whole axis (`a b a b`) |
/// | `split(x, axis = 1, parts = 2)`, `split(x, axis = 1, sizes = [M, 4])` | splits an axis into several values: `let (a, b) = split(…);` |
/// | `tril(x, diagonal = 0)`, `triu(x, diagonal = 0)` | elements of the last two axes on and below (above) a diagonal, `column - row <= diagonal` (`>=`); 0 elsewhere |
///
/// | reductions | over the axes of `axis = 1`, `axis = N` or `axis = [0, 2]`, or all of them; reduced axes disappear unless `keepdim = true` |
/// |---|---|
/// | `sum` `prod` `max(x)` `min(x)` | of numbers; integers wrap; NaN propagates; over no elements 0, 1, the least and the largest value |
/// | `mean` `var(x, correction = 0)` | of floats; the variance is the mean of `(x - mean(x))²`, with `correction = 1` the unbiased one; NaN over no elements |
/// | `logsumexp` | `log(sum(exp(x)))` without overflow; -inf for a row of -inf |
/// | `norm` | `sqrt(sum(x * x))`, the Euclidean norm of floats |
/// | `argmax` `argmin` | `i32` index along one axis of the first maximum (minimum), or of the first NaN; an empty axis is an error |
/// | `any` `all` | of `bool` |
///
/// | rows | on the last axis, or on `axis =` |
/// |---|---|
/// | `softmax(x)`, `log_softmax(x)` | NaN for a row of -inf |
/// | `cross_entropy(logits, classes)` | `logsumexp(row) - row[class]` of each row, `[.., C]` and `i32[..] → [..]`. Classes out of bounds are clamped |
/// | `glu(x)` | `a · sigmoid(b)` of the halves `a` and `b` of the axis (Dauphin et al. 2017) |
/// | `layer_norm(x, gamma, beta, eps = 1e-5)` | `(x - mean) / sqrt(var + eps) · gamma + beta` (Ba et al. 2016) |
/// | `rms_norm(x, gamma, eps = 1e-6)` | `x / sqrt(mean(x²) + eps) · gamma` (Zhang and Sennrich 2019) |
/// | `batch_norm(x, mean, var, gamma, beta, eps = 1e-5)` | at inference; one number of each per channel, axis 1 (Ioffe and Szegedy 2015) |
/// | `group_norm(x, gamma, beta, groups = 8, eps = 1e-5)` | `[B, C, ..]` in groups of channels; `groups` divides their number (Wu and He 2018) |
///
/// | indices and random numbers | |
/// |---|---|
/// | `gather(table, ids)`, `embedding(table, ids)` | `[V, ..]` at indices of `i32` or `u32`, any rank: the axes of `ids` replace the axis; indices out of bounds are clamped; an empty axis allows no indices |
/// | `gather(x, ids, axis = 1)` | the same along another axis |
/// | `one_hot(ids, classes = 10)` | `f32[.., 10]`, 1 at the index; zeros for an invalid class |
/// | `dropout(x, p, seed)` | 0 with probability `p`, else `x / (1 - p)`. Row-major element `i` compares the upper 24 bits of `philox(i, seed)`, as a fraction, with `p`: equal on every adapter |
///
/// | gradients | in functions, whose parameters have shapes |
/// |---|---|
/// | `grad(y, wrt = w)` | gradient of `y`, a float of rank 0, with respect to a parameter or `let` value; can be differentiated again; `wrt = [w, b]` gives a tuple |
/// | `grad(y, wrt = w, cotangent = g)` | gradient of `sum(y * g)`, for `y` of any shape |
/// | `stop_gradient(x)` | `x`, a constant to gradients |
/// | `checkpoint(f(x))` | `f(x)`; the backward pass recomputes its inner values; also for a tuple |
///
/// | updates | of parameters `w: &mut f32[M, N]`, which are `&mut Tensor2<f32>` in Rust |
/// |---|---|
/// | `*w = value;` | the parameter's new value, of its dtype and shape, once. Reading `w` after it is an error: bind the new value with `let`. Clones and reshaped tensors keep the old value |
/// | `(*w, *m) = f(w, m);` | new values of several parameters |
/// | `*w += x;`, `-=`, `*=`, `/=` | `*w = w + x;` and so on |
///
/// A function that only updates needs no result: `fn decay(w: &mut f32[N]) { *w *= 0.99; }` returns `Result<(),
/// Error>`. Passing an updated tensor as another argument, too, is a launch error. If a new element depends on other
/// old elements, the values are computed into separate memory and copied; the plan shows it.
///
/// | quantized weights | parameters of functions: `w: q8[K, N]`, `q4`, `q3`, `q2`, `q1`, 1 to 4 axes; in Rust `&QTensor<Q8, 2>` |
/// |---|---|
/// | `matmul(x, w)`, `matmul(x, transpose(w))` | `x` of `f32` or `f16`; values are packed along the axis that the product sums over |
/// | `dequantize(w)` | the dequantized values `q·scale + offset`, as `f32` and in place; without a product, values are packed along the last axis but one |
/// | `dequantize(w, axis = 1)` | the same for values packed along this axis |
///
/// Axes of parameters define dimensions: `N` of `f32[N]` is its extent, `D` of `f32[B, S, 4 * D]` a quarter of its
/// extent; a remainder is a launch error.
///
/// Integers divide towards zero. `%` has the sign of the left operand (`-7 / 2` is -3, `-7 % 2` is -1), for floats too,
/// as in Rust.
///
/// # Constants
///
/// A block may define constants: `const EPS: f32 = 1e-5;`, of `f32`, `i32`, `u32`, `bool`, or `usize` for dimensions
/// and axes (`const HEADS: usize = 12;`, `f32[B, HEADS * D]`). Each is a literal within the block, and a Rust item with
/// its visibility outside. Its value consists of literals, earlier constants and `+ - * /`. Macros cannot look up Rust
/// constants (`crate::EPS`): pass those as parameters. In `fuse!(…)` they are ordinary operands.
///
/// # Expressions
///
/// In `fuse!(…)` an operand may be a path (`self.w`, `model.layers[i].w`, `pair.0`) or a call without arguments
/// (`layer.bias()`). It is read once, even if repeated. Only the caller's type checker knows ranks there. So axes are
/// negative, `gather` without `axis` and `embedding` take a table of rank 2, `ids` are `i32`, and `group_norm` needs a
/// function.
///
/// # Accuracy
///
/// Every operation is within a stated bound of an `f64` interpreter (feature `reference`). A unit is 2^-23 of a number.
/// Most functions err by a few units of their result; these lose more:
///
/// | | |
/// |---|---|
/// | numbers below 2^-126 (subnormal) | may be read as any number from 0 to 2^-126, and results may be 0: `log(1e-40)` is from -inf to -87.33, `pow(-3e38, -1)` may be 0 |
/// | `gelu(x)`, `gelu_tanh(x)` | err by up to 3 and 4 units of `x`: `gelu(-7.3)` may be 0 |
/// | `x % y` | errs by up to 4 units of `x`, and by `y` where `x / y` is close to a whole number; with `x / y` above 2^21 no digit is left |
/// | `pow(x, y)` | errs by up to `3 + 5·abs(y·log2(x)) + 3·abs(y)` units |
/// | `sin`, `cos`, `tan` | no guarantee for arguments above 2^20 in magnitude |
///
/// # Attributes of functions
///
/// | | |
/// |---|---|
/// | `#[no_fuse]` | a kernel per operation, for comparison |
/// | `#[schedule(tile = [64, 64, 16], workgroup = 128)]` | tile of products (rows, columns, depth), workgroup of others; both optional |
/// | `#[explain]` | prints the plan while the crate builds |
/// | `#[differentiable]`, `#[differentiable(w, b)]` | adds gradient functions, see below |
/// | `#[webnn]` | may run in a browser's WebNN, too (`WebNn::run`, feature `webnn`); operations that WebNN lacks are errors |
///
/// Rust's own attributes (`cfg`, `doc`, `inline`, `must_use`, `allow` and their like) apply to the wrapper.
///
/// # Gradients from Rust
///
/// `#[differentiable]` adds gradient functions to the module of a function `f`. They differentiate with respect to its
/// float tensors, or to the listed ones, and give a tensor or a tuple. A parameter without a differentiable path to a
/// float result is an error, so that types alone determine the number of gradients. A host number has no gradient;
/// declare it `f32[]`.
///
/// | | |
/// |---|---|
/// | `f::vjp(&x, &w, &cotangent)` | gradients, weighted by cotangents of the float results |
/// | `f::value_and_grad(&x, &w)` | `(value, gradients)`, if the only result is a float of rank 0 |
/// | `f::pullback(&x, &w)` | `(results, pullback)`; `pullback.apply(&cotangent)` gives the gradients, for any number of calls |
///
/// With `pullback`, Rust decides how often a layer is applied:
///
/// ```text
/// fuse! {
///     #[differentiable]
///     pub fn layer(x: f32[B, H], w: f32[H, H]) -> f32[B, H] { x + tanh(matmul(x, w)) }
/// }
///
/// let mut pullbacks = vec![];
/// for w in &weights {
///     let (next, pullback) = layer::pullback(&x, w)?;
///     pullbacks.push(pullback);
///     x = next;
/// }
/// for (w, pullback) in weights.iter_mut().zip(pullbacks).rev() {
///     let (dx, dw) = pullback.apply(&gradient)?;
///     *w = fuse!(w - 0.1 * dw)?;
///     gradient = dx;
/// }
/// ```
///
/// A `Pullback` shares the arguments that gradients need, as clones do: later writes do not affect it. It keeps other
/// values only if pointwise operations cannot recompute them, and never scores of an attention.
///
/// Each has `PLAN`, `KERNELS` and `FUNCTION` in the module of its name: `f::vjp::PLAN`, `f::pullback::PLAN`,
/// `f::pullback::apply::PLAN`. `f::vjp` and `f::value_and_grad` have `launch_into` and `reference`, too. Blocks that
/// import `f` do not see the attribute: set it on the calling function.
///
/// # Functions of other blocks
///
/// Functions of a block can call each other; calls are inlined. A `use` at the head of a block, or of an expression in
/// braces, imports functions of other blocks, modules and crates:
///
/// ```text
/// mod activations {
///     fuse! { pub fn swish2(x: f32[M, N]) -> f32[M, N] { x * sigmoid(2.0 * x) } }
/// }
///
/// fuse! {
///     use crate::activations::swish2;
///     use other_crate::{gelu2, relu as my_relu};
///
///     pub fn layer(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { swish2(matmul(x, w)) } // one dispatch
/// }
///
/// let y = fuse!({ use activations::swish2; swish2(matmul(x, w)) })?;
/// ```
///
/// Paths are those of Rust, with privacy and re-exports. Imports are by name, without `*`, and valid in the block only:
/// to re-export a function, write `pub use` outside of `fuse!`. In an expression, launches check the declared ranks of
/// the call's arguments.
///
/// # Errors and dumps
///
/// Mistakes are compile errors at their expressions. If the environment variable `FUSE_DUMP_DIR` is set, builds write
/// the graph, the fusion groups and the WGSL of every function to that folder.
#[proc_macro]
pub fn fuse(tokens: TokenStream) -> TokenStream {
    expand::expand(tokens.into(), &context::current()).into()
}
