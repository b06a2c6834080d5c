//! Compiles the shaders of all variants with the browser's own compiler.

use std::{collections::BTreeMap, sync::LazyLock};

use fuse_artifact::Features;
use fuse_gpu::{AdapterKind, Device};
use fuse_test_support::{compile, corpus, patterns};
use fuse_test_web::{READY_KERNELS, Shader, shaders};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{device, firefox};

const SHOWN: usize = 40;
const AT_ONCE: usize = 64;

fn may_compile(features: Features, device: &Device) -> bool {
    let has = device.info().features;
    (has.f16 || !features.f16)
        && (has.subgroups > 0 || features.subgroups == 0)
        && [0, has.coop_matrix].contains(&features.coop_matrix)
}

async fn compile_all<'a>(what: &str, shaders: impl Iterator<Item = (&'a str, &'a Shader)>) -> usize {
    let device = device().await;
    let wgpu = device.wgpu_device();
    let wanted: Vec<_> = shaders.filter(|(_, shader)| may_compile(shader.features, &device)).collect();
    let mut failures = BTreeMap::new();
    for batch in wanted.chunks(AT_ONCE) {
        let messages = batch.iter().map(|(text, shader)| {
            let source = wgpu::ShaderSource::Wgsl((*text).into());
            let descriptor = wgpu::ShaderModuleDescriptor { label: None, source };
            (text, shader, wgpu.create_shader_module(descriptor).get_compilation_info())
        });
        for (text, shader, info) in messages.collect::<Vec<_>>() {
            for message in info.await.messages {
                let line = message.location.map_or(0, |location| location.line_number as usize);
                let code = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
                let said = format!("{:?}: {}: {code}", message.message_type, message.message);
                failures.entry(said).or_insert_with(Vec::new).push(&shader.what);
            }
        }
    }
    let shown = failures.iter().take(SHOWN).map(|(said, of)| format!("{} times, first in {}: {said}", of.len(), of[0]));
    let shown: Vec<String> = shown.collect();
    assert!(failures.is_empty(), "{what}: {} different messages\n{}", failures.len(), shown.join("\n"));
    wanted.len()
}

fn each(shaders: &BTreeMap<String, Shader>) -> impl Iterator<Item = (&str, &Shader)> {
    shaders.iter().map(|(text, shader)| (&**text, shader))
}

/// Generated once: it takes ten seconds.
static READY: LazyLock<BTreeMap<String, Shader>> = LazyLock::new(|| {
    let functions = READY_KERNELS.iter().flat_map(|(_, kernels)| kernels.functions()).copied();
    shaders(functions)
});

fn of_ready_kernels(matrices: bool) -> impl Iterator<Item = (&'static str, &'static Shader)> {
    each(&READY).filter(move |(_, shader)| matrices == (shader.features.coop_matrix > 0))
}

#[wasm_bindgen_test]
async fn ready_kernels() {
    let count = compile_all("ready kernels", of_ready_kernels(false)).await;
    assert!(count >= 500, "only {count} shaders");
}

/// Parts show the progress of a slow compiler.
async fn compile_matrices(part: usize, of: usize) {
    let count = compile_all("ready kernels with matrices", of_ready_kernels(true).skip(part).step_by(of)).await;
    let size = device().await.info().features.coop_matrix;
    assert_eq!(count > 0, size > 0, "{count} shaders, on an adapter with matrices of {size}");
}

#[wasm_bindgen_test]
async fn matrices_1() {
    compile_matrices(0, 4).await;
}

#[wasm_bindgen_test]
async fn matrices_2() {
    compile_matrices(1, 4).await;
}

#[wasm_bindgen_test]
async fn matrices_3() {
    compile_matrices(2, 4).await;
}

#[wasm_bindgen_test]
async fn matrices_4() {
    compile_matrices(3, 4).await;
}

#[wasm_bindgen_test]
async fn file_tests_and_operations() {
    let sources = corpus::FILES.iter().map(|(_, source)| (*source).to_owned()).chain(corpus::every_operation());
    let programs: Vec<_> = sources.flat_map(|source| compile(&source)).collect();
    let count = compile_all("programs", each(&shaders(programs.iter().map(|program| program.function)))).await;
    assert!(count >= 500, "only {count} shaders");
}

#[wasm_bindgen_test]
async fn patterns_of_operands() {
    let programs: Vec<_> = patterns::cases().iter().flat_map(|case| compile(&case.source)).collect();
    let count = compile_all("patterns", each(&shaders(programs.iter().map(|program| program.function)))).await;
    assert!(count >= 500, "only {count} shaders");
}

#[wasm_bindgen_test]
async fn what_the_compiler_says_is_seen() {
    let device = device().await;
    let broken =
        wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl("fn f() { nonsense }".into()) };
    let module = device.wgpu_device().create_shader_module(broken);
    assert!(!module.get_compilation_info().await.messages.is_empty());
    assert!(crate::failures::reported(&device).await.is_err(), "an uncaught error is reported");
    assert_eq!(crate::failures::reported(&device).await, Ok(()), "and only once");
}

#[wasm_bindgen_test]
async fn software_adapters_cover_f16_and_subgroups_between_them() {
    let device = device().await;
    let features = device.info().features;
    if !firefox() && device.info().kind != AdapterKind::Software {
        return assert!(features.subgroups > 0, "every GPU that Chromium takes has subgroups");
    }
    assert_eq!(features.f16, firefox(), "Firefox's adapter here has 16-bit floats, Chromium's has none");
    assert_eq!(features.subgroups > 0, !firefox(), "Chromium's adapter here has subgroups, Firefox knows none");
}
