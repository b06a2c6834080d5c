//! Unrolled loops: each round does the work of several.
//!
//! Input: a shader whose loops the compiler marked with [`UNROLL`] on the line before, of the form `for (var i = first;
//! i < end; i += step) {`, closed at their own indentation. Output: the shader with copies of these loops' bodies, each
//! with its own counter, so that bodies run unchanged and in order.

use fuse_artifact::UNROLL;

/// Unrolls marked loops by `factor`.
pub(super) fn unrolled(text: &str, factor: u32) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut unrolled: Vec<String> = Vec::with_capacity(2 * lines.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        match Loop::marked(&lines[at..]) {
            Some((found, length)) => {
                found.write(&mut unrolled, factor);
                at += length;
            }
            None => {
                unrolled.push((*line).to_owned());
                at += 1;
            }
        }
    }
    unrolled.join("\n") + "\n"
}

/// A loop that counts up.
struct Loop<'t> {
    indent: &'t str,
    counter: &'t str,
    first: &'t str,
    end: &'t str,
    step: u32,
    body: &'t [&'t str],
}

impl<'t> Loop<'t> {
    /// The marked loop at the start of these lines, with its number of lines.
    fn marked(lines: &'t [&'t str]) -> Option<(Self, usize)> {
        let [mark, header, rest @ ..] = lines else { return None };
        let indent = mark.strip_suffix(UNROLL)?;
        let header = header.strip_prefix(indent)?.strip_prefix("for (var ")?.strip_suffix(") {")?;
        let mut parts = header.split("; ");
        let (counter, first) = parts.next()?.split_once(" = ")?;
        let end = parts.next()?.strip_prefix(counter)?.strip_prefix(" < ")?;
        let step = match parts.next()?.strip_prefix(counter)? {
            "++" => 1,
            step => literal(step.strip_prefix(" += ")?)?,
        };
        let length = rest.iter().position(|line| line.strip_prefix(indent) == Some("}"))?;
        Some((Self { indent, counter, first, end, step, body: &rest[..length] }, length + 3))
    }

    /// The number of rounds, if known.
    fn rounds(&self) -> Option<u32> {
        Some(literal(self.end)?.saturating_sub(literal(self.first)?).div_ceil(self.step))
    }

    /// Writes the loop with `factor` bodies per round, followed by a loop for the remainder.
    fn write(&self, text: &mut Vec<String>, factor: u32) {
        let Self { indent, counter, first, end, step, body } = self;
        let whole = self.rounds().is_some_and(|rounds| rounds.is_multiple_of(factor));
        // Sizes are far below 2^32 - `factor * step`, so that sums with the counter do not overflow.
        let last = format!("{counter} + {}u", (factor - 1) * step);
        let condition = if whole { (*counter).to_owned() } else { last };
        text.push(format!("{indent}{{"));
        text.push(format!("{indent}var {counter} = {first};"));
        text.push(format!("{indent}for (; {condition} < {end}; {counter} += {}u) {{", factor * step));
        for copy in 0..factor {
            text.push(format!("{indent}{{"));
            if copy > 0 {
                text.push(format!("{indent}  let {counter} = {counter} + {}u;", copy * step));
            }
            text.extend(body.iter().map(|line| (*line).to_owned()));
            text.push(format!("{indent}}}"));
        }
        text.push(format!("{indent}}}"));
        if !whole {
            text.push(format!("{indent}for (; {counter} < {end}; {counter} += {step}u) {{"));
            text.extend(body.iter().map(|line| (*line).to_owned()));
            text.push(format!("{indent}}}"));
        }
        text.push(format!("{indent}}}"));
    }
}

/// Parses a literal such as `16u`.
fn literal(text: &str) -> Option<u32> {
    text.strip_suffix('u')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a text without indentation.
    fn flat(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).collect()
    }

    #[test]
    fn what_is_left_has_a_loop_of_its_own() {
        let text =
            "fn f() {\n  // unroll\n  for (var k = lane * 4u; k < p.depth; k += 64u) {\n    s += x[k];\n  }\n}\n";
        let expected = [
            "fn f() {",
            "{",
            "var k = lane * 4u;",
            "for (; k + 64u < p.depth; k += 128u) {",
            "{",
            "s += x[k];",
            "}",
            "{",
            "let k = k + 64u;",
            "s += x[k];",
            "}",
            "}",
            "for (; k < p.depth; k += 64u) {",
            "s += x[k];",
            "}",
            "}",
            "}",
        ];
        assert_eq!(flat(&unrolled(text, 2)), expected);
    }

    #[test]
    fn counts_that_the_factor_divides_leave_nothing() {
        let of = |end: &str, factor| {
            let text = format!("// unroll\nfor (var x = 0u; x < {end}; x++) {{\n  s += a[x];\n}}\n");
            let unrolled = unrolled(&text, factor);
            (unrolled.matches("for (").count(), unrolled.matches("s += a[x];").count())
        };
        assert_eq!((of("16u", 2), of("16u", 4)), ((1, 2), (1, 4)));
        assert_eq!((of("10u", 2), of("10u", 4)), ((1, 2), (2, 5)));
        assert_eq!(of("n", 4), (2, 5));
    }

    #[test]
    fn loops_without_the_mark_stay() {
        let text = "for (var x = 0u; x < 16u; x++) {\n  s += a[x];\n}\n// unroll\nlet y = 1;\n";
        assert_eq!(unrolled(text, 4), text);
    }
}
