//! Weight matrices as other toolchains pack them: arrays of words, scales and zero points to `f32` values, and codes
//! back to words.
//!
//! Input: slices in row-major order, with the sizes that a layout names. Output: values in the shape that the layout
//! says: `[K, N]` ([`GptqLayout`], [`AwqLayout`]) or `[N, K]` ([`NBitsLayout`], [`BitNetLayout`]), where K is the
//! input's width and N the output's. Scales that are stored as halves times differences of codes are exact in `f32`;
//! scales stored as `f32` round once, as in the toolchain.

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

/// Why packed arrays are not what their layout says.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A slice has another length.
    #[error("{argument}: expected {expected} elements, found {found}")]
    Length {
        /// The argument.
        argument: &'static str,
        /// The length that the layout asks for.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A size of the layout is not one that the format has.
    #[error("{argument}: expected {expected}, found {found}")]
    Size {
        /// The size.
        argument: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: usize,
    },
    /// The sizes of the layout multiply to more than can be counted.
    #[error("{argument}: expected a length that can be counted, found sizes that overflow it")]
    Overflow {
        /// The argument whose length it is.
        argument: &'static str,
    },
    /// An element is out of range.
    #[error("{argument}[{index}]: expected {least} to {most}, found {found}")]
    Range {
        /// The argument.
        argument: &'static str,
        /// The element.
        index: usize,
        /// The smallest value that it may have.
        least: i64,
        /// The largest.
        most: i64,
        /// The value.
        found: i64,
    },
}

/// As `Display` says it: that is what a program prints whose `main` returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The product of sizes: the length of an argument.
fn product(argument: &'static str, sizes: &[usize]) -> Result<usize, Error> {
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    product.ok_or(Error::Overflow { argument })
}

/// Checks the length of an argument, which is a product of sizes.
fn check_length(argument: &'static str, sizes: &[usize], found: usize) -> Result<(), Error> {
    let expected = product(argument, sizes)?;
    if found == expected { Ok(()) } else { Err(Error::Length { argument, expected, found }) }
}

/// Checks a size of a layout.
fn check_size(argument: &'static str, valid: bool, expected: &'static str, found: usize) -> Result<(), Error> {
    if valid { Ok(()) } else { Err(Error::Size { argument, expected, found }) }
}

/// Checks that codes fit their bits.
fn check_codes(argument: &'static str, codes: &[u8], most: u32) -> Result<(), Error> {
    match codes.iter().position(|&code| u32::from(code) > most) {
        None => Ok(()),
        Some(index) => Err(Error::Range { argument, index, least: 0, most: most.into(), found: codes[index].into() }),
    }
}
