//! The text with checks: `x[i]` becomes `x[fuse_at(u32(i), length of x, number of the place)]` where `x` is a storage or
//! workgroup array.

/// Words of the counter: how many indices were outside; of the first, its place, the index, the length.
pub(super) const WORDS: u64 = 4;

const HELPER: &str = "
@group(1) @binding(0) var<storage, read_write> fuse_violations: array<atomic<u32>, 4>;
fn fuse_at(index: u32, length: u32, place: u32) -> u32 {
  if index < length {
    return index;
  }
  if atomicAdd(&fuse_violations[0], 1u) == 0u {
    atomicStore(&fuse_violations[1], place);
    atomicStore(&fuse_violations[2], index);
    atomicStore(&fuse_violations[3], length);
  }
  return 0u;
}
";

/// The text with checks; `place` numbers what it is given.
pub(super) fn checked(text: &str, place: &mut dyn FnMut(&str) -> usize) -> String {
    let arrays: Vec<(&str, String)> = text.lines().filter_map(array).collect();
    indices(text, &arrays, place) + HELPER
}

/// Name and length of the array that a line declares.
fn array(line: &str) -> Option<(&str, String)> {
    let (space, declaration) = line.split_once("var<")?.1.split_once("> ")?;
    let (name, ty) = declaration.split_once(": array<")?;
    let length = match space {
        "workgroup" => format!("{}u", ty.trim_end_matches(">;").rsplit_once(", ")?.1),
        _ if space.starts_with("storage") => format!("arrayLength(&{name})"),
        _ => return None,
    };
    Some((name, length))
}

fn indices(text: &str, arrays: &[(&str, String)], place: &mut dyn FnMut(&str) -> usize) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out += &rest[..start];
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        // A member or the suffix of a number is no array.
        let free = !out.ends_with(|c: char| c == '.' || c.is_ascii_digit());
        let index = after.strip_prefix('[').and_then(|inside| inside.split_at_checked(closing(inside)?));
        out += name;
        rest = after;
        if let Some((_, length)) = arrays.iter().find(|(array, _)| free && *array == name)
            && let Some((index, behind)) = index
        {
            let number = place(&format!("`{name}[{index}]`"));
            out += &format!("[fuse_at(u32({}), {length}, {number}u)", indices(index, arrays, place));
            rest = behind;
        }
    }
    out + rest
}

/// Where the bracket closes that is open at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.bytes().position(|byte| {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_into_shared_arrays_is_checked() {
        let text = "@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;\nvar<workgroup> tile: array<f32, 64>;\n\
                    fn main() { let y = x[(tile_at[1] + tile[i]) / 4u][j] + v.x[0] + 2.0x; }\n";
        let mut places = vec![];
        let found = checked(text, &mut |place| {
            places.push(place.to_owned());
            places.len() - 1
        });
        let body = "let y = x[fuse_at(u32((tile_at[1] + tile[fuse_at(u32(i), 64u, 1u)]) / 4u), arrayLength(&x), 0u)][j] + v.x[0] + 2.0x;";
        assert!(found.contains(body) && found.ends_with(HELPER), "{found}");
        assert_eq!(places, ["`x[(tile_at[1] + tile[i]) / 4u]`", "`tile[i]`"]);
    }
}
