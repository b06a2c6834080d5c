//! Names of vendors by id.

/// Ids of PCI, and of Khronos for vendors without one.
const VENDORS: &[(u32, &str)] = &[
    (0x10de, "NVIDIA"),
    (0x1002, "AMD"),
    (0x8086, "Intel"),
    (0x106b, "Apple"),
    (0x5143, "Qualcomm"),
    (0x13b5, "Arm"),
    (0x1010, "Imagination"),
    (0x1414, "Microsoft"),
    (0x1ae0, "Google"),
    (0x10005, "Mesa"),
];

/// Id of a vendor's name; 0 if unknown.
#[cfg(any(test, target_arch = "wasm32"))]
pub(crate) fn vendor_id(name: &str) -> u32 {
    // Dawn's name for Imagination differs.
    let name = if name == "img-tec" { "imagination" } else { name };
    VENDORS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map_or(0, |(id, _)| *id)
}

pub(crate) fn vendor_name(id: u32) -> String {
    match VENDORS.iter().find(|(known, _)| *known == id) {
        Some((_, name)) => (*name).to_owned(),
        None if id == 0 => "unknown vendor".to_owned(),
        None => format!("vendor {id:#06x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_name_vendors_in_lower_case() {
        let vendor = |name| vendor_name(vendor_id(name));
        assert_eq!([vendor("nvidia"), vendor("img-tec")], ["NVIDIA", "Imagination"]);
        assert_eq!([vendor(""), vendor("3dfx")], ["unknown vendor", "unknown vendor"]);
    }
}
