//! Lazy tensors, compiled and evaluated in the page.

use fuse_gpu::{
    Tensor1, Tensor2,
    auto::{DType, Error, FusionConfig, LazyTensor, eval_all, grad, record_text, stats, warm_up_text, with_config},
    fuse,
};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::device;

fuse! {
    fn layer(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] {
        gelu(matmul(x, w) + b)
    }

    fn slope(x: f32[M, K], w: f32[K, N], b: f32[N]) -> (f32, f32[K, N]) {
        let loss = mean(gelu(matmul(x, w) + b));
        let dw = grad(loss, wrt = w);
        (loss, dw)
    }
}

fn near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{a} and not {b}");
    }
}

#[wasm_bindgen_test]
async fn layers_and_gradients_equal_those_of_fuse() -> Result<(), Error> {
    let device = device().await;
    let mut compiled = 0;
    for (rows, columns) in [(5, 7), (33, 20), (2, 65)] {
        let x = Tensor2::<f32>::randn(&device, [rows, 13], 1)?;
        let w = Tensor2::<f32>::randn(&device, [13, columns], 2)?;
        let b = Tensor1::<f32>::randn(&device, [columns], 3)?;
        let [lx, lw] = [&x, &w].map(LazyTensor::from);
        let y = (lx.matmul(&lw)? + LazyTensor::from(&b)).gelu()?;
        near(&y.to_vec::<f32>().await?, &layer(&x, &w, &b)?.to_vec().await?);
        let loss = (lx.matmul(&lw)? + LazyTensor::from(&b)).gelu()?.mean(())?;
        let dw = grad(&loss, &[&lw])?.remove(0);
        eval_all(&[&loss, &dw])?;
        let (expected, slopes) = slope(&x, &w, &b)?;
        near(&loss.to_vec::<f32>().await?, &expected.to_vec().await?);
        near(&dw.to_vec::<f32>().await?, &slopes.to_vec().await?);
        let now = stats(&device).compiled;
        assert!(compiled == 0 || now == compiled, "{}", stats(&device));
        compiled = now;
    }
    Ok(())
}

#[wasm_bindgen_test]
async fn unfused_and_kept() -> Result<(), Error> {
    let device = device().await;
    let x = LazyTensor::from(&Tensor2::<f32>::rand(&device, [9, 31], 4)?);
    let run = || -> Result<LazyTensor, Error> {
        let y = (&x * 3.0 - 1.0).softmax(1)?.cast(DType::I32)?.cast(DType::F32)?.sum(0)?;
        y.eval()?;
        Ok(y)
    };
    let fused = run()?.to_vec::<f32>().await?;
    let off = FusionConfig { enabled: false, ..FusionConfig::default() };
    near(&with_config(&device, off, run)?.to_vec::<f32>().await?, &fused);
    let text = record_text(&device);
    let warm = warm_up_text(&device, &text)?;
    assert!(warm.functions >= 2 && warm.wait().is_empty());
    assert!(x.matmul(&x).is_err());
    Ok(())
}
