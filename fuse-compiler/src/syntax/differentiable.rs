//! `#[differentiable]`: the attribute, and the signatures that it adds.
//!
//! Signatures depend only on declared types, so a changed body never changes how a gradient is called.

use proc_macro2::TokenStream;
use syn::{Attribute, Ident, Meta, Token, Visibility, parse_quote, punctuated::Punctuated};

use super::{
    ast::{Differentiable, Element, Function, Param, Type},
    depth::nests_too_deeply,
};
use crate::{
    diag::{Code, Diagnostic, SourceRange, range_of},
    graph::free_name,
};

/// Added functions.
pub struct Derived {
    /// Parameters with gradients.
    pub wrt: Vec<usize>,
    /// Results with cotangents.
    pub of: Vec<usize>,
    /// Cotangents.
    pub cotangents: Vec<Param>,
    /// `vjp(parameters, cotangents)` returns gradients. Its body is meaningless.
    pub vjp: Function,
    /// `value_and_grad` returns the value, then gradients; present if the only result is one float.
    pub value_and_grad: Option<Function>,
    /// `pullback`, with the function's parameters and results.
    pub pullback: Function,
    /// `apply(cotangents)` returns gradients.
    pub apply: Function,
}

pub(super) fn read_differentiable(attribute: &Attribute) -> Result<Differentiable, Diagnostic> {
    let range = range_of(attribute);
    let malformed = |at: SourceRange| {
        Diagnostic::new(Code::DifferentiableParameter, at, "`differentiable` lists names of parameters")
            .help("write `#[differentiable]`, or `#[differentiable(w, b)]`")
    };
    let names = match &attribute.meta {
        Meta::Path(_) => None,
        Meta::List(list) if !nests_too_deeply(list.tokens.clone()) => {
            let names = list.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated);
            let names = names.map_err(|error| malformed((error.span(), error.span())))?;
            if names.is_empty() {
                return Err(malformed(range));
            }
            Some(names.into_iter().collect())
        }
        Meta::List(_) | Meta::NameValue(_) => return Err(malformed(range)),
    };
    Ok(Differentiable { names, range })
}

impl Type {
    pub(crate) fn is_float(&self) -> bool {
        match self.element {
            Element::DType(dtype) => dtype.is_float(),
            Element::Generic(_) => true,
            Element::Quantized(_) => false,
        }
    }

    pub(crate) fn is_float_tensor(&self) -> bool {
        self.is_float() && self.dims.is_some()
    }
}

impl Function {
    /// Functions that `#[differentiable]` adds, without reported names.
    ///
    /// `None` if the function updates parameters, which was reported.
    pub fn derived(&self) -> Option<Derived> {
        let Differentiable { names, .. } = self.differentiable.as_ref()?;
        if self.params.iter().any(|param| param.updated.is_some()) {
            return None;
        }
        let floats = (0..self.params.len()).filter(|&index| self.params[index].ty.is_float_tensor());
        let wrt: Vec<usize> = match names {
            None => floats.collect(),
            Some(names) => {
                let floats: Vec<usize> = floats.collect();
                let mut wrt: Vec<usize> = vec![];
                for name in names {
                    let index = floats.iter().copied().find(|&index| self.params[index].name == *name);
                    wrt.extend(index.filter(|index| !wrt.contains(index)));
                }
                wrt
            }
        };
        let of: Vec<usize> = (0..self.results.len()).filter(|&index| self.results[index].is_float()).collect();
        let mut taken: Vec<String> = self.params.iter().map(|param| param.name.to_string()).collect();
        let cotangents: Vec<Param> = of
            .iter()
            .map(|&index| {
                let base = if of.len() == 1 { "cotangent".to_owned() } else { format!("cotangent_{index}") };
                let name = free_name(&base, &taken);
                taken.push(name.clone());
                let ty = Type {
                    dims: Some(self.results[index].dims.clone().unwrap_or_default()),
                    ..self.results[index].clone()
                };
                Param { name: Ident::new(&name, proc_macro2::Span::mixed_site()), ty, updated: None }
            })
            .collect();
        let gradients: Vec<Type> = wrt.iter().map(|&index| self.params[index].ty.clone()).collect();
        let listed: Vec<String> = wrt.iter().map(|&index| format!("`{}`", self.params[index].name)).collect();
        let (own, wrt_text) = (&self.name, listed.join(", "));
        let vjp = self.derive(
            "vjp",
            format!(
                "The gradients of [`{own}`](fn@super::{own}) with respect to {wrt_text}, for cotangents of its results."
            ),
            (self.params.iter().chain(&cotangents).cloned().collect(), gradients.clone(), gradients.len() != 1),
        );
        let single =
            matches!(&self.results[..], [only] if only.is_float() && only.dims.as_ref().is_none_or(Vec::is_empty));
        let value_and_grad = single.then(|| {
            let results = self.results.iter().chain(&gradients).cloned().collect();
            let docs =
                format!("The value of [`{own}`](fn@super::{own}), and its gradients with respect to {wrt_text}.");
            self.derive("value_and_grad", docs, (self.params.clone(), results, true))
        });
        let docs = format!(
            "The results of [`{own}`](fn@super::{own}), and what makes gradients with respect to {wrt_text} of their cotangents."
        );
        let pullback = self.derive("pullback", docs, (self.params.clone(), self.results.clone(), self.tuple));
        let docs = format!("The gradients with respect to {wrt_text}, for cotangents of the results.");
        let apply = self.derive("apply", docs, (cotangents.clone(), gradients.clone(), gradients.len() != 1));
        Some(Derived { wrt, of, cotangents, vjp, value_and_grad, pullback, apply })
    }

    fn derive(&self, name: &str, docs: String, (params, results, tuple): (Vec<Param>, Vec<Type>, bool)) -> Self {
        Self {
            attributes: vec![parse_quote!(#[doc = #docs])],
            // The enclosing module has the function's visibility.
            visibility: Visibility::Public(Token![pub](proc_macro2::Span::call_site())),
            differentiable: None,
            name: Ident::new(name, proc_macro2::Span::call_site()),
            params,
            results,
            tuple,
            tokens: TokenStream::new(),
            ..self.clone()
        }
    }
}
