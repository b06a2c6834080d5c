//! Every emitted variant through naga's back ends with its declared capabilities: SPIR-V for Vulkan, MSL for Metal,
//! HLSL for Direct3D, WGSL for browsers.

use std::{
    collections::HashSet,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use fuse_artifact::{
    Features, Pass,
    constants::{FAST_MATH, ROUNDS, SWITCH, declaration},
};
use fuse_compiler::validate::capabilities;
use fuse_runtime::__private::texts;
use fuse_test_support::{Program, compile, corpus};
use naga::{
    Module, ShaderStage,
    back::{hlsl, msl, spv, wgsl},
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

use super::names::refused;

const THREADS: usize = 2;

/// Computed once for all tests of this file.
static REPORT: LazyLock<Report> = LazyLock::new(|| {
    let corpus = corpus();
    let (next, reports, seen) = (AtomicUsize::new(0), Mutex::new(vec![]), Mutex::new(HashSet::new()));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut report = Report::default();
                while let Some(source) = corpus.get(next.fetch_add(1, Ordering::Relaxed)) {
                    compile(source).iter().for_each(|program| report.add(program, &seen));
                }
                reports.lock().expect("no thread panics").push(report);
            });
        }
    });
    reports.into_inner().expect("no thread panicked").into_iter().fold(Report::default(), Report::and)
});

/// Every kernel shape: the file tests, and every operation on every dtype.
fn corpus() -> Vec<String> {
    corpus::FILES.iter().map(|(_, source)| (*source).to_owned()).chain(corpus::every_operation()).collect()
}

#[derive(Debug, Default)]
struct Outcome {
    count: usize,
    errors: Vec<String>,
}

#[derive(Debug, Default)]
struct Report {
    spirv: Outcome,
    msl: Outcome,
    hlsl: Outcome,
    wgsl: Outcome,
    uniform: Outcome,
    specializations: Outcome,
    names: Outcome,
    /// Specializations that contain each part unique to specializations.
    constant: usize,
    fast: usize,
    unrolled: usize,
    chains: usize,
    switches: usize,
}

struct Shader {
    features: Features,
    module: Module,
    info: ModuleInfo,
}

fn validated(text: &str, features: Features) -> Result<Shader, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let info = Validator::new(ValidationFlags::all(), capabilities(features))
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    Ok(Shader { features, module, info })
}

impl Outcome {
    /// Counts a shader; `length` is that of a back end's output.
    fn note(&mut self, what: &str, text: &str, length: Result<usize, String>) {
        self.count += 1;
        match length {
            Ok(0) => self.errors.push(format!("{what}: empty output")),
            Ok(_) => {}
            Err(error) => self.errors.push(format!("{what}: {error}\n{text}")),
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.count += other.count;
        self.errors.extend(other.errors);
        self
    }

    /// # Panics
    /// With the first errors, or if there were few shaders.
    fn judge(&self) {
        let shown: Vec<&str> = self.errors.iter().take(3).map(String::as_str).collect();
        assert!(shown.is_empty(), "{} of {} shaders\n{}", self.errors.len(), self.count, shown.join("\n\n"));
        assert!(self.count >= 300, "only {} shaders", self.count);
    }
}

impl Report {
    fn add(&mut self, program: &Program, seen: &Mutex<HashSet<(String, Features)>>) {
        let new = |text: &str, features| seen.lock().expect("no thread panics").insert((text.to_owned(), features));
        for kernel in program.plans().flat_map(|function| function.kernels.iter()) {
            for variant in kernel.variants.iter() {
                let features = variant.features;
                for (number, pass) in variant.passes.iter().enumerate() {
                    let what = format!("{} / {} / pass {number}", kernel.name, variant.name);
                    if new(&pass.wgsl.text(), features) {
                        self.add_shader(&what, &pass.wgsl.text(), features);
                        self.add_forms(&what, pass, features);
                    }
                }
            }
        }
    }

    fn add_shader(&mut self, what: &str, text: &str, features: Features) {
        let shader = match validated(text, features) {
            Ok(shader) => shader,
            Err(error) => return self.spirv.note(what, text, Err(error)),
        };
        if shader.features.coop_matrix > 0 && text.contains("let seen_x") {
            self.uniform.note(what, text, shares_loaded_limits(text));
        }
        self.note_names(what, text);
        self.spirv.note(what, text, spirv(&shader));
        self.msl.note(what, text, msl(&shader));
        // wgpu's Direct3D adapters have no cooperative matrices and refuse such variants.
        if shader.features.coop_matrix == 0 {
            self.hlsl.note(what, text, hlsl(&shader));
        }
        self.wgsl.note(what, text, wgsl_again(&shader));
    }

    fn note_names(&mut self, what: &str, text: &str) {
        let refused = refused(text);
        let outcome =
            if refused.is_empty() { Ok(text.len()) } else { Err(format!("declares `{}`", refused.join("`, `"))) };
        self.names.note(what, text, outcome);
    }

    fn add_forms(&mut self, what: &str, pass: &Pass, features: Features) {
        let sizes: Vec<u32> = (1..=pass.uniforms.len() as u32).collect();
        for text in texts(pass, &sizes) {
            self.note_names(what, &text);
            self.specializations.note(
                &format!("a specialization of {what}"),
                &text,
                validated(&text, features).map(|_| text.len()),
            );
            let has = |part: &str| usize::from(text.contains(part));
            self.constant += has("var<private> p: Params = ");
            self.fast += has(&declaration(FAST_MATH, true));
            self.unrolled += usize::from([2, 4].map(|n| has(&declaration(ROUNDS, format!("{n}u")))) != [0, 0]);
            self.chains += has(&declaration(SWITCH, false));
            self.switches += has(&declaration(SWITCH, true));
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            spirv: self.spirv.and(other.spirv),
            msl: self.msl.and(other.msl),
            hlsl: self.hlsl.and(other.hlsl),
            wgsl: self.wgsl.and(other.wgsl),
            uniform: self.uniform.and(other.uniform),
            specializations: self.specializations.and(other.specializations),
            names: self.names.and(other.names),
            constant: self.constant + other.constant,
            fast: self.fast + other.fast,
            unrolled: self.unrolled + other.unrolled,
            chains: self.chains + other.chains,
            switches: self.switches + other.switches,
        }
    }
}

fn spirv(shader: &Shader) -> Result<usize, String> {
    let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
    let words = spv::write_vec(&shader.module, &shader.info, &spv::Options::default(), Some(&pipeline));
    words.map(|words| words.len()).map_err(|error| error.to_string())
}

fn msl(shader: &Shader) -> Result<usize, String> {
    let options = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    let text = msl::write_string(&shader.module, &shader.info, &options, &msl::PipelineOptions::default());
    text.map(|(text, _)| text.len()).map_err(|error| error.to_string())
}

fn hlsl(shader: &Shader) -> Result<usize, String> {
    let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_2, ..Default::default() };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default())
        .write(&shader.module, &shader.info, None)
        .map_err(|error| error.to_string())?;
    Ok(text.len())
}

fn wgsl_again(shader: &Shader) -> Result<usize, String> {
    let text = wgsl::write_string(&shader.module, &shader.info, wgsl::WriterFlags::empty())
        .map_err(|error| error.to_string())?;
    let again = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&again)
        .map_err(|error| error.emit_to_string(&text))?;
    Ok(text.len())
}

#[test]
fn every_variant_becomes_spirv() {
    REPORT.spirv.judge();
}

#[test]
fn no_declared_name_is_a_word_of_the_language() {
    REPORT.names.judge();
}

#[test]
fn every_variant_becomes_msl() {
    REPORT.msl.judge();
}

#[test]
fn every_variant_becomes_hlsl() {
    REPORT.hlsl.judge();
}

#[test]
fn every_variant_becomes_wgsl_that_is_valid_again() {
    REPORT.wgsl.judge();
}

/// Checks that `workgroupUniformLoad` shares loaded loop bounds.
///
/// Browsers, unlike naga, refuse barriers in a loop whose bound was loaded from a writable buffer. Chromium on a GPU
/// compiles these shaders, too (`tests/web`), but few machines have one.
fn shares_loaded_limits(text: &str) -> Result<usize, String> {
    let shared = ["key_begin", "key_end"].iter().enumerate().all(|(at, limit)| {
        let load = format!("{limit} = workgroupUniformLoad(&key_limits[{at}u]);");
        text.find(&load).is_some_and(|load| load < text.find("for (var k0 = key_begin").unwrap_or(0))
    });
    if shared { Ok(text.len()) } else { Err("loaded limits are not the first invocation's".to_owned()) }
}

#[test]
fn loops_with_barriers_end_alike_for_all_invocations() {
    let Outcome { count, errors } = &REPORT.uniform;
    assert!(errors.is_empty(), "{} of {count} shaders\n{}", errors.len(), errors[0]);
    assert!(*count >= 1, "no shader with matrices has loaded limits");
}

#[test]
fn every_form_is_valid() {
    let Report { specializations, constant, fast, unrolled, chains, switches, .. } = &*REPORT;
    specializations.judge();
    assert!(*constant >= 250 && *fast >= 100, "only {constant} with constant sizes and {fast} with fast functions");
    assert!(*unrolled >= 100, "only {unrolled} with unrolled loops");
    assert!(*chains >= 4 && *switches >= 20, "only {chains} with chains of `if`, {switches} with `switch`");
}
