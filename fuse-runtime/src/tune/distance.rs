//! How far the sizes of kernels lie apart, in powers of two.
//!
//! Input: the sizes of two kernels of one class, as tables list them. Not here: which entries of a table count at that
//! distance (`table`).

/// The root of the sum of squares of the binary logarithms of the sizes' ratios; `None` if the sizes are of different kinds.
pub(crate) fn distance(a: &[u64], b: &[u64]) -> Option<f64> {
    let squares = a.iter().zip(b).map(|(a, b)| (logarithm(*a) - logarithm(*b)).powi(2));
    (a.len() == b.len()).then(|| squares.sum::<f64>().sqrt())
}

/// As [`distance`], for the question which variant is the fastest. Of products it depends on the number of their tiles, and
/// less on the shape that these make; twice the depth takes about twice the time, whatever the variant.
pub(crate) fn distance_of_choice(class: &str, a: &[u64], b: &[u64]) -> Option<f64> {
    match (a.try_into(), b.try_into()) {
        (Ok(a), Ok(b)) if class.starts_with("contraction") => {
            let differences = product(a).into_iter().zip(product(b)).map(|(a, b)| a - b);
            let squares = differences.zip(WEIGHTS).map(|(difference, weight)| weight * difference * difference);
            Some(squares.sum::<f64>().sqrt())
        }
        _ => distance(a, b),
    }
}

/// What the differences of [`product`] count: these chose best where each entry of the H200's table was chosen for by the others
/// (`docs/tuning.md`).
const WEIGHTS: [f64; 6] = [1.0, 1.0, 1.0, 1.0, 0.2, 0.5];

/// What the fastest variant of a product depends on: the logarithms of the batch, of the rows and the columns up to those of the
/// smallest tile, of the number of such tiles, of how many more of them stand in a column than in a row, and of the depth.
fn product(&[batch, rows, columns, depth]: &[u64; 4]) -> [f64; 6] {
    let few = |size: u64| logarithm(size.min(SMALL_TILE));
    let [down, across] = [rows, columns].map(|size| logarithm(size) - few(size));
    [logarithm(batch), few(rows), few(columns), down + across, down - across, logarithm(depth)]
}

/// Rows and columns of the smallest tiles.
const SMALL_TILE: u64 = 16;

fn logarithm(size: u64) -> f64 {
    (size.max(1) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_far_apart_as_their_ratios() {
        assert_eq!(distance(&[64, 256], &[64, 256]), Some(0.0));
        assert_eq!(distance(&[64, 256], &[512, 16]), Some(5.0));
        assert_eq!(distance(&[0], &[1]), Some(0.0), "empty counts as one");
        assert_eq!(distance(&[64], &[64, 64]), None);
    }

    #[test]
    fn products_of_as_many_tiles_are_close() {
        let apart = |a: [u64; 4], b: [u64; 4]| distance_of_choice("contraction f32·f32", &a, &b).unwrap();
        let square = [1, 256, 256, 64];
        assert_eq!(apart(square, square), 0.0);
        let (flat, larger, deeper, batched) =
            ([1, 64, 1024, 64], [1, 512, 512, 64], [1, 256, 256, 128], [2, 256, 256, 64]);
        assert!(apart(square, flat) < apart(square, larger));
        assert!(apart(square, deeper) < apart(square, batched));
        // A vector has other variants than a matrix.
        assert!(apart([1, 1, 1024, 64], flat) > 3.0);
    }

    #[test]
    fn what_is_no_product_has_no_tiles() {
        for (class, a, b) in
            [("reduction f32 rows", &[64, 256][..], &[256, 64][..]), ("attention", &[1, 64, 64, 32], &[4, 16, 64, 32])]
        {
            assert_eq!(distance_of_choice(class, a, b), distance(a, b));
        }
        assert_eq!(distance_of_choice("contraction", &[64], &[64, 64]), None);
    }
}
