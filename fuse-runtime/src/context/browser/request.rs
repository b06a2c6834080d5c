//! Devices with features that wgpu 30 does not request from browsers: `subgroups` (wgpu#10146), and Chromium's
//! matrices.
//!
//! wgpu calls `requestDevice` of the browser's adapter before it returns the future of the device. During that call
//! only, the method is replaced by one that adds features of the adapter to wgpu's request. No other code of the page
//! runs meanwhile, and the old method is back before anything is awaited.

use js_sys::{
    Array, Function, Object, Proxy, Reflect,
    wasm_bindgen::{JsCast, JsValue, closure::Closure},
};

/// Names of the features; the second requires the first.
const SUBGROUPS: &str = "subgroups";
#[cfg(feature = "subgroup-matrix")]
pub(super) const SUBGROUP_MATRIX: &str = "chromium-experimental-subgroup-matrix";
/// The replaced method.
const METHOD: &str = "requestDevice";

/// Features to add to wgpu's request, if the adapter has them.
#[derive(Clone, Copy)]
pub(crate) struct AdapterRequest {
    pub(crate) subgroups: bool,
    #[cfg_attr(not(feature = "subgroup-matrix"), expect(dead_code, reason = "pages without it never ask"))]
    pub(crate) matrices: bool,
}

impl AdapterRequest {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self { subgroups: false, .. } => &[],
            #[cfg(feature = "subgroup-matrix")]
            Self { matrices: true, .. } => &[SUBGROUPS, SUBGROUP_MATRIX],
            Self { .. } => &[SUBGROUPS],
        }
    }
}

/// Requests a device with these features. The caller awaits the answer.
pub(crate) fn request_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    wanted: AdapterRequest,
) -> impl Future<Output = Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError>> + use<> {
    let names = wanted.names();
    let _replaced = if names.is_empty() { None } else { Replaced::new(names) };
    adapter.request_device(descriptor)
}

pub(super) fn has_subgroups(device: &wgpu::Device) -> bool {
    has(device, SUBGROUPS)
}

pub(super) fn has(device: &wgpu::Device, feature: &str) -> bool {
    device.as_webgpu().is_some_and(|device| device.features().has(feature))
}

/// `GPUAdapter.prototype` with a replaced `requestDevice`, until dropped.
struct Replaced {
    prototype: Object,
    original: Function,
    /// The function that JavaScript calls, which must live as long.
    _apply: Closure<dyn FnMut(Function, JsValue, Array) -> Result<JsValue, JsValue>>,
}

impl Replaced {
    /// Replaces the method; `None` if that fails: the request is then made without the features.
    fn new(names: &'static [&'static str]) -> Option<Self> {
        let adapter = Reflect::get(&js_sys::global(), &"GPUAdapter".into()).ok()?;
        let prototype: Object = Reflect::get(&adapter, &"prototype".into()).ok()?.dyn_into().ok()?;
        let original: Function = Reflect::get(&prototype, &METHOD.into()).ok()?.dyn_into().ok()?;
        let apply = Closure::new(|original: Function, adapter: JsValue, arguments: Array| {
            // Anything unexpected here leaves wgpu's request unchanged.
            drop(add(names, &adapter, &arguments.get(0)));
            original.apply(&adapter, &arguments)
        });
        // A proxy, because a Rust closure does not learn the object that it is called on.
        let handler = Object::new();
        Reflect::set(&handler, &"apply".into(), apply.as_ref()).ok()?;
        let replaced = Self { prototype, original, _apply: apply };
        Reflect::set(&replaced.prototype, &METHOD.into(), &Proxy::new(&replaced.original, &handler)).ok()?;
        Some(replaced)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // Cannot fail, because replacing it worked.
        drop(Reflect::set(&self.prototype, &METHOD.into(), &self.original));
    }
}

/// Adds the adapter's features among `names` to the descriptor of a request.
fn add(names: &[&str], adapter: &JsValue, descriptor: &JsValue) -> Result<(), JsValue> {
    let features = Reflect::get(adapter, &"features".into())?;
    let has: Function = Reflect::get(&features, &"has".into())?.dyn_into()?;
    let required = Array::from(&Reflect::get(descriptor, &"requiredFeatures".into())?);
    for name in names {
        if has.call1(&features, &(*name).into())?.is_truthy() {
            required.push(&(*name).into());
        }
    }
    Reflect::set(descriptor, &"requiredFeatures".into(), &required).map(drop)
}
