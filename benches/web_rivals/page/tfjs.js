// TensorFlow.js on its WebGPU backend: the core and that backend, in the smallest files of their packages.
import { answered, devices, finished } from "./gpu.js";

export const way = "TensorFlow.js";

/// The scripts are no modules: they leave `tf` in the page.
function script(source) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = source;
    element.onload = resolve;
    element.onerror = () => reject(new Error(`cannot load ${source}`));
    document.head.append(element);
  });
}

const FUNCTIONS = {
  linear: ({ x, w, b, r }) => tf.relu(tf.add(tf.fused.matMul({ a: x, b: w, bias: b }), r)),
  gate: ({ a, b, c }) => tf.sigmoid(tf.add(tf.mul(a, b), c)),
  softmax: ({ x }) => tf.softmax(x),
  norm_gelu: ({ x, gamma, beta }) => {
    const { mean, variance } = tf.moments(x, -1, true);
    const scaled = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, 1e-5)));
    const y = tf.add(tf.mul(scaled, gamma), beta);
    return tf.mul(tf.mul(y, 0.5), tf.add(tf.erf(tf.mul(y, Math.SQRT1_2)), 1));
  },
  attention: ({ q, k, v }) => tf.matMul(tf.softmax(tf.mul(tf.matMul(q, k, false, true), 0.125)), v),
};

export async function open() {
  await script("./tfjs-core/tf-core.min.js");
  await script("./tfjs-backend-webgpu/tf-backend-webgpu.min.js");
  if (!await tf.setBackend("webgpu")) throw new Error("TensorFlow.js does not take its WebGPU backend");
  await tf.ready();
  const opened = devices.at(-1);
  const backend = tf.backend();
  return {
    version: tf.version_core,
    adapter: opened,
    wait: () => {
      // It batches; what was not submitted yet would not be waited for.
      if (backend.commandEncoder) {
        backend.endComputePassEncoder();
        backend.submitQueue();
      }
      return finished(backend.queue);
    },
    async prepare({ kind }, operands) {
      const named = Object.entries(operands);
      const tensors = Object.fromEntries(named.map(([name, { shape, values }]) => [name, tf.tensor(values, shape)]));
      const once = () => tf.tidy(() => FUNCTIONS[kind](tensors));
      return [{
        form: "",
        run: async (launches) => { for (let i = 0; i < launches; i++) once().dispose(); },
        values: async (asUsers) => {
          const result = once();
          const data = result.data();
          const values = await (asUsers ? data : answered(backend.queue, data));
          result.dispose();
          return values;
        },
        free: () => tf.dispose(tensors),
      }];
    },
  };
}
