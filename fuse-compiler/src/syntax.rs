//! Parser: tokens to `ast`. Checks grammar only, and recovers from errors.

pub mod ast;
mod attributes;
mod body;
mod constants;
mod depth;
pub mod differentiable;
mod expression;
mod foreign;
mod function;
pub mod imports;
mod parse;
pub(crate) mod paths;
mod print;
pub(crate) mod types;

pub(crate) use body::parse_body;
pub(crate) use expression::Converter;
pub(crate) use parse::{Parsed, parse_imports, parse_items};
