// Runs the engine in its own thread, so that the page never waits for it.
import { answer } from "./engine.js";

self.onmessage = ({ data }) => answer(data, (reply) => self.postMessage(reply));
self.postMessage({ ready: "gpu" in self.navigator });
