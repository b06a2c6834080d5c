//! Opening devices with features that wgpu 30 does not ask browsers for: `subgroups` (wgpu#10146), and Chromium's matrices.
//!
//! wgpu calls `requestDevice` of the browser's adapter before it returns the future of the device. For the time of that call,
//! and of no other code of the page, the method is replaced by one that adds the features, where the adapter has them, to what
//! wgpu asks for. The old method is back before anything is awaited.

use js_sys::{
    Array, Function, Object, Proxy, Reflect,
    wasm_bindgen::{JsCast, JsValue, closure::Closure},
};

/// The names of the features; the second is of use with the first only.
const SUBGROUPS: &str = "subgroups";
#[cfg(feature = "subgroup-matrix")]
pub(super) const SUBGROUP_MATRIX: &str = "chromium-experimental-subgroup-matrix";
/// The method that is replaced.
const METHOD: &str = "requestDevice";

/// What is asked for besides what wgpu asks for, where the adapter has it.
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

/// Asks for a device with what is wanted. The answer is for the caller to await.
pub(crate) fn request_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    wanted: AdapterRequest,
) -> impl Future<Output = Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError>> + use<> {
    let names = wanted.names();
    let _replaced = if names.is_empty() { None } else { Replaced::new(names) };
    adapter.request_device(descriptor)
}

/// Whether the device has subgroups.
pub(super) fn has_subgroups(device: &wgpu::Device) -> bool {
    has(device, SUBGROUPS)
}

/// Whether the device has a feature.
pub(super) fn has(device: &wgpu::Device, feature: &str) -> bool {
    device.as_webgpu().is_some_and(|device| device.features().has(feature))
}

/// `GPUAdapter.prototype` with another `requestDevice`, until it drops.
struct Replaced {
    prototype: Object,
    original: Function,
    /// What JavaScript calls, which must live as long.
    _apply: Closure<dyn FnMut(Function, JsValue, Array) -> Result<JsValue, JsValue>>,
}

impl Replaced {
    /// `None` where the method cannot be replaced: the request is then made without the features.
    fn new(names: &'static [&'static str]) -> Option<Self> {
        let adapter = Reflect::get(&js_sys::global(), &"GPUAdapter".into()).ok()?;
        let prototype: Object = Reflect::get(&adapter, &"prototype".into()).ok()?.dyn_into().ok()?;
        let original: Function = Reflect::get(&prototype, &METHOD.into()).ok()?.dyn_into().ok()?;
        let apply = Closure::new(|original: Function, adapter: JsValue, arguments: Array| {
            // Whatever is unexpected here leaves the request as wgpu made it.
            drop(add(names, &adapter, &arguments.get(0)));
            original.apply(&adapter, &arguments)
        });
        // A proxy, because a function of Rust does not learn on which object it is called.
        let handler = Object::new();
        Reflect::set(&handler, &"apply".into(), apply.as_ref()).ok()?;
        let replaced = Self { prototype, original, _apply: apply };
        Reflect::set(&replaced.prototype, &METHOD.into(), &Proxy::new(&replaced.original, &handler)).ok()?;
        Some(replaced)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // What could be replaced a moment ago can be replaced again.
        drop(Reflect::set(&self.prototype, &METHOD.into(), &self.original));
    }
}

/// Adds features to the descriptor of a request, as far as the adapter has them.
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
