//! Devices with features that wgpu 30 does not request from browsers: `subgroups` (wgpu#10146), and Chromium's
//! matrices.
//!
//! wgpu calls `requestDevice` before it returns a future. During that call, a replacement adds features to the request.
//! No other code of the page runs meanwhile.

use js_sys::{
    Array, Function, Object, Proxy, Reflect,
    wasm_bindgen::{JsCast, JsValue, closure::Closure},
};

/// The second feature requires the first.
const SUBGROUPS: &str = "subgroups";
#[cfg(feature = "subgroup-matrix")]
pub(super) const SUBGROUP_MATRIX: &str = "chromium-experimental-subgroup-matrix";
const METHOD: &str = "requestDevice";

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
    /// Called by JavaScript: must live as long.
    _apply: Closure<dyn FnMut(Function, JsValue, Array) -> Result<JsValue, JsValue>>,
}

impl Replaced {
    /// Replaces the method; `None` on failure: the request then lacks the features.
    fn new(names: &'static [&'static str]) -> Option<Self> {
        let adapter = Reflect::get(&js_sys::global(), &"GPUAdapter".into()).ok()?;
        let prototype: Object = Reflect::get(&adapter, &"prototype".into()).ok()?.dyn_into().ok()?;
        let original: Function = Reflect::get(&prototype, &METHOD.into()).ok()?.dyn_into().ok()?;
        let apply = Closure::new(|original: Function, adapter: JsValue, arguments: Array| {
            // Anything unexpected leaves wgpu's request unchanged.
            drop(add(names, &adapter, &arguments.get(0)));
            original.apply(&adapter, &arguments)
        });
        // A proxy: a Rust closure does not learn the object that it is called on.
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
