import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Certificates } from './certificates.js';
import { freePort } from './free-port.js';

const HOST = '127.0.0.1';
/** Another process may take the free port before Redis does. */
export const MAX_STARTS = 3;
const MAX_OUTPUT_LENGTH = 10_000;
const PORT_TAKEN = 'Address already in use';
const PORT_WAIT_MS = 200;
const OWN_FILE = 'redis.conf';
const READY_LINE = 'Ready to accept connections';

/** A Redis of the test's own: on a free loopback port, in a folder of its own, with nothing kept on disk. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** Where it takes no connections but encrypted ones. */
  readonly tls: Certificates | undefined;
  /** Of the process that runs now. */
  readonly pid: number;
  /** Where it runs; gone after `stop()`. */
  readonly folder: string;
  /** Stops answering while connections stay open, as a machine that hangs does; `thaw()` lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Ends it at once; nothing is cleared up. */
  crash(): Promise<void>;
  /** Starts it again after a crash, on the same port. */
  restart(): Promise<void>;
  /** Ends it at once, as a crash does, and clears up. May be called again. */
  stop(): Promise<void>;
}

export interface ServerFiles {
  /** Files to write into its folder before it starts, by name; a sentinel's configuration, say. */
  readonly files?: (server: { port: number; folder: string }) => Readonly<Record<string, string>>;
  /** Words of redis-server in place of the usual ones. */
  readonly words?: (server: { port: number; folder: string }) => readonly string[];
  /** Lines of a file that it may rewrite: what sentinels tell it survives its restart. */
  readonly lines?: readonly string[];
  /** What it writes when it is ready. Default: that it accepts connections. */
  readonly readyLine?: string;
  /** Encrypted connections only, for clients that show a certificate of the same CA. */
  readonly tls?: Certificates;
}

/**
 * Starts a redis-server and waits until it answers.
 *
 * @param options further options of redis-server, e.g. `['--appendonly', 'yes']`
 * @throws {Error} with what the server wrote, where it does not start
 */
export async function startRedisServer(options: readonly string[] = [], how: ServerFiles = {}): Promise<RedisServer> {
  for (let start = 1; ; start += 1) {
    const server = new RedisProcess(await freePort(), await mkdtemp(join(tmpdir(), 'redis-')), options, how);
    try {
      await server.restart();
      return server;
    } catch (error) {
      await server.stop();
      if (start === MAX_STARTS) throw error;
    }
  }
}

/** Nothing outlives the tests, however they end. */
const running = new Set<RedisProcess>();
process.once('exit', () => {
  for (const server of running) server.abandon();
});

class RedisProcess implements RedisServer {
  readonly host = HOST;
  readonly tls: Certificates | undefined;
  #child: ChildProcess | undefined;
  #pid = 0;

  constructor(
    readonly port: number,
    readonly folder: string,
    private readonly options: readonly string[],
    private readonly how: ServerFiles,
  ) {
    this.tls = how.tls;
    running.add(this);
  }

  get pid(): number {
    return this.#pid;
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** The last resort, when the process ends before the test has cleared up. */
  abandon(): void {
    this.#child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  async crash(): Promise<void> {
    if (this.#child !== undefined) await end(this.#child);
  }

  async restart(): Promise<void> {
    const { files, words, lines } = this.how;
    const own = lines && { [OWN_FILE]: lines.join('\n') };
    for (const [name, text] of Object.entries({ ...own, ...files?.(this) })) {
      await writeFile(join(this.folder, name), text, { flag: 'wx' }).catch(ignoreExisting);
    }
    await this.#startAgain(words?.(this) ?? this.#words());
  }

  #words(): readonly string[] {
    return [
      ...(this.how.lines === undefined ? [] : [join(this.folder, OWN_FILE)]),
      ...portWords(this).map((word, index) => (index % 2 === 0 ? `--${word}` : word)),
      ...['--bind', HOST, '--dir', this.folder, '--save', ''],
    ];
  }

  async #startAgain(words: readonly string[]): Promise<void> {
    for (let start = 1; ; start += 1) {
      try {
        await this.#start(words);
        return;
      } catch (error) {
        // Its port was lent to a connection meanwhile, which gives it back.
        if (start === MAX_STARTS || !String(error).includes(PORT_TAKEN)) throw error;
        await sleep(PORT_WAIT_MS);
      }
    }
  }

  async #start(words: readonly string[]): Promise<void> {
    const command = process.env['REDIS_SERVER'] ?? 'redis-server';
    this.#child = spawn(command, [...words, ...this.options], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#pid = await ready(this.#child, this.how.readyLine ?? READY_LINE);
  }

  async stop(): Promise<void> {
    running.delete(this);
    await this.crash();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Names and values of its configuration in turn. */
export function portWords({ port, tls }: { readonly port: number; readonly tls: Certificates | undefined }): string[] {
  if (tls === undefined) return ['port', String(port)];
  const files = ['tls-ca-cert-file', tls.caFile, 'tls-cert-file', tls.certFile, 'tls-key-file', tls.keyFile];
  return ['port', '0', 'tls-port', String(port), ...files, 'tls-replication', 'yes', 'tls-cluster', 'yes'];
}

/** Sentinels and their servers rewrite their configurations: after a crash they go on with what they have learned. */
function ignoreExisting(error: unknown): void {
  // By its code: Node's own errors and Jest's are not of one class.
  if (typeof error !== 'object' || error === null || Reflect.get(error, 'code') !== 'EEXIST') throw error;
}

/** The process id, once the server says that it is ready. What it says later is read too, or a full pipe would stop it. */
function ready(child: ChildProcess, readyLine: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output = `${output}${chunk.toString()}`.slice(-MAX_OUTPUT_LENGTH);
      if (output.includes(readyLine) && child.pid !== undefined) resolve(child.pid);
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
