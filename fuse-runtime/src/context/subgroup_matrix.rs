//! Cooperative matrices in Chromium's syntax: the extension `chromium_experimental_subgroup_matrix`, which naga does
//! not read.
//!
//! Input: a shader that naga has checked. Output: the same in the other syntax, call by call: types name their roles,
//! directions are template parameters, and arrays are separate from the index of their element. A test reads the output
//! back.

/// Replacement of naga's `enable`.
const ENABLED: [&str; 2] = ["enable wgpu_cooperative_matrix;", "enable chromium_experimental_subgroup_matrix;"];
/// Roles of matrices.
const ROLES: [(char, &str); 3] = [('A', "left"), ('B', "right"), ('C', "result")];
/// Loads and stores with their directions: naga's are by rows with a `T`, by columns without.
const MOVES: [(&str, &str, &str); 4] = [
    ("coopLoadT<", "subgroupMatrixLoad<", "row_major"),
    ("coopLoad<", "subgroupMatrixLoad<", "col_major"),
    ("coopStoreT(", "subgroupMatrixStore<row_major>(", ""),
    ("coopStore(", "subgroupMatrixStore<col_major>(", ""),
];

/// Translates a shader; from code that the compiler does not emit on, it stays unchanged.
pub(crate) fn in_chromium(wgsl: &str) -> String {
    let wgsl = wgsl.replace(ENABLED[0], ENABLED[1]);
    let (mut text, mut rest) = (String::with_capacity(wgsl.len()), &*wgsl);
    while let Some(at) = rest.find("coop") {
        text += &rest[..at];
        match next(&rest[at..]) {
            Some((spelled, after)) => {
                text += &spelled;
                rest = after;
            }
            None => {
                rest = &rest[at..];
                break;
            }
        }
    }
    text + rest
}

/// Translates the start of the code, and returns the rest.
fn next(text: &str) -> Option<(String, &str)> {
    if let Some(after) = text.strip_prefix("coopMultiplyAdd") {
        return Some(("subgroupMatrixMultiplyAccumulate".to_owned(), after));
    }
    if text.starts_with("coop_mat") {
        return matrix(text);
    }
    let (of, to, direction) = MOVES.into_iter().find(|(of, ..)| text.starts_with(of))?;
    let text = &text[of.len()..];
    if direction.is_empty() {
        // A store: the matrix, the place, the stride.
        let (value, after) = text.split_once(", &")?;
        let (array, index, after) = place(after)?;
        let (stride, after) = after.split_once(')')?;
        return Some((format!("{to}&{array}, {index}, {value}{stride})"), after));
    }
    let (ty, after) = matrix(text)?;
    let (array, index, after) = place(after.strip_prefix(">(&")?)?;
    Some((format!("{to}{ty}, {direction}>(&{array}, {index}"), after))
}

/// Parses `coop_mat16x16<f16, A>`.
fn matrix(text: &str) -> Option<(String, &str)> {
    let (size, after) = text.strip_prefix("coop_mat")?.split_once('<')?;
    let (rows, columns) = size.split_once('x')?;
    let (dtype, after) = after.split_once(", ")?;
    let (_, role) = ROLES.into_iter().find(|(letter, _)| after.starts_with(*letter))?;
    Some((format!("subgroup_matrix_{role}<{dtype}, {columns}, {rows}>"), after[1..].strip_prefix('>')?))
}

/// Parses `array[index]`, whose index may have brackets.
fn place(text: &str) -> Option<(&str, &str, &str)> {
    let (array, after) = text.split_once('[')?;
    let mut depth = 1;
    let end = after.find(|c| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    Some((array, &after[..end], &after[end + 1..]))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// The inverse, written without what is above: by the parts between commas.
    fn read_back(text: &str) -> String {
        let mut text =
            text.replace(ENABLED[1], ENABLED[0]).replace("subgroupMatrixMultiplyAccumulate", "coopMultiplyAdd");
        for size in [8, 16] {
            for (letter, role) in ROLES {
                for dtype in ["f16", "f32"] {
                    let spelled = format!("subgroup_matrix_{role}<{dtype}, {size}, {size}>");
                    text = text.replace(&spelled, &format!("coop_mat{size}x{size}<{dtype}, {letter}>"));
                }
            }
        }
        let line = |line: &str| -> String {
            for (suffix, direction) in [("T", "row_major"), ("", "col_major")] {
                if let Some((before, call)) = line.split_once("subgroupMatrixLoad<") {
                    let Some((ty, arguments)) = call.split_once(&format!(", {direction}>(&")) else { continue };
                    let parts: Vec<&str> = arguments.split(", ").collect();
                    let [array, index, stride] = parts[..] else { panic!("a load of three: {line}") };
                    return format!("{before}coopLoad{suffix}<{ty}>(&{array}[{index}], {stride}");
                }
                if let Some((before, arguments)) = line.split_once(&format!("subgroupMatrixStore<{direction}>(&")) {
                    let parts: Vec<&str> = arguments.split(", ").collect();
                    let [array, index, value, stride] = parts[..] else { panic!("a store of four: {line}") };
                    return format!("{before}coopStore{suffix}({value}, &{array}[{index}], {stride}");
                }
            }
            line.to_owned()
        };
        text.lines().map(|text| line(text) + "\n").collect()
    }

    /// The texts with matrices among those that the repository keeps.
    fn goldens(folder: &Path, texts: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                goldens(&path, texts);
            } else if path.extension().is_some_and(|extension| extension == "wgsl") {
                let text = fs::read_to_string(path).unwrap();
                texts.extend(text.contains(ENABLED[0]).then_some(text));
            }
        }
    }

    #[test]
    fn every_kept_text_is_read_back() {
        let mut texts = vec![];
        goldens(Path::new("../tests/out"), &mut texts);
        assert!(texts.len() >= 2, "{} texts", texts.len());
        for text in texts {
            let spelled = in_chromium(&text);
            assert!(!spelled.contains("coop"), "{spelled}");
            assert_eq!(read_back(&spelled), text);
        }
    }

    #[test]
    fn places_may_hold_brackets() {
        let text = "let a = coopLoad<coop_mat8x8<f16, B>>(&w[at[i] + 2u], p.line);\ncoopStoreT(c, &sums[m], 4u);";
        let spelled = "let a = subgroupMatrixLoad<subgroup_matrix_right<f16, 8, 8>, col_major>(&w, at[i] + 2u, p.line);\n\
                       subgroupMatrixStore<row_major>(&sums, m, c, 4u);";
        assert_eq!(in_chromium(text), spelled);
    }

    #[test]
    fn other_texts_stay() {
        for text in ["", "let scoop = cooper;", "coopLoadT<f32>(x)"] {
            assert_eq!(in_chromium(text), text);
        }
    }
}
