// ONNX Runtime Web with its WebGPU execution provider, as its package recommends to load it. Operands and results stay on the
// device. Where a function can be written as several models, all of them are measured, and the fastest counts.
import { MICROSOFT, model } from "./onnx.js";
import { devices, finished, read } from "./gpu.js";

export const way = "ONNX Runtime Web";

/// Models by function: the nodes, numbers in the model, and how operands lie in memory where that is not as elsewhere.
const MODELS = {
  linear: () => [
    {
      form: "MatMul",
      nodes: [["MatMul", ["x", "w"], "p"], ["Add", ["p", "b"], "s"], ["Add", ["s", "r"], "t"], ["Relu", ["t"], "y"]],
    },
    { form: "Gemm", nodes: [["Gemm", ["x", "w", "b"], "s"], ["Add", ["s", "r"], "t"], ["Relu", ["t"], "y"]] },
  ],
  gate: () => [{ form: "", nodes: [["Mul", ["a", "b"], "p"], ["Add", ["p", "c"], "s"], ["Sigmoid", ["s"], "y"]] }],
  softmax: () => [{ form: "", nodes: [["Softmax", ["x"], "y", { axis: 1 }]] }],
  norm_gelu: () => [{
    form: "",
    nodes: [
      ["LayerNormalization", ["x", "gamma", "beta"], "n", { axis: 1, epsilon: { float: 1e-5 } }],
      ["Gelu", ["n"], "y", {}, MICROSOFT],
    ],
  }],
  attention: ([heads]) => [
    {
      form: "MatMul, Softmax, MatMul",
      constants: { scale: 0.125 },
      nodes: [
        ["Transpose", ["k"], "kt", { perm: [0, 2, 1] }],
        ["MatMul", ["q", "kt"], "s"],
        ["Mul", ["s", "scale"], "t"],
        ["Softmax", ["t"], "p", { axis: 2 }],
        ["MatMul", ["p", "v"], "y"],
      ],
    },
    {
      // Heads lie beside each other in rows.
      form: "MultiHeadAttention",
      rows: true,
      nodes: [["MultiHeadAttention", ["q", "k", "v"], "y", { num_heads: heads }, MICROSOFT]],
    },
  ],
};

/// `[heads, length, width]` in memory as `[length, heads, width]`, or back with the first two extents exchanged.
function exchanged(values, [outer, inner, width]) {
  const moved = new Float32Array(values.length);
  for (let i = 0; i < outer; i++) {
    for (let j = 0; j < inner; j++) {
      const from = (i * inner + j) * width;
      moved.set(values.subarray(from, from + width), (j * outer + i) * width);
    }
  }
  return moved;
}

const elements = (shape) => shape.reduce((product, extent) => product * extent, 1);

/// The library, and what it says of its version.
export async function load() {
  const ort = await import("./onnxruntime-web/ort.webgpu.bundle.min.mjs");
  ort.env.wasm.wasmPaths = { wasm: new URL("./onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm", location.href).href };
  ort.env.logLevel = "error";
  return { ort, version: ort.env.versions.web ?? ort.env.versions.common };
}

export async function open() {
  const { ort, version } = await load();
  ort.env.wasm.numThreads = 1;
  const library = { version, prepare: (of, operands) => prepare(ort, library, of, operands) };
  return library;
}

async function prepare(ort, library, { kind, sizes, shapes, result }, operands) {
  const forms = [];
  for (const { form, nodes, constants, rows } of MODELS[kind](sizes)) {
    const shaped = (shape) => rows ? [1, shape[1], shape[0] * shape[2]] : shape;
    const inputs = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, shaped(shape)]));
    const bytes = model({ nodes, shapes: inputs, result: shaped(result), constants });
    const session = await ort.InferenceSession.create(bytes, { executionProviders: ["webgpu"] });
    // The device appears with the first session.
    const device = await ort.env.webgpu.device;
    library.adapter = devices.find((opened) => opened.device === device) ?? { device, info: device.adapterInfo ?? {} };
    library.wait = () => finished(device.queue);
    const buffers = [];
    const tensor = (shape, values) => {
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
      const buffer = device.createBuffer({ size: elements(shape) * 4, usage });
      if (values) device.queue.writeBuffer(buffer, 0, values);
      buffers.push(buffer);
      return ort.Tensor.fromGpuBuffer(buffer, { dataType: "float32", dims: shape });
    };
    const feeds = {};
    for (const [name, { shape, values }] of Object.entries(operands)) {
      feeds[name] = tensor(shaped(shape), rows ? exchanged(values, shape) : values);
    }
    const y = tensor(shaped(result));
    const output = buffers.at(-1);
    forms.push({
      form,
      run: async (launches) => { for (let i = 0; i < launches; i++) await session.run(feeds, { y }); },
      values: async (asUsers) => {
        if (asUsers) return (await session.run(feeds)).y.getData();
        await session.run(feeds, { y });
        const values = await read(device, output, elements(result));
        return rows ? exchanged(values, [result[1], result[0], result[2]]) : values;
      },
      free: async () => {
        await session.release();
        buffers.forEach((buffer) => buffer.destroy());
      },
    });
  }
  return forms;
}
