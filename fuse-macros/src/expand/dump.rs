//! Dumps for people: files for `FUSE_DUMP_DIR`, standard error for `#[explain]`.
//!
//! Files: `<dir>/<crate>/<function>/{graph.txt,groups.txt,schedules.txt,*.wgsl}`. Only this part of the macro accesses
//! files.

use std::{fs, io, path::Path};

use fuse_artifact::{DType, Function};
use fuse_compiler::compile::Dump;

pub(crate) fn write(directory: &Path, function: &str, dump: &Dump) -> io::Result<()> {
    let directory = directory.join(function);
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("graph.txt"), &dump.graph)?;
    fs::write(directory.join("groups.txt"), &dump.groups)?;
    fs::write(directory.join("schedules.txt"), &dump.schedules)?;
    // Kernels of `f::vjp` are named after it.
    let file = |stem: &str| directory.join(format!("{}.wgsl", stem.replace("::", ".")));
    dump.wgsl.iter().try_for_each(|(stem, text)| fs::write(file(stem), text))
}

/// Function name with the dtypes of an instance.
pub(crate) fn instance_name(function: &str, dtypes: &[DType]) -> String {
    dtypes.iter().fold(function.to_owned(), |name, dtype| format!("{name}_{dtype}"))
}

pub(crate) fn explain<'a>(functions: impl Iterator<Item = &'a Function>) {
    for function in functions {
        eprint!("{}", function.plan);
    }
}
