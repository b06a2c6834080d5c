// The user interface. The engine runs in a worker (engine.js), so nothing here takes long.

const find = (selector, within = document) => within.querySelector(selector);
const sections = { play: find("#play"), search: find("#search"), tune: find("#tune") };
/** Prefix of the keys of stored tables in local storage. */
const KEPT = "fuse tuning, ";
let kernels = [];
let inspected;
const times = new Map();

// ---------------------------------------------------------------------------------------------------------- the engine

let send;
let asked = 0;
const waiting = new Map();

function receive({ id, progress, result, error }) {
  const request = waiting.get(id);
  if (!request) return;
  if (progress) return request.progress(progress);
  waiting.delete(id);
  if (error !== undefined) request.reject(new Error(error));
  else request.resolve(result);
}

/** Sends a request to the engine; calls `progress` with `{ what, share }`. */
function ask(method, args = {}, progress = () => {}) {
  return new Promise((resolve, reject) => {
    asked += 1;
    waiting.set(asked, { resolve, reject, progress });
    send({ id: asked, method, args });
  });
}

/** A worker where workers have WebGPU, else this thread: kernels run beside it in any case. */
async function connect() {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  const ready = await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data.ready === true);
    worker.onerror = () => resolve(false);
  });
  if (ready) {
    worker.onmessage = ({ data }) => receive(data);
    worker.onerror = ({ message }) => fail("The engine of this page stopped.", "Loading the page again starts it anew.", message);
    send = (message) => worker.postMessage(message);
  } else {
    worker.terminate();
    const { answer } = await import("./engine.js");
    send = (message) => answer(message, receive);
  }
}

/** Runs a section's task, one at a time, and shows its state, progress and errors. */
async function run(section, begin, work) {
  const [status, bar] = [find(".status", section), find("progress", section)];
  if (find("[data-state=busy]", document.body)) return;
  section.dataset.state = "busy";
  status.textContent = begin;
  bar.value = 0;
  enable();
  try {
    status.textContent = await work(({ what, share }) => {
      bar.value = share;
      if (section === sections.tune) find("#now").textContent = what;
    });
    section.dataset.state = "done";
  } catch (error) {
    status.textContent = `That did not work: ${error.message}`;
    section.dataset.state = "failed";
  }
  find("#now").textContent = "";
  enable();
}

/** Enables the buttons that can be used now. */
function enable() {
  const ready = document.body.dataset.state === "ready" && !find("main [data-state=busy]");
  for (const button of document.querySelectorAll("main form button, #play-all, #forget")) button.disabled = !ready;
  const loaded = sections.search.dataset.model === "loaded";
  find("#find").disabled = find("#compare").disabled = !(ready && loaded);
  find("#model-form button").disabled = !ready || loaded;
  find("#forget").disabled = !ready || !kept();
}

function fail(title, advice, detail = "") {
  document.body.dataset.state = "failed";
  find("#trouble").hidden = false;
  find("#trouble-title").textContent = title;
  find("#trouble-advice").textContent = advice;
  find("#trouble-detail").textContent = detail;
  find("#adapter").textContent = "No adapter";
  find("main").hidden = true;
}

// ------------------------------------------------------------------------------------------------------ the playground

const chosen = () => kernels.find((kernel) => kernel.id === find("#kernels input:checked").value);

function list() {
  for (const [index, kernel] of kernels.entries()) {
    const [label, input] = [document.createElement("label"), document.createElement("input")];
    Object.assign(input, { type: "radio", name: "kernel", value: kernel.id, checked: index === 0 });
    label.append(input, kernel.title);
    find("#kernels").append(label);
    find("#tune-kernel").append(new Option(kernel.title, kernel.id));
  }
  find("#kernels").addEventListener("change", show);
  find("#play-size").addEventListener("change", show);
}

/** Shows the chosen kernel: description and sources. */
async function show() {
  const kernel = chosen();
  find("#summary").textContent = kernel.summary;
  const facts = [["launch instead of " + kernel.parts, kernel.dispatches], ["variants, all validated", kernel.variants]];
  find("#facts").replaceChildren(...facts.map(([name, value]) => {
    const [group, dt, dd] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
    [dt.textContent, dd.textContent] = [name, value];
    group.append(dt, dd);
    return group;
  }));
  try {
    inspected = await ask("inspect", { kernel: kernel.id, size: find("#play-size").value });
  } catch (error) {
    inspected = { error: error.message };
  }
  read();
}

const texts = {
  source: ({ source, shapes }) => `${source}\n\n// Operands: ${shapes.join(", ")}`,
  parts: ({ parts }) => parts,
  plan: ({ plan, dispatches }) => `${plan}\n\n${dispatches.map(describe).join("\n")}`,
  wgsl: ({ dispatches }) => dispatches.map((dispatch) => dispatch.wgsl.map((wgsl, pass) => {
    const name = `// ${dispatch.kernel}, variant \`${dispatch.variant}\``;
    return `${name}${dispatch.wgsl.length > 1 ? `, pass ${pass + 1}` : ""}\n${wgsl.trim()}`;
  }).join("\n\n")).join("\n\n"),
};

const describe = ({ kernel, variant, decision, workgroups, possible, variants }) =>
  `${kernel}: \`${variant}\`, ${workgroups.join(" + ")} workgroups, chosen by ${decision}\n` +
  `  of ${possible} variants that may run here (${variants} in all)`;

/** Shows the source of the chosen tab. */
function read() {
  const tab = find("[role=tab][aria-selected=true]").id.replace("tab-", "");
  find("#text").textContent = !inspected ? "…" : inspected.error ?? texts[tab](inspected);
}

function tabs() {
  const all = [...document.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of all) {
      other.setAttribute("aria-selected", other === tab);
      other.tabIndex = other === tab ? 0 : -1;
    }
    find("#panel").setAttribute("aria-labelledby", tab.id);
    find("#panel pre").scrollTop = 0;
    read();
  };
  for (const [index, tab] of all.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
      if (!step) return;
      const next = all[(index + step + all.length) % all.length];
      choose(next);
      next.focus();
    });
  }
}

async function measure(kernel, size, progress) {
  const measured = await ask("measure", { kernel: kernel.id, size }, progress);
  times.delete(kernel.id);
  times.set(kernel.id, { name: kernel.title, size, ways: [measured.fused, measured.unfused] });
  plot(find("#chart"), [...times.values()], ["fused", "unfused"]);
  const gain = measured.unfused.ms / measured.fused.ms;
  return `${kernel.title}: ${milliseconds(measured.fused.ms)} fused, ${milliseconds(measured.unfused.ms)} unfused, ` +
    `${ratio(gain)}. Results ${apart(measured.difference)}.`;
}

async function webnn(kernel, size, progress) {
  const { missing, ms, difference } = await ask("webnn", { kernel: kernel.id, size }, progress);
  if (missing) return `No WebNN here: ${missing.replace(/\.$/, "")}. Kernels run by WebGPU all the same.`;
  return `${kernel.title}: ${milliseconds(ms)} by WebNN with its operands there and back. Results ${apart(difference)}.`;
}

const apart = (difference) => (difference === 0 ? "are the same" : `differ by ${difference.toExponential(0)} at most`);

// --------------------------------------------------------------------------------------------------------------- plots

const milliseconds = (ms) => (ms < 1 ? `${(ms * 1000).toPrecision(3)} µs` : `${ms.toPrecision(3)} ms`);
const ratio = (gain) => (gain >= 1 ? `${gain.toFixed(gain < 10 ? 1 : 0)}× as fast` : `${(1 / gain).toFixed(1)}× as slow`);

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Pairs of bars, each relative to the second of its pair, with a dot for every round. */
function plot(figure, rows, [first, second]) {
  const [width, left, right, bar, height] = [880, 210, 145, 15, 56];
  const scale = width - left - right;
  const svg = find("svg", figure);
  svg.setAttribute("viewBox", `0 0 ${width} ${rows.length * height + 4}`);
  svg.replaceChildren(element("line", { class: "axis", x1: left, x2: left, y1: 0, y2: rows.length * height }));
  for (const [index, { name, size, ways }] of rows.entries()) {
    const top = index * height + 8;
    // Clamped to the scale, so that a disturbed round does not compress the others.
    const largest = Math.max(...ways.map(({ ms }) => ms));
    const x = (ms) => left + scale * Math.min(ms / largest, 1.02);
    svg.append(element("text", { class: "name", x: 0, y: top + 16 }, name));
    svg.append(element("text", { class: "soft", x: 0, y: top + 34 }, `${size} operands`));
    for (const [way, { ms, samples }] of ways.entries()) {
      const y = top + way * (bar + 5);
      svg.append(element("rect", { class: ["fused", "unfused"][way], x: left, y, width: Math.max(x(ms) - left, 2), height: bar, rx: 3 }));
      for (const sample of samples) svg.append(element("circle", { class: "dot", cx: x(sample), cy: y + bar / 2, r: 1.8 }));
      svg.append(element("text", { x: width - 62, y: y + 12, "text-anchor": "end" }, milliseconds(ms)));
    }
    svg.append(element("text", { class: "gain soft", x: width, y: top + 22, "text-anchor": "end" },
      `${(ways[1].ms / ways[0].ms).toFixed(1)}×`));
  }
  const said = rows.map(({ name, ways }) => `${name}: ${first} ${milliseconds(ways[0].ms)}, ${second} ${milliseconds(ways[1].ms)}`);
  svg.setAttribute("aria-label", said.join("; "));
  figure.hidden = false;
}

// ---------------------------------------------------------------------------------------------------------- the search

function rank({ hits }) {
  find("#hits").replaceChildren(...hits.map(({ similarity, line, text }) => {
    const [item, number, place] = ["li", "span", "span"].map((tag) => document.createElement(tag));
    item.style.setProperty("--part", `${Math.max(similarity, 0) * 100}%`);
    [number.className, place.className] = ["similarity", "line"];
    number.textContent = similarity.toFixed(3);
    place.textContent = ` line ${line}`;
    const words = document.createElement("span");
    words.append(text, place);
    item.append(number, words);
    return item;
  }));
}

// ----------------------------------------------------------------------------------------------------------- the tuner

/** The keys of the tables that this browser keeps; none where pages may not store anything. */
function keys() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(KEPT));
  } catch {
    return [];
  }
}

const kept = () => keys().length > 0;

function tell(table, when) {
  const entries = `${table?.entries} ${table?.entries === 1 ? "entry" : "entries"}`;
  find("#kept").textContent = table
    ? `${when} a table of this browser and adapter, measured on ${table.date}: ${entries}. All parts of this page use it.`
    : "No table is kept in this browser.";
  find("#table").hidden = !table;
  find("#table-text").textContent = table?.text ?? "";
  find("#forget").disabled = !table;
}

async function tune(kernel, size, seconds, progress) {
  const found = await ask("tune", { kernel: kernel.id, size, seconds }, progress);
  const { tuned, default: before, table } = found;
  let stored = "Kept:";
  try {
    if (table) localStorage.setItem(table.key, table.text);
  } catch {
    stored = "Used until you leave (this browser lets the page store nothing):";
  }
  tell(table, stored);
  // Differences between two times of the same variant are noise.
  const same = tuned.variant === before.variant;
  if (same) find("#gain").hidden = true;
  else plot(find("#gain"), [{ name: kernel.title, size, ways: [tuned, before] }], ["tuned", "default"]);
  show();
  if (found.schedules === 0) return "There was not enough time to compare the variants. The default stays.";
  const compared = found.schedules === 1 ? "One variant is far ahead" : `${found.schedules} variants are close`;
  if (same) return `${compared}; the default, \`${before.variant}\`, is the best of them.`;
  return `${compared}; \`${tuned.variant}\` is ${ratio(before.ms / tuned.ms)} as the default, \`${before.variant}\`.`;
}

// --------------------------------------------------------------------------------------------------------------- start

function listen() {
  const submit = (form, work) => find(form).addEventListener("submit", (event) => {
    event.preventDefault();
    work();
  });
  submit("#play-form", () => {
    const [kernel, size] = [chosen(), find("#play-size").value];
    run(sections.play, `Measuring ${kernel.title}…`, (progress) => measure(kernel, size, progress));
  });
  find("#play-all").addEventListener("click", () => run(sections.play, "Measuring all kernels…", async (progress) => {
    const size = find("#play-size").value;
    for (const [index, kernel] of kernels.entries()) {
      await measure(kernel, size, ({ what, share }) => progress({ what, share: (index + share) / kernels.length }));
    }
    return `Measured ${kernels.length} kernels with ${size} operands.`;
  }));
  find("#play-webnn").addEventListener("click", () => {
    const [kernel, size] = [chosen(), find("#play-size").value];
    run(sections.play, "Asking for WebNN…", (progress) => webnn(kernel, size, progress));
  });
  submit("#model-form", () => run(sections.search, "Fetching the model…", async (progress) => {
    await ask("load", {}, progress);
    sections.search.dataset.model = "loaded";
    return "The model is ready.";
  }));
  submit("#find-form", () => run(sections.search, "Embedding the lines…", async (progress) => {
    const start = performance.now();
    const found = await ask("find", { query: find("#query").value, text: find("#lines").value }, progress);
    rank(found);
    return `Searched ${found.lines} lines in ${((performance.now() - start) / 1000).toFixed(2)} s.`;
  }));
  find("#compare").addEventListener("click", () => run(sections.search, "Embedding known texts…", async (progress) => {
    const { texts: count, difference } = await ask("compare", {}, progress);
    sections.search.dataset.difference = difference;
    return `The embeddings of ${count} texts differ from the native ones by ${difference.toExponential(1)} at most.`;
  }));
  submit("#tune-form", () => {
    const kernel = kernels.find(({ id }) => id === find("#tune-kernel").value);
    const [size, seconds] = [find("#tune-size").value, Number(find("#tune-seconds").value)];
    run(sections.tune, `Measuring the variants of ${kernel.title}…`, (progress) => tune(kernel, size, seconds, progress));
  });
  find("#forget").addEventListener("click", async () => {
    for (const key of keys()) localStorage.removeItem(key);
    await ask("forget");
    tell(null);
    find(".status", sections.tune).textContent = "Forgotten: launches choose as everybody's again.";
    find("#tune-form button").focus();
    show();
  });
}

async function start() {
  tabs();
  listen();
  enable();
  if (!("gpu" in navigator)) {
    fail("This browser has no WebGPU.", "Chrome, Edge and Chromium have it from version 113, Safari from 26, Firefox from 141 on " +
      "Windows and 145 on Macs with Apple's processors. Pages get it over https and from this machine only.");
    return;
  }
  try {
    await connect();
    const stored = Object.fromEntries(keys().map((key) => [key, localStorage.getItem(key)]));
    const { adapter, kernels: all, table, problem } = await ask("open", { kept: stored });
    kernels = all;
    const features = [["16-bit floats", adapter.f16], ["subgroups", adapter.subgroups]].filter(([, has]) => has);
    const more = features.length > 0 ? `, with ${features.map(([name]) => name).join(" and ")}` : "";
    find("#adapter").textContent = `${adapter.name} (${adapter.software ? "a software adapter" : adapter.kind})${more}`;
    list();
    for (const size of ["#play-size", "#tune-size"]) find(size).value = adapter.software ? "small" : "medium";
    tell(table, "Using");
    if (problem) find("#kept").textContent = `The table of an earlier visit is not used: ${problem}`;
    document.body.dataset.state = "ready";
    enable();
    await show();
  } catch (error) {
    fail("No adapter could be opened.", "The browser has WebGPU, but gave this page no adapter. Its settings may have switched it " +
      "off, or the driver may be blocked: chrome://gpu or about:support say more.", error.message);
  }
}

start();
