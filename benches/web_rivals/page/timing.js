// How all times are taken: batches of launches, each followed by a wait for the GPU, in rounds in which everyone has a turn.

/// Milliseconds that a batch shall take, unless asked otherwise.
const BATCH = 200;
/// Launches of a batch at most, unless asked otherwise: libraries allocate what they queue.
const MOST_LAUNCHES = 256;

async function batch({ form, library }, launches) {
  const start = performance.now();
  await form.run(launches);
  await library.wait();
  return (performance.now() - start) / launches;
}

/// Milliseconds per launch, and launches of a batch that takes about `milliseconds`: more and more of them, until the wait at the end,
/// which takes one or two by itself, counts little.
async function calibrated(contestant, milliseconds, most) {
  for (let launches = 1; ; launches = Math.min(most, 4 * launches)) {
    // The lesser of two: one may meet a compiler, or a busy moment.
    const once = Math.min(await batch(contestant, launches), await batch(contestant, launches));
    if (once * launches >= milliseconds / 4 || launches === most) {
      return { once, launches: Math.max(1, Math.min(most, Math.ceil(milliseconds / once))) };
    }
  }
}

/// Times contestants `{ library, form }` in turns; adds `times` (milliseconds per launch) and `launches` (of a batch) to each.
/// A round takes all of them, beginning with another one each time, so that a busy moment of the machine meets everyone. Those
/// that seem to take more than `within` times as long as the fastest get no turn; yields the others.
export async function inTurns(all, options) {
  const { rounds, seconds, within = Infinity, milliseconds = BATCH, most = MOST_LAUNCHES } = options;
  for (const contestant of all) {
    // Pipelines, memory, and whatever else only the first launches need.
    await batch(contestant, within === Infinity ? 2 : 1);
    Object.assign(contestant, await calibrated(contestant, milliseconds, most), { times: [] });
  }
  const limit = Math.min(...all.map(({ once }) => once)) * within;
  const contestants = all.filter(({ once }) => once <= limit);
  const start = performance.now();
  const fewest = Math.min(3, rounds);
  for (let round = 0; round < rounds; round++) {
    if (round >= fewest && performance.now() - start > seconds * 1000) break;
    for (let i = 0; i < contestants.length; i++) {
      const contestant = contestants[(round + i) % contestants.length];
      contestant.times.push(await batch(contestant, contestant.launches));
    }
  }
  return contestants;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const last = sorted.length - 1;
  return (sorted[Math.floor(last / 2)] + sorted[Math.ceil(last / 2)]) / 2;
}

/// A contestant's times in microseconds.
export function microseconds({ times, launches }) {
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return { median_us: median(times) * 1000, min_us: least * 1000, max_us: most * 1000, batches: times.length, launches };
}
