//! File tests: graph, groups, plan and schedules of each `tests/in/*.fuse` against goldens in `tests/out/`.
//!
//! Shaders are compared by hash; a directive `// wgsl: <kernel> <variant>` adds the full shader.
//! `tests/numeric/files.rs` runs the programs; `cargo xtask bless` rewrites the goldens.

use fuse_test_compiler::shader_hash;
use fuse_test_support::{Program, compile, file_tests};

use crate::{golden::Goldens, root};

/// Function, with element types if it is generic.
fn label(program: &Program, programs: &[Program]) -> String {
    let name = &program.graph.name;
    let instances = programs.iter().filter(|other| other.graph.name == *name).count();
    if instances == 1 {
        return name.clone();
    }
    let dtypes: Vec<&str> = program.dtypes.iter().map(|dtype| dtype.name()).collect();
    format!("{name}.{}", dtypes.join("."))
}

fn with_hashes(program: &Program, schedules: &str) -> String {
    let mut variants = program.plans().flat_map(|plan| plan.kernels.iter()).flat_map(|kernel| kernel.variants.iter());
    let (mut text, mut next) = (String::new(), variants.next());
    for line in schedules.lines() {
        text += line;
        if let Some(variant) = next.filter(|variant| line.starts_with(&format!("  {}: ", variant.name))) {
            let hashes = variant.passes.iter().map(|pass| shader_hash(&pass.wgsl.text()));
            text += &format!("; shader {}", hashes.collect::<Vec<_>>().join(", then "));
            next = variants.next();
        }
        text.push('\n');
    }
    assert!(next.is_none(), "no line for {:?} in\n{schedules}", next.map(|variant| &variant.name));
    text
}

fn shown<'a>(programs: &'a [Program], kernel: &str, variant: &str) -> Vec<(&'a Program, String, String)> {
    let mut shown = vec![];
    for program in programs {
        for kernel in program.function.kernels.iter().filter(|found| found.name == kernel) {
            for variant in kernel.variants.iter().filter(|found| found.name == variant) {
                for (i, pass) in variant.passes.iter().enumerate() {
                    let name = format!("{}.{}.{i}", kernel.name, variant.name.replace(' ', "_"));
                    shown.push((program, name, pass.wgsl.text().into_owned()));
                }
            }
        }
    }
    shown
}

#[test]
fn goldens_are_as_blessed() {
    let mut goldens = Goldens::new(root().join("tests/out"));
    for (file, directives) in file_tests() {
        let programs = compile(&file.source);
        let path = |program: &Program| format!("{}/{}", file.name, label(program, &programs));
        for program in &programs {
            for (part, text) in program.parts() {
                let text = if part == "schedules" { with_hashes(program, &text) } else { text };
                goldens.check(&format!("{}.{part}.txt", path(program)), &text);
            }
        }
        for (kernel, variant) in &directives.shown {
            let shown = shown(&programs, kernel, variant);
            assert!(!shown.is_empty(), "{}: kernel `{kernel}` has no variant `{variant}`", file.name);
            for (program, name, text) in shown {
                goldens.check(&format!("{}.{name}.wgsl", path(program)), &text);
            }
        }
    }
    goldens.finish();
}

#[test]
fn programs_have_as_many_kernels_as_they_say() {
    for (file, directives) in file_tests() {
        for program in compile(&file.source) {
            if let Some(expected) = directives.kernels(&program.graph.name) {
                let (found, plan) = (program.function.kernels.len(), &program.function.plan);
                assert_eq!(found, expected, "{}: kernels of `{}`\n{plan}", file.name, program.graph.name);
            }
        }
    }
}
