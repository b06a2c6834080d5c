//! Items that `#[differentiable]` adds to the module of a function: `vjp`, `value_and_grad` and `pullback`.
//!
//! Input: header, derived signatures, and their artifacts. Output: a wrapper and a module for each:
//!
//! ```text
//! mod f {
//!     …
//!     fn vjp(…) mod vjp { FUNCTION, KERNELS, PLAN, launch_into, reference }
//!     fn value_and_grad(…) mod value_and_grad { the same }
//!     fn pullback(…) mod pullback { FUNCTION, KERNELS, PLAN, mod apply { FUNCTION, KERNELS, PLAN } }
//!     struct Pullback with `apply`
//! }
//! ```

use fuse_artifact::{DType, Function};
use fuse_compiler::{
    front::{self, ItemFunction},
    grad::pullback::Kept,
    graph::Graph,
    syntax::{ast, differentiable::Derived},
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::{
    Compilation,
    items::{Item, static_name},
    signature::Signature,
};

type Instances<'a> = Vec<(&'a [DType], Function)>;

type DerivedGraph = fn(&front::Derivatives) -> Option<&Graph>;

/// Derivative graphs, with their names in dumps.
const DERIVED: [(&str, DerivedGraph); 4] = [
    ("vjp", |derivatives| Some(&derivatives.vjp)),
    ("value_and_grad", |derivatives| derivatives.value_and_grad.as_ref()),
    ("pullback", |derivatives| Some(&derivatives.pullback.forward)),
    ("pullback.apply", |derivatives| Some(&derivatives.pullback.backward)),
];

fn derived_instances(function: &ItemFunction) -> impl Iterator<Item = (&[DType], &front::Derivatives)> {
    function.instances.iter().filter_map(|one| Some((&one.dtypes[..], one.derivatives.as_ref()?)))
}

pub(crate) struct Derivatives<'a> {
    vjp: Instances<'a>,
    value_and_grad: Instances<'a>,
    forward: Instances<'a>,
    backward: Instances<'a>,
    /// Sources of the parameters of `backward`, for each choice of dtypes.
    kept: Vec<&'a [Kept]>,
}

impl<'a> Derivatives<'a> {
    pub(crate) fn graphs(function: &'a ItemFunction) -> Vec<Compilation<'a>> {
        let name = &function.header.name;
        let of = |(suffix, graph): &(&str, DerivedGraph)| {
            let graph = *graph;
            let name = format!("{name}.{suffix}");
            let instance = move |(dtypes, derivatives)| {
                Some(Compilation { name: name.clone(), dtypes, graph: graph(derivatives)? })
            };
            derived_instances(function).filter_map(instance).collect::<Vec<_>>()
        };
        DERIVED.iter().flat_map(of).collect()
    }

    /// Derivatives from the artifacts of [`graphs`](Self::graphs), in that order.
    pub(crate) fn of(function: &'a ItemFunction, compiled: Vec<Function>) -> Option<Self> {
        derived_instances(function).next()?;
        let mut compiled = compiled.into_iter();
        let [vjp, value_and_grad, forward, backward] = DERIVED.map(|(_, graph)| {
            let having = derived_instances(function).filter(|(_, derivatives)| graph(derivatives).is_some());
            having.map(|(dtypes, _)| dtypes).zip(compiled.by_ref()).collect()
        });
        let kept = derived_instances(function).map(|(_, derivatives)| &derivatives.pullback.kept[..]).collect();
        Some(Self { vjp, value_and_grad, forward, backward, kept })
    }

    pub(crate) fn fallback(
        choices: &'a [Vec<DType>],
        derived: &Derived,
        empty: impl Fn(&ast::Function) -> Function,
    ) -> Self {
        let of = |header: &ast::Function| -> Instances<'a> {
            choices.iter().map(|dtypes| (&dtypes[..], empty(header))).collect()
        };
        Self {
            vjp: of(&derived.vjp),
            value_and_grad: derived.value_and_grad.as_ref().map(of).unwrap_or_default(),
            forward: of(&derived.pullback),
            backward: of(&derived.apply),
            kept: choices.iter().map(|_| &[][..]).collect(),
        }
    }

    /// All artifacts: they share lines with the function's own.
    pub(crate) fn functions_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        let Self { vjp, value_and_grad, forward, backward, kept: _ } = self;
        [vjp, value_and_grad, forward, backward].into_iter().flatten().map(|(_, function)| function)
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function> {
        let Self { vjp, value_and_grad, forward, backward, kept: _ } = self;
        [vjp, value_and_grad, forward, backward].into_iter().flatten().map(|(_, function)| function)
    }
}

pub(crate) struct Derivative<'a> {
    pub(crate) own: Signature<'a>,
    pub(crate) derived: &'a Derived,
    pub(crate) compiled: Derivatives<'a>,
    pub(crate) source: &'a str,
    /// True if the function's module contains the lines of the shaders.
    pub(crate) has_lines: bool,
}

impl Derivative<'_> {
    pub(crate) fn expand(self) -> TokenStream {
        let nothing = TokenStream::new();
        let Self { own, derived, compiled, source, has_lines } = self;
        let Derivatives { vjp, value_and_grad, forward, backward, kept } = compiled;
        let Signature { header: function, runtime } = own;
        let lines = if has_lines {
            quote!(
                use super::__FUSE_TEXTS;
            )
        } else {
            TokenStream::new()
        };
        let item = |header, instances| Item {
            signature: Signature { header, runtime },
            instances,
            lines: lines.clone(),
            source,
            import: &nothing,
            path: format!("{}::{}", function.name, header.name),
            derived: TokenStream::new(),
        };
        let vjp = item(&derived.vjp, vjp);
        let gradients = Gradients { own, results: vjp.signature };
        let value_and_grad =
            derived.value_and_grad.as_ref().map(|header| gradients.value_and_grad(&item(header, value_and_grad)));
        let halves = halves(own, derived, &forward, &kept);
        let (forward, backward) = (item(&derived.pullback, forward), item(&derived.apply, backward));
        let pullback = gradients.pullback(&forward, &backward);
        let vjp = vjp.expand();
        quote!(#vjp #value_and_grad #pullback #halves)
    }
}

#[derive(Clone, Copy)]
struct Gradients<'a> {
    own: Signature<'a>,
    results: Signature<'a>,
}

impl Gradients<'_> {
    /// `value_and_grad`, which returns the value, then the gradients as `vjp` does.
    fn value_and_grad(self, item: &Item<'_>) -> TokenStream {
        let (value_type, gradient_type) = (self.own.results(), self.results.results());
        let (value, gradients) = (names(self.own, "value"), names(self.results, "gradient"));
        let (typed_value, typed_gradients) = (typed(self.own, &value), typed(self.results, &gradients));
        let runtime = item.signature.runtime;
        let (function, arguments) = (item.selected(&quote!(value_and_grad::)), item.signature.arguments());
        let wrapper = wrapper(
            item,
            &quote!((#value_type, #gradient_type)),
            &quote! {
                let [#(#value,)* #(#gradients),*] = #runtime::launch(#function, &[#arguments])?;
                ::core::result::Result::Ok((#typed_value, #typed_gradients))
            },
        );
        let module = item.module();
        quote!(#wrapper #module)
    }

    /// `pullback`, and the type of its second result.
    fn pullback(self, forward: &Item<'_>, backward: &Item<'_>) -> TokenStream {
        let Signature { header, runtime } = self.own;
        let (generics, elements) = (self.own.generics(), &header.generics);
        let arguments = self.own.arguments();
        let (results, result_type) = (names(self.own, "result"), self.own.results());
        let (gradients, gradient_type) = (names(self.results, "gradient"), self.results.results());
        let (typed_results, typed_gradients) = (typed(self.own, &results), typed(self.results, &gradients));
        let cotangents = backward.signature.header.params.iter().map(|param| &param.name);
        let wrapper = wrapper(
            forward,
            &quote!((#result_type, Pullback<#(#elements),*>)),
            &quote! {
                let ([#(#results),*], raw) = #runtime::pullback(self::halves::<#(#elements),*>(), &[#arguments])?;
                let elements = ::core::marker::PhantomData;
                ::core::result::Result::Ok((#typed_results, Pullback { raw, elements }))
            },
        );
        let (first, second) = (parts(forward), parts(backward));
        let (apply_params, apply_docs) = (backward.signature.params(), backward.docs());
        let attributes = &backward.signature.header.attributes;
        let (half, docs) = (
            format!("Artifacts that `fuse!` compiled for `{}`: the results and the saved values.", forward.path),
            format!(
                "Values that [`pullback`](fn@pullback) saves of a call of [`{}`](fn@super::{0}): the arguments and \
                     intermediate values that the gradients need. It shares the memory of tensors, as clones do.",
                header.name
            ),
        );
        quote! {
            #wrapper
            #[doc = #half]
            pub mod pullback {
                #first
                /// Artifacts that `fuse!` compiled for `Pullback::apply`.
                pub mod apply {
                    #second
                }
            }
            #[doc = #docs]
            #[derive(Clone, Debug)]
            pub struct Pullback #generics {
                raw: #runtime::RawPullback,
                elements: ::core::marker::PhantomData<fn() -> (#(#elements,)*)>,
            }
            impl #generics Pullback<#(#elements),*> {
                #(#attributes)*
                #(#[doc = #apply_docs])*
                pub fn apply(&self, #apply_params) -> ::core::result::Result<#gradient_type, #runtime::Error> {
                    let [#(#gradients),*] = self.raw.apply(&[#(#runtime::Tensor::raw(#cotangents)),*])?;
                    ::core::result::Result::Ok(#typed_gradients)
                }
            }
        }
    }
}

fn halves(own: Signature<'_>, derived: &Derived, forward: &Instances<'_>, kept: &[&[Kept]]) -> TokenStream {
    let Signature { header, runtime } = own;
    let (generics, elements, of) = (own.generics(), &header.generics, &derived.of);
    let last = forward.len().saturating_sub(1);
    let arms = forward.iter().zip(kept).enumerate().map(|(i, ((dtypes, _), kept))| {
        let name = static_name(dtypes);
        let kept = kept.iter().map(|kept| match *kept {
            Kept::Argument(index) => {
                let index = usize::from(index);
                quote!(#runtime::Kept::Argument(#index))
            }
            Kept::Result(index) => {
                let index = usize::from(index);
                quote!(#runtime::Kept::Result(#index))
            }
            Kept::Cotangent(index) => {
                let index = usize::from(index);
                quote!(#runtime::Kept::Cotangent(#index))
            }
        });
        // The last choice needs no test.
        let pattern = if i == last {
            quote!(_)
        } else {
            let dtypes = dtypes.iter().map(|dtype| format_ident!("{dtype:?}"));
            quote!((#(#runtime::artifact::DType::#dtypes,)*))
        };
        quote! {
            #pattern => {
                static HALVES: #runtime::VjpPair = #runtime::VjpPair {
                    forward: &pullback::#name,
                    backward: &pullback::apply::#name,
                    kept: &[#(#kept),*],
                    of: &[#(#of),*],
                };
                &HALVES
            }
        }
    });
    quote! {
        fn halves #generics () -> &'static #runtime::VjpPair {
            match (#(<#elements as #runtime::Element>::DTYPE,)*) { #(#arms)* }
        }
    }
}

fn wrapper(item: &Item<'_>, result: &TokenStream, body: &TokenStream) -> TokenStream {
    let Signature { header, runtime } = item.signature;
    let ast::Function { attributes, name, .. } = header;
    let (generics, params, docs) = (item.signature.generics(), item.signature.params(), item.docs());
    quote! {
        #(#attributes)*
        #(#[doc = #docs])*
        pub fn #name #generics (#params) -> ::core::result::Result<#result, #runtime::Error> {
            #body
        }
    }
}

fn parts(item: &Item<'_>) -> TokenStream {
    let (lines, functions, selector) = (&item.lines, item.functions(), item.selector());
    let (kernels, plan) = (item.kernels(), item.plan());
    quote!(#lines #functions #selector #kernels #plan)
}

fn names(signature: Signature<'_>, base: &str) -> Vec<Ident> {
    (0..signature.header.results.len()).map(|i| format_ident!("{base}{i}")).collect()
}

fn typed(signature: Signature<'_>, names: &[Ident]) -> TokenStream {
    let runtime = signature.runtime;
    let tensors = names.iter().map(|name| quote!(#runtime::Tensor::from_raw(#name)));
    if signature.header.tuple { quote!((#(#tensors,)*)) } else { tensors.collect() }
}
