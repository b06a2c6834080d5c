// A WebNN mock: the interfaces of the IDL convert and check arguments as in Web IDL, and operations are computed on plain arrays
// as the specification defines them. Stricter than browsers where a mistake would pass silently: unknown dictionary members and
// surplus arguments are errors.
//
// Evaluates to a function of the IDL, as `build.rs` encodes it, which returns `{ install, uninstall, log, refuse }`.
(idl) => {
  // ---- Web IDL ----

  const state = new WeakMap();
  const classes = {};
  const log = { methods: new Set(), builds: 0, dispatches: 0, writes: 0, reads: 0, live: 0 };
  // Methods that the mock's backend refuses.
  const refuse = new Set();

  const fail = (what) => { throw new TypeError(what); };
  const isObject = (value) => typeof value === "object" && value !== null;

  function dictionary(name, value, what) {
    if (!isObject(value)) fail(`${what} is no ${name}`);
    const members = {};
    for (let at = name; at; at = idl.dictionaries[at].inherits) Object.assign(members, idl.dictionaries[at].members);
    for (const key of Object.keys(value)) if (!(key in members)) fail(`${what}: ${name} has no member ${key}`);
    const converted = {};
    for (const [key, member] of Object.entries(members)) {
      if (value[key] !== undefined) converted[key] = convert(member.type, value[key], `${what}.${key}`);
      else if (member.required) fail(`${what}.${key} is missing`);
      else if (member.default) converted[key] = member.default[0];
    }
    return converted;
  }

  function named(name, value, what) {
    if (name in idl.typedefs) return convert(idl.typedefs[name], value, what);
    if (name in idl.dictionaries) return dictionary(name, value, what);
    if (name in idl.enums) return idl.enums[name].includes(value) ? value : fail(`${what}: ${value} is no ${name}`);
    if (name in classes) return value instanceof classes[name] ? value : fail(`${what} is no ${name}`);
    if (name === "AllowSharedBufferSource") {
      if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return value instanceof ArrayBuffer ? new Uint8Array(value) : fail(`${what} is no buffer`);
    }
    return value instanceof globalThis[name] ? value : fail(`${what} is no ${name}`);
  }

  function convert(type, value, what) {
    switch (type.kind) {
      case "integer": {
        const inRange = typeof value === "number" && Math.trunc(value) >= type.min && Math.trunc(value) <= type.max;
        return inRange ? Math.trunc(value) : fail(`${what}: ${value} is out of range`);
      }
      case "float": {
        const fits = typeof value === "number" && (Number.isFinite(value) || !type.finite);
        return fits ? value : fail(`${what}: ${value} is not a finite number`);
      }
      case "boolean": return typeof value === "boolean" ? value : fail(`${what} is not a truth value`);
      case "string": return typeof value === "string" ? value : fail(`${what} is no text`);
      case "sequence":
        if (!Array.isArray(value)) fail(`${what} is no sequence`);
        return value.map((element, i) => convert(type.of, element, `${what}[${i}]`));
      case "record": {
        if (!isObject(value)) fail(`${what} is no record`);
        const entries = Object.entries(value);
        return new Map(entries.map(([key, element]) => [key, convert(type.of, element, `${what}.${key}`)]));
      }
      case "union": {
        for (const member of type.of) try { return convert(member, value, what); } catch { /* the next may fit */ }
        return fail(`${what} is of no type of a union`);
      }
      case "named": return named(type.name, value, what);
      default: return value;
    }
  }

  /** The arguments, converted for the first overload that accepts them, and the index of that. */
  function resolve(overloads, given, what) {
    let problem;
    for (const [index, parameters] of overloads.entries()) {
      try {
        if (given.length > parameters.length) fail(`${what}: ${given.length} arguments, at most ${parameters.length}`);
        const converted = parameters.map(({ name, type, optional, default: value }, i) => {
          if (given[i] !== undefined) return convert(type, given[i], `${what}, ${name}`);
          if (!optional) fail(`${what}: ${name} is missing`);
          return value ? convert(type, value[0], `${what}, ${name}`) : undefined;
        });
        return [index, converted];
      } catch (error) {
        problem ??= error;
      }
    }
    throw problem;
  }

  /** An object of an interface. */
  const make = (name, content) => {
    const object = Object.create(classes[name].prototype);
    state.set(object, content);
    return object;
  };

  for (const [name, { constructors, operations, attributes }] of Object.entries(idl.interfaces)) {
    const Class = class {
      constructor(...given) {
        if (constructors.length === 0) fail("Illegal constructor");
        const [, converted] = resolve(constructors, given, name);
        state.set(this, behaviour[name].constructor(...converted));
      }
    };
    for (const [method, { promises, overloads }] of Object.entries(operations)) {
      const run = (object, given) => {
        const what = `${name}.${method}`;
        const [overload, converted] = resolve(overloads, given, what);
        log.methods.add(what);
        if (refuse.has(method)) fail(`${method} is not supported by this backend`);
        const behave = behaviour[name][method];
        if (!behave) throw new DOMException(`the mock has no ${what}`, "NotSupportedError");
        return behave(state.get(object), object, converted, overload);
      };
      // The outcome of a promise is decided when it is requested, and known later.
      Class.prototype[method] = promises
        ? function (...given) {
          try {
            const result = run(this, given);
            return new Promise((resolve, reject) => {
              // A promise of a tensor's content is rejected if the tensor is destroyed first.
              const content = state.get(given[0]);
              setTimeout(() => (method === "readTensor" && content.destroyed
                ? reject(new DOMException("the tensor was destroyed while it was read", "InvalidStateError"))
                : resolve(result)));
            });
          } catch (error) {
            return Promise.reject(error);
          }
        }
        : function (...given) { return run(this, given); };
    }
    for (const attribute of attributes) {
      Object.defineProperty(Class.prototype, attribute, { get() { return state.get(this)[attribute]; } });
    }
    classes[name] = Class;
  }

  // ---- Arrays ----

  const arrays = {
    float32: Float32Array, float16: globalThis.Float16Array, int32: Int32Array, uint32: Uint32Array,
    int64: BigInt64Array, uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array,
  };
  const count = (shape) => shape.reduce((product, extent) => product * extent, 1);
  const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

  /** Strides of `shape`, padded to `rank` axes; 0 where it broadcasts. */
  function strides(shape, rank) {
    const steps = new Array(rank).fill(0);
    let step = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      steps[rank - shape.length + axis] = shape[axis] === 1 ? 0 : step;
      step *= shape[axis];
    }
    return steps;
  }

  /** Calls `visit(i, offsets)` for each element of `shape` in order, with its offset by each of `steps`. */
  function walk(shape, steps, visit) {
    const at = new Array(shape.length).fill(0), offsets = steps.map(() => 0);
    for (let i = 0, end = count(shape); i < end; i++) {
      visit(i, offsets, at);
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        const wraps = ++at[axis] === shape[axis];
        steps.forEach((step, k) => { offsets[k] += wraps ? step[axis] * (1 - shape[axis]) : step[axis]; });
        if (!wraps) break;
        at[axis] = 0;
      }
    }
  }

  function broadcast(a, b, what) {
    const shape = [], rank = Math.max(a.length, b.length);
    for (let axis = 0; axis < rank; axis++) {
      const [x, y] = [a, b].map((of) => of[axis - (rank - of.length)] ?? 1);
      if (x !== y && x !== 1 && y !== 1) fail(`${what}: [${a}] and [${b}] do not broadcast`);
      shape.push(Math.max(x, y));
    }
    return shape;
  }

  // ---- Operations ----

  const FLOATS = ["float32", "float16"];
  const ANY = Object.keys(arrays);

  const checkDescriptor = ({ dataType, shape }, what) => {
    if (shape.some((extent) => extent === 0)) fail(`${what}: a dimension is 0`);
    if (!arrays[dataType]) fail(`${what}: the mock has no ${dataType}`);
  };

  const takes = (what, allowed, ...operands) => {
    for (const { dataType } of operands) if (!allowed.includes(dataType)) fail(`${what} does not take ${dataType}`);
  };

  /** Elementwise, with broadcasting. */
  const elementwise = (what, allowed, compute, result) => (builder, _, converted) => {
    const options = converted[converted.length - 1];
    const operands = owned(builder, converted.slice(0, -1));
    takes(what, allowed, ...operands);
    if (operands.some(({ dataType }) => dataType !== operands[0].dataType)) fail(`${what}: element types differ`);
    const shape = operands.map((operand) => operand.shape).reduce((a, b) => broadcast(a, b, what));
    const type = result ?? operands[0].dataType;
    return computed(builder, type, shape, operands, (values, out) => {
      const f = typeof compute === "function" ? compute : compute[type];
      walk(shape, operands.map((operand) => strides(operand.shape, shape.length)), (i, at) => {
        out[i] = f(...values.map((of, k) => of[at[k]]), options);
      });
    });
  };

  const erf = (x) => {
    if (Math.abs(x) >= 4) return Math.sign(x);
    // 2/√π · Σ (-1)ⁿ x²ⁿ⁺¹ / (n! (2n+1))
    let [sum, term] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  };
  const roundEven = (x) => {
    const floor = Math.floor(x), rest = x - floor;
    if (rest !== 0.5) return Math.round(x);
    return floor % 2 === 0 ? floor : floor + 1;
  };
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));
  const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
  const truth = (value) => (value ? 1 : 0);
  const product = { int32: Math.imul, uint32: Math.imul, float32: (x, y) => x * y, float16: (x, y) => x * y };
  const SIGNED = [...FLOATS, "int32", "int64", "int8"];

  const reduction = (what, allowed, first, step) => (builder, _, [input, { axes, keepDimensions }]) => {
    const [operand] = owned(builder, [input]);
    takes(what, allowed, operand);
    const rank = operand.shape.length;
    const over = axes ?? operand.shape.map((_, axis) => axis);
    if (over.some((axis) => axis >= rank) || new Set(over).size !== over.length) fail(`${what}: axes [${over}]`);
    const kept = operand.shape.map((extent, axis) => (over.includes(axis) ? 1 : extent));
    const shape = keepDimensions ? kept : kept.filter((_, axis) => !over.includes(axis));
    return computed(builder, operand.dataType, shape, [operand], ([values], out) => {
      const wide = new Array(out.length).fill(first);
      walk(operand.shape, [strides(kept, rank)], (i, [at]) => { wide[at] = step(wide[at], values[i]); });
      wide.forEach((value, i) => { out[i] = value; });
    });
  };

  const movement = (what, shapeOf, indexOf) => (builder, _, converted) => {
    const [operand] = owned(builder, [converted[0]]);
    const shape = shapeOf(operand.shape, converted, what);
    return computed(builder, operand.dataType, shape, [operand], ([values], out) => indexOf(operand.shape, shape, converted, values, out));
  };

  const NUMBERS = [...FLOATS, "int32", "uint32", "int64", "uint64"];
  const operations = {
    add: elementwise("add", ANY, (x, y) => x + y),
    sub: elementwise("sub", ANY, (x, y) => x - y),
    mul: elementwise("mul", ANY, product),
    div: elementwise("div", ANY, (x, y) => x / y),
    max: elementwise("max", ANY, (x, y) => Math.max(x, y)),
    min: elementwise("min", ANY, (x, y) => Math.min(x, y)),
    pow: elementwise("pow", ANY, (x, y) => x ** y),
    equal: elementwise("equal", ANY, (x, y) => truth(x === y), "uint8"),
    notEqual: elementwise("notEqual", ANY, (x, y) => truth(x !== y), "uint8"),
    greater: elementwise("greater", ANY, (x, y) => truth(x > y), "uint8"),
    greaterOrEqual: elementwise("greaterOrEqual", ANY, (x, y) => truth(x >= y), "uint8"),
    lesser: elementwise("lesser", ANY, (x, y) => truth(x < y), "uint8"),
    lesserOrEqual: elementwise("lesserOrEqual", ANY, (x, y) => truth(x <= y), "uint8"),
    logicalNot: elementwise("logicalNot", ["uint8"], (x) => truth(!x), "uint8"),
    logicalAnd: elementwise("logicalAnd", ["uint8"], (x, y) => truth(x && y), "uint8"),
    logicalOr: elementwise("logicalOr", ["uint8"], (x, y) => truth(x || y), "uint8"),
    abs: elementwise("abs", SIGNED, Math.abs),
    neg: elementwise("neg", SIGNED, (x) => -x),
    sign: elementwise("sign", SIGNED, Math.sign),
    identity: elementwise("identity", ANY, (x) => x),
    relu: elementwise("relu", SIGNED, (x) => Math.max(0, x)),
    ceil: elementwise("ceil", FLOATS, Math.ceil),
    floor: elementwise("floor", FLOATS, Math.floor),
    roundEven: elementwise("roundEven", FLOATS, roundEven),
    cos: elementwise("cos", FLOATS, Math.cos),
    sin: elementwise("sin", FLOATS, Math.sin),
    tan: elementwise("tan", FLOATS, Math.tan),
    tanh: elementwise("tanh", FLOATS, Math.tanh),
    erf: elementwise("erf", FLOATS, erf),
    exp: elementwise("exp", FLOATS, Math.exp),
    log: elementwise("log", FLOATS, Math.log),
    sqrt: elementwise("sqrt", FLOATS, Math.sqrt),
    reciprocal: elementwise("reciprocal", FLOATS, (x) => 1 / x),
    sigmoid: elementwise("sigmoid", FLOATS, sigmoid),
    softplus: elementwise("softplus", FLOATS, (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))),
    gelu: elementwise("gelu", FLOATS, (x) => (x * (1 + erf(x / Math.SQRT2))) / 2),
    elu: elementwise("elu", FLOATS, (x, { alpha }) => (x > 0 ? x : alpha * Math.expm1(x))),
    linear: elementwise("linear", FLOATS, (x, { alpha, beta }) => alpha * x + beta),
    hardSigmoid: elementwise("hardSigmoid", FLOATS, (x, { alpha, beta }) => clamp(alpha * x + beta, 0, 1)),
    hardSwish: elementwise("hardSwish", FLOATS, (x) => (x * clamp(x + 3, 0, 6)) / 6),

    reduceSum: reduction("reduceSum", NUMBERS, 0, (sum, x) => sum + x),
    reduceProduct: reduction("reduceProduct", NUMBERS, 1, (of, x) => of * x),
    reduceMax: reduction("reduceMax", ANY, -Infinity, (of, x) => Math.max(of, x)),
    reduceMin: reduction("reduceMin", ANY, Infinity, (of, x) => Math.min(of, x)),

    cast: (builder, _, [input, dataType]) => {
      const [operand] = owned(builder, [input]);
      checkDescriptor({ dataType, shape: [] }, "cast");
      return computed(builder, dataType, operand.shape, [operand], ([values], out) => out.set(values));
    },

    reshape: movement("reshape",
      (from, [, shape], what) => (count(from) === count(shape) ? shape : fail(`${what}: [${from}] to [${shape}]`)),
      (from, to, _, values, out) => out.set(values)),

    expand: movement("expand",
      (from, [, shape], what) => (same(broadcast(from, shape, what), shape) ? shape : fail(`${what}: [${from}] to [${shape}]`)),
      (from, to, _, values, out) => walk(to, [strides(from, to.length)], (i, [at]) => { out[i] = values[at]; })),

    transpose: movement("transpose",
      (from, [, { permutation }], what) => {
        const order = permutation ?? from.map((_, axis) => from.length - 1 - axis);
        const sorted = [...order].sort((a, b) => a - b);
        if (!same(sorted, from.map((_, axis) => axis))) fail(`${what}: permutation [${order}]`);
        return order.map((axis) => from[axis]);
      },
      (from, to, [, { permutation }], values, out) => {
        const steps = strides(from, from.length);
        const order = permutation ?? from.map((_, axis) => from.length - 1 - axis);
        walk(to, [order.map((axis) => steps[axis])], (i, [at]) => { out[i] = values[at]; });
      }),

    slice: movement("slice",
      (from, [, starts, sizes, options], what) => {
        if (options.strides) fail(`${what}: the mock has no strides`);
        const inside = from.every((extent, axis) => sizes[axis] > 0 && starts[axis] + sizes[axis] <= extent);
        return inside && sizes.length === from.length ? sizes : fail(`${what}: [${starts}], [${sizes}] of [${from}]`);
      },
      (from, to, [, starts], values, out) => {
        const steps = strides(from, from.length);
        const first = starts.reduce((sum, start, axis) => sum + start * steps[axis], 0);
        walk(to, [steps], (i, [at]) => { out[i] = values[first + at]; });
      }),

    gatherElements: (builder, _, [input, indices, { axis }]) => {
      const [of, at] = owned(builder, [input, indices]);
      takes("gatherElements", ["int32", "uint32", "int64"], at);
      const fits = of.shape.length === at.shape.length && of.shape.every((extent, d) => d === axis || extent === at.shape[d]);
      if (!fits || axis >= of.shape.length) fail(`gatherElements: [${at.shape}] of [${of.shape}], axis ${axis}`);
      return computed(builder, of.dataType, at.shape, [of, at], ([values, coordinates], out) => {
        const steps = strides(of.shape, of.shape.length);
        const along = steps[axis];
        walk(at.shape, [steps.map((step, d) => (d === axis ? 0 : step))], (i, [rest]) => {
          const index = coordinates[i];
          if (index < 0 || index >= of.shape[axis]) fail(`gatherElements: ${index} is outside of ${of.shape[axis]}`);
          out[i] = values[rest + index * along];
        });
      });
    },

    where: (builder, _, [condition, onTrue, onFalse]) => {
      const [which, a, b] = owned(builder, [condition, onTrue, onFalse]);
      takes("where", ["uint8"], which);
      if (a.dataType !== b.dataType) fail("where: element types differ");
      const shape = [a.shape, b.shape].reduce((x, y) => broadcast(x, y, "where"), which.shape);
      return computed(builder, a.dataType, shape, [which, a, b], ([c, x, y], out) => {
        const steps = [which, a, b].map((operand) => strides(operand.shape, shape.length));
        walk(shape, steps, (i, at) => { out[i] = c[at[0]] ? x[at[1]] : y[at[2]]; });
      });
    },

    matmul: (builder, _, [left, right]) => {
      const [a, b] = owned(builder, [left, right]);
      takes("matmul", FLOATS, a, b);
      if (a.dataType !== b.dataType) fail("matmul: element types differ");
      const [m, k] = a.shape.slice(-2), [depth, n] = b.shape.slice(-2);
      if (a.shape.length < 2 || b.shape.length < 2 || k !== depth) fail(`matmul: [${a.shape}] and [${b.shape}]`);
      const batches = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2), "matmul");
      return computed(builder, a.dataType, [...batches, m, n], [a, b], ([x, y], out) => {
        const steps = [a, b].map((operand) => strides(operand.shape.slice(0, -2), batches.length));
        walk(batches, steps, (batch, [p, q]) => {
          for (let i = 0; i < m; i++) {
            for (let j = 0; j < n; j++) {
              let sum = 0;
              for (let d = 0; d < k; d++) sum += x[(p * m + i) * k + d] * y[(q * k + d) * n + j];
              out[(batch * m + i) * n + j] = sum;
            }
          }
        });
      });
    },
  };

  // ---- Objects ----

  const operand = (builder, content) => make("MLOperand", { builder, ...content });

  /** The contents of operands, which must belong to the builder. */
  const owned = (builder, operands) => operands.map((of) => {
    const content = state.get(of);
    if (content.builder !== builder) fail("an operand of another builder");
    if (builder.built) throw new DOMException("the builder has built its graph", "InvalidStateError");
    return content;
  });

  /** An operand that `compute(values, out)` fills. */
  const computed = (builder, dataType, shape, operands, compute) => operand(builder, { dataType, shape, operands, compute });

  const tensor = (context, { dataType, shape, readable = false, writable = false }, what) => {
    checkDescriptor({ dataType, shape }, what);
    log.live += 1;
    const data = new arrays[dataType](count(shape));
    return make("MLTensor", { context, dataType, shape, readable, writable, constant: false, data });
  };

  const usable = (context, of, what) => {
    const content = state.get(of);
    if (content.context !== context) fail(`${what}: a tensor of another context`);
    if (content.destroyed) fail(`${what}: the tensor is destroyed`);
    return content;
  };

  const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

  const destroyed = (content) => {
    if (!content.destroyed) log.live -= 1;
    content.destroyed = true;
  };

  const behaviour = {
    ML: { createContext: () => make("MLContext", {}) },
    MLContext: {
      createTensor: (_, context, [descriptor]) => tensor(context, descriptor, "createTensor"),
      writeTensor: (_, context, [of, source]) => {
        const content = usable(context, of, "writeTensor");
        if (!content.writable) fail("writeTensor: the tensor is not writable");
        const to = bytes(content.data);
        if (to.length !== source.length) fail(`writeTensor: ${source.length} bytes for ${to.length}`);
        to.set(source);
        log.writes += 1;
      },
      readTensor: (_, context, [of]) => {
        const content = usable(context, of, "readTensor");
        if (!content.readable) fail("readTensor: the tensor is not readable");
        log.reads += 1;
        return bytes(content.data).slice().buffer;
      },
      dispatch: (_, context, [graph, inputs, outputs]) => {
        const { inputs: wantedInputs, outputs: wantedOutputs, context: own } = state.get(graph);
        if (own !== context) fail("dispatch: a graph of another context");
        for (const of of [...inputs.values(), ...outputs.values()]) usable(context, of, "dispatch");
        // A tensor may be several inputs, but an output must be distinct from all others.
        const written = [...outputs.values()];
        if (new Set(written).size !== written.length || written.some((of) => [...inputs.values()].includes(of))) {
          fail("dispatch: an output tensor is given twice");
        }
        const check = (given, wanted, what) => {
          if (!same([...given.keys()].sort(), [...wanted.keys()].sort())) fail(`dispatch: ${what} [${[...given.keys()]}]`);
          for (const [name, of] of given) {
            const { dataType, shape } = state.get(of), { dataType: type, shape: extents } = wanted.get(name);
            if (dataType !== type || !same(shape, extents)) fail(`dispatch: ${name} is ${dataType}[${shape}], not ${type}[${extents}]`);
          }
        };
        check(inputs, wantedInputs, "inputs");
        check(outputs, wantedOutputs, "outputs");
        const known = new Map();
        const values = (content) => {
          if (known.has(content)) return known.get(content);
          let out;
          if (content.input) out = state.get(inputs.get(content.input)).data;
          else if (content.value) out = content.value;
          else {
            out = new arrays[content.dataType](count(content.shape));
            content.compute(content.operands.map(values), out);
          }
          known.set(content, out);
          return out;
        };
        for (const [name, of] of outputs) state.get(of).data.set(values(wantedOutputs.get(name)));
        log.dispatches += 1;
      },
    },
    MLTensor: { destroy: (content) => destroyed(content) },
    MLGraph: { destroy: (content) => destroyed(content) },
    MLGraphBuilder: {
      constructor: (context) => ({ context, names: new Map(), built: false }),
      input: (builder, _, [name, descriptor]) => {
        checkDescriptor(descriptor, "input");
        if (name === "" || builder.names.has(name)) fail(`input: the name ${name} is empty or taken`);
        const made = operand(builder, { ...descriptor, input: name });
        builder.names.set(name, state.get(made));
        return made;
      },
      constant: (builder, _, [first, second], overload) => {
        // Chromium has no constants of a number, either (webmachinelearning/webnn#650).
        if (overload !== 0) fail("the mock has constants of buffers only");
        const { dataType, shape } = first;
        checkDescriptor(first, "constant");
        const value = new arrays[dataType](count(shape));
        if (second.length !== value.byteLength) fail(`constant: ${second.length} bytes for ${value.byteLength}`);
        bytes(value).set(second);
        return operand(builder, { dataType, shape, value });
      },
      build: (builder, _, [outputs]) => {
        if (outputs.size === 0) fail("build: no outputs");
        const contents = new Map();
        for (const [name, of] of outputs) {
          const [content] = owned(builder, [of]);
          if (!content.compute) fail(`build: output ${name} is not computed`);
          contents.set(name, content);
        }
        builder.built = true;
        log.builds += 1;
        log.live += 1;
        return make("MLGraph", { context: builder.context, inputs: builder.names, outputs: contents });
      },
      ...operations,
    },
  };

  const own = Object.getOwnPropertyDescriptor(navigator, "ml");
  const original = globalThis.MLGraphBuilder;
  return {
    log,
    refuse,
    install() {
      Object.defineProperty(navigator, "ml", { value: make("ML", {}), configurable: true });
      globalThis.MLGraphBuilder = classes.MLGraphBuilder;
    },
    uninstall() {
      delete navigator.ml;
      if (own) Object.defineProperty(navigator, "ml", own);
      globalThis.MLGraphBuilder = original;
    },
  };
}
