//! Comparison of results with the interpreter's ranges.

use std::fmt::Write;

use fuse_compiler::interp::{Bounded, Tensor, Value};

/// Counts of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Elements compared.
    pub elements: usize,
    /// Elements with too wide ranges.
    pub loose: usize,
}

impl Outcome {
    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        self.elements += other.elements;
        self.loose += other.loose;
    }
}

/// Relative width beyond which a range counts as loose.
const LOOSE: f64 = 0.05;

const SHOWN: usize = 5;

/// Compares results with ranges.
///
/// # Errors
/// The first elements outside their ranges, or differing shapes.
pub fn compare(expected: &[Tensor<Bounded>], actual: &[Value]) -> Result<Outcome, String> {
    if expected.len() != actual.len() {
        return Err(format!("expected {} results, found {}", expected.len(), actual.len()));
    }
    let mut outcome = Outcome::default();
    for (i, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        outcome.add(compare_one(expected, actual).map_err(|error| format!("result {i}: {error}"))?);
    }
    Ok(outcome)
}

fn compare_one(expected: &Tensor<Bounded>, actual: &Value) -> Result<Outcome, String> {
    if expected.dtype != actual.dtype {
        return Err(format!("expected {}, found {}", expected.dtype, actual.dtype));
    }
    if trimmed(&expected.shape) != trimmed(&actual.shape) {
        return Err(format!("expected shape {:?}, found {:?}", expected.shape, actual.shape));
    }
    let mut outcome = Outcome { elements: actual.data.len(), loose: 0 };
    let (mut wrong, mut text) = (0, String::new());
    for (i, (expected, &actual)) in expected.data.iter().zip(&actual.data).enumerate() {
        outcome.loose += usize::from(expected.is_loose(LOOSE));
        if expected.admits(actual) {
            continue;
        }
        wrong += 1;
        if wrong <= SHOWN {
            let range = expected.range;
            let nan = if range.nan { " or NaN" } else { "" };
            let (low, high) = (range.low, range.high);
            write!(text, "\n  [{i}]: expected {:e} in {low:e} ..= {high:e}{nan}, found {actual:e}", expected.exact)
                .expect("writing to a string");
        }
    }
    if wrong == 0 {
        return Ok(outcome);
    }
    Err(format!("{wrong} of {} elements of shape {:?} are out of range:{text}", actual.data.len(), actual.shape))
}

/// Shape without leading ones, with which the expression form pads.
fn trimmed(shape: &[usize]) -> &[usize] {
    &shape[shape.iter().take_while(|&&extent| extent == 1).count()..]
}
