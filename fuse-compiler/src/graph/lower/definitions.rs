//! Definitions of dimensions: `N` of `f32[N]` is an extent, `D` of `f32[B, 4 * D]` an extent divided by 4, `n` of `n:
//! u32` a host number.

use std::collections::BTreeMap;

use fuse_artifact::{DType, Relation, Size, SymbolSource};
use syn::Ident;

use super::{
    Lowering, ident_range,
    normalize::exact_quotient,
    value::{Operand, Value},
};
use crate::{
    diag::{Code, Diagnostic},
    graph::NodeId,
    syntax::ast::{Dim, Element, Function, Param},
};

pub(super) struct Definition<'a> {
    pub(super) name: &'a Ident,
    pub(super) place: (usize, Option<usize>),
    pub(super) others: Option<Factors<'a>>,
}

pub(super) struct Factors<'a> {
    number: u64,
    names: Vec<&'a Ident>,
}

/// Dimensions of a function, each once: first numbers, then whole extents, then products with no other unknown factor.
pub(super) fn definitions(function: &Function) -> Vec<Definition<'_>> {
    let axes = || {
        let params = function.params.iter().enumerate();
        params.flat_map(|(index, param)| {
            param.ty.dims.iter().flatten().enumerate().map(move |(axis, dim)| ((index, Some(axis)), dim))
        })
    };
    let mut found: Vec<Definition<'_>> = Vec::new();
    for (index, param) in function.params.iter().enumerate() {
        if is_size(param, function) {
            found.push(Definition { name: &param.name, place: (index, None), others: None });
        }
    }
    for (place, dim) in axes() {
        if let Dim::Name(name) = dim
            && !is_defined(&found, name)
        {
            found.push(Definition { name, place, others: None });
        }
    }
    loop {
        let before = found.len();
        for (place, dim) in axes() {
            let Some(Factors { number, mut names }) = factors(dim).filter(|factors| factors.number > 0) else {
                continue;
            };
            let mut unknown = (0..names.len()).filter(|&position| !is_defined(&found, names[position]));
            if let (Some(position), None) = (unknown.next(), unknown.next()) {
                let name = names.remove(position);
                found.push(Definition { name, place, others: Some(Factors { number, names }) });
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn is_defined(found: &[Definition<'_>], name: &Ident) -> bool {
    found.iter().any(|definition| definition.name == name)
}

fn factors(dim: &Dim) -> Option<Factors<'_>> {
    match dim {
        Dim::Literal(number, _) => Some(Factors { number: *number, names: Vec::new() }),
        Dim::Name(name) => Some(Factors { number: 1, names: vec![name] }),
        Dim::Product(parts) => {
            parts.iter().map(factors).try_fold(Factors { number: 1, names: Vec::new() }, |product, part| {
                let (mut names, part) = (product.names, part?);
                names.extend(part.names);
                Some(Factors { number: product.number.checked_mul(part.number)?, names })
            })
        }
        Dim::Sum(..) => None,
    }
}

pub(super) fn names_in(dim: &Dim) -> Vec<&Ident> {
    match dim {
        Dim::Literal(..) => vec![],
        Dim::Name(name) => vec![name],
        Dim::Product(factors) => factors.iter().flat_map(names_in).collect(),
        Dim::Sum(terms) => terms.iter().flat_map(|(_, term)| names_in(term)).collect(),
    }
}

impl Factors<'_> {
    fn size(&self, dims: &BTreeMap<String, Size>) -> Size {
        let names = self.names.iter().filter_map(|name| dims.get(&name.to_string()));
        names.fold(Size::constant(self.number), |product, size| product.mul(size))
    }
}

impl Lowering<'_> {
    /// Symbols that a launch takes from a function's arguments.
    pub(super) fn symbols_of(&mut self, function: &Function) -> BTreeMap<String, Size> {
        let mut dims = BTreeMap::new();
        for Definition { name, place: (index, axis), others } in definitions(function) {
            let (text, at) = (name.to_string(), ident_range(name));
            let declared = declared_text(&function.params[index], function);
            let Some(axis) = axis else {
                let source = SymbolSource::Scalar { param: index as u16 };
                let origin = format!("`{text}` is the parameter `{declared}`");
                dims.insert(text.clone(), self.add_symbol(text, source, (origin, at)));
                continue;
            };
            let source = SymbolSource::Axis { param: index as u16, axis: axis as u8 };
            let size = match others {
                None => {
                    let origin = format!("`{text}` is axis {axis} of `{declared}`");
                    self.add_symbol(text.clone(), source, (origin, at))
                }
                Some(others) => {
                    let divisor = others.size(&dims);
                    let name = format!("axis {axis} of {}", function.params[index].name);
                    let dividend = self.add_symbol(name, source, (format!("it is an axis of `{declared}`"), at));
                    let origin = format!("`{text}` follows from axis {axis} of `{declared}`");
                    self.add_symbol(text.clone(), SymbolSource::Quotient { dividend, divisor }, (origin, at))
                }
            };
            dims.insert(text, size);
        }
        dims
    }

    /// Dimensions of a called function from its arguments, their nodes and last axes (`extents`).
    ///
    /// Reports an extent that is no multiple of the other factors, or a size that is no launch argument.
    pub(super) fn dims_of_call(
        &mut self,
        function: &Function,
        (arguments, nodes): (&[Operand], &[NodeId]),
        extents: &[Vec<Size>],
    ) -> Option<BTreeMap<String, Size>> {
        let mut dims = BTreeMap::new();
        for Definition { name, place: (index, axis), others } in definitions(function) {
            let Some(axis) = axis else {
                let size =
                    self.size_of_argument(function, &function.params[index], (&arguments[index], nodes[index]))?;
                dims.insert(name.to_string(), size);
                continue;
            };
            let extent = &extents[index][axis];
            let size = match others {
                None => extent.clone(),
                Some(others) => {
                    self.extent_over(extent, &others.size(&dims), &function.params[index], &arguments[index])?
                }
            };
            dims.insert(name.to_string(), size);
        }
        Some(dims)
    }

    fn size_of_argument(
        &mut self,
        function: &Function,
        param: &Param,
        (argument, node): (&Operand, NodeId),
    ) -> Option<Size> {
        let size = self.size_of_value(&Value::Node(node), argument.range);
        if size.is_none() {
            let (name, function) = (&param.name, &function.name);
            let message = format!("argument `{name}` of `{function}` is a dimension there, and a computed value here");
            let help = "give a `u32` parameter, a number, or a dimension such as `N as u32`";
            self.sink.report(Diagnostic::new(Code::BadDimension, argument.range, message).help(help));
        }
        size
    }

    /// Divides an extent by the other factors; a launch divides symbols and checks the remainder.
    fn extent_over(&mut self, extent: &Size, divisor: &Size, param: &Param, argument: &Operand) -> Option<Size> {
        if let Some(quotient) = exact_quotient(extent, divisor) {
            return Some(quotient);
        }
        let (whole, by) = (self.size_text(extent), self.size_text(divisor));
        if extent.as_constant().is_some() && divisor.as_constant().is_some() {
            let message = format!("argument `{}`: expected a multiple of `{by}`, found `{whole}`", param.name);
            let diagnostic = Diagnostic::new(Code::DimensionMismatch, argument.range, message);
            self.sink.report(diagnostic.help("change its shape, or the declared factor"));
            return None;
        }
        let source = SymbolSource::Quotient { dividend: extent.clone(), divisor: divisor.clone() };
        let origin = (format!("`{whole}` is a multiple of `{by}`"), argument.range);
        let quotient = self.add_symbol(format!("({whole}/{by})"), source, origin);
        let what = format!("argument `{}`, an axis that is a multiple of `{by}`", param.name);
        self.check(Relation::Equal, extent.clone(), divisor.mul(&quotient), what);
        Some(quotient)
    }
}

/// True for a number that types of the function use as a dimension.
pub(super) fn is_size(param: &Param, function: &Function) -> bool {
    let is_number = param.ty.dims.is_none() && matches!(param.ty.element, Element::DType(DType::U32));
    let mut types = function.params.iter().map(|param| &param.ty).chain(&function.results);
    is_number && types.any(|ty| ty.dims.iter().flatten().any(|dim| names_in(dim).contains(&&param.name)))
}

fn declared_text(param: &Param, function: &Function) -> String {
    format!("{}: {}", param.name, super::type_text::type_text(&param.ty, function))
}
