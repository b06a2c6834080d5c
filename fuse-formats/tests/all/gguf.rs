//! The GGUF reader on a file of llama.cpp's package (`data/make.py`), faulty files, and random mutations.
//!
//! Mutated files must neither panic nor allocate more than a small multiple of their size.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    fs,
    path::{Path, PathBuf},
};

use fuse_formats::{
    blocks::{self, BlockType},
    gguf::{Error, Gguf, Value, ValueType, open},
};
use proptest::prelude::*;

struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A `Cell<usize>` has no destructor, so the value lives until the thread ends.
        ALLOCATED.with(|allocated| allocated.set(allocated.get().saturating_add(layout.size())));
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_file_of_the_package_has_all_that_was_written() {
    let bytes = tiny();
    let file = Gguf::parse(&bytes).unwrap();
    assert_eq!((file.version(), file.alignment()), (3, 64));
    assert_eq!(file.get("general.architecture").and_then(Value::as_str), Some("tiny"));
    assert_eq!(file.get("value.u8"), Some(&Value::U8(200)));
    assert_eq!(file.get("value.i8"), Some(&Value::I8(-100)));
    assert_eq!(file.get("value.u16"), Some(&Value::U16(60000)));
    assert_eq!(file.get("value.i16"), Some(&Value::I16(-30000)));
    assert_eq!(file.get("value.u32"), Some(&Value::U32(4_000_000_000)));
    assert_eq!(file.get("value.i32"), Some(&Value::I32(-2_000_000_000)));
    assert_eq!(file.get("value.u64"), Some(&Value::U64(1 << 63)));
    assert_eq!(file.get("value.i64"), Some(&Value::I64(-(1 << 62))));
    assert_eq!(file.get("value.f32"), Some(&Value::F32(0.1)));
    assert_eq!(file.get("value.f64"), Some(&Value::F64(0.1)));
    assert_eq!(file.get("value.bool").and_then(Value::as_bool), Some(true));
    assert_eq!(file.get("value.string").and_then(Value::as_str), Some("naïve 🦀"));
    assert_eq!(file.get("no such key"), None);
    let array = |key: &str| file.get(key).unwrap().as_array().unwrap().clone();
    let strings: Vec<&str> = array("array.string").iter().filter_map(|value| value.as_str()).collect();
    assert_eq!(strings, ["a", "", "日本"]);
    let numbers: Vec<i64> = array("array.i32").iter().filter_map(|value| value.as_i64()).collect();
    assert_eq!(numbers, [1, -2, 3]);
    assert_eq!((array("array.bool").element_type(), array("array.bool").bytes()), (ValueType::Bool, &[1u8, 0][..]));
    let nested: Vec<Vec<i64>> = array("array.nested")
        .iter()
        .map(|value| value.as_array().unwrap().iter().filter_map(|value| value.as_i64()).collect())
        .collect();
    assert_eq!(nested, [vec![1, 2], vec![3]]);
    assert_eq!(file.metadata().len(), 18);
}

#[test]
fn tensors_of_the_package_decode() {
    let bytes = tiny();
    let file = Gguf::parse(&bytes).unwrap();
    let names: Vec<&str> = file.tensors().iter().map(|tensor| tensor.name()).collect();
    assert_eq!(names, ["f32", "f16", "q4_0", "q8_0", "i32"]);
    let tensor = |name: &str| file.tensor(name).unwrap();
    assert_eq!(tensor("f32").shape(), [2, 3]);
    assert_eq!(tensor("f32").to_f32().unwrap(), [-96.0, -95.0, -94.0, -93.0, -92.0, -91.0]);
    assert_eq!(tensor("f16").to_f32().unwrap(), [-96.0, -95.0, -94.0, -93.0]);
    assert_eq!((tensor("q4_0").shape(), tensor("q4_0").block_type()), (&[3, 64][..], BlockType::Q4_0));
    assert_eq!((tensor("q8_0").shape(), tensor("q8_0").len()), (&[2, 3, 32][..], 192));
    for (i, value) in tensor("q8_0").to_f32().unwrap().into_iter().enumerate() {
        assert!((value - (i as f32 - 96.0)).abs() < 0.5, "{value} at {i}");
    }
    assert_eq!(tensor("i32").to_f32(), Err(blocks::Error::NoDecoder { ty: BlockType::I32 }));
    assert_eq!(tensor("i32").bytes(), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    assert!(file.tensor("no such tensor").is_none());
}

#[test]
fn version_2_has_the_same_layout() {
    let mut bytes = tiny();
    bytes[4] = 2;
    let file = Gguf::parse(&bytes).unwrap();
    assert_eq!((file.version(), file.tensors().len()), (2, 5));
}

#[test]
fn files_open_by_path() {
    let names = open(tiny_path(), |file| file.tensors().iter().map(|tensor| tensor.name().to_owned()).collect());
    let names: Vec<String> = names.unwrap();
    assert_eq!(names.len(), 5);
    let error = open("no/such/file.gguf", |_| ()).unwrap_err();
    assert!(error.to_string().starts_with("file `no/such/file.gguf`: "), "{error}");
}

#[test]
fn every_prefix_of_a_file_is_an_error() {
    let bytes = tiny();
    // Up to the end of the last tensor, before padding.
    let file = Gguf::parse(&bytes).unwrap();
    let last = file.tensor("i32").unwrap().bytes();
    let end = last.as_ptr_range().end.addr() - bytes.as_ptr().addr();
    for length in 0..end {
        look(&bytes[..length]).unwrap_err();
    }
    look(&bytes[..end]).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn mutated_files_never_panic_nor_allocate_wildly(
        mutations in prop::collection::vec((any::<prop::sample::Index>(), mutation()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = tiny();
        for (index, mutation) in mutations {
            let at = index.index(bytes.len());
            for (byte, new) in bytes[at..].iter_mut().zip(mutation) {
                *byte = new;
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let before = ALLOCATED.get();
        let _ = look(&bytes);
        let allocated = ALLOCATED.get() - before;
        // Error messages, and tree nodes of eleven entries each, cost more than a small file.
        prop_assert!(allocated < 65536 + 64 * bytes.len(), "{allocated} bytes for a file of {}", bytes.len());
    }

    #[test]
    fn noise_behind_a_header_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(noise);
        let _ = look(&bytes);
    }
}

/// Replacement bytes: one of any value, type numbers or huge counts, or noise.
fn mutation() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        (0u32..48).prop_map(|number| number.to_le_bytes().to_vec()),
        prop::sample::select(vec![0, 1, u64::MAX, 1 << 63, 1 << 62, 1 << 40, u64::from(u32::MAX), 1 << 32, 4096])
            .prop_map(|number| number.to_le_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..40),
    ]
}

fn look(bytes: &[u8]) -> Result<(), Error> {
    let file = Gguf::parse(bytes).inspect_err(|error| assert!(!error.to_string().is_empty()))?;
    for (key, value) in file.metadata() {
        assert_eq!(file.get(key).map(Value::value_type), Some(value.value_type()));
        walk(value);
    }
    for tensor in file.tensors() {
        assert_eq!(file.tensor(tensor.name()).map(|tensor| tensor.bytes()), Some(tensor.bytes()));
        assert_eq!(tensor.shape().iter().product::<usize>(), tensor.len());
        assert_eq!(tensor.to_f32().is_ok(), tensor.block_type().is_decodable());
    }
    Ok(())
}

fn walk(value: &Value<'_>) {
    if let Some(array) = value.as_array() {
        let seen = array.iter().inspect(walk).count();
        assert_eq!(seen, array.len());
    }
}

fn tiny() -> Vec<u8> {
    fs::read(tiny_path()).unwrap()
}

fn tiny_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny.gguf")
}
