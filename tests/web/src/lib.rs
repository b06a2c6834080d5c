//! Shared code of the browser tests (`tests/window`, `tests/worker.rs`), which also run natively. `cargo xtask web
//! test` runs them in browsers.

use std::collections::BTreeMap;

use fuse_artifact::{Features, Function};
use fuse_gpu::{__private::browser_texts, Kernels};

macro_rules! ready_kernels {
    ($($name:ident)*) => { &[$((stringify!($name), fuse_gpu::kernels::$name::KERNELS)),*] };
}

/// Every function of `fuse-kernels`.
pub static READY_KERNELS: &[(&str, &Kernels)] = ready_kernels! {
    cross_attention self_attention causal_attention windowed_attention alibi_attention padded_attention grouped_attention
    add_mul add_relu mul_add_sigmoid reshape_softmax relu_dropout linear linear_t linear_relu linear_gelu linear_gelu_tanh
    linear_silu linear_sigmoid linear_tanh linear_residual linear_residual_relu gelu_linear feed_forward_t swiglu_gate
    geglu_gate swiglu geglu matrix_chain mse cross_entropy row_softmax row_log_softmax row_layer_norm layer_norm_gelu
    add_layer_norm row_rms_norm rms_norm_silu batch_norm_relu sgd adamw lion squared_norm sgd_matrix
    adamw_matrix lion_matrix squared_norm_matrix clip_scale mean_pool_normalize cosine_similarity
    matmul_q8 linear_t_q8 linear_gelu_q8 attention_q8 matmul_q4 linear_t_q4 linear_gelu_q4 attention_q4
    matmul_q3 linear_t_q3 linear_gelu_q3 attention_q3 matmul_q2 linear_t_q2 linear_gelu_q2 attention_q2
    matmul_q1 linear_t_q1 linear_gelu_q1 attention_q1
};

/// True if this browser has WebNN's interface; Chromium needs a flag.
#[cfg(target_arch = "wasm32")]
pub fn has_webnn_interface() -> bool {
    let of = |object: &js_sys::wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(object, &name.into());
    let ml = of(&js_sys::global(), "navigator").and_then(|navigator| of(&navigator, "ml"));
    ml.is_ok_and(|ml| !ml.is_undefined())
}

/// A shader as a browser receives it.
pub struct Shader {
    /// Function, kernel and variant.
    pub what: String,
    /// Required features.
    pub features: Features,
}

/// Distinct shaders of functions, with all alternatives, variants, passes and specializations. Of shaders with
/// matrices, which browsers compile slowly, only the first specialization.
pub fn shaders<'a>(functions: impl Iterator<Item = &'a Function>) -> BTreeMap<String, Shader> {
    let mut shaders = BTreeMap::new();
    for function in functions.flat_map(|function| std::iter::once(function).chain(function.alternatives.iter())) {
        for kernel in function.kernels.iter() {
            for variant in kernel.variants.iter() {
                let (name, features) =
                    (format!("{} / {} / {}", function.name, kernel.name, variant.name), variant.features);
                for pass in variant.passes.iter() {
                    let mut texts = browser_texts(pass, features);
                    texts.truncate(if features.coop_matrix > 0 { 1 } else { usize::MAX });
                    shaders.extend(texts.into_iter().map(|text| (text, Shader { what: name.clone(), features })));
                }
            }
        }
    }
    shaders
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::READY_KERNELS;

    #[test]
    fn no_ready_kernel_is_left_out() {
        let folder = fuse_test_support::checkout().join("fuse-kernels/src");
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let functions = source.split("pub fn ").skip(1).map(|text| text.split(['<', '(']).next().unwrap());
            // Macros that define functions name them at the call: `q4: matmul_q4 …;`, `[N]: sgd …;`.
            let rows = source.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "));
            let rows = rows.filter(|(key, _)| key.starts_with(['q', '['])).flat_map(|(_, names)| names.split(' '));
            names.extend(functions.filter(|name| !name.starts_with('$')).chain(rows).map(str::to_owned));
        }
        assert_eq!(names, READY_KERNELS.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
}
