//! Rust signature of a `fuse!` function.
//!
//! Output: generics, parameters and results for the wrapper, `launch_into` and `reference`, and types as text for the
//! documentation. Identifiers keep the spans of the source, so that rustc points there. Other names are full paths, so
//! that callers need no imports.

use fuse_artifact::DType;
use fuse_compiler::syntax::ast::{self, Dim, Element, Function, sum_text};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

#[derive(Clone, Copy)]
pub(crate) struct Signature<'a> {
    pub(crate) header: &'a Function,
    pub(crate) runtime: &'a TokenStream,
}

impl Signature<'_> {
    /// `<T: Float, U: Float>`, or nothing.
    pub(crate) fn generics(self) -> TokenStream {
        let Self { header, runtime } = self;
        let names = &header.generics;
        if names.is_empty() { TokenStream::new() } else { quote!(<#(#names: #runtime::Float),*>) }
    }

    /// `x: &Tensor<f32, 2>, w: &mut Tensor<f32, 2>, s: f32,`
    pub(crate) fn params(self) -> TokenStream {
        self.params_by(|param| param.updated.is_some())
    }

    /// As [`params`](Self::params), for callers that only read them.
    pub(crate) fn params_read(self) -> TokenStream {
        self.params_by(|_| false)
    }

    fn params_by(self, updated: impl Fn(&ast::Param) -> bool) -> TokenStream {
        let params = self.header.params.iter().map(|param| {
            let (name, ty) = (&param.name, self.param_type(&param.ty, updated(param)));
            quote!(#name: #ty,)
        });
        params.collect()
    }

    pub(crate) fn arguments(self) -> TokenStream {
        let Self { header, runtime } = self;
        let arguments = header.params.iter().map(|param| {
            let name = &param.name;
            let read = if param.updated.is_some() { quote!(&*#name) } else { quote!(#name) };
            quote!(#runtime::Arg::from(#read),)
        });
        arguments.collect()
    }

    /// Statements that give updated tensors unshared memory, before the arguments are made.
    pub(crate) fn own_updates(self) -> TokenStream {
        let Self { header, runtime } = self;
        let updated = header.params.iter().filter(|param| param.updated.is_some()).map(|param| &param.name);
        quote!(#(#runtime::Tensor::own(#updated)?;)*)
    }

    pub(crate) fn results(self) -> TokenStream {
        self.tuple_of(|tensor| tensor)
    }

    pub(crate) fn typed_results(self, raw: &TokenStream) -> TokenStream {
        let runtime = self.runtime;
        let names: Vec<_> = (0..self.header.results.len()).map(|i| format_ident!("result{i}")).collect();
        let results = if self.header.tuple {
            quote!((#(#runtime::Tensor::from_raw(#names),)*))
        } else {
            quote!(#(#runtime::Tensor::from_raw(#names))*)
        };
        quote! {
            let [#(#names),*] = #raw?;
            ::core::result::Result::Ok(#results)
        }
    }

    /// For `launch_into`: parameter for the tensors to write, statements that give these unshared memory, list of
    /// untyped tensors.
    pub(crate) fn outputs(self) -> [TokenStream; 3] {
        let runtime = self.runtime;
        let ty = self.tuple_of(|tensor| quote!(&mut #tensor));
        if self.header.tuple {
            // Hygienic, so that a parameter of the same name does not clash.
            let outputs = Ident::new("outputs", Span::mixed_site());
            let each: Vec<_> = (0..self.header.results.len()).map(syn::Index::from).collect();
            let own = quote!(#(#runtime::Tensor::own(#outputs.#each)?;)*);
            [quote!(#outputs: #ty), own, quote!(#(#runtime::Tensor::raw(#outputs.#each)),*)]
        } else {
            let output = Ident::new("output", Span::mixed_site());
            [quote!(#output: #ty), quote!(#runtime::Tensor::own(#output)?;), quote!(#runtime::Tensor::raw(#output))]
        }
    }

    fn tuple_of(self, wrap: impl Fn(TokenStream) -> TokenStream) -> TokenStream {
        let tensors = self.header.results.iter().map(|ty| wrap(self.tensor_type(ty)));
        if self.header.tuple { quote!((#(#tensors,)*)) } else { tensors.collect() }
    }

    fn param_type(self, ty: &ast::Type, updated: bool) -> TokenStream {
        match ty.dims {
            Some(ref dims) if let Some(packing) = ty.packing() => {
                let (runtime, bits, rank) = (self.runtime, format_ident!("{packing:?}"), dims.len());
                quote!(&#runtime::QTensor<#runtime::#bits, #rank>)
            }
            Some(_) => {
                let tensor = self.tensor_type(ty);
                if updated { quote!(&mut #tensor) } else { quote!(&#tensor) }
            }
            None => self.element(&ty.element),
        }
    }

    fn tensor_type(self, ty: &ast::Type) -> TokenStream {
        let runtime = self.runtime;
        let element = self.element(&ty.element);
        let rank = ty.dims.as_ref().map_or(0, Vec::len);
        quote!(#runtime::Tensor<#element, #rank>)
    }

    fn element(self, element: &Element) -> TokenStream {
        match *element {
            Element::DType(dtype) => element_type(dtype, self.runtime),
            Element::Generic(index) => {
                let name = &self.header.generics[index];
                quote!(#name)
            }
            // Results and scalars cannot be quantized, which was reported.
            Element::Quantized(_) => element_type(DType::F32, self.runtime),
        }
    }
}

pub(crate) fn element_type(dtype: DType, runtime: &TokenStream) -> TokenStream {
    match dtype {
        DType::F32 => quote!(::core::primitive::f32),
        DType::F16 => quote!(#runtime::f16),
        DType::I32 => quote!(::core::primitive::i32),
        DType::U32 => quote!(::core::primitive::u32),
        DType::Bool => quote!(::core::primitive::bool),
    }
}

pub(crate) fn param_text(param: &ast::Param, generics: &[Ident]) -> String {
    let reference = if param.updated.is_some() { "&mut " } else { "" };
    format!("{reference}{}", type_text(&param.ty, generics))
}

/// Type as written, such as `f32[M, H*D]`.
pub(crate) fn type_text(ty: &ast::Type, generics: &[Ident]) -> String {
    let element = match ty.element {
        Element::DType(dtype) => dtype.name().to_owned(),
        Element::Generic(index) => generics[index].to_string(),
        Element::Quantized(packing) => packing.name().to_owned(),
    };
    match &ty.dims {
        Some(dims) => format!("{element}[{}]", dims.iter().map(dim_text).collect::<Vec<_>>().join(", ")),
        None => element,
    }
}

fn dim_text(dim: &Dim) -> String {
    match dim {
        Dim::Literal(value, _) => value.to_string(),
        Dim::Name(name) => name.to_string(),
        Dim::Product(factors) => factors.iter().map(dim_text).collect::<Vec<_>>().join("*"),
        Dim::Sum(terms) => format!("({})", sum_text(terms, dim_text)),
    }
}
