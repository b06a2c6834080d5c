//! Opening devices with `subgroups`, which wgpu 30 does not ask browsers for (wgpu#10146).
//!
//! wgpu calls `requestDevice` of the browser's adapter before it returns the future of the device. For the time of that call,
//! and of no other code of the page, the method is replaced by one that adds the feature, where the adapter has it, to what
//! wgpu asks for. The old method is back before anything is awaited.

use js_sys::{
    Array, Function, Object, Proxy, Reflect,
    wasm_bindgen::{JsCast, JsValue, closure::Closure},
};

/// The name of the feature.
const SUBGROUPS: &str = "subgroups";
/// The method that is replaced.
const METHOD: &str = "requestDevice";

/// Asks for a device, with subgroups if `subgroups` and the adapter has them. The answer is for the caller to await.
pub(crate) fn request_device(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
    subgroups: bool,
) -> impl Future<Output = Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError>> + use<> {
    let _replaced = if subgroups { Replaced::new() } else { None };
    adapter.request_device(descriptor)
}

/// Whether the device has them.
pub(super) fn has_subgroups(device: &wgpu::Device) -> bool {
    device.as_webgpu().is_some_and(|device| device.features().has(SUBGROUPS))
}

/// `GPUAdapter.prototype` with another `requestDevice`, until it drops.
struct Replaced {
    prototype: Object,
    original: Function,
    /// What JavaScript calls, which must live as long.
    _apply: Closure<dyn FnMut(Function, JsValue, Array) -> Result<JsValue, JsValue>>,
}

impl Replaced {
    /// `None` where the method cannot be replaced: the request is then made without the feature.
    fn new() -> Option<Self> {
        let adapter = Reflect::get(&js_sys::global(), &"GPUAdapter".into()).ok()?;
        let prototype: Object = Reflect::get(&adapter, &"prototype".into()).ok()?.dyn_into().ok()?;
        let original: Function = Reflect::get(&prototype, &METHOD.into()).ok()?.dyn_into().ok()?;
        let apply = Closure::new(|original: Function, adapter: JsValue, arguments: Array| {
            // Whatever is unexpected here leaves the request as wgpu made it.
            drop(add_subgroups(&adapter, &arguments.get(0)));
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

/// Adds the feature to the descriptor of a request, if the adapter has it.
fn add_subgroups(adapter: &JsValue, descriptor: &JsValue) -> Result<(), JsValue> {
    let features = Reflect::get(adapter, &"features".into())?;
    let has: Function = Reflect::get(&features, &"has".into())?.dyn_into()?;
    if has.call1(&features, &SUBGROUPS.into())?.is_truthy() {
        let required = Array::from(&Reflect::get(descriptor, &"requiredFeatures".into())?);
        required.push(&SUBGROUPS.into());
        Reflect::set(descriptor, &"requiredFeatures".into(), &required)?;
    }
    Ok(())
}
