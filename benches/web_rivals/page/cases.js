// What is computed: names and sizes as in docs/results, operands, and what some elements of the result must be.

/// Numbers between -0.5 and 0.5 that look like chance and are the same in every run.
function numbers(shape, seed) {
  const values = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < values.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state >>> 9) / 8388608 - 0.5;
  }
  return values;
}

function operands(shapes) {
  const made = {};
  Object.entries(shapes).forEach(([name, shape], i) => { made[name] = { shape, values: numbers(shape, i + 1) }; });
  return made;
}

const elements = (shape) => shape.reduce((product, extent) => product * extent, 1);

function made(description) {
  const shapes = Object.values(description.shapes);
  const bytes = 4 * [...shapes, description.result].map(elements).reduce((sum, count) => sum + count, 0);
  return { ...description, bytes, operands: () => operands(description.shapes) };
}

export function linear(n) {
  return made({
    kind: "linear", name: "relu(matmul + b + r)", size: `${n}x${n}x${n}`, sizes: [n, n, n],
    shapes: { x: [n, n], w: [n, n], b: [n], r: [n, n] }, result: [n, n], flops: 2 * n ** 3,
    expected: ({ x, w, b, r }, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = b.values[column] + r.values[at];
      for (let k = 0; k < n; k++) sum += x.values[row * n + k] * w.values[k * n + column];
      return Math.max(0, sum);
    },
  });
}

/// The same with 16-bit floats.
function linear16(n) {
  const description = linear(n);
  return { ...description, kind: "linear16", name: `${description.name} f16`, bytes: description.bytes / 2 };
}

function gate(power) {
  const n = 2 ** power;
  return made({
    kind: "gate", name: "sigmoid(a * b + c)", size: `2^${power}`, sizes: [n],
    shapes: { a: [n], b: [n], c: [n] }, result: [n], flops: 0,
    expected: ({ a, b, c }, at) => 1 / (1 + Math.exp(-(a.values[at] * b.values[at] + c.values[at]))),
  });
}

function softmax(m, n) {
  return made({
    kind: "softmax", name: "softmax", size: `${m}x${n}`, sizes: [m, n], shapes: { x: [m, n] }, result: [m, n], flops: 0,
    expected: ({ x }, at) => {
      const start = Math.floor(at / n) * n;
      let sum = 0;
      for (let k = 0; k < n; k++) sum += Math.exp(x.values[start + k]);
      return Math.exp(x.values[at]) / sum;
    },
  });
}

/// Of Abramowitz and Stegun, 7.1.5: the series converges for all arguments, fast for small ones.
function erf(x) {
  let [term, sum] = [x, x];
  for (let k = 1; k < 60; k++) {
    term *= (-x * x) / k;
    sum += term / (2 * k + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

function normGelu(m, n) {
  return made({
    kind: "norm_gelu", name: "gelu(layer_norm)", size: `${m}x${n}`, sizes: [m, n],
    shapes: { x: [m, n], gamma: [n], beta: [n] }, result: [m, n], flops: 0,
    expected: ({ x, gamma, beta }, at) => {
      const start = Math.floor(at / n) * n;
      const row = x.values.subarray(start, start + n);
      const mean = row.reduce((sum, value) => sum + value, 0) / n;
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n;
      const y = ((x.values[at] - mean) / Math.sqrt(variance + 1e-5)) * gamma.values[at % n] + beta.values[at % n];
      return 0.5 * y * (1 + erf(y / Math.SQRT2));
    },
  });
}

function attention(heads, length) {
  const shape = [heads, length, 64];
  return made({
    kind: "attention", name: "attention", size: `${heads}x${length}x${length}x64`, sizes: [heads, length, length],
    shapes: { q: shape, k: shape, v: shape }, result: shape, flops: 4 * heads * length * length * 64,
    expected: ({ q, k, v }, at) => {
      const [head, query, column] = [Math.floor(at / (length * 64)), Math.floor(at / 64) % length, at % 64];
      const row = (operand, of) => operand.values.subarray((head * length + of) * 64, (head * length + of + 1) * 64);
      let [sum, weighted] = [0, 0];
      for (let key = 0; key < length; key++) {
        const score = row(q, query).reduce((dot, value, i) => dot + value * row(k, key)[i], 0);
        const weight = Math.exp(score / 8);
        sum += weight;
        weighted += weight * row(v, key)[column];
      }
      return weighted / sum;
    },
  });
}

/// The same with 16-bit floats.
function attention16(heads, length) {
  const description = attention(heads, length);
  return { ...description, kind: "attention16", name: `${description.name} f16`, bytes: description.bytes / 2 };
}

/// All, in the order of tables: few where `quick`, and more where `large`, for GPUs.
export function all({ quick, large }) {
  const products = [[128, 256], quick ? [] : [512, 1024], large ? [2048, 4096] : []].flat();
  const powers = [[20], quick ? [] : [22], large ? [24] : []].flat();
  const rows = [[1024, 1024], ...large ? [[4096, 4096]] : []];
  return [
    ...products.map(linear),
    ...powers.map(gate),
    ...rows.map(([m, n]) => softmax(m, n)),
    ...rows.map(([m, n]) => normGelu(m, n)),
    attention(4, 256),
    ...large ? [attention(32, 1024)] : [],
  ];
}

/// Sizes at which variants and specializations are measured against each other: those above that software adapters do in little time,
/// and some around them; for GPUs where `large`, and those between them, which no table has, where `held_out`; of 16-bit floats where
/// `f16`.
export function specializations({ quick, large, held_out, f16 }) {
  if (f16) {
    return [...[256, 512, 1024, 2048, 4096].map(linear16), attention16(4, 256), attention16(32, 1024), attention16(8, 2048)];
  }
  if (held_out) {
    return [
      ...[96, 200, 384, 760, 1500, 3000].map(linear), softmax(300, 700), softmax(3000, 3000), normGelu(300, 700),
      normGelu(3000, 3000), attention(12, 200), attention(16, 768), gate(21), gate(23),
    ];
  }
  const some = [linear(128), softmax(256, 1024), normGelu(256, 1024), attention(4, 128), gate(20)];
  const more = [
    linear(64), linear(256), linear(512), softmax(1024, 256), softmax(1024, 1024), normGelu(1024, 256), normGelu(1024, 1024),
    attention(2, 64), attention(4, 256),
  ];
  const most = [
    linear(1024), linear(2048), linear(4096), softmax(64, 64), softmax(4096, 4096), softmax(16, 65536), softmax(65536, 64),
    normGelu(64, 64), normGelu(4096, 4096), normGelu(65536, 64), attention(32, 1024), attention(12, 512), attention(8, 2048),
    gate(14), gate(22), gate(24),
  ];
  return [some, quick ? [] : more, large ? most : []].flat();
}

/// The places of a result that are checked.
export function places(length) {
  return Array.from({ length: 64 }, (_, i) => (Math.imul(i + 1, 40503007) >>> 0) % length);
}

/// The largest difference of two results.
export function apart(a, b) {
  let most = a.length === b.length ? 0 : NaN;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}
