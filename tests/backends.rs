//! Every emitted variant through each of naga's back ends, with the capabilities that it declares: SPIR-V for
//! Vulkan, MSL for Metal, HLSL for Direct3D, and WGSL for browsers.

use fuse_artifact::{FAST_MATH, Features, Kernel, Pass, Variant};
use fuse_compiler::validate::capabilities;
use fuse_runtime::__private::texts;
use fuse_test_support::{Program, compile, corpus};
use naga::{
    Module, ShaderStage,
    back::{hlsl, msl, spv, wgsl},
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

/// A validated shader of a program.
struct Shader {
    what: String,
    text: String,
    features: Features,
    module: Module,
    info: ModuleInfo,
}

fn shaders(program: &Program) -> Vec<Shader> {
    let mut shaders = vec![];
    for kernel in program.plans().flat_map(|function| function.kernels.iter()) {
        for variant in kernel.variants.iter() {
            for (pass, text) in variant.passes.iter().enumerate() {
                let what = format!("{} / {} / pass {pass}", kernel.name, variant.name);
                shaders.push(validated(what, &text.wgsl, variant.features));
            }
        }
    }
    shaders
}

/// The shaders of a program in every form that a driver may get, with sizes of any kind where they are constants.
fn forms(program: &Program) -> Vec<Shader> {
    let kernels = program.plans().flat_map(|function| function.kernels.iter());
    let variants = kernels.flat_map(|kernel| kernel.variants.iter().map(move |variant| (kernel, variant)));
    let of_variant = |(kernel, variant): (&Kernel, &'static Variant)| {
        let what = format!("a form of {} / {}", kernel.name, variant.name);
        let sizes = |pass: &Pass| (1..=pass.uniforms.len() as u32).collect::<Vec<u32>>();
        let texts = variant.passes.iter().flat_map(|pass| texts(pass, &sizes(pass)));
        texts.map(|text| validated(what.clone(), &text, variant.features)).collect::<Vec<_>>()
    };
    variants.flat_map(of_variant).collect()
}

fn validated(what: String, text: &str, features: Features) -> Shader {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{what}: {}\n{text}", error.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), capabilities(features))
        .validate(&module)
        .unwrap_or_else(|error| panic!("{what}: {}\n{text}", error.emit_to_string(text)));
    Shader { what, text: text.to_owned(), features, module, info }
}

/// Programs of every kernel shape: the file tests' inputs, and every operation on every dtype.
fn corpus() -> Vec<Program> {
    let sources = corpus::FILES.iter().map(|(_, source)| (*source).to_owned()).chain(corpus::every_operation());
    sources.flat_map(|source| compile(&source)).collect()
}

fn for_each_shader(check: impl Fn(&Shader) -> Result<usize, String>) {
    for_each_shader_with(|_| true, check);
}

/// As [`for_each_shader`], of shaders whose features `may_run` there.
fn for_each_shader_with(may_run: impl Fn(Features) -> bool, check: impl Fn(&Shader) -> Result<usize, String>) {
    let mut count = 0;
    for program in corpus() {
        for shader in shaders(&program).into_iter().filter(|shader| may_run(shader.features)) {
            match check(&shader) {
                Ok(length) => assert!(length > 0, "{}: empty output", shader.what),
                Err(error) => panic!("{}: {error}\n{}", shader.what, shader.text),
            }
            count += 1;
        }
    }
    assert!(count >= 300, "only {count} shaders");
}

#[test]
fn every_variant_becomes_spirv() {
    let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
    for_each_shader(|shader| {
        spv::write_vec(&shader.module, &shader.info, &spv::Options::default(), Some(&pipeline))
            .map(|words| words.len())
            .map_err(|error| error.to_string())
    });
}

#[test]
fn every_variant_becomes_msl() {
    let options = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    for_each_shader(|shader| {
        msl::write_string(&shader.module, &shader.info, &options, &msl::PipelineOptions::default())
            .map(|(text, _)| text.len())
            .map_err(|error| error.to_string())
    });
}

#[test]
fn every_variant_becomes_hlsl() {
    let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_2, ..Default::default() };
    // wgpu's Direct3D adapters have no cooperative matrices: such variants are refused before they are compiled.
    let may_run = |features: Features| features.matrices == 0;
    for_each_shader_with(may_run, |shader| {
        let mut text = String::new();
        hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default())
            .write(&shader.module, &shader.info, None)
            .map_err(|error| error.to_string())?;
        Ok(text.len())
    });
}

#[test]
fn every_variant_becomes_wgsl_that_is_valid_again() {
    for_each_shader(|shader| {
        let text = wgsl::write_string(&shader.module, &shader.info, wgsl::WriterFlags::empty())
            .map_err(|error| error.to_string())?;
        let again = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
        Validator::new(ValidationFlags::all(), Capabilities::all())
            .validate(&again)
            .map_err(|error| error.emit_to_string(&text))?;
        Ok(text.len())
    });
}

#[test]
fn every_form_is_valid() {
    let (mut constant, mut fast, mut unrolled, mut chains, mut switches) = (0, 0, 0, 0, 0);
    for shader in corpus().iter().flat_map(forms) {
        let has = |part: &str| usize::from(shader.text.contains(part));
        constant += has("var<private> p: Params = ");
        fast += has(FAST_MATH);
        // The heads of loops whose counter is declared before them, and of branches as only forms write them.
        unrolled += has("for (; ");
        chains += has("if product == 0u {");
        switches += has("switch group {");
    }
    assert!(constant >= 250 && fast >= 100, "only {constant} with constant sizes and {fast} with fast functions");
    assert!(unrolled >= 100, "only {unrolled} with unrolled loops");
    assert!(chains >= 4 && switches >= 20, "only {chains} with chains of `if`, {switches} with `switch`");
}
