//! Pipelines for the sizes of certain launches.
//!
//! Shaders read sizes, strides and offsets from a uniform block, so that one pipeline serves all shapes. A driver that knows
//! them folds them into addresses, which spares registers and waiting: large products of `f16` gain 15 % on an NVIDIA H200,
//! small ones half a microsecond (`docs/performance.md`). That costs a compilation for each launch of other shapes, and so it
//! is done only when asked for.
//!
//! Only the declaration of the block differs: a private variable with the same values, which nothing writes.

use std::cell::Cell;

use fuse_artifact::{Pass, UNIFORM_BLOCK, UNIFORM_WORKGROUPS, Uniform};

use crate::Device;

thread_local! {
    /// The address of the device whose launches this thread specializes; 0 for none.
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

impl Device {
    /// Runs `launches`, and compiles the pipelines that they need for exactly their sizes. Later launches of the same
    /// functions with tensors of equal shapes, from any thread, use these pipelines; other shapes use the general ones.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Device, Error, Tensor1};
    /// # fn model(x: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> { Ok(x.clone()) }
    /// # fn main() -> Result<(), Error> {
    /// # let device = Device::blocking()?;
    /// let x = Tensor1::zeros(&device, [1024])?;
    /// device.specialize(|| model(&x))?; // compiles for inputs of 1024
    /// let y = model(&x)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A driver may take a second for a large kernel; where the adapter has a pipeline cache, a process does that once and
    /// later ones find it on disk. Kernels that read numbers of the host keep their general pipelines. Launches captured
    /// within `launches` are specialized without running ([`capture`](Self::capture)); [`force_variant`](Self::force_variant)
    /// and [`force_alternative`](Self::force_alternative) end it, as they change what runs.
    ///
    /// Errors are those of the launches, which `launches` gets.
    pub fn specialize<R>(&self, launches: impl FnOnce() -> R) -> R {
        let _closing = Closing(OPEN.replace(self.address()));
        launches()
    }

    /// Whether this thread specializes launches on this device.
    pub(crate) fn is_specializing(&self) -> bool {
        OPEN.get() == self.address()
    }

    fn address(&self) -> usize {
        std::sync::Arc::as_ptr(&self.inner).addr()
    }
}

/// Goes back to what was open before, also when `launches` panics.
struct Closing(usize);

impl Drop for Closing {
    fn drop(&mut self) {
        OPEN.set(self.0);
    }
}

/// The text of `pass` with `words` in place of its uniform block; `None` if it has none, or if launches of equal shapes may
/// differ in it.
pub fn text(pass: &Pass, words: &[u32]) -> Option<String> {
    if pass.uniforms.is_empty() || pass.uniforms.iter().any(|uniform| matches!(uniform, Uniform::Scalar { .. })) {
        return None;
    }
    let literals: Vec<String> = words.iter().map(|word| format!("{word}u")).collect();
    let constant = format!("var<private> p: Params = Params({});", literals.join(", "));
    let text = pass.wgsl.replacen(UNIFORM_BLOCK, &constant, 1);
    // Workgroups without work return. naga refuses matrix operations after a return that depends on a private variable, which
    // might differ between invocations.
    Some(match pass.uniforms.iter().position(|uniform| *uniform == Uniform::Workgroups) {
        Some(word) => text.replace(UNIFORM_WORKGROUPS, &literals[word]),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use fuse_artifact::Grid;

    use super::*;

    fn pass(uniforms: Vec<Uniform>) -> Pass {
        Pass {
            wgsl: format!("struct Params {{\n}}\n\n{UNIFORM_BLOCK}\nfn f() {{ {UNIFORM_WORKGROUPS} }}\n").into(),
            bindings: vec![].into(),
            uniforms: uniforms.into(),
            grid: Grid::Elements { per_workgroup: 1 },
            workgroup_size: 1,
            workgroup_bytes: 0,
        }
    }

    #[test]
    fn sizes_take_the_place_of_the_block() {
        let text = text(&pass(vec![Uniform::Count, Uniform::Workgroups]), &[7, 2]).unwrap();
        assert_eq!(text, "struct Params {\n}\n\nvar<private> p: Params = Params(7u, 2u);\nfn f() { 2u }\n");
    }

    #[test]
    fn what_differs_between_launches_stays_a_uniform() {
        assert_eq!(text(&pass(vec![]), &[]), None);
        assert_eq!(text(&pass(vec![Uniform::Count, Uniform::Scalar { param: 0 }]), &[7, 0]), None);
    }
}
