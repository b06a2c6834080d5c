//! Optimizer steps: one kernel each, which returns the new parameters and the new state. Use `launch_into` to keep them
//! in the buffers of another step.

use fuse_macros::fuse;

fuse! {
    /// A step of stochastic gradient descent with momentum and weight decay, as PyTorch defines it: `v' = momentum·v + g +
    /// decay·p`, `p' = p - rate·v'` (Sutskever et al. 2013). Returns `p'` and `v'`.
    pub fn sgd(p: f32[N], g: f32[N], v: f32[N], rate: f32, momentum: f32, decay: f32) -> (f32[N], f32[N]) {
        let next = momentum * v + g + decay * p;
        (p - rate * next, next)
    }

    /// A step of AdamW (Loshchilov and Hutter 2019), number `step` counted from 1: `m' = β1·m + (1 - β1)·g`, `s' = β2·s +
    /// (1 - β2)·g²`, `p' = p·(1 - rate·decay) - rate·m̂/(√ŝ + eps)` with the bias-corrected `m̂ = m'/(1 - β1^step)` and `ŝ =
    /// s'/(1 - β2^step)`. Returns `p'`, `m'` and `s'`.
    pub fn adamw(
        p: f32[N], g: f32[N], m: f32[N], s: f32[N],
        rate: f32, beta1: f32, beta2: f32, eps: f32, decay: f32, step: f32,
    ) -> (f32[N], f32[N], f32[N]) {
        let first = beta1 * m + (1.0 - beta1) * g;
        let second = beta2 * s + (1.0 - beta2) * g * g;
        // 1 - β^step, without cancellation where β is close to 1.
        let (c1, c2) = (-expm1(step * log(beta1)), -expm1(step * log(beta2)));
        let update = (first / c1) / (sqrt(second / c2) + eps);
        (p * (1.0 - rate * decay) - rate * update, first, second)
    }
}
