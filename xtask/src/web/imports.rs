//! Short names for a module's imports: wasm-bindgen's end in hashes, which do not compress.
//!
//! Replaces them in module and script by `a`, `b`, … in the module's order (WebAssembly specification, 5.5.5). `page`
//! minifies the rest of the script.

use anyhow::{Context, bail, ensure};

/// Renames imports in the module and the script.
///
/// # Errors
/// If wasm-bindgen's output has an unknown form.
pub(super) fn shorten(module: &[u8], script: &str) -> anyhow::Result<(Vec<u8>, String)> {
    let mut reader = Reader { bytes: module, at: 8 };
    let mut short = module.get(..8).context("a module without a head")?.to_vec();
    let mut script = script.to_owned();
    while reader.at < module.len() {
        let id = reader.byte()?;
        let length = reader.number()?;
        let content = reader.take(length)?;
        let renamed = if id == IMPORTS { Some(renamed(content, &mut script)?) } else { None };
        let content = renamed.as_deref().unwrap_or(content);
        short.push(id);
        write_number(&mut short, content.len());
        short.extend(content);
    }
    Ok((short, script))
}

const IMPORTS: u8 = 2;

fn renamed(section: &[u8], script: &mut String) -> anyhow::Result<Vec<u8>> {
    let mut reader = Reader { bytes: section, at: 0 };
    let count = reader.number()?;
    let mut short = vec![];
    write_number(&mut short, count);
    for index in 0..count {
        let length = reader.number()?;
        let from = reader.take(length)?;
        let length = reader.number()?;
        let name = std::str::from_utf8(reader.take(length)?).context("an import's name")?;
        let kind = reader.byte()?;
        ensure!(kind == 0, "import `{name}`: expected a function, found kind {kind}");
        let ty = reader.number()?;
        let new = letters(index);
        // Imports are properties of the script's import object.
        for before in ["{", ","] {
            *script = script.replace(&format!("{before}{name}:"), &format!("{before}{new}:"));
        }
        if script.contains(name) {
            bail!("import `{name}`: expected to be a property of the script's imports and nothing else");
        }
        for text in [from, new.as_bytes()] {
            write_number(&mut short, text.len());
            short.extend(text);
        }
        short.push(kind);
        write_number(&mut short, ty);
    }
    Ok(short)
}

/// `a` to `z`, `aa` and so on.
fn letters(mut index: usize) -> String {
    let mut name = vec![];
    loop {
        name.insert(0, char::from(b'a' + (index % 26) as u8));
        match (index / 26).checked_sub(1) {
            Some(rest) => index = rest,
            None => return name.into_iter().collect(),
        }
    }
}

/// Unsigned LEB128: 7 bits per byte, lowest first.
fn write_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> anyhow::Result<&'a [u8]> {
        let taken =
            self.bytes.get(self.at..).and_then(|rest| rest.get(..length)).context("a module that ends early")?;
        self.at += length;
        Ok(taken)
    }

    fn byte(&mut self) -> anyhow::Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> anyhow::Result<usize> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        bail!("a number of more than 32 bits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(names: &[&str]) -> Vec<u8> {
        let mut imports = vec![names.len() as u8];
        for name in names {
            imports.extend([1, b'm', name.len() as u8]);
            imports.extend(name.as_bytes());
            imports.extend([0, 3]);
        }
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        module.extend([2, imports.len() as u8]);
        module.extend(imports);
        module.extend([7, 1, 0]);
        module
    }

    #[test]
    fn both_files_have_the_same_short_names() {
        let script = "const i={__proto__:null,__wbg_run_0123456789abcdef:function(){},__wbg_end_01:function(){}};";
        let (short, script) = shorten(&module(&["__wbg_run_0123456789abcdef", "__wbg_end_01"]), script).unwrap();
        assert_eq!(short, module(&["a", "b"]));
        assert_eq!(script, "const i={__proto__:null,a:function(){},b:function(){}};");
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        let used_twice = shorten(&module(&["__wbg_run"]), "{__wbg_run:f};i.__wbg_run();").unwrap_err().to_string();
        assert!(used_twice.contains("import `__wbg_run`"), "{used_twice}");
        let whole = module(&["__wbg_run"]);
        assert!(shorten(&whole[..whole.len() - 1], "{__wbg_run:f}").is_err());
    }

    #[test]
    fn names_are_told_apart() {
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["a", "z", "aa", "zz", "aaa"]);
    }
}
