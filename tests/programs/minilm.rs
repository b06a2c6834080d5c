//! The program of `examples/minilm`: its encoder against the interpreter and the real layer in the repository, then on
//! a small random model. `cargo xtask test` checks the real model.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use fuse_gpu::{Device, Float, Tensor1, Tensor2, Tensor3, f16};
use fuse_test_support::{checkout, scratch};
use safetensors::{
    Dtype, SafeTensors,
    tensor::{TensorView, serialize},
};
use serde_json::{Value, json};

use fuse_minilm_model::{
    encoder::{HIDDEN, WIDTH, embed_tokens, encoder_layer, pool},
    model::Layer,
    tokens::{MAX_LENGTH, Tokens},
    weights::{Upload, Weights},
};

#[path = "../../examples/minilm"]
mod example {
    pub(crate) mod cli;
    pub(crate) mod embed;
    pub(crate) mod folder;
    pub(crate) mod lines;
    pub(crate) mod search;
    pub(crate) mod verify;
}

const WORDS: [&str; 8] = ["a", "red", "green", "fish", "swims", "sleeps", "fast", "."];

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

/// Uniform numbers in (-scale, scale) by SplitMix64 (Steele et al. 2014).
fn numbers(seed: u64, count: usize, scale: f32) -> Vec<f32> {
    let mix = |i: usize| {
        let z = (seed << 32).wrapping_add(i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|i| mix(i) * scale).collect()
}

fn layer_shapes(layer: usize) -> Vec<(String, Vec<usize>)> {
    let (square, vector) = (vec![WIDTH, WIDTH], vec![WIDTH]);
    let parts = [
        ("attention.self.query", square.clone(), vector.clone()),
        ("attention.self.key", square.clone(), vector.clone()),
        ("attention.self.value", square.clone(), vector.clone()),
        ("attention.output.dense", square, vector.clone()),
        ("attention.output.LayerNorm", vector.clone(), vector.clone()),
        ("intermediate.dense", vec![HIDDEN, WIDTH], vec![HIDDEN]),
        ("output.dense", vec![WIDTH, HIDDEN], vector.clone()),
        ("output.LayerNorm", vector.clone(), vector),
    ];
    let named = |(part, weight, bias)| {
        let name = format!("encoder.layer.{layer}.{part}");
        [(format!("{name}.weight"), weight), (format!("{name}.bias"), bias)]
    };
    parts.into_iter().flat_map(named).collect()
}

fn model_shapes() -> Vec<(String, Vec<usize>)> {
    let embeddings = [
        ("word_embeddings.weight", vec![WORDS.len() + 4, WIDTH]),
        ("position_embeddings.weight", vec![MAX_LENGTH, WIDTH]),
        ("token_type_embeddings.weight", vec![2, WIDTH]),
        ("LayerNorm.weight", vec![WIDTH]),
        ("LayerNorm.bias", vec![WIDTH]),
    ];
    let embeddings = embeddings.into_iter().map(|(name, shape)| (format!("embeddings.{name}"), shape));
    embeddings.chain((0..6).flat_map(layer_shapes)).collect()
}

/// A `.safetensors` file of random tensors: matrices that keep magnitudes, scales near 1, small shifts.
fn random_file(shapes: Vec<(String, Vec<usize>)>) -> Vec<u8> {
    let values = |seed: usize, name: &str, shape: &[usize]| {
        let scale = if let [_, inputs] = shape { (3.0 / *inputs as f32).sqrt() } else { 0.2 };
        let offset = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
        let values = numbers(seed as u64, shape.iter().product(), scale);
        values.into_iter().flat_map(|x| (x + offset).to_le_bytes()).collect::<Vec<u8>>()
    };
    let tensors: Vec<_> =
        shapes.into_iter().enumerate().map(|(i, (name, shape))| (values(i, &name, &shape), name, shape)).collect();
    let views: BTreeMap<&str, TensorView<'_>> = tensors
        .iter()
        .map(|(bytes, name, shape)| (name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()))
        .collect();
    serialize(views, None).unwrap()
}

/// Largest difference of rows, relative to the expected row's largest magnitude; NaN is the largest.
fn row_error<T: Float + Into<f64>>(found: &[T], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    let row = |(found, expected): (&[T], &[f64])| {
        let magnitude = expected.iter().fold(0.0, |most, x| larger(most, x.abs()));
        let differences = found.iter().zip(expected).map(|(&a, b)| (a.into() - b).abs());
        differences.fold(0.0, larger) / magnitude
    };
    found.chunks(WIDTH).zip(expected.chunks(WIDTH)).map(row).fold(0.0, larger)
}

fn check_layer<T: Float + Into<f64>>(device: &Device, convert: fn(f32) -> T, bound: f64) {
    let (batch, width, lengths) = (3, 16, [16, 5, 1]);
    let file = random_file(layer_shapes(0));
    let weights = Weights::parse(Path::new("random"), &file).unwrap();
    let to = Upload { device, convert };
    let name = |part: &str| format!("encoder.layer.0.{part}");
    let matrix = |part: &str, shape: [usize; 2]| weights.upload::<T, 2>(&name(part), shape, &to).unwrap();
    let vector = |part: &str, length| weights.upload::<T, 1>(&name(part), [length], &to).unwrap();
    let [wq, wk, wv, wo] = ["self.query", "self.key", "self.value", "output.dense"]
        .map(|part| matrix(&format!("attention.{part}.weight"), [WIDTH, WIDTH]));
    let [bq, bk, bv, bo, scale1, shift1] = [
        "self.query.bias",
        "self.key.bias",
        "self.value.bias",
        "output.dense.bias",
        "output.LayerNorm.weight",
        "output.LayerNorm.bias",
    ]
    .map(|part| vector(&format!("attention.{part}"), WIDTH));
    let (w1, b1) = (matrix("intermediate.dense.weight", [HIDDEN, WIDTH]), vector("intermediate.dense.bias", HIDDEN));
    let (w2, b2) = (matrix("output.dense.weight", [WIDTH, HIDDEN]), vector("output.dense.bias", WIDTH));
    let [scale2, shift2] = ["weight", "bias"].map(|part| vector(&format!("output.LayerNorm.{part}"), WIDTH));

    let states = numbers(99, batch * width * WIDTH, 2.0).into_iter().map(convert).collect();
    let h = Tensor3::from_vec(device, states, [batch, width, WIDTH]).unwrap();
    let counts = Tensor1::from_vec(device, lengths.to_vec(), [batch]).unwrap();
    let found = Layer::load(0, &weights, &to).unwrap().apply(&h, &counts).unwrap().to_vec_blocking().unwrap();
    let [expected] = encoder_layer::reference(
        &h, &counts, &wq, &bq, &wk, &bk, &wv, &bv, &wo, &bo, &scale1, &shift1, &w1, &b1, &w2, &b2, &scale2, &shift2,
    )
    .unwrap();
    for (text, &length) in lengths.iter().enumerate() {
        let real = text * width * WIDTH..(text * width + length as usize) * WIDTH;
        let error = row_error(&found[real.clone()], &expected.data[real]);
        assert!(error <= bound, "text of {length} tokens: {error:.1e}");
    }
}

#[test]
fn the_layer_agrees_with_the_interpreter() {
    check_layer(&device(), |x| x, 1e-5);
}

#[test]
fn the_layer_in_16_bits_agrees_with_the_interpreter() {
    let devices = Device::all_blocking().expect("an adapter");
    let mut devices = devices.iter().filter(|device| device.info().features.f16).peekable();
    assert!(devices.peek().is_some(), "no adapter has 16-bit floats; Mesa's lavapipe has");
    devices.for_each(|device| check_layer(device, f16::from_f32, 5e-3));
}

#[test]
fn a_layer_is_at_most_six_dispatches() {
    let dispatches = encoder_layer::PLAN.groups.len();
    assert!(dispatches <= 6, "{dispatches} dispatches\n{}", encoder_layer::PLAN);
}

#[test]
fn layer_0_of_the_real_model_agrees_with_its_reference_whatever_the_padding_holds() {
    let path = checkout().join("examples/data/minilm_layer0.safetensors");
    let bytes = fs::read(&path).unwrap();
    let weights = Weights::parse(&path, &bytes).unwrap();
    let tokens = SafeTensors::deserialize(&bytes).unwrap().tensor("reference.hidden_in").unwrap().shape()[0];
    let values = |name: &str| weights.values(name, &[tokens, WIDTH]).unwrap();
    let (input, expected) = (values("reference.hidden_in"), values("reference.layer_out"));
    let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();

    let (device, width) = (device(), tokens + 5);
    let text = |padding: f32| input.iter().copied().chain(std::iter::repeat_n(padding, 5 * WIDTH)).collect::<Vec<_>>();
    let h = Tensor3::from_vec(&device, [text(100.0), text(-3.0)].concat(), [2, width, WIDTH]).unwrap();
    let lengths = Tensor1::from_vec(&device, vec![tokens as i32; 2], [2]).unwrap();
    let layer = Layer::load(0, &weights, &Upload { device: &device, convert: |x| x }).unwrap();
    let found = layer.apply(&h, &lengths).unwrap().to_vec_blocking().unwrap();
    for text in found.chunks(width * WIDTH) {
        let error = row_error(&text[..tokens * WIDTH], &expected);
        assert!(error <= 1e-5, "{error:.1e}");
    }
}

#[test]
fn embeddings_of_tokens_agree_with_the_interpreter() {
    let device = device();
    let tensor = |seed, rows| Tensor2::from_vec(&device, numbers(seed, rows * WIDTH, 1.0), [rows, WIDTH]).unwrap();
    let (words, positions, segments) = (tensor(1, 9), tensor(2, 12), tensor(3, 2));
    let [gamma, beta] = [4, 5].map(|seed| Tensor1::from_vec(&device, numbers(seed, WIDTH, 1.0), [WIDTH]).unwrap());
    let ids = Tensor2::from_vec(&device, vec![1, 8, 0, 0, 3, 3, 5, 7, 2, 6], [2, 5]).unwrap();
    let found = embed_tokens(&ids, &words, &positions, &segments, &gamma, &beta).unwrap().to_vec_blocking().unwrap();
    let [expected] = embed_tokens::reference(&ids, &words, &positions, &segments, &gamma, &beta).unwrap();
    let error = row_error(&found, &expected.data);
    assert!(error <= 1e-5, "{error:.1e}");
}

#[test]
fn pooling_is_the_mean_of_the_real_tokens() {
    let device = device();
    let mut states = numbers(7, 2 * 4 * WIDTH, 1.0);
    states[5 * WIDTH..].fill(f32::NAN);
    let h = Tensor3::from_slice(&device, &states, [2, 4, WIDTH]).unwrap();
    let lengths = Tensor1::from_vec(&device, vec![4, 1], [2]).unwrap();
    let found = pool(&h, &lengths).unwrap().to_vec_blocking().unwrap();
    let mean = |at: usize| (0..4).map(|token| f64::from(states[token * WIDTH + at])).sum::<f64>() / 4.0;
    let rows = [(0..WIDTH).map(mean).collect(), states[4 * WIDTH..5 * WIDTH].iter().map(|&x| x.into()).collect()];
    let unit = |row: Vec<f64>| {
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.into_iter().map(move |x| x / norm)
    };
    let expected: Vec<f64> = rows.into_iter().flat_map(unit).collect();
    let error = row_error(&found, &expected);
    assert!(error <= 1e-5, "{error:.1e}");
}

fn folder(name: &str) -> PathBuf {
    scratch(&format!("minilm-{name}"))
}

fn small_model(folder: &Path) {
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
    let vocabulary: BTreeMap<&str, usize> =
        special.into_iter().chain(WORDS).enumerate().map(|(i, word)| (word, i)).collect();
    let token = |i: usize| {
        json!({ "id": i, "content": special[i], "special": true, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false })
    };
    let special_token = |name: &str| json!({ "SpecialToken": { "id": name, "type_id": 0 } });
    let text = |name: &str| json!({ "Sequence": { "id": name, "type_id": 0 } });
    let used = |name: &str| json!({ "id": name, "ids": [vocabulary[name]], "tokens": [name] });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": { "max_length": 8, "strategy": "LongestFirst", "stride": 0 },
        "padding": { "strategy": { "Fixed": 8 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                     "pad_type_id": 0, "pad_token": "[PAD]" },
        "added_tokens": (0..4).map(token).collect::<Vec<_>>(),
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                        "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special_token("[CLS]"), text("A"), special_token("[SEP]")],
            "pair": [special_token("[CLS]"), text("A"), special_token("[SEP]"), text("B"), special_token("[SEP]")],
            "special_tokens": { "[CLS]": used("[CLS]"), "[SEP]": used("[SEP]") },
        },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                   "max_input_chars_per_word": 100, "vocab": vocabulary },
    });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(folder.join("model.safetensors"), random_file(model_shapes())).unwrap();
}

fn run(words: &[&str], model: &Path) -> anyhow::Result<String> {
    let mut out = vec![];
    let words = ["minilm"].iter().chain(words).chain(&["--model"]).map(Into::into);
    example::cli::run(words.chain([model.into()]).collect::<Vec<std::ffi::OsString>>(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn tokens_are_cut_off_at_the_length_of_the_model_and_not_padded() {
    let folder = folder("tokens");
    small_model(&folder);
    let file = folder.join("tokenizer.json");
    let tokens = Tokens::parse(&file, &fs::read(&file).unwrap()).unwrap();
    assert_eq!(tokens.vocabulary(), WORDS.len() + 4);
    let texts = ["A red FISH.".to_owned(), "blue".to_owned(), String::new(), "fish ".repeat(300)];
    let encoded = tokens.encode(&texts).unwrap();
    assert_eq!(encoded[..3], [vec![2, 4, 5, 7, 11, 3], vec![2, 1, 3], vec![2, 3]]);
    assert_eq!(encoded[3].len(), MAX_LENGTH);
    assert_eq!((encoded[3][0], encoded[3][MAX_LENGTH - 1]), (2, 3));
}

#[test]
fn the_program_embeds_and_searches_lines_of_any_length() {
    let folder = folder("program");
    small_model(&folder);
    let lines = ["a red fish swims fast .", "fish", "", "green fish sleeps . a red fish sleeps .", "a fish"];
    let file = folder.join("lines.txt");
    fs::write(&file, lines.join("\n")).unwrap();
    let file = file.to_str().unwrap();

    let entries = |words: &[&str]| {
        let text = run(words, &folder).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let embedding = |entry: &Value| -> Vec<f64> {
        entry["embedding"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let together = entries(&["embed", "--json", file]);
    assert!(together.iter().map(|entry| entry["text"].as_str().unwrap()).eq(lines));
    for (line, entry) in lines.iter().zip(&together).filter(|(line, _)| !line.is_empty()) {
        let alone = folder.join("line.txt");
        fs::write(&alone, line).unwrap();
        let alone: Vec<f32> = embedding(&entries(&["embed", "--json", alone.to_str().unwrap()])[0])
            .into_iter()
            .map(|x| x as f32)
            .collect();
        let error = row_error(&alone, &embedding(entry));
        assert!(error <= 1e-5, "`{line}` alone and in a batch: {error:.1e}");
        let norm: f32 = alone.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() <= 1e-5, "`{line}`: norm {norm}");
    }
    assert_eq!(run(&["embed", file], &folder).unwrap().lines().count(), lines.len());

    let hits = run(&["search", "FISH", file, "--top", "2"], &folder).unwrap();
    assert_eq!(hits.lines().count(), 2);
    assert_eq!(hits.lines().next(), Some("+1.000  line 2     fish"));
    let all = run(&["search", "fish", file, "--top", "10"], &folder).unwrap();
    assert_eq!(all.lines().count(), 4, "blank lines are left out");

    let known = |entries: &[Value]| {
        let file = folder.join("known.json");
        fs::write(&file, Value::from(entries).to_string()).unwrap();
        run(&["verify", file.to_str().unwrap()], &folder)
    };
    assert!(known(&together).unwrap().contains("encoder_layer"));
    let [first, second, ..] = &together[..] else { panic!("expected lines") };
    let swapped = json!({ "text": first["text"], "embedding": second["embedding"] });
    let error = known(&[swapped]).unwrap_err().to_string();
    assert!(error.starts_with("embeddings differ from the known ones by "), "{error}");
}

#[test]
fn weights_of_few_bits_answer_searches() {
    let folder = folder("bits");
    small_model(&folder);
    let file = folder.join("lines.txt");
    fs::write(&file, "a red fish swims fast .\nfish\ngreen sleeps").unwrap();
    let file = file.to_str().unwrap();
    let embedding = |bits: &[&str]| -> Vec<f64> {
        let text = run(&[&["embed", "--json", file], bits].concat(), &folder).unwrap();
        let entry: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        entry["embedding"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let exact = embedding(&[]);
    // Random weights lack the structure that survives fewer bits; docs/quantization.md has the real model's losses.
    for (bits, least) in [("8", 0.9999), ("4", 0.97), ("3", 0.9), ("2", 0.5), ("1", 0.0)] {
        let cosine: f64 = exact.iter().zip(embedding(&["--bits", bits])).map(|(x, y)| x * y).sum();
        assert!(cosine >= least, "{bits} bits: cosine {cosine}");
    }
    let hits = run(&["search", "fish", file, "--top", "1", "--bits", "4"], &folder).unwrap();
    assert_eq!(hits, "+1.000  line 2     fish\n");
}

#[test]
fn mistakes_are_explained() {
    let folder = folder("mistakes");
    let lines = folder.join("lines.txt");
    fs::write(&lines, "a fish\n").unwrap();
    let lines = lines.to_str().unwrap();
    let message = |words: &[&str], model: &Path| format!("{:#}", run(words, model).unwrap_err());

    let error = message(&["embed", lines], &folder.join("nowhere"));
    assert!(error.contains("no model in `") && error.contains("`cargo xtask minilm` fetches it"), "{error}");
    let error = message(&["embed", "no/such/file"], &folder);
    assert!(error.starts_with("cannot read file `no/such/file`"), "{error}");

    small_model(&folder);
    let shapes = model_shapes().into_iter().map(|(name, shape)| {
        let swapped = name == "encoder.layer.3.output.dense.weight";
        (name, if swapped { vec![HIDDEN, WIDTH] } else { shape })
    });
    fs::write(folder.join("model.safetensors"), random_file(shapes.collect())).unwrap();
    let error = message(&["embed", lines], &folder);
    let expected = "tensor `encoder.layer.3.output.dense.weight`: expected shape [384, 1536], found [1536, 384]";
    assert!(error.contains(expected), "{error}");

    let shapes = model_shapes().into_iter().filter(|(name, _)| name != "embeddings.LayerNorm.bias");
    fs::write(folder.join("model.safetensors"), random_file(shapes.collect())).unwrap();
    let error = message(&["embed", lines], &folder);
    assert!(error.contains("the weights have no tensor `embeddings.LayerNorm.bias`"), "{error}");

    let shapes = model_shapes().into_iter().map(|(name, shape)| {
        let words = name == "embeddings.word_embeddings.weight";
        (name, if words { vec![5, WIDTH] } else { shape })
    });
    fs::write(folder.join("model.safetensors"), random_file(shapes.collect())).unwrap();
    let error = message(&["embed", lines], &folder);
    assert!(error.contains("expected a row for each of the tokenizer's 12 tokens, found 5 rows"), "{error}");

    fs::write(folder.join("tokenizer.json"), "{}").unwrap();
    let error = message(&["embed", lines], &folder);
    assert!(error.starts_with("cannot use tokenizer `"), "{error}");
}
