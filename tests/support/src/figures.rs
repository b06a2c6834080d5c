//! Reference gradients of PyTorch and JAX in float64: functions in `tests/data/gradients.fuse`, figures in
//! `gradients.json`, written by `gradients.py`.

use fuse_artifact::DType;
use fuse_compiler::graph::Graph;
use serde_json::Value as Json;

use crate::{Value, graphs};

/// Function whose results are gradients.
pub struct Figures {
    /// Compiled function.
    pub graph: Graph,
    /// True if chosen after the rules of differentiation were written.
    pub is_late: bool,
    /// Differentiated input per result.
    pub wrt: Vec<String>,
    /// Values of parameters, exact in `f32`.
    pub inputs: Vec<Value>,
    /// All inputs of the file.
    pub given: Vec<String>,
    /// Results by framework.
    pub expected: [(&'static str, Vec<Value>); 2],
}

impl Figures {
    /// Loads all cases.
    ///
    /// # Panics
    /// If the files disagree.
    pub fn all() -> Vec<Self> {
        let source = include_str!("../../data/gradients.fuse");
        let mut graphs = graphs(source).unwrap_or_else(|error| panic!("{error}"));
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

    /// Deviations from a framework beyond `tolerance`, as a share of the gradient's largest number.
    ///
    /// # Panics
    /// If results are missing or have other shapes.
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
