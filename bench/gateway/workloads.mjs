/**
 * What is asked and what must come back. The upstream, the load generator and the report read this one file, so that
 * the answer that is expected and the answer that is given can't drift apart.
 */

/** The model every contestant is asked for. */
export const MODEL = 'gpt-4.1';

/** Who could take over, and never has to. */
export const FALLBACK_MODEL = 'gpt-4.1-mini';

const SENTENCE = 'The "fence" rises with every grant,\nand whoever holds an older one is refused: 1, 2, 3. ';

/** Prose of exactly `length` characters, with the quotes and line breaks that make JSON escape. */
export function prose(length) {
  return SENTENCE.repeat(Math.ceil(length / SENTENCE.length)).slice(0, length);
}

/** The text that a reply plan yields: one piece for JSON, one per frame for a stream. */
export function pieces(plan) {
  if (plan.frames === 0) return [prose(plan.replyChars)];
  return Array.from({ length: plan.frames }, (_, index) => ` word${index}`);
}

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} title
 * @property {number} promptChars length of the user message
 * @property {{replyChars: number, delayMs: number, frames: number, paceMs: number}} plan what the upstream does
 * @property {readonly {connections: number, requests: number}[]} cells requests are per contestant and round
 */

/** @type {readonly Workload[]} */
export const WORKLOADS = [
  {
    name: 'json-1k',
    title: '1 kB JSON',
    promptChars: 700,
    plan: { replyChars: 600, delayMs: 0, frames: 0, paceMs: 0 },
    cells: [
      { connections: 1, requests: 600 },
      { connections: 64, requests: 2400 },
      { connections: 500, requests: 3000 },
    ],
  },
  {
    name: 'json-20k',
    title: '20 kB JSON',
    promptChars: 19_000,
    plan: { replyChars: 19_000, delayMs: 0, frames: 0, paceMs: 0 },
    cells: [
      { connections: 1, requests: 300 },
      { connections: 64, requests: 1200 },
      { connections: 500, requests: 1500 },
    ],
  },
  {
    name: 'stream-100',
    title: 'SSE stream of 100 chunks',
    promptChars: 700,
    plan: { replyChars: 0, delayMs: 0, frames: 100, paceMs: 2 },
    cells: [
      { connections: 1, requests: 8 },
      { connections: 8, requests: 48 },
      { connections: 64, requests: 192 },
      { connections: 500, requests: 500 },
    ],
  },
  {
    name: 'json-1k-slow',
    title: '1 kB JSON, upstream takes 50 ms',
    promptChars: 700,
    plan: { replyChars: 600, delayMs: 50, frames: 0, paceMs: 0 },
    cells: [{ connections: 500, requests: 2000 }],
  },
];

/** @returns {Workload} */
export function workloadNamed(name) {
  const found = WORKLOADS.find((workload) => workload.name === name);
  if (!found) throw new Error(`no workload is called ${name}`);
  return found;
}

/**
 * Builds request bodies of one workload. Each carries its own serial, so that a gateway that caches, or joins equal
 * calls in flight, has nothing to join: what is measured is the whole path.
 */
export function bodiesOf(workload) {
  const isStream = workload.plan.frames > 0;
  const mark = '#serial#';
  const template = JSON.stringify({
    model: MODEL,
    messages: [
      { role: 'system', content: JSON.stringify(workload.plan) },
      { role: 'user', content: `${mark} ${prose(workload.promptChars)}` },
    ],
    temperature: 0.2,
    max_tokens: 1000,
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  });
  const [head, tail] = template.split(mark);
  const run = Date.now().toString(36);
  let serial = 0;
  return () => `${head}${run}-${String((serial += 1)).padStart(9, '0')}${tail}`;
}
