// What all libraries on the page share: the devices that they open, and one way of waiting for them.

/// Devices in the order in which they were opened, whoever did.
export const devices = [];

const requestDevice = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (...descriptor) {
  const device = await requestDevice.apply(this, descriptor);
  devices.push({ device, info: this.info ?? device.adapterInfo ?? {} });
  return device;
};

export const firefox = navigator.userAgent.includes("Firefox/");

/// Waits until a promise of the GPU is kept. Firefox looks at its device every 100 ms or at a submission only, so something is
/// submitted now and then: nothing. All libraries are waited for like this, also those that would wait for 100 ms by themselves.
export async function answered(queue, promise) {
  if (firefox) {
    let done = false;
    const settled = () => { done = true; };
    promise.then(settled, settled);
    const start = performance.now();
    while (!done) {
      queue.submit([]);
      const waited = performance.now() - start;
      await new Promise((resolve) => setTimeout(resolve, Math.min(20, waited / 20)));
    }
  }
  return promise;
}

/// Waits for all that was submitted.
export const finished = (queue) => answered(queue, queue.onSubmittedWorkDone());

/// Counts what is asked of the browser from now on; a function that gives the counts since it was called last.
export function counted() {
  const counts = {};
  for (const [type, method] of [[GPUQueue, "submit"], [GPUDevice, "createBuffer"], [GPUDevice, "createBindGroup"]]) {
    const original = type.prototype[method];
    counts[method] = 0;
    type.prototype[method] = function (...given) {
      counts[method] += 1;
      return original.apply(this, given);
    };
  }
  return () => {
    const since = { ...counts };
    Object.keys(counts).forEach((method) => { counts[method] = 0; });
    return since;
  };
}

/// The adapter, asked for again without a preference: Chromium's first answer may be that there is none.
export const adapter = async () =>
  await navigator.gpu.requestAdapter({ powerPreference: "high-performance" }) ?? await navigator.gpu.requestAdapter();

const STORAGE = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;

/// A buffer of so many bytes for kernels, which can be read.
export const buffer = (device, size) => device.createBuffer({ size, usage: STORAGE });

/// One that holds numbers.
export function uploaded(device, data) {
  const made = buffer(device, data.byteLength);
  device.queue.writeBuffer(made, 0, data);
  return made;
}

/// The numbers in a buffer that can be copied from.
export async function read(device, buffer, length) {
  const size = length * 4;
  const staging = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await answered(device.queue, staging.mapAsync(GPUMapMode.READ));
  const values = new Float32Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return values;
}

/// What the browser says of an adapter; software adapters say little, and Firefox says nothing.
export function named({ info }) {
  const parts = [info.vendor, info.architecture, info.device, info.description].filter(Boolean);
  return parts.join(" ");
}
