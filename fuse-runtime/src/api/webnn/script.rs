//! Calls of the browser's objects by name: wgpu's crates lack WebNN.

use js_sys::{
    Array, Error as JsError, Function, Object, Promise, Reflect,
    wasm_bindgen::{JsCast, JsValue},
};
use wasm_bindgen_futures::JsFuture;

use crate::context::browser::identity::property;

/// Calls `destroy` on drop.
pub(super) struct Owned(pub(super) JsValue);

impl Drop for Owned {
    fn drop(&mut self) {
        // Lost objects need no `destroy`.
        drop(call(&self.0, "destroy", &[]));
    }
}

/// The error is the exception's text.
pub(super) fn call(of: &JsValue, method: &str, arguments: &[JsValue]) -> Result<JsValue, String> {
    let function: Option<Function> = property(of, method).and_then(|value| value.dyn_into().ok());
    let function = function.ok_or_else(|| format!("there is no method `{method}`"))?;
    function.apply(of, &arguments.iter().collect::<Array>()).map_err(|error| text(&error))
}

pub(super) fn construct(class: &str, arguments: &[JsValue]) -> Result<JsValue, String> {
    let constructor: Option<Function> = property(&js_sys::global(), class).and_then(|value| value.dyn_into().ok());
    let constructor = constructor.ok_or_else(|| format!("there is no class `{class}`"))?;
    Reflect::construct(&constructor, &arguments.iter().collect::<Array>()).map_err(|error| text(&error))
}

/// The error is the rejection's text.
pub(super) async fn settled(promise: JsValue) -> Result<JsValue, String> {
    JsFuture::from(Promise::resolve(&promise)).await.map_err(|error| text(&error))
}

/// A new object: cannot fail.
pub(super) fn set(of: &Object, name: &str, value: &JsValue) {
    drop(Reflect::set(of, &name.into(), value));
}

fn text(error: &JsValue) -> String {
    match error.dyn_ref::<JsError>() {
        Some(error) => format!("{}: {}", error.name(), error.message()),
        None => format!("{error:?}"),
    }
}
