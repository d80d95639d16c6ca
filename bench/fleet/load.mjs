/** The load: requests with prompts of their own, each answer read and checked. */
import { Pool } from 'undici';

const TIMEOUT_MS = 180_000;
/** A request of 1 kB. */
const SYSTEM = { role: 'system', content: 'Say what you are asked to say, and nothing else. '.repeat(18) };
let serial = 0;

/** Connections to some servers, used in turns. */
export class Load {
  #pools;

  /** @param {readonly string[]} urls without a path @param {number} connections in all */
  constructor(urls, connections) {
    const each = { connections: Math.ceil(connections / urls.length), pipelining: 1 };
    this.#pools = urls.map((url) => new Pool(url, { ...each, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS }));
  }

  /**
   * @param {{model: string, key: string, total: number, atOnce: number}} plan
   * @param {(done: number) => void} [progressed] after each answer
   * @returns {Promise<{latencies: number[], failures: Record<string, number>, elapsedMs: number}>} latencies: ms, of good answers
   */
  async run({ model, key, total, atOnce }, progressed = () => undefined) {
    const tally = { latencies: [], failures: {} };
    let next = 0;
    let done = 0;
    const lane = async () => {
      while (next < total) {
        const turn = next;
        next += 1;
        await this.#ask(this.#pools[turn % this.#pools.length], { model, key }, tally);
        done += 1;
        progressed(done);
      }
    };
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: Math.min(total, atOnce) }, lane));
    return { ...tally, elapsedMs: performance.now() - startedAt };
  }

  async close() {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  async #ask(pool, { model, key }, tally) {
    serial += 1;
    const word = `answer${serial}`;
    const body = JSON.stringify({
      model,
      max_tokens: 50,
      messages: [SYSTEM, { role: 'user', content: `echo:${word}` }],
    });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const startedAt = performance.now();
    const fault = await pool
      .request({ method: 'POST', path: '/v1/chat/completions', headers, body })
      .then(async ({ statusCode, body: answer }) => faultOf(statusCode, await answer.text(), word))
      .catch((error) => error.code ?? String(error));
    if (fault === undefined) tally.latencies.push(performance.now() - startedAt);
    else tally.failures[fault] = (tally.failures[fault] ?? 0) + 1;
  }
}

function faultOf(status, text, word) {
  if (status !== 200) return String(status);
  return JSON.parse(text).choices?.[0]?.message?.content === word ? undefined : 'a wrong answer';
}
