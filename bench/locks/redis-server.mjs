/** A redis-server of the bench's own: a free loopback port, a folder of its own, nothing kept on disk. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ensureRedisServer } from '../../scripts/programs.mjs';
import { freePort } from '../gateway/child.mjs';
import { cpuMicros } from '../gateway/process-cost.mjs';

const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 10_000;

export async function startRedis() {
  const [port, folder] = [await freePort(), await mkdtemp(path.join(tmpdir(), 'bench-locks-'))];
  const words = ['--port', String(port), '--bind', HOST, '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn(ensureRedisServer(), words, { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  const admin = new Redis(port, HOST, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  admin.on('error', () => undefined);
  const isUp = await Promise.race([admin.ping(), wait(START_TIMEOUT_MS, undefined, { ref: false })]);
  if (isUp !== 'PONG') throw new Error(`redis-server does not answer on port ${port}`);
  return new BenchRedis(child, { port, folder, admin });
}

class BenchRedis {
  #child;
  #folder;
  #admin;

  constructor(child, { port, folder, admin }) {
    this.#child = child;
    this.port = port;
    this.#folder = folder;
    this.#admin = admin;
  }

  async version() {
    return /redis_version:(\S+)/.exec(await this.#admin.info('server'))[1];
  }

  async clear() {
    await this.#admin.flushall();
    await this.#admin.config('RESETSTAT');
  }

  cpuMicros() {
    return cpuMicros(this.#child.pid);
  }

  /** How often each command ran since the last clear(), also within scripts. */
  async calls() {
    const lines = (await this.#admin.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
    return new Map(Array.from(lines, ([, name, calls]) => [name, Number(calls)]));
  }

  /** Stops answering while its connections stay open, as a machine that hangs does. */
  freeze() {
    this.#child.kill('SIGSTOP');
  }

  thaw() {
    this.#child.kill('SIGCONT');
  }

  async stop() {
    this.#admin.disconnect();
    const gone = once(this.#child, 'exit');
    this.thaw();
    this.#child.kill('SIGKILL');
    await gone;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
