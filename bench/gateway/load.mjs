/**
 * The load generator, a process of its own: a closed loop of `connections` clients that share a count of requests.
 * Messages in: `{kind: 'open', url, headers, connections}` (a fresh pool, one small request on each connection) and
 * `{kind: 'run', workload, requests}`; the answer to each is the figures of that batch. Every answer is checked.
 */
import { Pool } from 'undici';
import { bodiesOf, pieces, workloadNamed } from './workloads.mjs';
import { faultOfJson, faultOfStream } from './answer.check.mjs';

const ANSWER_TIMEOUT_MS = 60_000;
const SAMPLES_FOR_A_TAIL = 100;
const FIRST_CONTENT = /"content": ?"[^"]/;

let target;

process.on('message', (order) => {
  obey(order).then(
    (figures) => process.send(figures),
    (error) => process.send({ failure: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit(0));

async function obey(order) {
  if (order.kind === 'run') return batch(workloadNamed(order.workload), order.requests);
  await target?.pool.destroy();
  const { origin, pathname } = new URL(order.url);
  const pool = new Pool(origin, {
    connections: order.connections,
    pipelining: 1,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  target = { pool, path: `${pathname}/chat/completions`, headers: order.headers, connections: order.connections };
  return batch(workloadNamed('json-1k'), order.connections);
}

async function batch(workload, requests) {
  const isStream = workload.plan.frames > 0;
  const tally = { latencies: [], firstTokens: [], faults: [] };
  const nextBody = bodiesOf(workload);
  const expected = pieces(workload.plan).join('');
  let left = requests;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await (isStream ? askStream(nextBody(), expected, tally) : askJson(nextBody(), expected, tally));
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: Math.min(target.connections, requests) }, client));
  return figuresOf(tally, requests, performance.now() - started);
}

function send(body) {
  const headers = { 'content-type': 'application/json', ...target.headers };
  return target.pool.request({ method: 'POST', path: target.path, headers, body });
}

async function askJson(body, expected, tally) {
  const started = performance.now();
  try {
    const answer = await send(body);
    const text = await answer.body.text();
    tally.latencies.push(performance.now() - started);
    note(tally, faultOfJson(answer.statusCode, text, expected));
  } catch (error) {
    note(tally, `no answer: ${error}`);
  }
}

async function askStream(body, expected, tally) {
  const started = performance.now();
  try {
    const answer = await send(body);
    answer.body.setEncoding('utf8');
    let text = '';
    let firstToken;
    for await (const chunk of answer.body) {
      text += chunk;
      if (firstToken === undefined && FIRST_CONTENT.test(text)) firstToken = performance.now() - started;
    }
    tally.latencies.push(performance.now() - started);
    if (firstToken !== undefined) tally.firstTokens.push(firstToken);
    note(tally, faultOfStream(answer.statusCode, text, expected));
  } catch (error) {
    note(tally, `no answer: ${error}`);
  }
}

function note(tally, fault) {
  if (fault !== undefined) tally.faults.push(fault);
}

function figuresOf(tally, requests, elapsedMs) {
  return {
    requests,
    elapsedMs,
    requestsPerSecond: (requests / elapsedMs) * 1000,
    p50Ms: quantile(tally.latencies, 0.5),
    p99Ms: tail(tally.latencies),
    firstTokenP50Ms: quantile(tally.firstTokens, 0.5),
    firstTokenP99Ms: tail(tally.firstTokens),
    errors: tally.faults.length,
    faults: tally.faults.slice(0, 3),
  };
}

/** The p99; undefined where so few samples would only show their maximum. */
function tail(samples) {
  return samples.length < SAMPLES_FOR_A_TAIL ? undefined : quantile(samples, 0.99);
}

function quantile(samples, share) {
  if (samples.length === 0) return undefined;
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
