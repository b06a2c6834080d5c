//! Identity of the browser, and its description of the adapter.

use js_sys::{
    Array, Function, Reflect,
    wasm_bindgen::{JsCast, JsValue},
};

use super::request::has_subgroups;
#[cfg(feature = "subgroup-matrix")]
use super::request::{SUBGROUP_MATRIX, has};
use crate::context::vendors::vendor_id;

const PACKED_DOT: &str = "packed_4x8_integer_dot_product";

/// User agent and client hint brands, from `navigator`, in pages and workers.
pub(crate) fn user_agent() -> (String, Vec<String>) {
    let Some(navigator) = property(&js_sys::global(), "navigator") else { return (String::new(), vec![]) };
    let agent = property(&navigator, "userAgent").and_then(|agent| agent.as_string()).unwrap_or_default();
    let brands = property(&navigator, "userAgentData").and_then(|hints| property(&hints, "brands"));
    let brands = brands.map(|brands| Array::from(&brands)).unwrap_or_default();
    let brands: Vec<String> = brands.iter().filter_map(|brand| property(&brand, "brand")?.as_string()).collect();
    (agent, brands)
}

/// Completes wgpu's description with vendor, name if the browser tells one, and subgroups.
pub(crate) fn describe(adapter: &wgpu::Adapter, device: &wgpu::Device) -> (wgpu::AdapterInfo, wgpu::Features) {
    let (mut info, mut features) = (adapter.get_info(), device.features());
    if let Some(names) = device.as_webgpu().map(|device| device.adapter_info()) {
        info.vendor = vendor_id(&names.vendor());
        let parts = [names.vendor(), names.architecture(), names.device(), names.description()];
        info.name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    }
    features.set(wgpu::Features::SUBGROUP, has_subgroups(device));
    #[cfg(feature = "subgroup-matrix")]
    features.set(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX, has(device, SUBGROUP_MATRIX));
    (info, features)
}

/// Matrices of floats.
#[cfg(feature = "subgroup-matrix")]
pub(crate) fn matrices(device: &wgpu::Device) -> Vec<wgpu::CooperativeMatrixProperties> {
    let listed = device.as_webgpu().and_then(|device| property(&device.adapter_info(), "subgroupMatrixConfigs"));
    let listed = listed.map(|listed| Array::from(&listed)).unwrap_or_default();
    let text = |of: &JsValue, name: &str| property(of, name).and_then(|value| value.as_string());
    let size = |of: &JsValue, name: &str| property(of, name).and_then(|value| value.as_f64()).map(|size| size as u32);
    let dtype = |of: &JsValue, name: &str| match &*text(of, name)? {
        "f16" => Some(wgpu::CooperativeScalarType::F16),
        "f32" => Some(wgpu::CooperativeScalarType::F32),
        _ => None,
    };
    let properties = |of: JsValue| {
        Some(wgpu::CooperativeMatrixProperties {
            m_size: size(&of, "M")?,
            n_size: size(&of, "N")?,
            k_size: size(&of, "K")?,
            ab_type: dtype(&of, "componentType")?,
            cr_type: dtype(&of, "resultComponentType")?,
            saturating_accumulation: false,
        })
    };
    listed.iter().filter_map(properties).collect()
}

pub(crate) fn has_packed_dot() -> bool {
    let gpu = property(&js_sys::global(), "navigator").and_then(|navigator| property(&navigator, "gpu"));
    let features = gpu.and_then(|gpu| property(&gpu, "wgslLanguageFeatures"));
    let has = features.as_ref().and_then(|features| property(features, "has")).and_then(|has| has.dyn_into().ok());
    let has = features.zip(has).and_then(|(of, has): (_, Function)| has.call1(&of, &PACKED_DOT.into()).ok());
    has.is_some_and(|has| has.is_truthy())
}

pub(crate) fn property(of: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(of, &name.into()).ok().filter(|value| !value.is_undefined() && !value.is_null())
}
