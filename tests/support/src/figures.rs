//! Gradients as PyTorch and JAX compute them in float64: the functions of `tests/data/gradients.fuse`, with inputs and figures of
//! `gradients.json` (written by `gradients.py` beside it).

use fuse_artifact::DType;
use fuse_compiler::graph::Graph;
use serde_json::Value as Json;

use crate::{Value, graphs};

/// A function whose results are gradients.
pub struct Figures {
    /// What it computes.
    pub graph: Graph,
    /// Whether it was chosen after the rules of differentiation were written.
    pub is_late: bool,
    /// What each result is the gradient of.
    pub wrt: Vec<String>,
    /// One per parameter; `f32` holds all numbers.
    pub inputs: Vec<Value>,
    /// The names of all inputs of the file.
    pub given: Vec<String>,
    /// The results by each framework, with its name.
    pub expected: [(&'static str, Vec<Value>); 2],
}

impl Figures {
    /// Every case of the file.
    ///
    /// # Panics
    /// When the files do not fit each other.
    pub fn all() -> Vec<Self> {
        let source = include_str!("../../data/gradients.fuse");
        let mut graphs = graphs(source).unwrap_or_else(|error| panic!("{error}"));
        // The others are called by these.
        graphs.retain(|graph| source.contains(&format!("pub fn {}(", graph.name)));
        let file: Json = serde_json::from_str(include_str!("../../data/gradients.json")).expect("valid JSON");
        let cases = list(&file["cases"]);
        assert_eq!(cases.len(), graphs.len(), "one function for each case");
        let graph = |case: &Json| {
            let place = graphs.iter().position(|graph| graph.name == case["name"]);
            graphs[place.unwrap_or_else(|| panic!("no function {}", case["name"]))].clone()
        };
        cases.iter().map(|case| Self::of(case, graph(case))).collect()
    }

    fn of(case: &Json, graph: Graph) -> Self {
        let inputs = graph.params.iter().map(|param| tensor(&case["inputs"][&param.name], param.ty.dtype)).collect();
        let texts = |json: &Json| list(json).iter().map(|text| text.as_str().expect("a text").to_owned()).collect();
        let results = |name: &'static str| {
            (name, list(&case[name]).iter().map(|result| tensor(result, DType::F32)).collect::<Vec<_>>())
        };
        Self {
            graph,
            is_late: case["chosen"] == "after the rules",
            wrt: texts(&case["wrt"]),
            inputs,
            given: case["inputs"].as_object().expect("inputs").keys().cloned().collect(),
            expected: ["torch", "jax"].map(results),
        }
    }

    /// What of `found` is further than `tolerance` from a framework's figures, as a share of the largest number of the gradient.
    ///
    /// # Panics
    /// When results are missing or have other shapes.
    pub fn deviations(&self, found: &[Value], tolerance: f64) -> Vec<String> {
        let name = &self.graph.name;
        let mut deviations = vec![];
        for (framework, expected) in &self.expected {
            assert_eq!([expected.len(), self.wrt.len()], [found.len(); 2], "{name}: results");
            for ((wrt, expected), found) in self.wrt.iter().zip(expected).zip(found) {
                assert_eq!(expected.shape, found.shape, "{name}: shape of the gradient of `{wrt}`");
                let largest = expected.data.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
                for (i, (expected, found)) in expected.data.iter().zip(&found.data).enumerate() {
                    let apart = (found - expected).abs() / largest;
                    // What is not a number deviates.
                    if apart.is_nan() || apart > tolerance {
                        deviations.push(format!(
                            "{name}, `{wrt}`[{i}]: {framework} has {expected:e}, found {found:e}, {apart:e} of the largest"
                        ));
                    }
                }
            }
        }
        deviations
    }
}

fn list(json: &Json) -> &[Json] {
    json.as_array().expect("a list")
}

fn tensor(json: &Json, dtype: DType) -> Value {
    let numbers = |key: &str| list(&json[key]).iter().map(|x| x.as_f64().expect("a number"));
    let shape: Vec<usize> = numbers("shape").map(|x| x as usize).collect();
    Value::from_data(dtype, &shape, numbers("data").collect()).expect("as many numbers as the shape says")
}
