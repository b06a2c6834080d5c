// What the page tells the program that opened it.

const post = (path, body) => fetch(path, { method: "POST", body });

export const progress = (text) => {
  document.querySelector("#state").textContent = text;
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
  document.querySelector("#state").textContent = "done";
  await post("/result", JSON.stringify(outcome));
}
