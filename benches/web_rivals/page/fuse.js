// This project. With `?specializations`, the module that knows variants and specializations by name; others by their folders.
import { devices, finished } from "./gpu.js";

export const way = "fuse";

const usual = new URLSearchParams(location.search).has("specializations") ? "fuse-specializations" : "fuse";

export async function open(folder = usual) {
  const { default: init, Bench } = await import(`./${folder}/fuse_web_rivals.js`);
  await init();
  const bench = await Bench.open();
  const opened = devices.at(-1);
  return {
    version: "",
    adapter: opened,
    bench,
    wait: () => finished(opened.device.queue),
    async prepare({ kind, sizes }, operands) {
      const prepared = bench.case(kind, sizes, Object.values(operands).map(({ values }) => values));
      return [{
        form: "",
        prepared,
        run: async (launches) => prepared.run(launches),
        values: () => prepared.values(),
        free: () => prepared.free(),
      }];
    },
  };
}
