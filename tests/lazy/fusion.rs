//! Patterns, configurations, explanations and statistics.

use std::collections::BTreeSet;

use fuse_gpu::{
    AdapterKind, Backend, QuantScheme, Tensor1, Tensor2,
    auto::{
        Activation, BinaryOp, Dim, Error, FusionConfig, FusionPattern, LazyTensor, Packing, WeightQuantization,
        benchmark_pattern, configure, create_pattern, eval_all, execute_fused, explain, stats, with_config,
    },
};

use super::{assert_near, device, lazy, random};

fn gate(a: &[f32], b: &[f32], c: &[f32]) -> Vec<f32> {
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    (0..a.len()).map(|i| sigmoid(a[i] * b[i] + c[i])).collect()
}

#[test]
fn sequences_by_name() -> Result<(), Error> {
    let device = device();
    let [(a, x), (b, y), (c, z)] = [1, 2, 3].map(|seed| lazy(&device, [37], seed));
    let fused = execute_fused(&[&a, &b, &c], &["multiply", "add", "sigmoid"])?;
    assert_near(&fused.to_vec_blocking::<f32>()?, &gate(&x, &y, &z), 1e-6);
    let (m, n) = (lazy(&device, [5, 6], 4).0, lazy(&device, [6, 8], 5).0);
    let before = stats(&device);
    let product = execute_fused(&[&m, &n], &["matmul", "relu"])?;
    assert_eq!(stats(&device).launches - before.launches, 1);
    assert_eq!(product.to_vec_blocking::<f32>()?, m.matmul(&n)?.relu()?.to_vec_blocking::<f32>()?);
    let names = ["subtract", "divide", "tanh", "reshape(2, 20)", "transpose", "softmax"];
    let square = lazy(&device, [5, 8], 6).0;
    let y = execute_fused(&[&product, &square, &square], &names)?;
    assert_eq!(y.shape()?, [20, 2]);
    for (values, names) in [
        (vec![&a], vec!["add"]),
        (vec![&a, &b, &c], vec!["add"]),
        (vec![], vec!["relu"]),
        (vec![&a], vec!["conv"]),
        (vec![&a], vec!["reshape(x)"]),
        (vec![&a], vec!["relu(3)"]),
        (vec![&a], vec!["reshape(5, 5)"]),
    ] {
        assert!(execute_fused(&values, &names).is_err(), "{names:?}");
    }
    for (names, is_one) in [
        (&["multiply", "add", "sigmoid"][..], true),
        (&["matmul", "relu"], true),
        (&["add", "multiply"], true),
        (&["matmul", "softmax"], true),
        (&["exp", "pow", "neg", "log_softmax"], true),
        (&["cumsum"], false),
        (&["matmul", "tanh", "matmul", "matmul"], false),
        (&["convolve"], false),
        (&[], false),
    ] {
        assert_eq!(create_pattern(names), is_one, "{names:?}");
    }
    Ok(())
}

#[test]
fn patterns_are_found_and_explained() -> Result<(), Error> {
    let device = device();
    let (x, w, b) = (lazy(&device, [64, 48], 1).0, lazy(&device, [48, 32], 2).0, lazy(&device, [32], 3).0);
    let (u, v) = (lazy(&device, [64, 32], 4).0, lazy(&device, [32], 5).0);
    let keys = lazy(&device, [16, 48], 6).0;
    let linear = FusionPattern::LinearLayer { has_bias: true, activation: Some(Activation::Relu) };
    let cases: Vec<(LazyTensor, FusionPattern)> = vec![
        (x.matmul(&w)?.add(&b)?.relu()?, linear),
        (x.matmul(&w)?.gelu()?, FusionPattern::LinearLayer { has_bias: false, activation: Some(Activation::Gelu) }),
        (
            u.add(&v)?.silu()?,
            FusionPattern::BinaryActivation { binary_op: BinaryOp::Add, activation: Activation::Silu },
        ),
        (
            u.mul(3.0)?.tanh()?,
            FusionPattern::ScalarActivation { scalar_op: BinaryOp::Mul, activation: Activation::Tanh },
        ),
        (u.add(&v)?.exp()?, FusionPattern::BinaryUnary),
        (u.add(&v)?.mul(&u)?.sub(1.0)?, FusionPattern::ElementWiseChain),
        (u.relu()?.sigmoid()?, FusionPattern::ActivationChain),
        (u.transpose()?.exp()?, FusionPattern::ReshapeOp),
        (u.layer_norm(&b, &v, 1e-5)?.gelu()?, FusionPattern::NormActivation),
        (x.matmul(&keys.transpose()?)?.mul(0.2)?.softmax(-1)?.matmul(&keys)?, FusionPattern::AttentionPattern),
    ];
    for (value, pattern) in cases {
        let explained = explain(&[&value])?;
        let found: Vec<FusionPattern> = explained.opportunities.iter().map(|found| found.pattern).collect();
        assert_eq!(found, [pattern], "{}", explained.source);
        let best = &explained.opportunities[0];
        assert!(best.estimated_speedup > 1.0 && best.node_ids.len() > 1 && best.memory_savings > 0, "{best:?}");
        let before = stats(&device).by_pattern.get(&pattern).copied().unwrap_or(0);
        value.eval()?;
        assert_eq!(stats(&device).by_pattern[&pattern], before + 1);
        assert!(pattern.is_a(pattern));
    }
    assert!(linear.is_a(FusionPattern::LinearActivation));
    let summary = stats(&device).summary();
    assert!(summary.total_fusions >= 10 && summary.patterns_used.len() >= 9 && summary.average_speedup.is_none());
    Ok(())
}

#[test]
fn patterns_can_be_turned_off() -> Result<(), Error> {
    let device = device();
    let (x, w, b) = (lazy(&device, [19, 23], 1).0, lazy(&device, [23, 29], 2).0, lazy(&device, [29], 3).0);
    let run = || -> Result<(Vec<f32>, u64, u64), Error> {
        let before = stats(&device);
        let y = x.matmul(&w)?.add(&b)?.relu()?;
        let values = y.to_vec_blocking()?;
        let after = stats(&device);
        Ok((values, after.launches - before.launches, after.bytes_saved - before.bytes_saved))
    };
    let (fused, launches, saved) = run()?;
    // Two values of 19 × 29 numbers stay in the kernel.
    assert_eq!((launches, saved), (1, 2 * 2 * 4 * 19 * 29));
    let only = |patterns: &[FusionPattern]| FusionConfig {
        enabled_patterns: Some(patterns.iter().copied().collect::<BTreeSet<_>>()),
        ..FusionConfig::default()
    };
    let (apart, launches, saved) = with_config(&device, only(&[FusionPattern::ElementWiseChain]), run)?;
    assert_eq!((launches, saved), (3, 0));
    assert_near(&apart, &fused, 1e-6);
    assert_eq!(with_config(&device, only(&[FusionPattern::LinearActivation]), run)?.1, 1);
    assert_eq!(with_config(&device, only(&[]), run)?.1, 3);
    let launches = |config: FusionConfig, graph: &dyn Fn() -> Result<Vec<LazyTensor>, Error>| {
        with_config(&device, config, || -> Result<(u64, String), Error> {
            let values = graph()?;
            let values: Vec<&LazyTensor> = values.iter().collect();
            let (explanation, before) = (explain(&values)?.plan.to_string(), stats(&device).launches);
            eval_all(&values)?;
            Ok((stats(&device).launches - before, explanation))
        })
    };
    let twice = || -> Result<Vec<LazyTensor>, Error> {
        let y = x.relu()?;
        Ok(vec![y.mul(2.0)?.add(&y)?])
    };
    let kept = || -> Result<Vec<LazyTensor>, Error> {
        let y = x.relu()?;
        Ok(vec![y.mul(2.0)?, y])
    };
    let layers = || -> Result<Vec<LazyTensor>, Error> {
        let y = x.matmul(&w)?;
        Ok(vec![y.add(&b)?.relu()?, y.sum(1)?, y])
    };
    for (graph, count) in [(&twice as &dyn Fn() -> _, 3), (&kept, 2), (&layers, 4)] {
        let (apart, explanation) = launches(only(&[]), graph)?;
        assert_eq!(apart, count, "{explanation}");
        assert!(launches(FusionConfig::default(), graph)?.0 < count);
    }
    let info = device.info().clone();
    let config = |backends, adapter_kinds| FusionConfig { backends, adapter_kinds, ..FusionConfig::default() };
    for (config, launches) in [
        (config(Some(vec![info.backend]), Some(vec![info.kind])), 1),
        (config(Some(vec![Backend::Metal, Backend::Dx12]), None), 3),
        (config(None, Some([AdapterKind::Discrete].into_iter().filter(|kind| *kind != info.kind).collect())), 3),
    ] {
        assert_eq!(with_config(&device, config, run)?.1, launches);
    }
    Ok(())
}

#[test]
fn weights_are_quantized_where_that_is_wanted() -> Result<(), Error> {
    let device = device();
    let (x, w) = (lazy(&device, [7, 64], 1).0, random(&device, [64, 96], 2));
    let weight = LazyTensor::weight(&w);
    let exact = x.matmul(&weight)?.relu()?.to_vec_blocking::<f32>()?;
    let scheme = QuantScheme::asymmetric().per_group(32);
    let config = |packing| FusionConfig {
        quantize_weights: Some(WeightQuantization { packing, scheme }),
        ..FusionConfig::default()
    };
    for (packing, tolerance) in [(Packing::Q8, 0.1), (Packing::Q4, 2.0)] {
        configure(&device, config(packing));
        let y = x.matmul(&weight)?.relu()?;
        let explained = explain(&[&y])?;
        assert!(explained.source.contains(&format!("{}[", packing.name())), "{}", explained.source);
        let rounded = y.to_vec_blocking::<f32>()?;
        assert_ne!(rounded, exact);
        assert_near(&rounded, &exact, tolerance);
        // Transposed, too; not if anything else reads it.
        let y = x.matmul(&LazyTensor::weight(&random(&device, [96, 64], 3)).transpose()?)?;
        assert!(explain(&[&y])?.source.contains(packing.name()));
        let y = x.matmul(&weight)?.add(weight.sum(0)?)?;
        assert!(!explain(&[&y])?.source.contains(packing.name()));
    }
    configure(&device, FusionConfig::default());
    assert_eq!(x.matmul(&weight)?.relu()?.to_vec_blocking::<f32>()?, exact);
    // Other weights stay unchanged, and are named.
    let wrong = LazyTensor::weight(&Tensor2::full(&device, f32::INFINITY, [64, 32])?);
    let read_twice = LazyTensor::weight(&random(&device, [64, 32], 4));
    with_config(&device, config(Packing::Q4), || -> Result<(), Error> {
        let y = (x.matmul(&wrong)? + x.matmul(&read_twice)?).add(read_twice.sum(0)?)?;
        let explained = explain(&[&y])?;
        assert!(!explained.source.contains("q4"), "{}", explained.source);
        let [infinite, other] = &explained.unquantized[..] else { panic!("{:?}", explained.unquantized) };
        assert!(infinite.contains("f32[64, 32]") && infinite.contains("finite"), "{infinite}");
        assert!(other.contains("products alone"), "{other}");
        assert!(y.to_vec_blocking::<f32>()?.iter().all(|y| !y.is_finite()));
        let stats = stats(&device);
        assert!(stats.unquantized.contains(infinite) && stats.to_string().contains("not quantized"), "{stats}");
        Ok(())
    })?;
    // Writing to a weight requantizes it.
    let mut table = Tensor2::<f32>::full(&device, 1.0, [64, 32])?;
    let rewritten = LazyTensor::weight(&table);
    for factor in [1.0f32, -2.0] {
        table.write(&[factor; 64 * 32])?;
        let y = with_config(&device, config(Packing::Q8), || x.matmul(&rewritten)?.to_vec_blocking::<f32>())?;
        let sums = (x.sum(1)? * factor).to_vec_blocking::<f32>()?;
        let expected: Vec<f32> = sums.iter().flat_map(|sum| [*sum; 32]).collect();
        assert_near(&y, &expected, 1e-3);
    }
    Ok(())
}

#[test]
fn the_faster_one_stays() -> Result<(), Error> {
    let device = device();
    configure(&device, FusionConfig { adaptive: true, ..FusionConfig::default() });
    let (x, values) = lazy(&device, [1000], 1);
    for round in 0..5 {
        let y = (&x * 2.0 + round as f32).exp()?;
        let expected: Vec<f32> = values.iter().map(|x| (x * 2.0 + round as f32).exp()).collect();
        assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
    }
    let told = stats(&device);
    assert_eq!(told.measured.values().map(Vec::len).sum::<usize>(), 1, "{told}");
    assert!(told.summary().average_speedup.is_some_and(|speedup| speedup > 0.0));
    let text = fuse_gpu::auto::record_text(&device);
    assert!(text.contains("// adaptive lazy_"), "{text}");
    Ok(())
}

#[test]
fn every_pattern_can_be_measured() -> Result<(), Error> {
    let device = device();
    let patterns = [
        FusionPattern::BinaryActivation { binary_op: BinaryOp::Div, activation: Activation::Elu },
        FusionPattern::LinearLayer { has_bias: true, activation: None },
        FusionPattern::ScalarActivation { scalar_op: BinaryOp::Sub, activation: Activation::LeakyRelu },
        FusionPattern::LinearActivation,
        FusionPattern::ElementWiseChain,
        FusionPattern::BinaryUnary,
        FusionPattern::ReshapeOp,
        FusionPattern::ActivationChain,
        FusionPattern::NormActivation,
        FusionPattern::AttentionPattern,
        FusionPattern::MatrixChain,
        FusionPattern::QuantizedMatmul,
        FusionPattern::QuantizedMatmulActivation,
        FusionPattern::QuantizedAttention,
        FusionPattern::Other,
    ];
    for pattern in patterns {
        let result = benchmark_pattern(&device, pattern, 1024)?;
        assert!(result.speedup > 0.0 && result.fused_time_ms > 0.0 && result.tensor_size >= 1024, "{result:?}");
    }
    assert_eq!(stats(&device).measured.len(), patterns.len());
    Ok(())
}

#[test]
fn a_number_that_varies_is_told() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [4, 32], 1);
    for after in 1..=9 {
        x.pad(1, 0, after, 0.0)?.exp()?.eval()?;
    }
    let told = stats(&device).varying;
    assert!(told.len() == 1 && told[0].contains("pad(x0, axis = 1, before = 0, after = ?"), "{told:?}");
    let misses = stats(&device).misses;
    for extent in 1..=9 {
        let part = Tensor1::<f32>::zeros(&device, [extent + 1])?;
        x.pad(1, 0, LazyTensor::from(&part).dim(0), 0.0)?.exp()?.eval()?;
        x.pad(1, 0, Dim::open(extent), 0.0)?.exp()?.eval()?;
        x.slice(1, extent, 2 * extent)?.exp()?.eval()?;
    }
    assert_eq!((stats(&device).varying.len(), stats(&device).misses), (1, misses + 3));
    Ok(())
}
