//! What an expansion takes from its surroundings: the crate that is being compiled, the place of the call, and
//! `FUSE_DUMP_DIR`.

use std::path::{Path, PathBuf};

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

use crate::expand::Context;

/// The crates that have a module `__private`, in order of preference, with their names in their own tests,
/// examples and doctests.
const CRATES: [(&str, &str); 2] = [("fuse-gpu", "fuse_gpu"), ("fuse-runtime", "fuse_runtime")];

/// The surroundings of the current call of the macro.
pub(crate) fn current() -> Context {
    Context { runtime: runtime(), place: place(), dump: dump_directory() }
}

/// The path of the module `__private`, which holds everything that expansions name, as seen by the crate that is being
/// compiled: its user depends on `fuse-gpu` or on `fuse-runtime`, perhaps under another name.
///
/// Where no manifest names either crate (or there is no manifest), the path is that of `fuse-gpu`, and rustc
/// says what is missing.
fn runtime() -> TokenStream {
    let found = CRATES.iter().find_map(|&(package, itself)| match crate_name(package) {
        Ok(FoundCrate::Itself) => Some(itself.to_owned()),
        Ok(FoundCrate::Name(name)) => Some(name),
        Err(_) => None,
    });
    let name = Ident::new(found.as_deref().unwrap_or(CRATES[0].1), Span::call_site());
    quote!(::#name::__private)
}

/// Where the macro is called, as a file name: `main_12_5`.
fn place() -> String {
    let span = proc_macro::Span::call_site();
    let file = span.file();
    let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}_{}_{}", span.line(), span.column())
}

/// The folder that `FUSE_DUMP_DIR` asks for, with the name of the crate that is being compiled.
fn dump_directory() -> Option<PathBuf> {
    let root = std::env::var_os("FUSE_DUMP_DIR").filter(|root| !root.is_empty())?;
    let krate = std::env::var_os("CARGO_CRATE_NAME").unwrap_or_else(|| "unnamed".into());
    Some(Path::new(&root).join(krate))
}
