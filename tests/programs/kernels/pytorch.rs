//! The `f32` kernels against PyTorch in float64 (`tests/data/reference.json`).

use fuse_gpu::{Device, Tensor, kernels};
use serde_json::Value as Json;

const RELATIVE: f64 = 1e-5;

/// Relative to the result's largest value, after cancellation.
const CANCELLED: f64 = 1e-6;

struct Case {
    name: &'static str,
    json: Json,
    device: Device,
}

impl Case {
    fn new(name: &'static str) -> Self {
        let file: Json = serde_json::from_str(include_str!("../../data/reference.json")).unwrap();
        let mut cases = file["cases"].as_array().unwrap().iter();
        let json = cases.find(|case| case["name"] == name).unwrap_or_else(|| panic!("no case `{name}`")).clone();
        Self { name, json, device: crate::kernels::device() }
    }

    fn values(&self, group: &str, key: &str) -> Vec<f64> {
        numbers(&self.json[group][key]["data"])
    }

    fn input<const D: usize>(&self, key: &str) -> Tensor<f32, D> {
        let shape = numbers(&self.json["inputs"][key]["shape"]).iter().map(|&n| n as usize).collect::<Vec<_>>();
        self.shaped(key, shape.try_into().unwrap())
    }

    fn shaped<const D: usize>(&self, key: &str, shape: [usize; D]) -> Tensor<f32, D> {
        let data = self.values("inputs", key).into_iter().map(|x| x as f32).collect();
        Tensor::from_vec(&self.device, data, shape).unwrap()
    }

    fn integers(&self, key: &str) -> Tensor<i32, 1> {
        let data: Vec<i32> = self.values("inputs", key).into_iter().map(|x| x as i32).collect();
        let shape = [data.len()];
        Tensor::from_vec(&self.device, data, shape).unwrap()
    }

    fn constant<const D: usize>(&self, shape: [usize; D], data: Vec<f32>) -> Tensor<f32, D> {
        Tensor::from_vec(&self.device, data, shape).unwrap()
    }

    fn option(&self, key: &str) -> f64 {
        self.json["options"][key].as_f64().unwrap()
    }

    #[track_caller]
    fn assert<const D: usize>(&self, output: &str, actual: Tensor<f32, D>) {
        let actual: Vec<f64> = actual.to_vec_blocking().unwrap().into_iter().map(f64::from).collect();
        self.assert_values(output, &actual, &self.values("outputs", output), RELATIVE);
    }

    #[track_caller]
    fn assert_values(&self, output: &str, actual: &[f64], expected: &[f64], relative: f64) {
        let name = self.name;
        assert_eq!(actual.len(), expected.len(), "{name}, `{output}`");
        let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        for (i, (actual, expected)) in actual.iter().zip(expected).enumerate() {
            let bound = relative * expected.abs() + CANCELLED * largest;
            let difference = (actual - expected).abs();
            assert!(difference <= bound, "{name}, `{output}`[{i}]: expected {expected:e}, found {actual:e}");
        }
    }
}

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn softmax() {
    let case = Case::new("softmax");
    case.assert("y", kernels::row_softmax(&case.input("x")).unwrap());
    case.assert("y", kernels::reshape_softmax(&case.shaped("x", [3, 1, 5])).unwrap());
    let case = Case::new("softmax_wide");
    case.assert("y", kernels::row_softmax(&case.input("x")).unwrap());
}

#[test]
fn log_softmax() {
    let case = Case::new("log_softmax");
    case.assert("y", kernels::row_log_softmax(&case.input("x")).unwrap());
    let case = Case::new("softmax_wide");
    case.assert("log", kernels::row_log_softmax(&case.input("x")).unwrap());
}

#[test]
fn layer_norm() {
    let case = Case::new("layer_norm");
    let (x, gamma, beta) = (&case.input("x"), &case.input("gamma"), &case.input("beta"));
    case.assert("y", kernels::row_layer_norm(x, gamma, beta).unwrap());
    let zeros = &case.constant([3, 6], vec![0.0; 18]);
    let (norm, _) = kernels::add_layer_norm(x, zeros, gamma, beta).unwrap();
    case.assert("y", norm);
}

#[test]
fn rms_norm() {
    let case = Case::new("rms_norm");
    case.assert("y", kernels::row_rms_norm(&case.input("x"), &case.input("gamma")).unwrap());
}

#[test]
fn batch_norm() {
    let case = Case::new("batch_norm");
    let [mean, var, gamma, beta] = ["mean", "var", "gamma", "beta"].map(|key| case.input(key));
    let actual = kernels::batch_norm_relu(&case.input("x"), &mean, &var, &gamma, &beta).unwrap();
    let actual: Vec<f64> = actual.to_vec_blocking().unwrap().into_iter().map(f64::from).collect();
    let expected: Vec<f64> = case.values("outputs", "y").iter().map(|y| y.max(0.0)).collect();
    case.assert_values("relu of y", &actual, &expected, RELATIVE);
}

/// Layers with one input, a weight of 1 and no bias: their product is the input.
#[test]
fn activations() {
    let case = Case::new("gelu");
    let (one, zero) = (&case.constant([1, 1], vec![1.0]), &case.constant([1], vec![0.0]));
    let x = &case.shaped("x", [12, 1]);
    case.assert("y", kernels::linear_gelu(x, one, zero).unwrap());
    case.assert("y", kernels::gelu_linear(x, one, zero).unwrap());
    case.assert("tanh", kernels::linear_gelu_tanh(x, one, zero).unwrap());
    let case = Case::new("silu");
    let (one, zero) = (&case.constant([1, 1], vec![1.0]), &case.constant([1], vec![0.0]));
    case.assert("y", kernels::linear_silu(&case.shaped("x", [12, 1]), one, zero).unwrap());
}

#[test]
fn gates() {
    let case = Case::new("swiglu");
    case.assert("y", kernels::swiglu_gate(&case.input("gate"), &case.input("up")).unwrap());
    let case = Case::new("geglu");
    case.assert("y", kernels::geglu_gate(&case.input("gate"), &case.input("up")).unwrap());
}

/// The last projection only adds a column of zeros.
#[test]
fn gated_blocks() {
    for name in ["swiglu_linear", "geglu_linear"] {
        let case = Case::new(name);
        let identity = (0..12).map(|i| if i % 4 == i / 4 { 1.0 } else { 0.0 }).collect();
        let (x, gate, up) = (&case.input("x"), &case.input("w_gate"), &case.input("w_up"));
        let down = &case.constant([3, 4], identity);
        let block = if name == "swiglu_linear" { kernels::swiglu } else { kernels::geglu };
        let actual = block(x, gate, up, down).unwrap().to_vec_blocking().unwrap();
        let columns: Vec<f64> = actual.chunks(4).flat_map(|row| &row[..3]).map(|&x| x.into()).collect();
        case.assert_values("y", &columns, &case.values("outputs", "y"), RELATIVE);
        assert!(actual.chunks(4).all(|row| row[3] == 0.0), "{name}: {actual:?}");
    }
}

/// The file's values have three columns, the kernel's as many as keys: a column of zeros is added.
#[test]
fn attention() {
    let case = Case::new("attention");
    let v = case.values("inputs", "v");
    let padded = v.chunks(3).flat_map(|row| [row[0] as f32, row[1] as f32, row[2] as f32, 0.0]).collect();
    let v = &case.constant([1, 2, 5, 4], padded);
    let actual = kernels::cross_attention(&case.input("q"), &case.input("k"), v).unwrap().to_vec_blocking().unwrap();
    let columns: Vec<f64> = actual.chunks(4).flat_map(|row| &row[..3]).map(|&x| x.into()).collect();
    case.assert_values("y", &columns, &case.values("outputs", "y"), RELATIVE);
    assert!(actual.chunks(4).all(|row| row[3] == 0.0), "{actual:?}");
}

#[test]
fn causal_attention() {
    let case = Case::new("attention_causal");
    let (q, k, v) = (&case.input("q"), &case.input("k"), &case.input("v"));
    case.assert("y", kernels::causal_attention(q, k, v).unwrap());
}

#[test]
fn windowed_attention() {
    let case = Case::new("attention_window");
    let (q, k, v) = (&case.input("q"), &case.input("k"), &case.input("v"));
    case.assert("y", kernels::windowed_attention(q, k, v, case.option("window") as i32).unwrap());
}

#[test]
fn alibi_attention() {
    let case = Case::new("attention_alibi");
    let (q, k, v) = (&case.input("q"), &case.input("k"), &case.input("v"));
    case.assert("y", kernels::alibi_attention(q, k, v, &case.input("slopes")).unwrap());
}

/// Query head `h` reads head `h / 2`.
#[test]
fn grouped_attention() {
    let case = Case::new("attention_gqa");
    let q = &case.shaped("q", [1, 2, 2, 3, 4]);
    case.assert("y", kernels::grouped_attention(q, &case.input("k"), &case.input("v")).unwrap());
}

#[test]
fn losses() {
    let case = Case::new("cross_entropy");
    case.assert("loss", kernels::cross_entropy(&case.input("logits"), &case.integers("target")).unwrap());
    let case = Case::new("mse");
    case.assert("loss", kernels::mse(&case.input("x"), &case.input("y")).unwrap());
}

#[test]
fn cosine_similarity() {
    let case = Case::new("cosine_similarity");
    case.assert("similarity", kernels::cosine_similarity(&case.input("x"), &case.input("y")).unwrap());
}

#[test]
fn sgd() {
    let case = Case::new("sgd");
    let [rate, momentum, decay] = ["lr", "momentum", "weight_decay"].map(|key| case.option(key) as f32);
    let (p, g, v) = (&case.input("p"), &case.input("g"), &case.input("velocity"));
    let (p, v) = kernels::sgd(p, g, v, rate, momentum, decay).unwrap();
    case.assert("p", p);
    case.assert("velocity", v);
}

#[test]
fn adamw() {
    let case = Case::new("adamw");
    let options = ["lr", "beta1", "beta2", "eps", "weight_decay", "step"];
    let [rate, beta1, beta2, eps, decay, step] = options.map(|key| case.option(key) as f32);
    let (p, g, m, s) = (&case.input("p"), &case.input("g"), &case.input("m"), &case.input("v"));
    let (p, m, s) = kernels::adamw(p, g, m, s, rate, beta1, beta2, eps, decay, step).unwrap();
    case.assert("p", p);
    case.assert("m", m);
    // The kernel rounds β2 to `f32`, and with it 1 - β2, the scale of new squares.
    let beta2 = case.option("beta2");
    let given = (f64::from(beta2 as f32) - beta2).abs() / (1.0 - beta2);
    let s: Vec<f64> = s.to_vec_blocking().unwrap().into_iter().map(f64::from).collect();
    case.assert_values("v", &s, &case.values("outputs", "v"), RELATIVE + given);
}

#[test]
fn mean_pool() {
    let case = Case::new("mean_pool");
    case.assert("y", kernels::mean_pool_normalize(&case.input("h"), &case.integers("lengths")).unwrap());
}
