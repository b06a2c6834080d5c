//! Item form: a wrapper and a companion module for each function of a block.
//!
//! `fn f` launches, and `mod f` contains the artifact and everything else. They are in different namespaces of Rust, so
//! one `use` imports both. `fallback` handles functions that did not compile.

use fuse_artifact::{DType, Function};
use fuse_compiler::syntax::ast;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Ident};

use super::{
    artifact::constant,
    signature::{Signature, param_text, type_text},
};

pub(crate) struct Item<'a> {
    pub(crate) signature: Signature<'a>,
    pub(crate) instances: Vec<(&'a [DType], Function)>,
    pub(crate) lines: TokenStream,
    /// Tokens of the whole block, which `reference` parses again.
    pub(crate) source: &'a str,
    pub(crate) import: &'a TokenStream,
    /// Function name, or `f::vjp` for a derivative of `f`.
    pub(crate) path: String,
    pub(crate) derived: TokenStream,
}

impl Item<'_> {
    pub(crate) fn expand(&self) -> TokenStream {
        let wrapper = self.wrapper();
        let module = self.module();
        quote!(#wrapper #module)
    }

    fn wrapper(&self) -> TokenStream {
        let Signature { header, runtime } = self.signature;
        let ast::Function { attributes, visibility, name, .. } = header;
        let docs = self.docs();
        let (generics, params) = (self.signature.generics(), self.signature.params());
        let (arguments, results) = (self.signature.arguments(), self.signature.results());
        let module = quote!(#name::);
        let function = self.selected(&module);
        let own = self.signature.own_updates();
        let body = self.signature.typed_results(&quote!(#runtime::launch(#function, &[#arguments])));
        quote! {
            #(#attributes)*
            #(#[doc = #docs])*
            #[allow(dead_code, clippy::too_many_arguments, clippy::type_complexity)]
            #visibility fn #name #generics (#params) -> ::core::result::Result<#results, #runtime::Error> {
                #own
                #body
            }
        }
    }

    pub(crate) fn module(&self) -> TokenStream {
        let Signature { header, runtime } = self.signature;
        let ast::Function { attributes, visibility, name, .. } = header;
        let conditions = attributes.iter().filter(|attribute| is_condition(attribute));
        let (docs, derived) = (format!("Artifacts that `fuse!` compiled for `{}`.", self.path), &self.derived);
        let (import, lines, functions, selector) = (self.import, &self.lines, self.functions(), self.selector());
        let (kernels, plan) = (self.kernels(), self.plan());
        let (launch_into, reference) = (self.launch_into(), self.reference());
        quote! {
            #(#conditions)*
            #[doc = #docs]
            #[allow(dead_code, non_snake_case, unreachable_pub, clippy::too_many_arguments, clippy::type_complexity)]
            #visibility mod #name {
                #import
                #lines
                #functions
                #selector
                #kernels
                #plan
                #launch_into
                #runtime::reference! { #reference }
                #derived
            }
        }
    }

    /// `FUNCTION`, or one `FUNCTION_F32_F16` for each choice of dtypes.
    pub(crate) fn functions(&self) -> TokenStream {
        let runtime = self.signature.runtime;
        let statics = self.instances.iter().map(|(dtypes, function)| {
            let name = static_name(dtypes);
            let value = constant(function);
            let docs = match list(dtypes) {
                None => "The artifact: everything that a launch needs.".to_owned(),
                Some(dtypes) => format!("The artifact for {dtypes}: everything that a launch needs."),
            };
            quote! {
                #[doc = #docs]
                pub static #name: #runtime::artifact::Function = {
                    use #runtime::artifact as a;
                    #value
                };
            }
        });
        statics.collect()
    }

    /// `function::<T>()` of a generic function: the artifact for given element types.
    pub(crate) fn selector(&self) -> TokenStream {
        let Signature { header, runtime } = self.signature;
        if header.generics.is_empty() {
            return TokenStream::new();
        }
        let generics = self.signature.generics();
        let dtypes = &header.generics;
        let select = select(&self.instances, quote!(#(<#dtypes as #runtime::Element>::DTYPE,)*), runtime);
        quote! {
            /// The artifact for given element types.
            pub fn function #generics () -> &'static #runtime::artifact::Function {
                #select
            }
        }
    }

    pub(crate) fn selected(&self, module: &TokenStream) -> TokenStream {
        let generics = &self.signature.header.generics;
        if generics.is_empty() { quote!(&#module FUNCTION) } else { quote!(#module function::<#(#generics),*>()) }
    }

    pub(crate) fn kernels(&self) -> TokenStream {
        let runtime = self.signature.runtime;
        let functions = self.instances.iter().map(|(dtypes, _)| static_name(dtypes));
        let kernels = self.instances.iter().flat_map(|(dtypes, function)| {
            let name = static_name(dtypes);
            (0..function.kernels.len()).map(move |index| quote!(#runtime::kernel(&#name, #index)))
        });
        quote! {
            /// The kernels in dispatch order, with their WGSL and bindings (of a generic function: for every choice of
            /// element types, one after the other). `Device::warm_up` takes them.
            pub static KERNELS: &#runtime::Kernels = &#runtime::Kernels::new(&[#(&#functions),*], &[#(#kernels),*]);
        }
    }

    pub(crate) fn plan(&self) -> TokenStream {
        let runtime = self.signature.runtime;
        let first = self.instances.iter().map(|(dtypes, _)| static_name(dtypes)).take(1);
        quote! {
            /// How the function was divided into kernels, and why; prints as a tree (of a generic function: the plan
            /// for the first choice of element types; the others differ in dtypes only).
            pub static PLAN: &#runtime::artifact::Plan = #(&#first.plan)*;
        }
    }

    fn launch_into(&self) -> TokenStream {
        let runtime = self.signature.runtime;
        let (generics, params) = (self.signature.generics(), self.signature.params());
        let arguments = self.signature.arguments();
        let (own, [output, own_outputs, outputs]) = (self.signature.own_updates(), self.signature.outputs());
        let function = self.selected(&TokenStream::new());
        quote! {
            /// Launches and writes the results into given tensors, whose shapes must equal those of the results.
            pub fn launch_into #generics (#params #output) -> ::core::result::Result<(), #runtime::Error> {
                #own
                #own_outputs
                #runtime::launch_into(#function, &[#arguments], &[#outputs])
            }
        }
    }

    /// `reference`. The runtime drops these tokens unless its feature `reference` is on.
    fn reference(&self) -> TokenStream {
        let Signature { header, runtime } = self.signature;
        let (generics, params) = (self.signature.generics(), self.signature.params_read());
        let arguments = self.signature.arguments();
        let updates = header.params.iter().filter(|param| param.updated.is_some()).count();
        let (name, source, count) = (&self.path, self.source, header.results.len() + updates);
        let dtypes = &header.generics;
        quote! {
            /// Computes the results in `f64` on the host with the reference interpreter (feature `reference`), followed
            /// by the new values of updated parameters, which it leaves unchanged.
            pub fn reference #generics (#params)
                -> ::core::result::Result<[#runtime::reference::Value; #count], #runtime::Error>
            {
                #runtime::reference::run(
                    #source,
                    #name,
                    &[#(<#dtypes as #runtime::Element>::DTYPE),*],
                    &[#arguments],
                )
            }
        }
    }

    /// Lines added to the user's documentation.
    pub(crate) fn docs(&self) -> Vec<String> {
        let header = self.signature.header;
        let text = |ty| format!("`{}`", type_text(ty, &header.generics));
        let mut docs = vec![String::new(), "# Shapes".to_owned(), String::new()];
        let param_text = |param| param_text(param, &header.generics);
        docs.extend(header.params.iter().map(|param| format!("- `{}`: `{}`", param.name, param_text(param))));
        docs.extend(header.results.iter().map(|ty| format!("- result: {}", text(ty))));
        let plan = self.instances.first().map(|(_, function)| &function.plan);
        let dispatches = plan.map_or(0, |plan| plan.groups.len());
        docs.extend([
            String::new(),
            format!("Dimensions of one name are equal. Dispatches: {dispatches}; `{}::PLAN` says why.", self.path),
            String::new(),
            "# Errors".to_owned(),
            String::new(),
            "When shapes disagree, the tensors are on different devices, or the device cannot run the kernels."
                .to_owned(),
        ]);
        docs
    }
}

/// Selects the artifact for a tuple of dtypes. The last instance needs no test.
pub(crate) fn select(instances: &[(&[DType], Function)], dtypes: TokenStream, runtime: &TokenStream) -> TokenStream {
    let last = instances.len().saturating_sub(1);
    let arms = instances.iter().enumerate().map(|(i, (dtypes, _))| {
        let name = static_name(dtypes);
        if i == last {
            quote!(_ => &#name,)
        } else {
            let dtypes = dtypes.iter().map(|dtype| format_ident!("{dtype:?}"));
            quote!((#(#runtime::artifact::DType::#dtypes,)*) => &#name,)
        }
    });
    quote!(match (#dtypes) { #(#arms)* })
}

pub(crate) fn static_name(dtypes: &[DType]) -> Ident {
    let suffix: String = dtypes.iter().map(|dtype| format!("_{}", dtype.name().to_uppercase())).collect();
    Ident::new(&format!("FUNCTION{suffix}"), Span::call_site())
}

fn list(dtypes: &[DType]) -> Option<String> {
    let names: Vec<String> = dtypes.iter().map(|dtype| format!("`{dtype}`")).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// True if an attribute determines the function's existence; the module then needs it, too.
pub(crate) fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}
