//! Ranks embeddings by cosine similarity.

/// A ranked text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Cosine to the query, from -1 to 1.
    pub similarity: f32,
    /// Position of the text.
    pub line: usize,
}

/// Cosine of two embeddings of length 1: their dot product.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The `count` best hits; among equals, the earlier line.
pub fn best(mut hits: Vec<Hit>, count: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.line.cmp(&b.line)));
    hits.truncate(count);
    hits
}

/// Largest difference of two embeddings; NaN is the largest.
pub fn difference(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, larger)
}

/// Larger number; NaN is the largest, which `f32::max` would drop.
pub fn larger(a: f32, b: f32) -> f32 {
    if a.is_nan() || a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_ties_keep_their_order() {
        let hit = |line, similarity| Hit { similarity, line };
        let ranked = best(vec![hit(3, 0.5), hit(0, -0.5), hit(1, 0.5), hit(2, 0.9)], 3);
        assert_eq!(ranked, [hit(2, 0.9), hit(1, 0.5), hit(3, 0.5)]);
        assert!(best(vec![], 5).is_empty());
    }

    #[test]
    fn similarity_is_the_cosine_of_unit_vectors() {
        assert_eq!(cosine(&[1.0, 0.0], &[0.6, 0.8]), 0.6);
    }

    #[test]
    fn nan_is_the_largest_difference() {
        assert!(difference(&[f32::NAN, 1.0], &[0.0, 0.0]).is_nan());
        assert!(difference(&[1.0, f32::NAN], &[0.0, 0.0]).is_nan());
        assert_eq!(difference(&[1.0, -2.0], &[0.5, 1.0]), 3.0);
    }
}
