//! Separates attributes of the wrapper from those of the compiler.

use proc_macro2::Span;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token, punctuated::Punctuated};

use super::{ast::Differentiable, depth::nests_too_deeply, differentiable::read_differentiable};
use crate::{
    diag::{Code, Diagnostic, Sink, range_of, suggest},
    graph::{FunctionOptions, ScheduleOverride},
};

const WRAPPER: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "warn",
];

const COMPILER: &[&str] = &["no_fuse", "schedule", "explain", "webnn", "differentiable"];

/// Invocations of a workgroup, and side of a tile.
const LARGEST: u32 = 1024;

#[derive(Default)]
pub(super) struct Attributes {
    pub(super) wrapper: Vec<Attribute>,
    pub(super) options: FunctionOptions,
    pub(super) explain: bool,
    pub(super) differentiable: Option<Differentiable>,
}

pub(super) fn read_attributes(attributes: Vec<Attribute>, sink: &Sink) -> Attributes {
    let mut read = Attributes::default();
    for attribute in attributes {
        if let Err(diagnostic) = read_attribute(attribute, &mut read) {
            sink.report(diagnostic);
        }
    }
    read
}

fn read_attribute(attribute: Attribute, read: &mut Attributes) -> Result<(), Diagnostic> {
    let name = attribute.path().segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    match name.as_str() {
        "no_fuse" => {
            attribute.meta.require_path_only()?;
            read.options.no_fuse = true;
        }
        "explain" => {
            attribute.meta.require_path_only()?;
            read.explain = true;
        }
        "webnn" => {
            attribute.meta.require_path_only()?;
            read.options.webnn = true;
        }
        "schedule" => read.options.schedule = Some(read_schedule(&attribute)?),
        "differentiable" => read.differentiable = Some(read_differentiable(&attribute)?),
        known if WRAPPER.contains(&known) => read.wrapper.push(attribute),
        unknown => {
            let close = suggest(unknown, COMPILER.iter().chain(WRAPPER).copied());
            return Err(Diagnostic::new(
                Code::UnknownAttribute,
                range_of(&attribute),
                format!("unknown attribute `{unknown}`"),
            )
            .help(match close {
                Some(close) => format!("did you mean `#[{close}]`?"),
                None => {
                    format!(
                        "`fuse!` knows `#[no_fuse]`, `#[schedule(…)]`, `#[explain]`, `#[differentiable]`, `#[webnn]`, and passes on {}",
                        list(WRAPPER)
                    )
                }
            }));
        }
    }
    Ok(())
}

fn read_schedule(attribute: &Attribute) -> Result<ScheduleOverride, Diagnostic> {
    let bad = |span: Span, message: &str| {
        Diagnostic::new(Code::BadSchedule, (span, span), message)
            .help("write `#[schedule(tile = [64, 64, 16], workgroup = 128)]`, both parts optional")
    };
    let at = attribute.path().segments.first().map_or_else(Span::call_site, |s| s.ident.span());
    let Meta::List(list) = &attribute.meta else { return Err(bad(at, "`schedule` needs its values in parentheses")) };
    if nests_too_deeply(list.tokens.clone()) {
        return Err(bad(at, "malformed `schedule`"));
    }
    let pairs = list
        .parse_args_with(Punctuated::<syn::MetaNameValue, Token![,]>::parse_terminated)
        .map_err(|error| bad(error.span(), "malformed `schedule`"))?;
    let mut schedule = ScheduleOverride::default();
    for pair in pairs {
        let name = pair.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let span = range_of(&pair.value).0;
        match name.as_str() {
            "workgroup" => {
                let value = positive(&pair.value).ok_or_else(|| bad(span, "`workgroup` must be from 1 to 1024"))?;
                schedule.workgroup = Some(value);
            }
            "tile" => {
                let sides = tile(&pair.value)
                    .ok_or_else(|| bad(span, "`tile` must be three numbers from 1 to 1024: rows, columns, depth"))?;
                schedule.tile = Some(sides);
            }
            _ => return Err(bad(range_of(&pair.path).0, &format!("unknown part `{name}` of `schedule`"))),
        }
    }
    Ok(schedule)
}

fn tile(value: &Expr) -> Option<[u32; 3]> {
    let Expr::Array(array) = value else { return None };
    let sides: Option<Vec<u32>> = array.elems.iter().map(positive).collect();
    sides?.try_into().ok()
}

fn positive(value: &Expr) -> Option<u32> {
    let Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) = value else { return None };
    int.base10_parse().ok().filter(|n| (1..=LARGEST).contains(n))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
