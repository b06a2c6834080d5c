//! File tests: each `tests/in/*.fuse` is a program whose graph, groups, plan and WGSL are compared with the
//! goldens in `tests/out/`. `tests/numeric/files.rs` runs them.
//!
//! `cargo xtask bless` writes the goldens anew.

use fuse_test_support::{Program, compile, file_tests};

use crate::{golden::Goldens, root};

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
    let mut goldens = Goldens::new(root().join("tests/out"));
    for (file, directives) in file_tests() {
        let programs = compile(&file.source);
        for name in &directives.variants {
            let kernels = programs.iter().flat_map(|program| program.function.kernels.iter());
            let named = kernels.flat_map(|kernel| kernel.variants.iter()).any(|variant| variant.name == *name);
            assert!(named, "{}: no variant is called `{name}`", file.name);
        }
        for program in &programs {
            let path = format!("{}/{}", file.name, label(program, &programs));
            for (part, text) in program.parts() {
                goldens.check(&format!("{path}.{part}.txt"), &text);
            }
            for kernel in program.function.kernels.iter() {
                for variant in directives.shown(kernel) {
                    for (pass, text) in variant.passes.iter().enumerate() {
                        let name = format!("{path}.{}.{}.{pass}.wgsl", kernel.name, variant.name.replace(' ', "_"));
                        goldens.check(&name, &text.wgsl.text());
                    }
                }
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
