//! Files with one fault each, and their errors.

use fuse_formats::gguf::{Error, Gguf, MAX_DEPTH};

struct File(Vec<u8>);

impl File {
    fn new(tensors: u64, entries: u64) -> Self {
        Self(b"GGUF\x03\0\0\0".to_vec()).u64(tensors).u64(entries)
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    fn string(self, value: &str) -> Self {
        self.u64(value.len() as u64).bytes(value.as_bytes())
    }

    fn tensor(self, name: &str, dimensions: &[u64], ty: u32, offset: u64) -> Self {
        let start = self.string(name).u32(dimensions.len() as u32);
        dimensions.iter().fold(start, |file, &size| file.u64(size)).u32(ty).u64(offset)
    }

    fn data(mut self, count: usize) -> Self {
        self.0.resize(self.0.len().next_multiple_of(32) + count, 0);
        self
    }

    fn error(&self) -> Error {
        Gguf::parse(&self.0).map(|_| ()).unwrap_err()
    }

    fn message(&self) -> String {
        self.error().to_string()
    }
}

#[test]
fn other_files_are_refused() {
    assert_eq!(File(b"GGML".to_vec()).error(), Error::Magic { found: *b"GGML" });
    assert_eq!(File(b"GGUF\0\0\0\x03".to_vec()).error(), Error::BigEndian { version: 3 });
    assert_eq!(File(b"GGUF\x01\0\0\0".to_vec()).error(), Error::Version { found: 1 });
    assert_eq!(File(b"GGUF\x04\0\0\0".to_vec()).error(), Error::Version { found: 4 });
    assert_eq!(File(b"GGUF\0\0\0\0".to_vec()).error(), Error::Version { found: 0 });
    assert_eq!(File(vec![]).message(), "header: expected 4 bytes at offset 0, found 0");
}

#[test]
fn counts_beyond_the_file_are_refused_before_anything_is_made() {
    let error = File::new(0, u64::MAX).error();
    assert_eq!(error, Error::Count { place: "metadata".into(), most: 0, found: u64::MAX });
    let error = File::new(1 << 40, 0).bytes(&[0; 48]).error();
    assert_eq!(error, Error::Count { place: "tensors".into(), most: 2, found: 1 << 40 });
    let message = File::new(0, 1).string("k").u32(9).u32(8).u64(1 << 60).message();
    assert_eq!(
        message,
        "key `k`: expected at most 0 entries in what is left of the file, found a count of 1152921504606846976"
    );
    let message = File::new(0, 1).u64(u64::MAX).bytes(&[0; 20]).message();
    assert_eq!(message, "key of metadata entry 0: expected 18446744073709551615 bytes at offset 32, found 20");
}

#[test]
fn faults_of_metadata_name_the_key() {
    let error = File::new(0, 1).string("k").u32(13).bytes(&[0; 8]).error();
    assert_eq!(error, Error::ValueType { key: "k".into(), found: 13 });
    let error = File::new(0, 1).string("k").u32(7).bytes(&[2]).error();
    assert_eq!(error, Error::Bool { key: "k".into(), found: 2 });
    let error = File::new(0, 1).string("k").u32(9).u32(7).u64(2).bytes(&[1, 9]).error();
    assert_eq!(error, Error::Bool { key: "k".into(), found: 9 });
    let error = File::new(0, 1).string("k").u32(8).u64(3).bytes(b"ab\xff").error();
    assert_eq!(error, Error::Utf8 { place: "key `k`".into(), valid: 2 });
    let error = File::new(0, 1).u64(1).bytes(b"\xff\0\0\0\0\0\0\0\0").error();
    assert_eq!(error, Error::Utf8 { place: "key of metadata entry 0".into(), valid: 0 });
    let twice = File::new(0, 2).string("k").u32(0).bytes(&[1]).string("k").u32(0).bytes(&[1]);
    assert_eq!(twice.error(), Error::DuplicateKey { key: "k".into() });
    let long = "k".repeat(10_000);
    assert!(File::new(0, 1).string(&long).u32(13).bytes(&[0; 8]).message().len() < 200);
}

#[test]
fn arrays_nest_up_to_a_limit() {
    let nested = |depth| (1..depth).fold(File::new(0, 1).string("k").u32(9), |file, _| file.u32(9).u64(1));
    let deepest = nested(MAX_DEPTH).u32(0).u64(1).bytes(&[7]);
    assert!(Gguf::parse(&deepest.0).is_ok());
    let error = nested(MAX_DEPTH + 1).u32(0).u64(1).bytes(&[7]).error();
    assert_eq!(error, Error::Depth { key: "k".into(), most: MAX_DEPTH });
    assert!(matches!(nested(100_000).u32(0).u64(1).bytes(&[7]).error(), Error::Depth { .. }));
}

#[test]
fn alignments_are_powers_of_two() {
    let file = |ty: u32, value: &[u8]| File::new(0, 1).string("general.alignment").u32(ty).bytes(value);
    assert_eq!(
        file(4, &[48, 0, 0, 0]).message(),
        "key `general.alignment`: expected a power of two of type u32, found 48"
    );
    assert_eq!(file(4, &[0; 4]).error(), Error::Alignment { found: "0".into() });
    assert_eq!(file(10, &[32, 0, 0, 0, 0, 0, 0, 0]).error(), Error::Alignment { found: "a value of type u64".into() });
    assert!(Gguf::parse(&file(4, &[0, 0, 0, 0x80]).0).is_ok());
}

#[test]
fn faults_of_tensors_name_the_tensor() {
    let error = File::new(1, 0).tensor("t", &[1; 5], 0, 0).error();
    assert_eq!(error, Error::Rank { tensor: "t".into(), most: 4, found: 5 });
    assert_eq!(
        File::new(1, 0).tensor("t", &[48, 2], 2, 0).message(),
        "tensor `t`: expected rows of a multiple of 32 elements for Q4_0, found 48"
    );
    for shape in [[1 << 32, 1 << 32], [u64::MAX, 2], [u64::MAX, 1], [0, u64::MAX]] {
        let error = File::new(1, 0).tensor("t", &shape, 0, 0).error();
        assert_eq!(error, Error::Shape { tensor: "t".into(), found: shape.to_vec() });
    }
    // Its elements fit a count, its bytes do not.
    let error = File::new(1, 0).tensor("t", &[1 << 62], 28, 0).error();
    assert_eq!(error, Error::Shape { tensor: "t".into(), found: vec![1 << 62] });
    let twice = File::new(2, 0).tensor("t", &[1], 0, 0).tensor("t", &[1], 0, 32).data(64);
    assert_eq!(twice.error(), Error::DuplicateTensor { tensor: "t".into() });
}

#[test]
fn a_type_that_nobody_knows_refuses_only_its_tensor() {
    let file = File::new(3, 0).tensor("a", &[1], 0, 0).tensor("new", &[3, 2], 4, 7).tensor("b", &[1], 0, 32).data(64);
    let file = Gguf::parse(&file.0).unwrap();
    assert_eq!(file.tensors().iter().map(|tensor| tensor.name()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(file.tensor("b").unwrap().bytes().len(), 4);
    assert!(file.tensor("new").is_none());
    let [unknown] = file.unknown_tensors() else { panic!("{:?}", file.unknown_tensors()) };
    assert_eq!((unknown.name(), unknown.type_number(), unknown.shape()), ("new", 4, &[2, 3][..]));
    // Names and shapes of unknown types are checked as well.
    let twice = File::new(2, 0).tensor("t", &[1], 4, 0).tensor("t", &[1], 0, 0).data(64).error();
    assert_eq!(twice, Error::DuplicateTensor { tensor: "t".into() });
    let shape = File::new(1, 0).tensor("t", &[u64::MAX, 2], 4, 0).error();
    assert_eq!(shape, Error::Shape { tensor: "t".into(), found: vec![u64::MAX, 2] });
}

#[test]
fn places_of_tensors_are_checked() {
    let error = File::new(1, 0).tensor("t", &[1], 0, 16).data(64).error();
    assert_eq!(error, Error::Unaligned { tensor: "t".into(), alignment: 32, found: 16 });
    assert_eq!(
        File::new(1, 0).tensor("t", &[9], 0, 32).data(64).message(),
        "tensor `t`: expected 36 bytes at offset 32 of the data, found 64 bytes of data"
    );
    for offset in [1 << 40, u64::MAX - 31] {
        let error = File::new(1, 0).tensor("t", &[9], 0, offset).data(64).error();
        assert_eq!(error, Error::OutOfBounds { tensor: "t".into(), offset, expected: 36, found: 64 });
    }
    // In file order, the later tensor comes first.
    let file = File::new(2, 0).tensor("later", &[1], 0, 32).tensor("first", &[9], 0, 0).data(64);
    let (tensor, other) = ("later".to_owned(), "first".to_owned());
    assert_eq!(file.error(), Error::Overlap { tensor, other, expected: 36, found: 32 });
    let same = File::new(2, 0).tensor("a", &[1], 0, 0).tensor("b", &[1], 0, 0).data(64);
    assert!(matches!(same.error(), Error::Overlap { .. }));
}

#[test]
fn small_and_empty_files_are_files() {
    assert_eq!(Gguf::parse(&File::new(0, 0).0).unwrap().tensors().len(), 0);
    let file = File::new(2, 0).tensor("scalar", &[], 0, 0).tensor("empty", &[32, 0], 2, 0).data(4);
    let file = Gguf::parse(&file.0).unwrap();
    assert_eq!(file.tensor("scalar").unwrap().to_f32().unwrap(), [0.0]);
    assert_eq!(
        (file.tensor("scalar").unwrap().shape(), file.tensor("empty").unwrap().shape()),
        (&[][..], &[0, 32][..])
    );
    assert!(file.tensor("empty").unwrap().is_empty());
    assert_eq!(file.tensor("empty").unwrap().to_f32().unwrap(), []);
}
