/** Everything that runs: one Redis, the simulator as the provider that judges, and pods of this server before it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, startProgram } from '../gateway/child.mjs';
import { startRedis } from '../locks/redis-server.mjs';
import { configuration, judgedLimits } from './config.mjs';

const START_TIMEOUT_MS = 60_000;
const START_POLL_MS = 100;
/** As `npm start` has them. */
const MAIN_FLAGS = ['--enable-source-maps', '--max-semi-space-size=32'];
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../../dist/simulator/main.js', import.meta.url));

/** @param {{windowMs: number, pods: number}} options */
export async function openSite({ windowMs, pods }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-fleet-'));
  const file = path.join(folder, 'coordinator.yaml');
  await writeFile(file, JSON.stringify(configuration(windowMs)));
  const redis = await startRedis();
  const judgeOrigin = await started([SIMULATOR, '--config', file, '--port'], {}, '/v1/models');
  const environment = {
    HOST: '127.0.0.1',
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    CONFIG_FILE: file,
    EXPECTED_PODS: String(pods),
    JUDGE_URL: `${judgeOrigin.url}/v1`,
    JUDGE_KEY: 'none',
    LOG_LEVEL: 'info',
  };
  const fleet = await Promise.all(
    Array.from({ length: pods }, () => started([...MAIN_FLAGS, MAIN], environment, '/ready')),
  );
  return new Site({ folder, redis, judge: judgeOrigin, pods: fleet, windowMs });
}

class Site {
  constructor({ folder, ...parts }) {
    this.folder = folder;
    Object.assign(this, parts);
  }

  /** The provider's limits hold from now on, its windows and its books are empty. */
  async openBooks() {
    const { url } = this.judge;
    const limits = await fetch(`${url}/control/limits`, {
      method: 'POST',
      body: JSON.stringify(judgedLimits(this.windowMs)),
    });
    if (!limits.ok) throw new Error(`the provider refuses its limits: ${await limits.text()}`);
    await fetch(`${url}/stats`, { method: 'DELETE' });
  }

  /** What the provider saw of a model. @returns {Promise<{refused: number, most: number}>} */
  async books(model) {
    const { quotas } = await (await fetch(`${this.judge.url}/stats?limit=1`)).json();
    const { refused, windows } = quotas.find((books) => books.model === model);
    return { refused: refused.requests, most: windows[0].requests.most };
  }

  async close() {
    await this.redis.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Starts a program on a free port, and waits until it answers. @throws Error with what it wrote */
async function started(words, env, readyPath) {
  const port = String(await freePort());
  const isServer = words.includes(MAIN);
  const process = startProgram(isServer ? words : [...words, port], isServer ? { ...env, PORT: port } : env);
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(url + readyPath))) {
    process.ended.throwIfAborted();
    if (Date.now() > deadline) throw new Error(`${words.join(' ')} does not answer:\n${process.logTail}`);
    await wait(START_POLL_MS);
  }
  return { url, process };
}

async function answers(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await answer.text();
    return answer.ok;
  } catch {
    return false;
  }
}
