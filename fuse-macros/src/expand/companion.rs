//! Macro of a `fuse!` function, which passes its definition to other blocks.
//!
//! Input: the definitions of the function and its callees. Output:
//!
//! ```text
//! #[macro_export] macro_rules! __fuse_swish2_ab12 {
//!     (@fuse [callback] state…) => { callback! { @fuse { 1 definitions… } state… } };
//! }
//! pub mod swish2 { pub use __fuse_swish2_ab12 as __fuse; … }
//! ```
//!
//! The `use` gives the macro the function's path and visibility. A plain `macro_rules!` would depend on textual order,
//! or collide at the crate's root. A function with the name of a Rust macro hides nothing: modules gain only `__fuse`.
//! The macro's own name is unique in the crate and identifies the definition.

use fuse_compiler::syntax::{
    ast,
    imports::{Definition, FORMAT},
};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::{Ident, Visibility, ext::IdentExt};

use super::{Context, items::is_condition};

/// Name of a function's macro, and id of its definition.
pub(crate) fn id(name: &Ident, context: &Context) -> Ident {
    format_ident!("__fuse_{}_{}", name.unraw(), context.unique, span = proc_macro2::Span::call_site())
}

/// Macro of a function, whose own definition is the first.
pub(crate) fn expand(header: &ast::Function, definitions: &[Definition], context: &Context) -> TokenStream {
    let ast::Function { attributes, visibility, name, .. } = header;
    let id = id(name, context);
    let conditions: Vec<_> = attributes.iter().filter(|attribute| is_condition(attribute)).collect();
    let export = matches!(visibility, Visibility::Public(_)).then(|| quote!(#[macro_export]));
    let format = Literal::u32_unsuffixed(FORMAT);
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(unused_macros, non_local_definitions)]
        #export
        macro_rules! #id {
            (@fuse [$($callback:tt)*] $($state:tt)*) => {
                $($callback)*! { @fuse { #format #(#definitions)* } $($state)* }
            };
        }
    }
}

pub(crate) fn import(header: &ast::Function, context: &Context) -> TokenStream {
    let id = id(&header.name, context);
    // Only exported macros can be re-exported beyond the crate. The module has the function's visibility anyway.
    let visibility = match header.visibility {
        Visibility::Public(_) => quote!(pub),
        _ => quote!(pub(crate)),
    };
    let name = entry();
    quote! {
        #[doc(hidden)]
        #[allow(unused_imports)]
        #visibility use #id as #name;
    }
}

pub(crate) fn entry() -> Ident {
    format_ident!("__fuse", span = proc_macro2::Span::call_site())
}
