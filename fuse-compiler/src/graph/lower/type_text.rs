//! Types as they are written.

use crate::syntax::ast::{Dim, Element, Function, Type, sum_text};

pub(super) fn type_text(ty: &Type, function: &Function) -> String {
    let element = match &ty.element {
        Element::DType(dtype) => dtype.name().to_string(),
        Element::Generic(index) => function.generics[*index].to_string(),
        Element::Quantized(packing) => packing.name().to_string(),
    };
    match &ty.dims {
        None => element,
        Some(dims) => format!("{element}[{}]", dims.iter().map(dim_text).collect::<Vec<_>>().join(", ")),
    }
}

fn dim_text(dim: &Dim) -> String {
    match dim {
        Dim::Literal(value, _) => value.to_string(),
        Dim::Name(name) => name.to_string(),
        Dim::Product(factors) => factors.iter().map(dim_text).collect::<Vec<_>>().join(" * "),
        Dim::Sum(terms) => sum_text(terms, dim_text),
    }
}
