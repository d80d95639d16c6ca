/** Many requests at once before a provider with limits, with and without coordination. */
import { percentile, sum } from '../locks/numbers.mjs';
import { LIMIT, PLAIN_KEY, rushModel } from './config.mjs';
import { Load } from './load.mjs';
import { progressOf } from './progress.mjs';

/** So that no program meets the rush cold, nor any of the connections to the provider that its first window takes. */
const WARM_UP = 600;

/** @param {{size: number, mode: string}} cell @returns its figures */
export async function measureRush(site, { size, mode }) {
  const pods = site.pods.length;
  const model = rushModel(mode, size);
  const load = new Load(
    site.pods.map(({ url }) => url),
    size,
  );
  try {
    await load.run({ model: 'limited', key: PLAIN_KEY, total: WARM_UP, atOnce: LIMIT });
    await site.openBooks();
    const progressed = progressOf(`${size} at once, ${pods} pod(s), ${mode}`, size);
    const taken = await load.run({ model, key: PLAIN_KEY, total: size, atOnce: size }, progressed);
    const figures = { ...figuresOf(taken, size), ...(await site.books(model)) };
    return { size, pods, mode, limit: LIMIT, windowMs: site.windowMs, ...figures, ...againstLeast(figures, site) };
  } finally {
    await load.close();
  }
}

/** The least time that the limit permits: a window's worth at once, and one more as each window ends. */
function againstLeast({ total, failed, elapsedMs }, { windowMs }) {
  const leastMs = (Math.ceil(total / LIMIT) - 1) * windowMs;
  // Who gives calls up is done sooner.
  return { leastMs, timesLeast: leastMs > 0 && failed === 0 ? elapsedMs / leastMs : undefined };
}

function figuresOf({ latencies, failures, elapsedMs }, total) {
  return {
    total,
    succeeded: latencies.length,
    failed: total - latencies.length,
    failures,
    elapsedMs,
    perSecond: (latencies.length / elapsedMs) * 1_000,
    meanMs: latencies.length === 0 ? undefined : sum(latencies) / latencies.length,
    medianMs: percentile(latencies, 0.5),
    p95Ms: percentile(latencies, 0.95),
    p99Ms: percentile(latencies, 0.99),
  };
}
