//! Pairs of functions in one kernel against a version that stores the first result: drivers simplify across operations.
//!
//! A run takes the same few kernels of many pairs each; `FUSE_THOROUGH=1` runs all. Differences too expensive to
//! prevent are listed per kind of driver; README names their kinds.

use std::collections::BTreeSet;

use fuse_artifact::DType;
use fuse_compiler::{interp::Value, operations::UnaryOp};
use fuse_gpu::Device;
use fuse_test_support::{Program, adapter::Arguments, compile, devices, operations::unary_text, thorough, wait};

const SHARE: usize = 40;

/// Arguments; an odd number, so that kernels load single elements.
const NUMBERS: [f64; 14] = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 5.0, 20.0, 90.0, 1000.0, 1e-20, 1e20, 1e30, f32::MAX as f64];

const FORMS: &[&str] = &[
    "$ + 1.0",
    "1.0 - $",
    "$ - 3.0",
    "$ * 0.0",
    "$ * 2.0",
    "$ * -0.5",
    "$ / 3.0",
    "0.0 / $",
    "3.0 / $",
    "$ / 0.0",
    "$ + 0.0",
    "0.0 - $",
    "$ % 2.0",
    "2.0 % $",
    "pow($, 2.0)",
    "pow($, 3.0)",
    "pow($, 0.5)",
    "pow($, -1.0)",
    "pow(2.0, $)",
    "pow($, 0.0)",
    "min($, 1.0)",
    "max($, 0.0)",
    "max($, -100.0)",
    "clamp($, 0.0, 1.0)",
    "atan2($, 1.0)",
    "atan2(1.0, $)",
    "hypot($, 1.0)",
    "leaky_relu($)",
    "elu($)",
    "select($ == 0.0, 1.0, 2.0)",
    "select($ != 0.0, 1.0, 2.0)",
    "select($ < 0.0, 1.0, 2.0)",
    "select($ <= 0.0, 1.0, 2.0)",
    "select($ > 0.0, 1.0, 2.0)",
    "select($ >= 0.0, 1.0, 2.0)",
    "select($ < 1.0, 1.0, $)",
    "$ * $",
    "$ + $",
    "$ - $",
    "$ / $",
];

/// Functions of the result `y`, the argument `x`, and the result `z` of its negative.
const WITH_ARGUMENT: &[&str] = &[
    "y + x",
    "y - x",
    "x - y",
    "y * x",
    "y / x",
    "x / y",
    "y % x",
    "min(y, x)",
    "max(y, x)",
    "y + z",
    "y - z",
    "y * z",
    "y / z",
];

/// In kernels of their own: drivers simplify values with a single use.
const ALONE: &[&str] = &[
    "log(sigmoid(x))",
    "max(log(sigmoid(x)), -100.0)",
    "pow(sigmoid(x), -1.0)",
    "select(sigmoid(x) > 0.0, 1.0, 0.0)",
    "log(1.0 / (1.0 + x * x))",
    "sqrt(x) * sqrt(x)",
    "x * 0.0",
    "0.0 / x",
    "x + (-x)",
    "select(isnan(sin(selu(x))), 1.0, 2.0)",
    "fract(floor(x))",
    "abs(rsqrt(x))",
    "(x + 1.0) - x",
    "exp(x) * exp(-x)",
    "log(exp(x))",
    "sqrt(exp(x))",
    "(x * 2.0) * -0.5",
    "(x * x) / x",
    "x / (2.0 * x)",
    "sqrt(recip(x))",
];

/// Known differences of a kind of driver.
struct Known {
    reason: &'static str,
    alone: &'static [&'static str],
    pairs: &'static [(&'static str, &'static [&'static str])],
}

impl Known {
    fn pairs(&self) -> Vec<String> {
        let pairs = self.pairs.iter().flat_map(|(first, second)| second.iter().map(move |second| (first, second)));
        pairs.map(|(first, second)| format!("{first}; {second}")).collect()
    }
}

/// Mesa's lavapipe: exactly these.
const LAVAPIPE: &[Known] = &[
    Known {
        reason: "a sum less one of its terms is the other",
        alone: &["(x + 1.0) - x"],
        pairs: &[
            ("abs(x)", &["y - z"]),
            ("cosh(x)", &["y - z"]),
            ("gelu(x)", &["y - z"]),
            ("gelu_tanh(x)", &["y - z"]),
            ("silu(x)", &["y - z"]),
            ("hard_swish(x)", &["y - z"]),
            ("mish(x)", &["y - z"]),
            ("x + 1.0", &["acosh(y)", "y - x"]),
            ("1.0 - x", &["acosh(y)", "y + x"]),
            ("x - 3.0", &["y - x"]),
            ("x * 2.0", &["y + z"]),
            ("x * -0.5", &["y + z"]),
            ("x / 0.0", &["y + z"]),
            ("x + 0.0", &["y - x", "x - y", "y + z"]),
            ("0.0 - x", &["y + x", "y + z"]),
            ("hypot(x, 1.0)", &["y - z"]),
            ("x * x", &["y - z"]),
            ("x + x", &["y - x"]),
        ],
    },
    Known {
        reason: "factors that are literals are multiplied first",
        alone: &["(x * 2.0) * -0.5"],
        pairs: &[("selu(x)", &["y * -0.5"]), ("x * 2.0", &["gelu(y)", "gelu_tanh(y)", "y * -0.5", "leaky_relu(y)"])],
    },
    Known {
        reason: "exponents of exponentials are computed with",
        alone: &["exp(x) * exp(-x)", "log(exp(x))", "sqrt(exp(x))"],
        pairs: &[
            ("exp(x)", &["sqrt(y)", "log(y)", "log2(y)", "asinh(y)", "acosh(y)"]),
            ("exp2(x)", &["log(y)", "log2(y)", "asinh(y)", "acosh(y)"]),
        ],
    },
    Known { reason: "a root is no -0", alone: &[], pairs: &[("sqrt(x)", &["pow(y, -1.0)"])] },
];

/// NVIDIA's driver on an H100: at most these, and those of [`LAVAPIPE`].
const NVIDIA: &[Known] = &[
    Known {
        reason: "a sum less one of its terms is the other",
        alone: &[],
        pairs: &[
            ("recip(x)", &["y + z"]),
            ("silu(x)", &["y + z"]),
            ("hard_swish(x)", &["y + z"]),
            ("x + 1.0", &["x - y", "y + z"]),
            ("1.0 - x", &["y + z"]),
            ("x - 3.0", &["x - y", "y + z"]),
            ("x * 2.0", &["y - x", "x - y"]),
            ("x * -0.5", &["y + x"]),
            ("x / 3.0", &["y - x", "x - y", "y + z"]),
            ("x / 0.0", &["y - x", "x - y"]),
            ("x + x", &["x - y", "y + z"]),
        ],
    },
    Known {
        reason: "quotients are reduced",
        alone: &["(x * x) / x", "x / (2.0 * x)"],
        pairs: &[
            ("-x", &["y / x", "x / y", "y / z"]),
            ("silu(x)", &["y / x", "x / y"]),
            ("hard_swish(x)", &["y / x", "x / y"]),
            ("mish(x)", &["y / x", "x / y"]),
            ("x + 1.0", &["y * x"]),
            ("x * 2.0", &["y / x", "x / y", "y / z"]),
            ("x * -0.5", &["y / x", "x / y"]),
            ("x / 3.0", &["y / x", "x / y"]),
            ("3.0 / x", &["y * x"]),
            ("x / 0.0", &["y / x", "x / y"]),
            ("x + 0.0", &["y / x", "x / y", "y % x", "y / z"]),
            ("0.0 - x", &["y / x", "x / y", "y / z"]),
            ("x * x", &["y / x", "x / y", "y / z"]),
        ],
    },
    Known {
        reason: "factors that are literals are multiplied first",
        alone: &[],
        pairs: &[("selu(x)", &["y / 3.0"]), ("x * 2.0", &["y / 3.0"])],
    },
    Known {
        reason: "functions of a reciprocal are one instruction",
        alone: &["sqrt(recip(x))"],
        pairs: &[("recip(x)", &["sqrt(y)", "rsqrt(y)", "recip(y)"])],
    },
];

const OUTPUTS: usize = 5;
const PACKED: usize = 3;

fn functions(x: &str) -> Vec<String> {
    let named = UnaryOp::ALL.iter().filter(|op| op.takes(DType::F32)).filter_map(|op| match op.result(DType::F32) {
        DType::F32 => Some(unary_text(*op, x)),
        DType::Bool => Some(format!("select({}, 1.0, 2.0)", unary_text(*op, x))),
        _ => None,
    });
    named.chain(FORMS.iter().map(|form| form.replace('$', x))).collect()
}

/// Applies expressions to the bindings of `lets`. Returns signs, exponents, and the first mantissa bit, which
/// distinguishes NaN from infinity.
fn source(params: &str, lets: &str, texts: &[String]) -> String {
    let part = |(i, text): (usize, &String)| format!("(to_bits({text}) >> 22) << {}", 10 * i);
    let packed = |texts: &[String]| texts.iter().enumerate().map(part).collect::<Vec<_>>().join(" | ");
    let outputs: Vec<String> = texts.chunks(PACKED).map(packed).collect();
    match &outputs[..] {
        [only] => format!("pub fn f({params}) -> u32[N] {{ {lets} {only} }}"),
        _ => {
            let results = vec!["u32[N]"; outputs.len()].join(", ");
            format!("pub fn f({params}) -> ({results}) {{ {lets} ({}) }}", outputs.join(", "))
        }
    }
}

fn numbers() -> Vec<f64> {
    let signed = NUMBERS.iter().flat_map(|&x| [x, -x]).chain([f64::INFINITY, -f64::INFINITY, f64::NAN]);
    signed.map(|x| f64::from(x as f32)).collect()
}

fn vector(data: Vec<f64>) -> Value {
    Value { dtype: DType::F32, shape: vec![data.len()], data }
}

fn run(device: &Device, program: &Program, inputs: &[Value]) -> Vec<Vec<f64>> {
    let arguments = Arguments::new(device, program, inputs).unwrap();
    wait(arguments.launch(program, None)).unwrap().into_iter().map(|value| value.data).collect()
}

fn values(device: &Device, source: &str, count: usize, inputs: &[Value]) -> Vec<Vec<f64>> {
    let program = compile(source).swap_remove(0);
    assert_eq!(program.function.kernels.len(), 1, "{source}");
    let outputs = run(device, &program, inputs);
    let about = |word: f64, i: usize| f64::from(f32::from_bits(((word as u32) >> (10 * (i % PACKED))) << 22));
    (0..count).map(|i| outputs[i / PACKED].iter().map(|&word| about(word, i)).collect()).collect()
}

/// Beyond roundings; small results may remain after large terms cancel.
fn differ(stored: f64, fused: f64) -> bool {
    if stored.is_finite() && fused.is_finite() {
        let (most, least) = (stored.abs().max(fused.abs()), stored.abs().min(fused.abs()));
        return most > 1e-5 && (most > 2.5 * least || stored * fused < 0.0);
    }
    stored.is_nan() != fused.is_nan() || !stored.is_nan() && stored != fused
}

/// Nothing is promised for subnormal numbers and large angles.
fn is_promised(y: f64, second: &str) -> bool {
    let is_subnormal = y != 0.0 && y.abs() < f64::from(f32::MIN_POSITIVE);
    let is_angle = ["sin(", "cos(", "tan("].iter().any(|name| second.starts_with(name));
    !(is_subnormal || is_angle && y.is_finite() && y.abs() > 1e6)
}

fn pairs(device: &Device) -> [BTreeSet<String>; 2] {
    let (xs, first, of_negative) = (numbers(), functions("x"), functions("w"));
    let (n, mut second) = (xs.len(), functions("y"));
    second.extend(WITH_ARGUMENT.iter().map(|&text| text.to_owned()));
    let chunks: Vec<&[String]> = second.chunks(OUTPUTS * PACKED).collect();
    let is_run = |f: usize, chunk: usize| thorough() || (f * chunks.len() + chunk).is_multiple_of(SHARE);
    let [mut tried, mut found] = [BTreeSet::new(), BTreeSet::new()];
    for (f, text) in first.iter().enumerate() {
        let run: Vec<&[String]> =
            (0..chunks.len()).filter(|&chunk| is_run(f, chunk)).map(|chunk| chunks[chunk]).collect();
        if run.is_empty() {
            continue;
        }
        let stored = compile(&format!("pub fn f(x: f32[N]) -> f32[N] {{ {text} }}")).swap_remove(0);
        let ys = self::run(device, &stored, &[vector(xs.clone())]).swap_remove(0);
        let zs: Vec<f64> = (0..n).map(|i| ys[if i + 1 == n { i } else { i ^ 1 }]).collect();
        for texts in run {
            let separate = source("x: f32[N], y: f32[N], z: f32[N]", "", texts);
            let inputs = [&xs, &ys, &zs].map(|data| vector(data.clone()));
            let separate = values(device, &separate, texts.len(), &inputs);
            let lets = format!("let y = {text}; let w = -x; let z = {};", of_negative[f]);
            let fused = values(device, &source("x: f32[N]", &lets, texts), texts.len(), &inputs[..1]);
            for (i, second) in texts.iter().enumerate() {
                let promised = |&k: &usize| is_promised(ys[k], second) && is_promised(zs[k], second);
                let wrong = (0..n).filter(promised).find(|&k| differ(separate[i][k], fused[i][k]));
                let pair = format!("{text}; {second}");
                if let Some(k) = wrong {
                    println!("{pair}: at {:e} {:e} stored, {:e} fused", xs[k], separate[i][k], fused[i][k]);
                    found.insert(pair.clone());
                }
                tried.insert(pair);
            }
        }
    }
    [tried, found]
}

fn alone(device: &Device) -> BTreeSet<String> {
    let xs = numbers();
    let differs = |text: &&&str| {
        let fused = compile(&format!("pub fn f(x: f32[N]) -> f32[N] {{ {text} }}")).swap_remove(0);
        let [stored, fused] = [&fused.unfused().unwrap(), &fused]
            .map(|program| run(device, program, &[vector(xs.clone())]).swap_remove(0));
        let wrong = (0..xs.len()).find(|&k| differ(stored[k], fused[k]));
        if let Some(k) = wrong {
            println!("{text}: at {:e} {:e} stored, {:e} fused", xs[k], stored[k], fused[k]);
        }
        wrong.is_some()
    };
    ALONE.iter().filter(differs).map(|&text| text.to_owned()).collect()
}

#[test]
fn functions_of_functions() {
    for device in devices() {
        let name = &device.info().name;
        let known: Vec<&Known> =
            if name.contains("llvmpipe") { LAVAPIPE.iter().collect() } else { LAVAPIPE.iter().chain(NVIDIA).collect() };
        let listed: BTreeSet<String> = known.iter().flat_map(|known| known.pairs()).collect();
        let listed_alone: BTreeSet<String> =
            known.iter().flat_map(|known| known.alone).map(|&text| text.to_owned()).collect();
        let [tried, found] = pairs(device);
        let found_alone = alone(device);
        println!(
            "{name}: {} of {} pairs differ, {} of {} alone",
            found.len(),
            tried.len(),
            found_alone.len(),
            ALONE.len()
        );
        let unlisted: Vec<&String> = found.difference(&listed).chain(found_alone.difference(&listed_alone)).collect();
        assert!(unlisted.is_empty(), "{name} simplifies, and no table has it: {unlisted:#?}");
        if name.contains("llvmpipe") {
            let expected = listed.intersection(&tried).filter(|pair| !found.contains(*pair));
            let gone: Vec<&String> = expected.chain(listed_alone.difference(&found_alone)).collect();
            assert!(gone.is_empty(), "{name} no longer simplifies what its table has: {gone:#?}");
            assert!(!thorough() || listed.is_subset(&tried), "the table has pairs that do not exist");
        }
        for known in known {
            let count = known.pairs().iter().filter(|pair| found.contains(*pair)).count();
            println!("{}: {count} pairs", known.reason);
        }
    }
}
