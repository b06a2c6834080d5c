//! Kernel IR: typed expressions and statements that generators build, and a printer for WGSL.
//!
//! A [`Val`] is a typed expression in an [`Arena`]: a copyable handle with arithmetic operators. A [`Block`] is a list
//! of statements; closures build nested blocks. Only [`Block::bind`] binds a name: an expression used twice is printed
//! twice. Only [`print`](mod@print) knows the syntax of WGSL.
//!
//! ```text
//! b.return_if(row.ge(rows) | column.ge(columns));
//! b.range("k", k_begin, k_end, 4, |b, k| {
//!     let left = b.bind("a", x.at(row * depth + k));
//!     b.set(sum, left.fma(y.at(k * columns + column), sum));
//! });
//! ```
//!
//! Not here: the kernels themselves (`wgsl`).

mod block;
mod function;
mod matrix;
mod outline;
pub mod print;
#[cfg(feature = "verify")]
pub mod software;
mod types;
mod value;
#[cfg(feature = "verify")]
pub mod verify;

pub use block::{Block, Statement};
pub use function::Function;
pub use matrix::{MatrixPlace, Order, Role};
pub use outline::outline;
pub use types::{Scalar, Ty};
pub use value::{Arena, BinaryOp, Expr, IntoVal, Literal, UnaryOp, Val};
