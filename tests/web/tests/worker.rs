//! In a dedicated worker, devices, launches and readbacks work as in a page.
#![cfg(target_arch = "wasm32")]

use fuse_gpu::{Device, Environment, Error, Tensor2, WebNn, WebNnOptions, fuse};
use fuse_test_web::has_webnn_interface;
use wasm_bindgen_test::wasm_bindgen_test;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

fuse! {
    fn probabilities(x: f32[M, N]) -> f32[M, N] {
        softmax(x)
    }
}

#[wasm_bindgen_test]
async fn kernels_run_in_workers() -> Result<(), Error> {
    let device = Device::new().await?;
    let x = Tensor2::from_vec(&device, vec![0.5f32; 21], [3, 7])?;
    let found = probabilities(&x)?.to_vec().await?;
    assert!(found.iter().all(|p| (p - 1.0 / 7.0).abs() < 1e-6), "{found:?}");
    let firefox = Environment::present() == Environment::Firefox;
    assert!(firefox || Environment::present() == Environment::Chrome);
    assert_eq!(device.info().features.subgroups > 0, !firefox);
    // These browsers have no WebNN backend.
    let Err(Error::NoWebNn { reason }) = WebNn::new(&device, WebNnOptions::default()).await else {
        panic!("no browser here has a backend")
    };
    assert_eq!(reason.contains("`createContext` failed"), has_webnn_interface(), "{reason}");
    Ok(())
}
