import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { shellCommands } from './readme-commands.mjs';

const READY_WITHIN_MS = 60_000;
/** Longer than DRAIN_DELAY_MS at the simulator's pace, shorter than any grace. */
const LONG_STREAM = 'words:1200';
const README = fileURLToPath(new URL('../README.md', import.meta.url));
/** Where the README's commands go. */
const LOCAL = 'http://127.0.0.1:8080';
/** For a key with the scope admin, and for another port. */
const FOR_OPERATORS = ['/v1/status', '/metrics'];

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

  /** The README's commands as they are pasted, with a key: a first answer, a stream, models, probes, the document; and its page. */
  async quickStart() {
    expect((await this.complete('Say hello.', { key: 'wrong' })).status === 401, 'it takes any key');
    const commands = ['## Quick start', '## Endpoints'].flatMap((heading) => shellCommands(README, heading, 'curl '));
    const forCallers = commands.filter((command) => !FOR_OPERATORS.some((path) => command.endsWith(path)));
    expect(forCallers.length > 5, 'the README has no commands');
    for (const command of forCallers) this.paste(command);
    expect((await this.status('/docs')) === 200, 'its page is not there');
    const [first] = shellCommands(README, '## Quick start', 'curl ');
    expect(JSON.parse(this.paste(first)).choices[0].message.content.length > 0, 'it answers nothing');
    const [stream] = shellCommands(README, '## Endpoints', 'curl -N ');
    expect(this.paste(stream).trimEnd().endsWith('data: [DONE]'), 'a stream does not end');
  }

  /**
   * @returns {string} what the command prints
   * @throws {Error} where it is answered with an error
   */
  paste(command) {
    const here = `${command} --silent --show-error --fail-with-body -H "authorization: Bearer $KEY"`;
    const env = { ...process.env, KEY: this.key };
    return execFileSync('sh', ['-c', here.replaceAll(LOCAL, this.url)], { env, encoding: 'utf8' });
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
