//! Rust paths in bodies: standard constants become literals, others get a diagnostic.

use fuse_artifact::DType;
use proc_macro2::Ident;
use quote::ToTokens;

use super::ast::Literal;
use crate::diag::{Code, Diagnostic, SourceRange};

const MATHEMATICAL: &[(&str, f64)] = {
    use std::f64::consts as c;
    &[
        ("E", c::E),
        ("FRAC_1_PI", c::FRAC_1_PI),
        ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
        ("FRAC_2_PI", c::FRAC_2_PI),
        ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
        ("FRAC_PI_2", c::FRAC_PI_2),
        ("FRAC_PI_3", c::FRAC_PI_3),
        ("FRAC_PI_4", c::FRAC_PI_4),
        ("FRAC_PI_6", c::FRAC_PI_6),
        ("FRAC_PI_8", c::FRAC_PI_8),
        ("LN_10", c::LN_10),
        ("LN_2", c::LN_2),
        ("LOG10_2", c::LOG10_2),
        ("LOG10_E", c::LOG10_E),
        ("LOG2_10", c::LOG2_10),
        ("LOG2_E", c::LOG2_E),
        ("PI", c::PI),
        ("SQRT_2", c::SQRT_2),
        ("TAU", c::TAU),
    ]
};

/// Literal of a standard constant such as `std::f32::consts::PI`. Floats take their operands' dtype.
pub(super) fn constant(path: &syn::Path) -> Option<Literal> {
    let segments: Vec<String> = path.segments.iter().map(|segment| segment.to_token_stream().to_string()).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let segments = match segments.as_slice() {
        ["std" | "core", rest @ ..] => rest,
        all => all,
    };
    let (float, integer) =
        (|value| Some(Literal::Float(value, None)), |value, dtype| Some(Literal::Integer(value, Some(dtype))));
    match *segments {
        ["f32" | "f64", "consts", name] => {
            MATHEMATICAL.iter().find(|(other, _)| *other == name).and_then(|(_, value)| float(*value))
        }
        ["f32" | "f64" | "f16", "INFINITY"] => float(f64::INFINITY),
        ["f32" | "f64" | "f16", "NEG_INFINITY"] => float(f64::NEG_INFINITY),
        ["f32" | "f64" | "f16", "NAN"] => float(f64::NAN),
        ["f32", "EPSILON"] => float(f64::from(f32::EPSILON)),
        ["f32", "MAX"] => float(f64::from(f32::MAX)),
        ["f32", "MIN"] => float(f64::from(f32::MIN)),
        ["f32", "MIN_POSITIVE"] => float(f64::from(f32::MIN_POSITIVE)),
        ["f16", "MAX"] => float(65504.0),
        ["f16", "MIN"] => float(-65504.0),
        ["i32", "MAX"] => integer(i128::from(i32::MAX), DType::I32),
        ["i32", "MIN"] => integer(i128::from(i32::MIN), DType::I32),
        ["u32", "MAX"] => integer(i128::from(u32::MAX), DType::U32),
        ["u32", "MIN"] => integer(0, DType::U32),
        _ => None,
    }
}

pub(crate) fn path_of_constant(name: &str) -> Option<String> {
    let known = MATHEMATICAL.iter().any(|(other, _)| *other == name);
    let special = ["INFINITY", "NEG_INFINITY", "NAN"].contains(&name);
    known.then(|| format!("std::f32::consts::{name}")).or_else(|| special.then(|| format!("f32::{name}")))
}

pub(crate) fn constant_help(name: &str) -> String {
    let param = name.to_lowercase();
    format!(
        "a block does not see constants of Rust: write `const {name}: f32 = 0.5;` with the value in the block, or \
         take a parameter `{param}: f32` and launch with `{name}`"
    )
}

pub(super) fn not_a_variable(path: &syn::Path, at: SourceRange) -> Diagnostic {
    let text = text(path);
    let last = path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string());
    Diagnostic::new(Code::UnsupportedSyntax, at, format!("`{text}` is a path, and values have plain names"))
        .help(constant_help(&last))
}

pub(super) fn not_a_function(path: &syn::Path, at: SourceRange, expression: bool) -> Diagnostic {
    let text = text(path);
    let diagnostic =
        Diagnostic::new(Code::UnsupportedSyntax, at, format!("`{text}` is a path, and calls name functions plainly"));
    let Some(name) = imported_name(path) else {
        return diagnostic.help("operations have no path and no type arguments: write `relu(x)`");
    };
    diagnostic.help(match expression {
        true => format!("import the function: `fuse!({{ use {text}; {name}(x) }})`"),
        false => format!("import the function at the head of the block, `use {text};`, and call it: `{name}(x)`"),
    })
}

fn imported_name(path: &syn::Path) -> Option<&Ident> {
    let plain = path.segments.iter().all(|segment| segment.arguments.is_none());
    path.segments.last().filter(|_| plain && path.segments.len() > 1).map(|segment| &segment.ident)
}

fn text(path: &syn::Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}
