// What the page tells the program that opened it.

const post = (path, body) => fetch(path, { method: "POST", body });

/// Shows a text, where there is a document: workers have none.
function show(text) {
  if (globalThis.document) document.querySelector("#state").textContent = text;
}

export const progress = (text) => {
  show(text);
  return post("/progress", text);
};

/// Does the page's work, and hands over what it yields or why it failed.
export async function report(work) {
  let outcome;
  try {
    outcome = await work();
  } catch (error) {
    outcome = { error: String(error?.message ?? error), stack: String(error?.stack ?? "") };
  }
  show("done");
  await post("/result", JSON.stringify(outcome));
}
