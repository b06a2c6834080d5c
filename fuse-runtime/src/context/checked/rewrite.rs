//! Instrumentation of shaders: `x[i]` becomes `x[fuse_at(u32(i), length of x, number of the place)]` for storage and
//! workgroup arrays `x`.

/// Words of the counter: the number of invocations that left an array; for one of them, its first place, the index, the
/// length.
pub(super) const WORDS: u64 = 4;

/// Without branches: compilers take minutes for shaders with a branch at each of a thousand indices.
const HELPER: &str = "
@group(1) @binding(0) var<storage, read_write> fuse_violations: array<atomic<u32>, 4>;
var<private> fuse_outside: vec3<u32>;
fn fuse_at(index: u32, length: u32, place: u32) -> u32 {
  let first = index >= length && fuse_outside.x == 0u;
  fuse_outside = select(fuse_outside, vec3<u32>(place + 1u, index, length), first);
  return min(index, length - 1u);
}
";

/// The end of the entry point.
const REPORT: &str = "  if fuse_outside.x != 0u && atomicAdd(&fuse_violations[0], 1u) == 0u {
    atomicStore(&fuse_violations[1], fuse_outside.x - 1u);
    atomicStore(&fuse_violations[2], fuse_outside.y);
    atomicStore(&fuse_violations[3], fuse_outside.z);
  }
}
";

/// Instruments a shader; `place` numbers the descriptions of places.
pub(super) fn checked(text: &str, place: &mut dyn FnMut(&str) -> usize) -> String {
    let arrays: Vec<(&str, String)> = text.lines().filter_map(array).collect();
    with_report(&indices(text, &arrays, place)) + HELPER
}

/// Adds an entry point that calls that of `text` and reports.
fn with_report(text: &str) -> String {
    let entry = || {
        let (before, entry) = text.split_once("@compute")?;
        let (attributes, entry) = entry.split_once("fn main(")?;
        let (params, body) = entry.split_once('{')?;
        let params = params.trim_end().strip_suffix(')')?;
        Some((before, attributes, params, body))
    };
    // All shaders of the compiler have one.
    let Some((before, attributes, params, body)) = entry() else { return text.to_owned() };
    let plain: Vec<&str> = params
        .split("@builtin(")
        .filter_map(|param| Some(param.split_once(')')?.1.trim().trim_end_matches(',')))
        .collect();
    let names: Vec<&str> = plain.iter().filter_map(|param| Some(param.split_once(':')?.0)).collect();
    format!(
        "{before}fn fuse_main({}) {{{body}\n@compute{attributes}fn main({params}) {{\n  fuse_main({});\n{REPORT}",
        plain.join(", "),
        names.join(", ")
    )
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

/// Position of the bracket that closes the one open at the start.
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
    fn the_entry_point_reports() {
        let text = "@compute @workgroup_size(64)\nfn main(\n  @builtin(workgroup_id) group: vec3<u32>,\n  \
                    @builtin(local_invocation_index) local: u32,\n) {\n  return;\n}\n";
        let found = with_report(text);
        assert!(found.starts_with("fn fuse_main(group: vec3<u32>, local: u32) {\n  return;\n}\n"), "{found}");
        assert!(found.contains("@compute @workgroup_size(64)\nfn main(\n  @builtin(workgroup_id)"), "{found}");
        assert!(found.contains("fuse_main(group, local);") && found.ends_with(REPORT), "{found}");
    }

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
