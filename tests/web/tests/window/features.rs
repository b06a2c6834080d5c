//! Features that an adapter has or lacks, and requests for subgroups.

use fuse_gpu::{AdapterKind, Device, Environment, Error, Tensor1, Tensor2, f16, fuse};
use js_sys::{Function, Reflect, wasm_bindgen::JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{device, firefox, new_device};

fuse! {
    fn double(x: f16[N]) -> f16[N] {
        x + x
    }

    fn row_sums(x: f32[M, N]) -> f32[M] {
        sum(x, axis = 1)
    }
}

fn request_method() -> JsValue {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).expect("browsers with WebGPU have it");
    get(&get(&get(&js_sys::global(), "GPUAdapter"), "prototype"), "requestDevice")
}

#[wasm_bindgen_test]
async fn f16_runs_where_the_adapter_has_it_and_is_refused_elsewhere() {
    for device in [device().await, Device::builder().without_f16().build().await.unwrap()] {
        let x = Tensor1::from_vec(&device, vec![f16::from_f32(1.5); 5], [5]).unwrap();
        match double(&x) {
            Ok(y) => assert_eq!(y.to_vec().await.unwrap(), [f16::from_f32(3.0); 5]),
            Err(error) => {
                assert!(!device.info().features.f16, "{error}");
                assert!(
                    matches!(&error, Error::MissingFeature { feature, .. } if feature.contains("16-bit")),
                    "{error}"
                );
            }
        }
    }
}

#[wasm_bindgen_test]
async fn subgroups_are_there_where_the_adapter_has_them() {
    let device = device().await;
    assert_eq!(device.info().features.subgroups > 0, !firefox());
    let without = Device::builder().without_subgroups().build().await.unwrap();
    assert_eq!(without.info().features.subgroups, 0);
    // Only such devices run variants with subgroup operations.
    let kernel = &row_sums::FUNCTION.kernels[0];
    let variants = kernel.variants.iter().filter(|variant| variant.features.subgroups > 0);
    for device in [&device, &without] {
        let x = Tensor2::from_vec(device, (0..400).map(|i| i as f32).collect(), [2, 200]).unwrap();
        let (present, mut ran) = (device.info().features.subgroups, 0);
        for variant in variants.clone() {
            device.force_variant(Some(&variant.name));
            let sums = row_sums(&x);
            device.force_variant(None);
            match sums {
                Ok(sums) => {
                    assert_eq!(sums.to_vec().await.unwrap(), [19_900.0, 59_900.0], "{}", variant.name);
                    ran += 1;
                }
                Err(error) => assert!(matches!(error, Error::Variant { .. } | Error::MissingFeature { .. }), "{error}"),
            }
        }
        let needed = variants.clone().map(|variant| variant.features.subgroups).min();
        assert_eq!(ran > 0, needed.is_some_and(|needed| present >= needed), "{} on {}", ran, device.info().name);
    }
}

#[wasm_bindgen_test]
async fn only_our_own_request_is_changed() {
    let before = request_method();
    let opening = new_device();
    assert_eq!(request_method(), before, "nothing has been asked yet");
    drop(opening.await);
    assert_eq!(request_method(), before, "the method is as it was");

    // Our requests include subgroups, if the adapter has them; other code's requests do not.
    let watch = "const original = GPUAdapter.prototype.requestDevice;
        globalThis.seen = [];
        GPUAdapter.prototype.requestDevice = function (descriptor) {
            globalThis.seen.push([...(descriptor?.requiredFeatures ?? [])].includes('subgroups'));
            return original.call(this, descriptor);
        };
        return original;";
    let original = Function::new_no_args(watch).call0(&JsValue::NULL).unwrap();
    drop(new_device().await);
    let foreign = "return navigator.gpu.requestAdapter().then(adapter => adapter.requestDevice())";
    let promise = Function::new_no_args(foreign).call0(&JsValue::NULL).unwrap();
    wasm_bindgen_futures::JsFuture::from(js_sys::Promise::from(promise)).await.unwrap();
    drop(Device::builder().without_subgroups().build().await);
    let restore = Function::new_with_args("original", "GPUAdapter.prototype.requestDevice = original; return seen");
    let seen = js_sys::Array::from(&restore.call1(&JsValue::NULL, &original).unwrap());
    let seen: Vec<bool> = seen.iter().map(|seen| seen.is_truthy()).collect();
    assert_eq!(seen, [!firefox(), false, false]);
}

#[wasm_bindgen_test]
async fn a_refused_request_is_an_error_and_leaves_the_page_as_it_was() {
    let before = request_method();
    let refuse = "const original = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = () => Promise.reject(new TypeError('refused'));
        return original;";
    let original = Function::new_no_args(refuse).call0(&JsValue::NULL).unwrap();
    let refusing = request_method();
    let error = Device::new().await.unwrap_err();
    assert!(matches!(&error, Error::DeviceRequest { .. }), "{error}");
    assert_eq!(request_method(), refusing, "also after a refusal the method is the page's own");
    let restore = Function::new_with_args("original", "GPUAdapter.prototype.requestDevice = original");
    restore.call1(&JsValue::NULL, &original).unwrap();
    assert_eq!(request_method(), before);
    drop(new_device().await);
}

#[wasm_bindgen_test]
async fn browser_and_adapter_are_known() {
    let expected = if firefox() { Environment::Firefox } else { Environment::Chrome };
    assert_eq!(Environment::present(), expected);
    let device = device().await;
    let (name, vendor) = (&device.info().name, &device.info().vendor);
    match device.info().kind {
        // Firefox reveals nothing about adapters.
        _ if firefox() => assert_eq!((&**name, &**vendor), ("", "unknown vendor")),
        AdapterKind::Software => {
            assert!(name.starts_with("google swiftshader") && vendor == "Google", "`{name}` of `{vendor}`")
        }
        _ => assert!(
            name.split(' ').next().is_some_and(|first| first.eq_ignore_ascii_case(vendor)),
            "`{name}` of `{vendor}`"
        ),
    }
}
