//! Distances between sizes of two kernels of one class, in powers of two. Not here: entries by distance (`table`).

/// Euclidean distance of binary logarithms; `None` for sizes of different kinds.
pub(crate) fn distance(a: &[u64], b: &[u64]) -> Option<f64> {
    let squares = a.iter().zip(b).map(|(a, b)| ratio(*a, *b).powi(2));
    (a.len() == b.len()).then(|| squares.sum::<f64>().sqrt())
}

/// [`distance`] weighted for the choice of variants, by leave-one-out choices on the H200's table (`docs/tuning.md`).
///
/// For products, the number of tiles counts, less their arrangement; twice the depth doubles all times.
pub(crate) fn distance_of_choice(class: &str, a: &[u64], b: &[u64]) -> Option<f64> {
    let ([batch, rows, columns, depth], [other_batch, other_rows, other_columns, other_depth], true) =
        (a, b, class.starts_with("contraction"))
    else {
        return distance(a, b);
    };
    let parts = |a: u64, b: u64| {
        let few = ratio(a.min(SMALL_TILE), b.min(SMALL_TILE));
        [few, ratio(a, b) - few]
    };
    let ([few_rows, down], [few_columns, across]) = (parts(*rows, *other_rows), parts(*columns, *other_columns));
    let (batch, depth) = (ratio(*batch, *other_batch), ratio(*depth, *other_depth));
    let weighted =
        [(1.0, batch), (1.0, few_rows), (1.0, few_columns), (1.0, down + across), (0.2, down - across), (0.5, depth)];
    Some(weighted.iter().map(|(weight, x)| weight * x * x).sum::<f64>().sqrt())
}

/// Rows and columns.
const SMALL_TILE: u64 = 16;

/// Sizes count as at least 1.
fn ratio(a: u64, b: u64) -> f64 {
    (a.max(1) as f64 / b.max(1) as f64).log2()
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
