//! Surroundings of an expansion: crate, position of the call, and `FUSE_DUMP_DIR`.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use fuse_compiler::validate::Valid;

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

use crate::expand::Context;

pub(crate) fn current() -> Context {
    let (runtime, callback) = paths();
    Context { runtime, callback, place: place(), unique: unique(), dump: dump_directory(), valid: valid() }
}

/// Shaders validated by this process: rustc for a crate, or an editor.
fn valid() -> &'static Valid {
    static VALID: LazyLock<Valid> = LazyLock::new(Valid::default);
    &VALID
}

/// Paths of the module `__private`, which holds all items that expansions name, and of `fuse!`.
///
/// The crate depends on `fuse-gpu`, or on `fuse-runtime` and `fuse-macros`, perhaps renamed. If not, paths are those of
/// `fuse-gpu`, and rustc reports the missing crate.
fn paths() -> (TokenStream, TokenStream) {
    let gpu = crate_path("fuse-gpu", "fuse_gpu");
    let runtime = gpu.clone().or_else(|| crate_path("fuse-runtime", "fuse_runtime"));
    let macros = gpu.or_else(|| crate_path("fuse-macros", "fuse_macros"));
    let (runtime, macros) = (runtime.unwrap_or(quote!(::fuse_gpu)), macros.unwrap_or(quote!(::fuse_gpu)));
    (quote!(#runtime::__private), quote!(#macros::fuse))
}

/// Path of a crate. `itself` is its name in its own tests, examples and doctests.
fn crate_path(package: &str, itself: &str) -> Option<TokenStream> {
    let name = match crate_name(package).ok()? {
        FoundCrate::Itself => itself.to_owned(),
        FoundCrate::Name(name) => name,
    };
    let name = Ident::new(&name, Span::call_site());
    Some(quote!(::#name))
}

/// Name part unique to this call, in all crates. rustc's expansion number, in the span's debug text, tells apart calls
/// that a user's macro makes at one position.
fn unique() -> String {
    let mut hasher = DefaultHasher::new();
    for variable in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_CRATE_NAME"] {
        std::env::var_os(variable).hash(&mut hasher);
    }
    let span = proc_macro::Span::call_site();
    (span.file(), span.line(), span.column(), format!("{span:?}")).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Position of the call, as a file name: `main_12_5`.
fn place() -> String {
    let span = proc_macro::Span::call_site();
    let file = span.file();
    let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}_{}_{}", span.line(), span.column())
}

fn dump_directory() -> Option<PathBuf> {
    let root = std::env::var_os("FUSE_DUMP_DIR").filter(|root| !root.is_empty())?;
    let krate = std::env::var_os("CARGO_CRATE_NAME").unwrap_or_else(|| "unnamed".into());
    Some(Path::new(&root).join(krate))
}
