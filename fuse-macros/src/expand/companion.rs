//! The macro beside a function of `fuse!`, with which other blocks find its definition.
//!
//! Input: the definitions of the function and of all that it calls. Output:
//!
//! ```text
//! #[macro_export] macro_rules! __fuse_swish2_ab12 {
//!     (@fuse [callback] state…) => { callback! { @fuse { 1 definitions… } state… } };
//! }
//! pub mod swish2 { pub use __fuse_swish2_ab12 as __fuse; … }
//! ```
//!
//! The `use` in the function's module gives the macro the place and the visibility of the function: `macro_rules!` is
//! otherwise bound to the order of the text, or exported at the crate's root, where the names of different modules would
//! collide. A function of the name of a macro of Rust hides nothing, since nothing but `__fuse` is added to any module's
//! macros. The macro's own name is unique in the crate, and is the identity of the definition.

use fuse_compiler::syntax::{
    ast,
    imports::{Definition, FORMAT},
};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::{Ident, Visibility, ext::IdentExt};

use super::{Context, items::is_condition};

/// The name of a function's macro, and the id of its definition.
pub(crate) fn id(name: &Ident, context: &Context) -> Ident {
    format_ident!("__fuse_{}_{}", name.unraw(), context.unique, span = proc_macro2::Span::call_site())
}

/// The macro of a function, whose own definition is the first.
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

/// What stands in the function's module, behind its macro.
pub(crate) fn import(header: &ast::Function, context: &Context) -> TokenStream {
    let id = id(&header.name, context);
    // Only what is exported may be passed on beyond the crate; the module has the function's visibility anyway.
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

/// The name of the macro in the function's module.
pub(crate) fn entry() -> Ident {
    format_ident!("__fuse", span = proc_macro2::Span::call_site())
}
