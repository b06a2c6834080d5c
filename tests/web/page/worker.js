// The worker of `worker.html`.
import { run } from "./tests.js";

let written = "";
globalThis.__wbg_test_output_writeln = (line) => { written += `${line}\n`; };
const taken = () => {
  const text = written;
  written = "";
  return text;
};

run("worker", taken).then((result) => postMessage({ result }), (error) => postMessage({ error: String(error.stack ?? error) }));
