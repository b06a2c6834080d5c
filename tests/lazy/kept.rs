//! Sources persisted between runs, and functions compiled ahead of time.

use std::fs;

use fuse_gpu::{
    auto::{Error, preload, record, record_text, stats, warm_up, warm_up_text},
    fuse,
};

use super::{assert_near, device, lazy};

fuse! {
pub fn lazy_5742ef07e87aa01f(x0: f32[A, B], s0: f32) -> f32[A, B] {
    let v0 = x0 * s0;
    let v1 = atan(v0);
    v1
}
}

#[test]
fn sources_are_compiled_in_the_background() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [3, 5, 7], 1);
    let y = x.asinh()?.sum(1)?.acosh()?;
    let source = y.source()?;
    y.eval()?;
    let path = std::env::temp_dir().join(format!("fuse-lazy-{}.txt", std::process::id()));
    record(&device, &path)?;
    let text = fs::read_to_string(&path).expect("written");
    assert!(text.starts_with("// fuse-auto 1\n") && text.contains(&source));
    let warm = warm_up(&device, &path)?;
    assert!(warm.functions >= 1 && warm.refused.is_empty(), "{warm:?}");
    assert!(warm.wait().is_empty());
    fs::remove_file(&path).expect("there");
    let foreign = source.replace("asinh", "atanh");
    let refused = warm_up_text(&device, &format!("// fuse-auto 1\n{foreign}"))?;
    assert_eq!((refused.functions, refused.refused.len()), (0, 1), "its name is a checksum");
    assert!(refused.wait()[0].contains("damaged"));
    Ok(())
}

#[test]
fn damaged_and_foreign_files_are_told_and_ignored() -> Result<(), Error> {
    let device = device();
    let y = lazy(&device, [4], 2).0.sinh()?.cosh()?;
    let source = y.source()?;
    y.eval()?;
    assert!(record_text(&device).contains(&source));
    let text = format!("// fuse-auto 1\n{source}");
    for foreign in ["", "hello", "// fuse-auto 2\n", "\0\u{1}\u{2}"] {
        let error = warm_up_text(&device, foreign).expect_err("foreign");
        assert!(matches!(error, Error::File { .. }), "{error}");
    }
    assert!(matches!(warm_up(&device, "/nowhere/at/all"), Err(Error::File { .. })));
    // Truncated or changed anywhere: no panic, and intact entries stay.
    for cut in (15..text.len()).step_by(7).filter(|cut| text.is_char_boundary(*cut)) {
        drop(warm_up_text(&device, &text[..cut])?.wait());
    }
    for at in (15..text.len()).step_by(11).filter(|at| text.is_char_boundary(*at) && text.is_char_boundary(at + 1)) {
        let mut changed = text.clone();
        changed.replace_range(at..=at, "#");
        drop(warm_up_text(&device, &changed)?.wait());
    }
    let entries =
        "// fuse-auto 1\n// adaptive lazy_1 12 fused\n// adaptive x 99999 fused\n// adaptive\n// adaptive a 1 b\n";
    assert_eq!(warm_up_text(&device, entries)?.wait().len(), 3);
    assert!(record_text(&device).contains("// adaptive lazy_1 12 fused\n"));
    Ok(())
}

#[test]
fn preloaded_functions_compile_nothing() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [5, 9], 3);
    let y = (&x * 2.0).atan()?;
    assert_eq!(y.source()?.split_once('(').expect("a function").0, "pub fn lazy_5742ef07e87aa01f");
    preload(&[&lazy_5742ef07e87aa01f::FUNCTION]);
    let before = stats(&device).compiled;
    let expected: Vec<f32> = values.iter().map(|x| (2.0 * x).atan()).collect();
    assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
    assert_eq!(stats(&device).compiled, before);
    Ok(())
}
