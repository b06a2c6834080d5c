//! `fuse-runtime/tables/schedules.txt` lists exactly the schedules of the compiler's families. The build of
//! `fuse-runtime` checks tables against it; `cargo xtask bless` rewrites it.

use std::{collections::BTreeSet, fs};

use fuse_test_support::{compile, corpus};

use crate::root;

#[test]
fn the_list_for_built_in_tables_has_the_compilers_members() {
    let sources = corpus::FILES.iter().map(|(_, source)| (*source).to_owned()).chain(corpus::every_family());
    let mut names = BTreeSet::new();
    for program in sources.flat_map(|source| compile(&source)) {
        program.validate().unwrap_or_else(|error| panic!("{error}"));
        for kernel in program.plans().flat_map(|plan| plan.kernels.iter()) {
            let of_kernel: BTreeSet<&str> = kernel.variants.iter().map(|variant| &*variant.name).collect();
            assert_eq!(of_kernel.len(), kernel.variants.len(), "`{}` has two schedules of one name", kernel.name);
            names.extend(of_kernel.into_iter().map(str::to_owned));
        }
    }
    let expected: String = names.iter().map(|name| format!("{name}\n")).collect();
    let file = root().join("fuse-runtime/tables/schedules.txt");
    if std::env::var_os("FUSE_BLESS").is_some() {
        return fs::write(&file, expected).expect("the list can be written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    if found == expected {
        return;
    }
    let listed: BTreeSet<&str> = found.lines().collect();
    let missing: Vec<&String> = names.iter().filter(|name| !listed.contains(name.as_str())).collect();
    let unknown: Vec<&&str> = listed.iter().filter(|name| !names.contains(**name)).collect();
    panic!(
        "{} differs: it lacks {missing:?}, and no family has {unknown:?} (each name once, sorted); if families changed, run \
         `cargo xtask bless`",
        file.display()
    );
}
