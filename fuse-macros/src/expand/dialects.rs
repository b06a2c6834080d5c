//! Shaders in Chromium's dialect, for pages with cooperative matrices (feature `subgroup-matrix`).
//!
//! Expansions may become part of pages or native programs, so such functions compile for both.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use fuse_artifact::Function;
use fuse_compiler::{
    compile::{self, Compiled, Options},
    graph::Graph,
    kernel::print::Dialect,
};

/// Shaders in Chromium's dialect, by those in naga's.
static SHADERS: LazyLock<Mutex<HashMap<String, String>>> = LazyLock::new(Mutex::default);

/// Compiles a graph's shaders with matrices in Chromium's dialect, if pages carry them.
pub(crate) fn note(graph: &Graph, compiled: &Compiled) -> Result<(), String> {
    if cfg!(not(feature = "subgroup-matrix")) || !has_matrices(&compiled.function) {
        return Ok(());
    }
    let options = Options { validate: false, dialect: Dialect::Chromium, dump: false, ..Options::default() };
    let other = compile::compile(graph, &options).map_err(|error| error.to_string())?;
    let mut shaders = SHADERS.lock().unwrap_or_else(PoisonError::into_inner);
    note_function(&compiled.function, &other.function, &mut shaders);
    Ok(())
}

fn note_function(naga: &Function, chromium: &Function, shaders: &mut HashMap<String, String>) {
    let passes = |function: &Function| -> Vec<String> {
        let variants = function.kernels.iter().flat_map(|kernel| kernel.variants.iter());
        let with_matrices = variants.filter(|variant| variant.features.coop_matrix > 0);
        with_matrices.flat_map(|variant| variant.passes.iter()).map(|pass| pass.wgsl.text().into_owned()).collect()
    };
    shaders.extend(passes(naga).into_iter().zip(passes(chromium)));
    for (naga, chromium) in naga.alternatives.iter().zip(chromium.alternatives.iter()) {
        note_function(naga, chromium, shaders);
    }
}

fn has_matrices(function: &Function) -> bool {
    let mut variants = function.kernels.iter().flat_map(|kernel| kernel.variants.iter());
    variants.any(|variant| variant.features.coop_matrix > 0) || function.alternatives.iter().any(has_matrices)
}

/// A shader in Chromium's dialect.
///
/// # Panics
/// If it was not noted.
pub(crate) fn in_chromium(shader: &str) -> String {
    SHADERS.lock().unwrap_or_else(PoisonError::into_inner)[shader].clone()
}
