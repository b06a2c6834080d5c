//! Tables in Markdown.

/// Empty without rows.
pub(crate) fn table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let lines: Vec<String> = rows.map(|row| format!("| {} |\n", row.join(" | "))).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("| {} |\n|{}\n{}", headings.join(" | "), "---|".repeat(headings.len()), lines.concat())
}

pub(crate) fn or_dash(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
}
