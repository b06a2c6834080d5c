// Models as ONNX Runtime reads them. The format is protocol buffers; of these a model of a few nodes needs three kinds of fields,
// which are written here, so that the page needs no library of a megabyte for files of 300 bytes.

const VARINT = 0;
const BYTES = 2;
const FIXED = 5;

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

const field = (number, kind) => varint(number * 8 + kind);
const number = (at, value) => [...field(at, VARINT), ...varint(value)];
const bytes = (at, content) => [...field(at, BYTES), ...varint(content.length), ...content];
const text = (at, value) => bytes(at, new TextEncoder().encode(value));
const float = (at, value) => [...field(at, FIXED), ...new Uint8Array(new Float32Array([value]).buffer)];

const FLOAT = 1;
const INT64 = 7;
const MICROSOFT = "com.microsoft";

/// An attribute: a whole number, a list of them, or `{ float }`.
function attribute(name, value) {
  const [FLOATS, INT, INTS] = [1, 2, 7];
  const [content, kind] = Array.isArray(value)
    ? [value.flatMap((one) => number(8, one)), INTS]
    : typeof value === "object" ? [float(2, value.float), FLOATS] : [number(3, value), INT];
  return bytes(5, [...text(1, name), ...content, ...number(20, kind)]);
}

/// A node: `[operation, operands, result, attributes, domain]`.
function node([operation, operands, result, attributes = {}, domain = ""]) {
  return bytes(1, [
    ...operands.flatMap((operand) => text(1, operand)),
    ...text(2, result),
    ...text(4, operation),
    ...Object.entries(attributes).flatMap(([name, value]) => attribute(name, value)),
    ...text(7, domain),
  ]);
}

function described(at, name, shape, type = FLOAT) {
  const dimensions = bytes(2, shape.flatMap((extent) => bytes(1, number(1, extent))));
  return bytes(at, [...text(1, name), ...bytes(2, bytes(1, [...number(1, type), ...dimensions]))]);
}

/// A number that is part of the model.
function constant(name, value) {
  return bytes(5, [...number(2, FLOAT), ...float(4, value), ...text(8, name)]);
}

/// A tensor that is part of the model, as what stands before its bytes, and these: many are megabytes.
function tensor(name, { shape, values }) {
  const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const type = values instanceof Float32Array ? FLOAT : INT64;
  const inner = [...shape.flatMap((extent) => number(1, extent)), ...number(2, type), ...text(8, name), ...field(9, BYTES), ...varint(raw.length)];
  return [[...field(5, BYTES), ...varint(inner.length + raw.length), ...inner], raw];
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/// A model with the result `y`. Operands are floats, but for those in `integers`; `constants` are numbers in it, `tensors` have a
/// shape and values, a `Float32Array` or a `BigInt64Array`.
export function model({ nodes, shapes, result, integers = [], constants = {}, tensors = {} }) {
  const graph = [
    ...nodes.flatMap(node),
    ...text(2, "graph"),
    ...Object.entries(constants).flatMap(([name, value]) => constant(name, value)),
    ...Object.entries(shapes).flatMap(([name, shape]) => described(11, name, shape, integers.includes(name) ? INT64 : FLOAT)),
    ...described(12, "y", result),
  ];
  const parts = Object.entries(tensors).flatMap(([name, of]) => tensor(name, of));
  const length = parts.reduce((sum, part) => sum + part.length, graph.length);
  const operations = (domain, version) => bytes(8, [...text(1, domain), ...number(2, version)]);
  return joined([
    [...number(1, 8), ...field(7, BYTES), ...varint(length)], graph, ...parts, [...operations("", 17), ...operations(MICROSOFT, 1)],
  ]);
}

export { MICROSOFT };
