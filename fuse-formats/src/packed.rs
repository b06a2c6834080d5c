//! Packed weight matrices of other toolchains: words, scales and zero points to `f32` values, and codes to words.
//!
//! Slices are row-major. Values are `[K, N]` ([`GptqLayout`], [`AwqLayout`]) or `[N, K]` ([`NBitsLayout`],
//! [`BitNetLayout`]); K is the input's width, N the output's. Products of `f16` scales and code differences are exact
//! in `f32`; `f32` scales round once, as in the toolchain.

mod awq;
mod bitnet;
mod bits;
mod gptq;
mod n_bits;

use std::fmt;

use thiserror::Error;

pub use awq::{AwqArrays, AwqLayout, AwqWords};
pub use bitnet::{BitNetLayout, BitNetScale};
pub use gptq::{GptqArrays, GptqLayout, GptqWords, StoredZero};
pub use n_bits::{NBitsArrays, NBitsBytes, NBitsLayout};

/// Error of packed arrays that do not match their layout.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A slice has the wrong length.
    #[error("{argument}: expected {expected} elements, found {found}")]
    Length {
        /// Argument.
        argument: &'static str,
        /// Expected length by the layout.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// The format does not support a size of the layout.
    #[error("{argument}: expected {expected}, found {found}")]
    Size {
        /// Size.
        argument: &'static str,
        /// Supported sizes.
        expected: &'static str,
        /// Actual size.
        found: usize,
    },
    /// The product of the layout's sizes overflows.
    #[error("{argument}: expected a length that can be counted, found sizes that overflow it")]
    Overflow {
        /// Argument of this length.
        argument: &'static str,
    },
    /// An element is out of range.
    #[error("{argument}[{index}]: expected {least} to {most}, found {found}")]
    Range {
        /// Argument.
        argument: &'static str,
        /// Index of the element.
        index: usize,
        /// Smallest valid value.
        least: i64,
        /// Largest valid value.
        most: i64,
        /// Value.
        found: i64,
    },
}

/// Same as `Display`, for a `main` that returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn product(argument: &'static str, sizes: &[usize]) -> Result<usize, Error> {
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    product.ok_or(Error::Overflow { argument })
}

fn check_length(argument: &'static str, sizes: &[usize], found: usize) -> Result<(), Error> {
    let expected = product(argument, sizes)?;
    if found == expected { Ok(()) } else { Err(Error::Length { argument, expected, found }) }
}

fn check_size(argument: &'static str, valid: bool, expected: &'static str, found: usize) -> Result<(), Error> {
    if valid { Ok(()) } else { Err(Error::Size { argument, expected, found }) }
}

fn check_codes(argument: &'static str, codes: &[u8], most: u32) -> Result<(), Error> {
    match codes.iter().position(|&code| u32::from(code) > most) {
        None => Ok(()),
        Some(index) => Err(Error::Range { argument, index, least: 0, most: most.into(), found: codes[index].into() }),
    }
}
