// Requests from the page to the Rust module, one at a time, each answered with progress and a result or an error.
import init, { Engine, ModelFile } from "./fuse_web_page.js";

let engine;
let last = Promise.resolve();

const methods = {
  async open({ kept }) {
    await init();
    engine = await Engine.open((key) => kept[key]);
    return JSON.parse(engine.describe());
  },
  inspect: ({ kernel, size }) => JSON.parse(engine.inspect(kernel, size)),
  measure: async ({ kernel, size }, progress) => JSON.parse(await engine.measure(kernel, size, progress)),
  webnn: async ({ kernel, size }, progress) => JSON.parse(await engine.webnn(kernel, size, progress)),
  tune: async ({ kernel, size, seconds }, progress) => JSON.parse(await engine.tune(kernel, size, seconds, progress)),
  find: async ({ query, text }, progress) => JSON.parse(await engine.find(query, text, progress)),
  forget: () => engine.forget(),
  async load(_, progress) {
    const tokenizer = await (await get("model/tokenizer.json")).text();
    const weights = await download("model/model.safetensors", (share) => progress("fetching", share));
    progress("uploading", 1);
    engine.open_model(weights, tokenizer);
    // The first text makes the browser compile the shaders: now, not while the visitor waits for an answer.
    progress("compiling", 1);
    await engine.find("ready", "ready", () => {});
  },
  async compare(_, progress) {
    const known = await (await get("model/known.json")).text();
    return JSON.parse(await engine.compare(known, progress));
  },
};

/** Answers `{ id, method, args }` through `post`, after earlier requests. */
export function answer({ id, method, args }, post) {
  last = last.then(async () => {
    try {
      const result = await methods[method](args, (what, share) => post({ id, progress: { what, share } }));
      post({ id, result });
    } catch (error) {
      post({ id, error: error?.message ?? String(error) });
    }
  });
}

async function get(file) {
  const response = await fetch(new URL(file, import.meta.url));
  if (!response.ok) throw new Error(`the server has no ${file} (${response.status})`);
  return response;
}

/** A file under download: each part goes to the module's memory, without a second copy. */
async function download(file, progress) {
  const response = await get(file);
  const size = Number(response.headers.get("content-length") ?? 0);
  const received = new ModelFile(size);
  const reader = response.body.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return received;
    received.push(value);
    bytes += value.length;
    progress(size > 0 ? Math.min(bytes / size, 1) : 0);
  }
}
