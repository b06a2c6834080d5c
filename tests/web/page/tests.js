// The tests of a module that `cargo test` made, one after the other, where wasm-bindgen's runner is not: on machines with nothing but
// a browser. Each test is an export of the module that takes a context of `wasm_bindgen_test`.

import { progress } from "./report.js";

const CONSOLE = ["debug", "log", "info", "warn", "error"];

/// What the browser says of the adapter that libraries get.
async function adapter() {
  const found = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" }) ?? await navigator.gpu?.requestAdapter();
  if (!found) return null;
  const { vendor, architecture, device, description } = found.info;
  return { vendor, architecture, device, description, features: [...found.features].sort() };
}

/// Runs the tests of `./NAME/NAME.js`; `taken` gives what they wrote since it was called last.
export async function run(name, taken) {
  const filter = new URLSearchParams(location.search).get("filter") ?? "";
  const found = await adapter();
  const module = await import(`./${name}/${name}.js`);
  globalThis.__wbg_test_invoke = (test) => test();
  const exports = await module.default();
  for (const method of CONSOLE) {
    const original = console[method];
    console[method] = (...said) => {
      module[`__wbgtest_console_${method}`](said);
      original.apply(console, said);
    };
  }
  // A module that traps where no test catches it never answers.
  const died = new Promise((_, reject) => {
    globalThis.addEventListener("error", ({ error, message }) => reject(error ?? new Error(message)));
  });
  died.catch(() => {});
  const names = Object.keys(exports).filter((key) => key.startsWith("__wbgt_") && key.includes(filter));
  const tests = [];
  for (const key of names) {
    const test = key.replace(/^__wbgt_+/, "").replace(`${name}::`, "");
    await progress(`${test} ...`);
    taken();
    const start = performance.now();
    // A context each, so that what a test writes is told from what others do.
    const ended = new module.WasmBindgenTestContext(false).run([exports[key]]);
    const passed = await Promise.race([ended, died]).catch((error) => {
      throw new Error(`${test}: ${error.message}\n${taken()}`, { cause: error });
    });
    const seconds = (performance.now() - start) / 1000;
    tests.push({ test, passed, seconds, ...(passed ? {} : { output: taken() }) });
    await progress(`${test} ... ${passed ? "ok" : "FAILED"}, ${seconds.toFixed(1)} s`);
  }
  return { browser: navigator.userAgent, adapter: found, tests };
}
