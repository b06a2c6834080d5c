//! "Did you mean": the candidate closest to a misspelled name.

/// Closest candidate. A short word must begin alike: `asin` is not a misspelled `sin`.
pub(crate) fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(_, candidate)| name.chars().count() > 5 || same_start(name, candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

fn same_start(a: &str, b: &str) -> bool {
    a.chars().next().map(|c| c.to_ascii_lowercase()) == b.chars().next().map(|c| c.to_ascii_lowercase())
}

/// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbors. Ignores case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitution = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitution.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_misspellings_and_refuses_strangers() {
        let names = ["relu", "matmul", "sigmoid", "x"];
        assert_eq!(suggest("rleu", names), Some("relu"));
        assert_eq!(suggest("ReLU", names), Some("relu"));
        assert_eq!(suggest("matmull", names), Some("matmul"));
        assert_eq!(suggest("sigmiod", names), Some("sigmoid"));
        assert_eq!(suggest("fft", names), None);
        assert_eq!(suggest("y", names), None);
        assert_eq!(suggest("arelu", names), None);
    }
}
