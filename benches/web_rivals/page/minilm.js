// all-MiniLM-L6-v2 as models of ONNX: the weights of a `.safetensors` file, and the nodes of an encoder. No mask, as all tokens of
// all texts count here.
import { MICROSOFT, model } from "./onnx.js";

const [LAYERS, HEADS, WIDTH, HIDDEN] = [6, 12, 384, 1536];
const EPSILON = { float: 1e-12 };

/// The tensors of a file by name.
export function parsed(file) {
  const view = new DataView(file);
  const length = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
  const values = ({ data_offsets: [start, end] }) => new Float32Array(file.slice(8 + length + start, 8 + length + end));
  return Object.fromEntries(Object.entries(header).filter(([, { dtype }]) => dtype === "F32").map(([name, of]) => [name, { shape: of.shape, values: values(of) }]));
}

function transposed({ shape: [rows, columns], values }) {
  const moved = new Float32Array(values.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) moved[j * rows + i] = values[i * columns + j];
  return { shape: [columns, rows], values: moved };
}

/// The model whose attention is one node, or several.
export function minilm(weights, texts, tokens, fused) {
  const [nodes, tensors] = [[], {}];
  const add = (name, of) => { tensors[name] = of; return name; };
  const weight = (name) => add(name, weights[name]);
  const then = (operation, operands, attributes, domain) => {
    const result = `v${nodes.length}`;
    nodes.push([operation, operands, result, attributes, domain]);
    return result;
  };
  const norm = (x, name) => then("LayerNormalization", [x, weight(`${name}.weight`), weight(`${name}.bias`)], { axis: 2, epsilon: EPSILON });
  const linear = (x, name) => {
    const product = then("MatMul", [x, add(`${name}.weight`, transposed(weights[`${name}.weight`]))]);
    return then("Add", [product, weight(`${name}.bias`)]);
  };
  const shape = (name, extents) => add(name, { shape: [extents.length], values: BigInt64Array.from(extents.map(BigInt)) });
  const [apart, together] = [shape("apart", [texts, tokens, HEADS, WIDTH / HEADS]), shape("together", [texts, tokens, WIDTH])];
  const heads = (x, perm) => then("Transpose", [then("Reshape", [x, apart])], { perm });
  const attention = (q, k, v) => {
    if (fused) return then("MultiHeadAttention", [q, k, v], { num_heads: HEADS }, MICROSOFT);
    const scores = then("MatMul", [heads(q, [0, 2, 1, 3]), heads(k, [0, 2, 3, 1])]);
    const weighted = then("MatMul", [then("Softmax", [then("Mul", [scores, "scale"])], { axis: 3 }), heads(v, [0, 2, 1, 3])]);
    return then("Reshape", [then("Transpose", [weighted], { perm: [0, 2, 1, 3] }), together]);
  };

  const table = (name, rows) => ({ shape: [rows, WIDTH], values: weights[`embeddings.${name}_embeddings.weight`].values.slice(0, rows * WIDTH) });
  const words = then("Gather", [weight("embeddings.word_embeddings.weight"), "ids"], { axis: 0 });
  const placed = then("Add", [then("Add", [words, add("positions", table("position", tokens))]), add("segment", table("token_type", 1))]);
  let h = norm(placed, "embeddings.LayerNorm");
  for (let layer = 0; layer < LAYERS; layer++) {
    const name = `encoder.layer.${layer}`;
    const [q, k, v] = ["query", "key", "value"].map((part) => linear(h, `${name}.attention.self.${part}`));
    const attended = norm(then("Add", [linear(attention(q, k, v), `${name}.attention.output.dense`), h]), `${name}.attention.output.LayerNorm`);
    const hidden = then("Gelu", [linear(attended, `${name}.intermediate.dense`)], {}, MICROSOFT);
    h = norm(then("Add", [linear(hidden, `${name}.output.dense`), attended]), `${name}.output.LayerNorm`);
  }
  const mean = then("ReduceMean", [h], { axes: [1], keepdims: 0 });
  nodes.push(["Div", [mean, then("ReduceL2", [mean], { axes: [1], keepdims: 1 })], "y"]);
  const scale = fused ? {} : { scale: 1 / Math.sqrt(WIDTH / HEADS) };
  return model({ nodes, shapes: { ids: [texts, tokens] }, integers: ["ids"], result: [texts, WIDTH], constants: scale, tensors });
}

/// Multiplications and additions of the linear layers and the attention.
export function flops(texts, tokens) {
  const layer = tokens * (4 * WIDTH * WIDTH + 2 * WIDTH * HIDDEN) + 2 * tokens * tokens * WIDTH;
  return 2 * LAYERS * texts * layer;
}
