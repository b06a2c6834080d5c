//! Formatting of tensors: dtype, shape, and values in brackets; of more than [`MOST`], [`EDGE`] at each end of each
//! axis.

use std::fmt::Write as _;

use crate::context::element::Element;

const MOST: usize = 1000;

const EDGE: usize = 3;

/// Characters per line, where elements can be wrapped.
const WIDTH: usize = 100;

/// Formats a tensor: `f32[2, 2]`, and below that `[[1.0, 2.0],` and `[3.0, 4.0]]`.
pub(crate) fn text<T: Element>(values: &[T], shape: &[usize]) -> String {
    let mut head = T::DTYPE.to_string();
    if !shape.is_empty() {
        let _ = write!(head, "{shape:?}");
    }
    if shape.is_empty() {
        return format!("{head} {}", values.first().map_or_else(String::new, |value| element(*value)));
    }
    let all = values.len() <= MOST;
    let mut shown = vec![];
    places(shape, all, 0, &mut |place| shown.push(values.get(place).map_or_else(String::new, |value| element(*value))));
    let width = shown.iter().map(String::len).max().unwrap_or(0);
    let mut elements = shown.into_iter();
    let mut body = String::new();
    block(&mut body, &mut elements, shape, all, width, 0);
    format!("{head}\n{body}")
}

/// Shown coordinates; `None` for the gap.
fn coordinates(extent: usize, all: bool) -> impl Iterator<Item = Option<usize>> {
    let cut = !all && extent > 2 * EDGE;
    let (first, last) = if cut { (EDGE, extent - EDGE) } else { (extent, extent) };
    (0..first).map(Some).chain(cut.then_some(None)).chain((last..extent).map(Some))
}

/// Calls `show` with the index of each shown element.
fn places(shape: &[usize], all: bool, start: usize, show: &mut impl FnMut(usize)) {
    let Some((&extent, inner)) = shape.split_first() else { return show(start) };
    let stride: usize = inner.iter().product();
    for coordinate in coordinates(extent, all).flatten() {
        places(inner, all, start + coordinate * stride, show);
    }
}

fn block(
    to: &mut String,
    elements: &mut impl Iterator<Item = String>,
    shape: &[usize],
    all: bool,
    width: usize,
    depth: usize,
) {
    let Some((&extent, inner)) = shape.split_first() else { return };
    to.push('[');
    let mut line = depth + 1;
    for (index, coordinate) in coordinates(extent, all).enumerate() {
        let next_line = |to: &mut String, lines: usize| {
            to.truncate(to.trim_end_matches(' ').len());
            to.push_str(&"\n".repeat(lines));
            to.push_str(&" ".repeat(depth + 1));
        };
        if index > 0 {
            to.push_str(", ");
            if !inner.is_empty() {
                next_line(to, inner.len());
            } else if line + width + 2 > WIDTH {
                next_line(to, 1);
                line = depth + 1;
            }
        }
        match coordinate {
            None => to.push_str("..."),
            Some(_) if inner.is_empty() => {
                let _ = write!(to, "{:>width$}", elements.next().unwrap_or_default());
            }
            Some(_) => block(to, elements, inner, all, width, depth + 1),
        }
        line += width + 2;
    }
    to.push(']');
}

/// Floats have up to four decimals, very small and large ones an exponent.
fn element<T: Element>(value: T) -> String {
    // Debug output of floats has a point, an exponent, or is `NaN` or `inf`.
    let exact = format!("{value:?}");
    let Ok(number) = exact.parse::<f64>() else { return exact };
    if !T::DTYPE.is_float() || !number.is_finite() || number == 0.0 {
        return exact;
    }
    if !(1e-4..1e6).contains(&number.abs()) {
        return if exact.len() <= 8 { exact } else { format!("{number:.4e}") };
    }
    let rounded = format!("{number:.4}");
    let short = rounded.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn write(f: &mut std::fmt::Formatter<'_>, text: Result<String, impl std::fmt::Display>) -> std::fmt::Result {
    match text {
        Ok(text) => f.write_str(&text),
        Err(error) => write!(f, "<{error}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tensors_are_shown_whole_and_aligned() {
        assert_eq!(text(&[2.5f32], &[]), "f32 2.5");
        assert_eq!(text(&[1i32, -20, 3], &[3]), "i32[3]\n[  1, -20,   3]");
        assert_eq!(text(&[1.0f32, 0.5, 1.0 / 3.0, -2.0], &[2, 2]), "f32[2, 2]\n[[   1.0,    0.5],\n [0.3333,   -2.0]]");
        assert_eq!(text(&[true, false], &[2, 1, 1]), "bool[2, 1, 1]\n[[[ true]],\n\n [[false]]]");
        assert_eq!(text::<f32>(&[], &[0, 3]), "f32[0, 3]\n[]");
        assert_eq!(text::<f32>(&[], &[2, 0]), "f32[2, 0]\n[[],\n []]");
        let special = [f32::NAN, f32::INFINITY, 0.0, 1e-10, 1.5e9, 0.1 + 0.2];
        let expected = "f32[6]\n[     NaN,      inf,      0.0,    1e-10, 1.5000e9,      0.3]";
        assert_eq!(text(&special, &[6]), expected);
    }

    #[test]
    fn large_tensors_are_shortened() {
        let values: Vec<u32> = (0..40_000).collect();
        assert_eq!(text(&values, &[40_000]), "u32[40000]\n[    0,     1,     2, ..., 39997, 39998, 39999]");
        let matrix = text(&values, &[200, 200]);
        assert_eq!(matrix.lines().count(), 8, "{matrix}");
        assert!(matrix.contains("[[    0,     1,     2, ...,   197,   198,   199],\n [  200,"), "{matrix}");
        assert!(matrix.contains("\n ...,\n [39400,") && matrix.ends_with("39999]]"), "{matrix}");
        // Long rows go on in the next line.
        assert!(text(&values[..100], &[100]).lines().all(|line| line.len() <= WIDTH));
    }
}
