//! Functions with `#[webnn]`: refused by the browser's WebNN, which has no backend here, and run in a mock generated
//! from the specification's IDL (`webnn/mock.js`). No real backend has run them.

use std::{
    collections::BTreeSet,
    pin::pin,
    task::{Context, Poll, Waker},
};

use fuse_artifact::{
    DType::{Bool, F16, F32, I32, U32},
    Function, MlOp,
};
use fuse_compiler::{
    operations::{UnaryOp, WebNn as Mapping},
    webnn::lower,
};
use fuse_gpu::{Device, Error, Tensor1, Tensor2, WebNn, WebNnOptions, f16, fuse};
use fuse_test_support::{
    Directives, Program, Sweep, Value,
    adapter::{Arguments, download_all},
    compile, corpus, data, graphs,
    operations::unary_text,
    try_compile,
};
use fuse_test_web::has_webnn_interface;
use js_sys::{
    Array, Reflect,
    wasm_bindgen::{JsCast, JsValue},
};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::device;

fuse! {
    #[webnn]
    fn layer(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] {
        gelu(matmul(x, w) + b)
    }

    /// A layer of either precision, with a number of the host.
    #[webnn]
    fn scaled<T: Float>(x: T[M, K], w: T[K, N], s: T) -> T[M, N] {
        relu(matmul(x, w) * s)
    }

    #[webnn]
    fn row_sums(x: f32[M, N]) -> f32[M] {
        sum(x, axis = 1)
    }

    #[webnn]
    fn twice(x: f32[N]) -> f32[N] {
        x + x
    }

    /// Not for WebNN.
    fn half(x: f32[N]) -> f32[N] {
        x * 0.5
    }
}

struct Mock {
    script: JsValue,
    /// Methods of the browser's own interfaces, named as in the mock's log.
    real: BTreeSet<String>,
}

impl Mock {
    fn install() -> Self {
        let source = concat!("return (", include_str!("webnn/mock.js"), ")(JSON.parse(idl))");
        let make = js_sys::Function::new_with_args("idl", source);
        let idl = include_str!(concat!(env!("OUT_DIR"), "/webnn.json"));
        let script = make.call1(&JsValue::NULL, &idl.into()).expect("the mock is sound");
        let mock = Self { script, real: Self::real_methods() };
        mock.call("install");
        mock
    }

    fn real_methods() -> BTreeSet<String> {
        let mut methods = BTreeSet::new();
        for interface in ["ML", "MLContext", "MLGraphBuilder", "MLGraph", "MLTensor"] {
            let class = Self::get(&js_sys::global(), interface);
            if !class.is_undefined() {
                let names = Reflect::own_keys(&Self::get(&class, "prototype")).expect("an object");
                let names = names.iter().filter_map(|name| name.as_string());
                methods.extend(names.map(|name| format!("{interface}.{name}")));
            }
        }
        methods
    }

    fn get(of: &JsValue, name: &str) -> JsValue {
        Reflect::get(of, &name.into()).expect("the mock has it")
    }

    fn call(&self, method: &str) {
        let method: js_sys::Function = Self::get(&self.script, method).unchecked_into();
        method.call0(&self.script).expect("it does not fail");
    }

    fn count(&self, name: &str) -> usize {
        Self::get(&Self::get(&self.script, "log"), name).as_f64().expect("a count") as usize
    }

    /// Called methods with interfaces; Chromium must have them, if its flag provides the interfaces.
    fn methods(&self) -> BTreeSet<String> {
        let methods = Array::from(&Self::get(&Self::get(&self.script, "log"), "methods"));
        let methods: BTreeSet<String> = methods.iter().map(|method| method.as_string().expect("a name")).collect();
        if !self.real.is_empty() {
            let missing: Vec<&String> = methods.difference(&self.real).collect();
            assert!(missing.is_empty(), "the browser has no {missing:?}");
        }
        methods
    }

    fn refuse(&self, method: &str) {
        let refused: js_sys::Set = Self::get(&self.script, "refuse").unchecked_into();
        refused.add(&method.into());
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.call("uninstall");
    }
}

type Operands = (Tensor2<f32>, Tensor2<f32>, Tensor1<f32>);

fn operands(device: &Device) -> Result<Operands, Error> {
    let wave = |count: usize, step: f32| (0..count).map(|i| (i as f32 * step).sin()).collect::<Vec<f32>>();
    let x = Tensor2::from_vec(device, wave(7 * 13, 0.37), [7, 13])?;
    let w = Tensor2::from_vec(device, wave(13 * 11, 0.91), [13, 11])?;
    Ok((x, w, Tensor1::from_vec(device, wave(11, 1.7), [11])?))
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let apart = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-5, "apart by {apart}");
}

#[wasm_bindgen_test]
async fn a_browser_without_webnn_is_refused_and_the_program_goes_on() -> Result<(), Error> {
    let device = device().await;
    let (x, w, b) = operands(&device)?;
    let webnn = WebNn::new(&device, WebNnOptions::default()).await;
    // WebNN is optional here.
    let y = match &webnn {
        Ok(webnn) => webnn.run(|| layer(&x, &w, &b)).await?,
        Err(_) => layer(&x, &w, &b)?,
    };
    let Err(Error::NoWebNn { reason }) = webnn else { panic!("no browser here has a backend") };
    // Chromium's flag adds the interface, but this system has no backend.
    let expected =
        if has_webnn_interface() { "`createContext` failed: " } else { "this browser has no `navigator.ml`" };
    assert!(reason.starts_with(expected), "{reason}");
    assert_close(&y.to_vec().await?, &layer(&x, &w, &b)?.to_vec().await?);
    Ok(())
}

#[wasm_bindgen_test]
async fn a_layer_computes_what_webgpu_does() -> Result<(), Error> {
    let device = device().await;
    let (x, w, b) = operands(&device)?;
    let expected = layer(&x, &w, &b)?.to_vec().await?;
    let mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await?;
    let y = webnn.run(|| layer(&x, &w, &b)).await?;
    assert_close(&y.to_vec().await?, &expected);
    assert_eq!((mock.count("builds"), mock.count("dispatches"), mock.count("reads")), (1, 1, 1));
    // The graph is cached, the tensors are not.
    let again = webnn.run(|| layer(&x, &w, &b)).await?;
    assert_close(&row_sums(&again)?.to_vec().await?, &row_sums(&y)?.to_vec().await?);
    assert_eq!((mock.count("builds"), mock.count("dispatches"), mock.count("live")), (1, 2, 1));
    assert_close(&layer(&x, &w, &b)?.to_vec().await?, &expected);
    assert_eq!(mock.count("dispatches"), 2);
    drop(webnn);
    assert_eq!(mock.count("live"), 0);
    Ok(())
}

#[wasm_bindgen_test]
async fn values_between_launches_stay_there() -> Result<(), Error> {
    let device = device().await;
    let (x, w, b) = operands(&device)?;
    let expected = twice(&row_sums(&layer(&x, &w, &b)?)?)?.to_vec().await?;
    let mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await?;
    let mut out = Tensor1::zeros(&device, [7])?;
    let (sums, flat) = webnn
        .run(|| {
            let y = layer(&x, &w, &b)?;
            let sums = row_sums(&y)?;
            twice::launch_into(&sums, &mut out)?;
            Ok((sums, twice(&y.reshape([77])?)?))
        })
        .await?;
    assert_close(&out.to_vec().await?, &expected);
    assert_close(&twice(&sums)?.to_vec().await?, &expected);
    let doubled: Vec<f32> = layer(&x, &w, &b)?.to_vec().await?.iter().map(|y| y + y).collect();
    assert_close(&flat.to_vec().await?, &doubled);
    assert_eq!((mock.count("writes"), mock.count("dispatches"), mock.count("reads")), (3, 4, 3));
    drop(webnn);
    assert_eq!(mock.count("live"), 0);
    Ok(())
}

#[wasm_bindgen_test]
async fn half_precision_needs_no_shader_for_it() -> Result<(), Error> {
    let device = Device::builder().without_f16().build().await?;
    let _mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await?;
    let numbers = |values: &[f32]| values.iter().map(|&x| f16::from_f32(x)).collect::<Vec<f16>>();
    let x = Tensor2::from_vec(&device, numbers(&[1.0, 2.0, 3.0]), [1, 3])?;
    let w = Tensor2::from_vec(&device, numbers(&[0.5, -1.0, 1.5]), [3, 1])?;
    let y = webnn.run(|| scaled(&x, &w, f16::from_f32(0.25))).await?;
    assert_eq!(y.to_vec().await?, numbers(&[0.75]));
    let other = webnn.run(|| scaled(&x, &w, f16::from_f32(2.0))).await?;
    assert_eq!(other.to_vec().await?, numbers(&[6.0]), "numbers of the host are no part of the graph");
    Ok(())
}

#[wasm_bindgen_test]
async fn what_cannot_run_there_is_an_error_with_the_kernels_name() -> Result<(), Error> {
    let device = device().await;
    let (x, w, b) = operands(&device)?;
    let v = Tensor1::from_vec(&device, vec![1.0f32; 5], [5])?;
    let mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await?;
    let refused = |result: Result<Tensor1<f32>, Error>| result.map(drop).unwrap_err().to_string();
    let error = webnn.run(|| half(&v)).await;
    assert_eq!(refused(error), "kernel `half` in WebNN: the function is not marked `#[webnn]`");
    let error = webnn.run(|| fuse!(v + v)).await;
    assert!(refused(error).ends_with("in WebNN: the function is not marked `#[webnn]`"));
    let empty = Tensor1::zeros(&device, [0])?;
    let error = webnn.run(|| twice(&empty)).await;
    assert_eq!(refused(error), "kernel `twice` in WebNN: a tensor without elements, which WebNN does not have");
    let error = webnn.run(|| layer(&x, &x, &b)).await.unwrap_err();
    assert!(matches!(&error, Error::DimensionMismatch { kernel, .. } if kernel == "layer"), "{error}");
    mock.refuse("gelu");
    let error = webnn.run(|| layer(&x, &w, &b)).await.unwrap_err();
    let expected = "kernel `layer` in WebNN: `gelu` failed: TypeError: gelu is not supported by this backend";
    assert_eq!(error.to_string(), expected);
    mock.refuse("dispatch");
    let error = webnn.run(|| twice(&v)).await;
    assert_eq!(refused(error), "kernel `twice` in WebNN: TypeError: dispatch is not supported by this backend");
    // No state remains: launches run, and no tensor leaks.
    assert_eq!(twice(&v)?.to_vec().await?, [2.0; 5]);
    drop(webnn);
    assert_eq!(mock.count("live"), 0);
    Ok(())
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future waits for something"),
    }
}

#[wasm_bindgen_test]
async fn what_needs_the_end_of_a_run_is_an_error_before() -> Result<(), Error> {
    let device = device().await;
    let mut v = Tensor1::from_vec(&device, vec![1.5f32; 5], [5])?;
    let _mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await?;
    let y = webnn
        .run(|| {
            let y = twice(&v)?;
            // These operations would overtake launches that run later.
            assert_eq!(at_once(y.to_vec()).unwrap_err(), Error::Capturing { what: "reading a tensor back" });
            assert_eq!(v.write(&[0.0; 5]).unwrap_err(), Error::Capturing { what: "writing to a tensor" });
            let captured = device.capture(|| twice(&v)).map(drop).unwrap_err();
            assert_eq!(captured, Error::Capturing { what: "WebNN" });
            let nested = at_once(webnn.run(|| twice(&v))).map(drop).unwrap_err();
            assert_eq!(nested, Error::Capturing { what: "WebNN" });
            Ok(y)
        })
        .await?;
    assert_eq!(y.to_vec().await?, [3.0; 5]);
    let (_, error) = device.capture(|| Ok(at_once(webnn.run(|| twice(&v))).map(drop).unwrap_err()))?;
    assert_eq!(error, Error::Capturing { what: "WebNN" });
    Ok(())
}

/// The function as `#[webnn]` would mark it, if WebNN has all its operations.
fn marked(program: &Program) -> Option<&'static Function> {
    let graph = lower(&program.graph).ok()?;
    Some(Box::leak(Box::new(Function { webnn: Some(graph), ..program.function.clone() })))
}

/// Compares programs that WebNN can express with the interpreter's ranges; returns their number.
async fn run_marked(webnn: &WebNn, device: &Device, sweep: &mut Sweep, program: &Program, inputs: &[Value]) -> usize {
    let Some(function) = marked(program) else { return 0 };
    let arguments = Arguments::new(device, program, inputs).expect("inputs need no features");
    let results = match webnn.run(|| arguments.launch_here(function)).await {
        Ok(results) => download_all(&results).await,
        Err(Error::WebNn { reason, .. }) if reason.starts_with("a tensor without elements") => return 0,
        Err(error) => Err(error.to_string()),
    };
    sweep.compare(program, inputs, results);
    1
}

#[wasm_bindgen_test]
async fn programs_compute_what_the_interpreter_says() {
    let device = device().await;
    let mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await.expect("the mock is there");
    let (mut runs, mut programs) = (0, 0);
    for (name, source) in corpus::FILES {
        let directives = Directives::parse(source).expect("a file test");
        let compiled = compile(source);
        // WebNN rounds every `f16` operation, not only results of kernels.
        let is_half = compiled.iter().any(|program| program.graph.nodes.iter().any(|(_, node)| node.ty.dtype == F16));
        let sweep = Sweep::new(name);
        let mut sweep = if directives.wide_ranges || is_half { sweep.with_wide_ranges() } else { sweep };
        let before = runs;
        for (program, inputs) in &directives.launches(&compiled) {
            runs += run_marked(&webnn, &device, &mut sweep, program, inputs).await;
        }
        if runs > before {
            programs += 1;
            sweep.finish();
        }
    }
    assert!(programs > 20, "only {programs} file tests can be expressed");
    let used = mock.methods();
    for method in
        ["matmul", "transpose", "reshape", "slice", "gatherElements", "reduceSum", "reduceMax", "where", "cast"]
    {
        assert!(used.contains(&format!("MLGraphBuilder.{method}")), "`{method}` was not used");
    }
}

fn operations() -> Vec<String> {
    let unary = UnaryOp::ALL.iter().map(|op| unary_text(*op, "x"));
    let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||", "==", "!=", "<", "<=", ">", ">="];
    let binary = operators.iter().map(|operator| format!("x {operator} y"));
    let others =
        ["pow(x, y)", "min(x, y)", "max(x, y)", "select(x > y, x, y)", "prod(x)", "min(x)", "x as f32", "x as bool"];
    unary.chain(binary).chain(others.map(str::to_owned)).collect()
}

#[wasm_bindgen_test]
async fn operations_compute_what_the_interpreter_says() {
    let device = device().await;
    let mock = Mock::install();
    let webnn = WebNn::new(&device, WebNnOptions::default()).await.expect("the mock is there");
    let mut runs = 0;
    for dtype in [F32, F16, I32, U32, Bool] {
        for body in operations() {
            let result = if body.starts_with("prod") || body.starts_with("min(x)") { "[]" } else { "[3, N]" };
            // Operations take some dtypes only, and may change them.
            let sources = [dtype, Bool, F32]
                .map(|of| format!("fn f(x: {dtype}[3, N], y: {dtype}[N]) -> {of}{result} {{ {body} }}"));
            let Some(program) = sources.iter().find_map(|source| try_compile(source).ok()) else { continue };
            let mut sweep = Sweep::new(&format!("{dtype}: {body}"));
            let inputs = data::inputs(&program[0].graph, &[("N", 37)], 5);
            if run_marked(&webnn, &device, &mut sweep, &program[0], &inputs).await > 0 {
                runs += 1;
                sweep.finish();
            }
        }
    }
    let used = mock.methods();
    for op in UnaryOp::ALL.iter().filter(|op| !matches!(op.row().webnn, Mapping::Missing)) {
        let graph = &graphs(&format!("fn f(x: f32[N]) -> f32[N] {{ {}(x) }}", op.name()));
        let Ok([graph]) = graph.as_deref() else { continue };
        for operand in lower(graph).expect("WebNN has it").operands.iter() {
            if let MlOp::Call { method, .. } = &operand.op {
                assert!(used.contains(&format!("MLGraphBuilder.{method}")), "`{method}` was not run");
            }
        }
    }
    assert!(runs > 100, "only {runs} operations can be expressed");
}
