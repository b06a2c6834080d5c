//! Optimizer steps and gradient clipping, for vectors and (names in `_matrix`) matrices.
//!
//! Each step is one kernel, which returns the new parameters and the new state. Called after `grad` in your own
//! function, it is the epilogue of the product that computes the gradient. `launch_into` keeps results in the buffers
//! of another step.
//!
//! Rates, decays and the step number are host numbers here. A calling function may take them as `f32[]`, tensors of one
//! element. Captures need that, because they repeat host numbers:
//!
//! ```
//! use fuse_macros::fuse;
//!
//! fuse! {
//!     use fuse_kernels::optimizers::{adamw, adamw_matrix, clip_scale, squared_norm, squared_norm_matrix};
//!
//!     /// A step of linear regression. The step's number stays on the device, and both gradients are clipped by one norm.
//!     fn step(
//!         x: f32[B, K], y: f32[B, N], w: f32[K, N], b: f32[N],
//!         wm: f32[K, N], ws: f32[K, N], bm: f32[N], bs: f32[N], count: f32[], rate: f32,
//!     ) -> (f32[K, N], f32[N], f32[K, N], f32[K, N], f32[N], f32[N], f32) {
//!         let error = matmul(x, w) + b - y;
//!         let (dw, db) = grad(mean(error * error), wrt = [w, b]);
//!         let scale = clip_scale(squared_norm_matrix(dw) + squared_norm(db), 1.0);
//!         let next = count + 1.0;
//!         let (w2, wm2, ws2) = adamw_matrix(w, scale * dw, wm, ws, rate, 0.9, 0.999, 1e-8, 0.01, next);
//!         let (b2, bm2, bs2) = adamw(b, scale * db, bm, bs, rate, 0.9, 0.999, 1e-8, 0.0, next);
//!         (w2, b2, wm2, ws2, bm2, bs2, next)
//!     }
//! }
//! ```

use fuse_macros::fuse;

// Functions of `fuse!` have fixed ranks. This macro defines them for each rank.
macro_rules! optimizers {
    ($($shape:tt: $sgd:ident $adamw:ident $lion:ident $squared_norm:ident;)*) => {$(
        fuse! {
            /// Step of stochastic gradient descent with momentum and weight decay, as PyTorch defines it (Sutskever et
            /// al. 2013).
            ///
            /// `v' = momentum·v + g + decay·p`, `p' = p - rate·v'`. Returns `p'` and `v'`.
            pub fn $sgd(
                p: f32 $shape, g: f32 $shape, v: f32 $shape, rate: f32, momentum: f32, decay: f32,
            ) -> (f32 $shape, f32 $shape) {
                let next = momentum * v + g + decay * p;
                (p - rate * next, next)
            }

            /// Step of AdamW (Loshchilov and Hutter 2019), with number `step` counted from 1.
            ///
            /// `m' = β1·m + (1 - β1)·g`, `s' = β2·s + (1 - β2)·g²`, `p' = p·(1 - rate·decay) - rate·m̂/(√ŝ + eps)` with
            /// the bias-corrected `m̂ = m'/(1 - β1^step)` and `ŝ = s'/(1 - β2^step)`. Returns `p'`, `m'` and `s'`.
            pub fn $adamw(
                p: f32 $shape, g: f32 $shape, m: f32 $shape, s: f32 $shape,
                rate: f32, beta1: f32, beta2: f32, eps: f32, decay: f32, step: f32,
            ) -> (f32 $shape, f32 $shape, f32 $shape) {
                let first = beta1 * m + (1.0 - beta1) * g;
                let second = beta2 * s + (1.0 - beta2) * g * g;
                // 1 - β^step, without cancellation where β is close to 1.
                let (c1, c2) = (-expm1(step * log(beta1)), -expm1(step * log(beta2)));
                let update = (first / c1) / (sqrt(second / c2) + eps);
                (p * (1.0 - rate * decay) - rate * update, first, second)
            }

            /// Step of Lion (Chen et al. 2023).
            ///
            /// `p' = p·(1 - rate·decay) - rate·sign(β1·m + (1 - β1)·g)`, `m' = β2·m + (1 - β2)·g`. Returns `p'` and
            /// `m'`.
            pub fn $lion(
                p: f32 $shape, g: f32 $shape, m: f32 $shape, rate: f32, beta1: f32, beta2: f32, decay: f32,
            ) -> (f32 $shape, f32 $shape) {
                let direction = sign(beta1 * m + (1.0 - beta1) * g);
                (p * (1.0 - rate * decay) - rate * direction, beta2 * m + (1.0 - beta2) * g)
            }

            /// Squared norm `Σ g²`, in `f32`. `clip_scale` takes the sum over all gradients.
            pub fn $squared_norm<T: Float>(g: T $shape) -> f32 {
                let wide = g as f32;
                sum(wide * wide)
            }
        }
    )*};
}

optimizers! {
    [N]: sgd adamw lion squared_norm;
    [M, N]: sgd_matrix adamw_matrix lion_matrix squared_norm_matrix;
}

fuse! {
    /// Factor that scales gradients to a norm of at most `limit`: `min(1, limit/(√squared + 1e-6))`, as PyTorch defines
    /// it (Pascanu et al. 2013). `squared` is the sum of all `squared_norm`s; nothing is read back for it.
    pub fn clip_scale(squared: f32[], limit: f32) -> f32 {
        min(limit / (sqrt(squared) + 1e-6), 1.0)
    }
}
