// Asks for the browser's device before the module that will want it is there, so that the GPU's driver and the network work at the
// same time: `import "./early.js"` before anything else, on the page or in the worker that has the module. The first request there
// gets this device; others, and all where the early request fails, ask as ever. It has what `Device::new` asks for: every limit of
// the adapter, and these features.
const FEATURES = ["shader-f16", "subgroups", "timestamp-query", "chromium-experimental-subgroup-matrix"];

async function asked() {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  const requiredFeatures = FEATURES.filter((name) => adapter.features.has(name));
  const requiredLimits = {};
  for (const name in adapter.limits) requiredLimits[name] = adapter.limits[name];
  return adapter.requestDevice({ requiredFeatures, requiredLimits });
}

if (navigator.gpu) {
  const { requestDevice } = GPUAdapter.prototype;
  let device = asked();
  device.catch(() => {});
  GPUAdapter.prototype.requestDevice = function (...wanted) {
    const early = device;
    device = undefined;
    const ask = () => requestDevice.apply(this, wanted);
    return early ? early.catch(ask) : ask();
  };
}
