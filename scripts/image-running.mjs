import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_WITHIN_MS = 60_000;
/** Longer than DRAIN_DELAY_MS at the simulator's pace, shorter than any grace. */
const LONG_STREAM = 'words:1200';

/** A server that runs from the image, as its callers and its platform meet it. */
export class RunningImage {
  /** @param {{ url: string, key: string, logs: () => string }} where */
  constructor({ url, key, logs }) {
    this.url = url;
    this.key = key;
    this.logs = logs;
  }

  /** @throws {Error} with its log, where it does not get ready */
  async ready() {
    const end = Date.now() + READY_WITHIN_MS;
    while (Date.now() < end) {
      if ((await this.status('/ready')) === 200) return;
      await sleep(200);
    }
    throw new Error(`it did not get ready:\n${this.logs()}`);
  }

  /** The README's first calls: refused without a key, answered with one, whole and streamed. */
  async quickStart() {
    expect((await this.status('/health')) === 200, 'it is not alive');
    expect((await this.complete('Say hello.', { key: 'wrong' })).status === 401, 'it takes any key');
    const whole = await (await this.complete('Say hello.')).json();
    expect(whole.choices[0].message.content.length > 0, 'it answers nothing');
    const streamed = await (await this.complete('Say hello.', { stream: true })).text();
    expect(streamed.trimEnd().endsWith('data: [DONE]'), 'a stream does not end');
  }

  /**
   * Terminates it while a stream is open: the stream must end whole, /ready say 503 and new calls be answered meanwhile, the exit
   * code be 0.
   *
   * @param {{ terminate: () => void, exitCode: () => number }} platform
   * @returns {Promise<number>} how long it took, s
   */
  async drains({ terminate, exitCode }) {
    const stream = await this.complete(LONG_STREAM, { stream: true });
    const startedAt = Date.now();
    terminate();
    const text = stream.text();
    await this.saysNotReady();
    expect((await this.complete('Say hello.')).status === 200, 'it refuses calls while load balancers still send them');
    const whole = await text;
    expect(whole.trimEnd().endsWith('data: [DONE]'), `the stream was cut:\n${whole.slice(-500)}`);
    expect(Date.now() - startedAt > 5_000, 'the stream was too short to prove anything');
    const code = exitCode();
    expect(code === 0, `it ended with ${code}:\n${this.logs()}`);
    return Math.round((Date.now() - startedAt) / 100) / 10;
  }

  async saysNotReady() {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if ((await this.status('/ready')) === 503) return;
      await sleep(100);
    }
    throw new Error('it is still ready after SIGTERM');
  }

  complete(content, { stream = false, key = this.key } = {}) {
    return fetch(`${this.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'cache-control': 'no-store' },
      body: JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content }], stream }),
    });
  }

  /** Undefined while nobody listens. */
  async status(path) {
    try {
      const response = await fetch(this.url + path);
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function expect(isSo, otherwise) {
  if (!isSo) throw new Error(otherwise);
}
