//! File tests: each `tests/in/*.fuse` is a program whose graph, groups, plan and WGSL are compared with the
//! goldens in `tests/out/`, and which is run on the installed adapters against the interpreter.
//!
//! `FUSE_BLESS=1 cargo test --test filetests` writes the goldens anew.

mod golden;

use std::path::{Path, PathBuf};

use fuse_test_support::{Directives, Program, SourceFile, Sweep, compile, files};
use golden::Goldens;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn inputs() -> Vec<(SourceFile, Directives)> {
    let inputs = files(&folder("in"));
    assert!(inputs.len() >= 12, "only {} file tests", inputs.len());
    inputs
        .into_iter()
        .map(|file| {
            let directives = Directives::parse(&file.source).unwrap_or_else(|error| panic!("{}: {error}", file.name));
            (file, directives)
        })
        .collect()
}

/// A program's name in goldens: its function, and its element types where it is generic.
fn label(program: &Program, programs: &[Program]) -> String {
    let name = &program.graph.name;
    let instances = programs.iter().filter(|other| other.graph.name == *name).count();
    if instances == 1 {
        return name.clone();
    }
    let dtypes: Vec<&str> = program.dtypes.iter().map(|dtype| dtype.name()).collect();
    format!("{name}.{}", dtypes.join("."))
}

#[test]
fn goldens_are_as_blessed() {
    let mut goldens = Goldens::new(folder("out"));
    for (file, directives) in inputs() {
        let programs = compile(&file.source);
        for program in &programs {
            let path = format!("{}/{}", file.name, label(program, &programs));
            for (part, text) in program.parts() {
                goldens.check(&format!("{path}.{part}.txt"), &text);
            }
            for kernel in program.function.kernels.iter() {
                for variant in directives.shown(kernel) {
                    for (pass, text) in variant.passes.iter().enumerate() {
                        let name = format!("{path}.{}.{}.{pass}.wgsl", kernel.name, variant.name.replace(' ', "_"));
                        goldens.check(&name, &text.wgsl);
                    }
                }
            }
        }
    }
    goldens.finish();
}

#[test]
fn programs_have_as_many_kernels_as_they_say() {
    for (file, directives) in inputs() {
        for program in compile(&file.source) {
            if let Some(expected) = directives.kernels(&program.graph.name) {
                let (found, plan) = (program.function.kernels.len(), &program.function.plan);
                assert_eq!(found, expected, "{}: kernels of `{}`\n{plan}", file.name, program.graph.name);
            }
        }
    }
}

#[test]
fn programs_run_as_the_interpreter_says() {
    for (file, directives) in inputs() {
        let sweep = Sweep::new(&file.name).sharing_variants(4);
        let mut sweep = if directives.wide_ranges { sweep.with_wide_ranges() } else { sweep };
        for (program, inputs) in directives.launches(&compile(&file.source)) {
            sweep.run(program, &inputs);
        }
        sweep.finish();
    }
}
