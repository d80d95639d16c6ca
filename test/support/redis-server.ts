import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HOST = '127.0.0.1';
/** Another process may take the free port before Redis does. */
const MAX_STARTS = 3;
const MAX_OUTPUT_LENGTH = 10_000;
const READY_LINE = 'Ready to accept connections';

/** A Redis of the test's own: on a free loopback port, in a folder of its own, with nothing kept on disk. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** Where it runs; gone after `stop()`. */
  readonly folder: string;
  /** Ends it at once, as a crash does, and clears up. May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts a redis-server and waits until it answers.
 *
 * @param options further options of redis-server, e.g. `['--appendonly', 'yes']`
 * @throws {Error} with what the server wrote, where it does not start
 */
export async function startRedisServer(options: readonly string[] = []): Promise<RedisServer> {
  for (let start = 1; ; start += 1) {
    try {
      return await startOnce(await freePort(), options);
    } catch (error) {
      if (start === MAX_STARTS) throw error;
    }
  }
}

async function startOnce(port: number, options: readonly string[]): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const args = ['--port', String(port), '--bind', HOST, '--dir', folder, '--save', '', ...options];
  const child = spawn(process.env['REDIS_SERVER'] ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const stop = async (): Promise<void> => {
    process.off('exit', killWithUs);
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const pid = await ready(child);
    return { host: HOST, port, pid, folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The process id, once the server says that it is ready. What it says later is read too, or a full pipe would stop it. */
function ready(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output = `${output}${chunk.toString()}`.slice(-MAX_OUTPUT_LENGTH);
      if (output.includes(READY_LINE) && child.pid !== undefined) resolve(child.pid);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('close', () => {
      reject(new Error(`redis-server ended before it was ready:\n${output}`));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
