import { type ChildProcess, spawn } from 'node:child_process';
import { eventually } from './eventually.js';
import { pass } from './pass.js';
import { ROOT } from './planted-project.js';

/** How a process ended, and all it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

/** A process of this service, however far it has come. */
export interface LaunchedServer {
  readonly process: ChildProcess;
  /** Standard output and standard error so far. */
  readonly logs: () => string;
  readonly ended: Promise<Ended>;
}

/** This service in a process of its own, as `npm start` runs it. */
export interface SpawnedServer extends LaunchedServer {
  /** Without a slash at its end. */
  readonly url: string;
  /** Ends it at once; resolves when it is gone. May be called again. */
  kill(): Promise<Ended>;
}

export interface SpawnOptions {
  /**
   * The whole environment: nothing of this process's own is passed on. The server listens on a free loopback port unless told
   * otherwise. It has to log at `info` at least, or nobody learns where.
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** Options of Node, before the script. */
  readonly nodeOptions?: readonly string[];
}

/** A second signal within a tenth of a second is an echo of the first. */
const AFTER_ECHO_MS = 150;
const END_WITH_PARENT = ['--import', `${ROOT}test/support/end-with-parent.mjs`];

/**
 * Starts dist/main.js and waits until it listens.
 *
 * @throws {Error} with all it said, where it ends before
 */
export async function spawnServer(options: SpawnOptions = {}): Promise<SpawnedServer> {
  const { process: child, logs, ended } = launchServer(options);
  const kill = async (): Promise<Ended> => {
    child.kill('SIGKILL');
    return ended;
  };
  const url = await Promise.race([listening(child), ended.then(() => undefined)]);
  if (url === undefined) throw new Error(`the server ended before it listened:\n${logs()}`);
  return { url, process: child, logs, ended, kill };
}

/** Starts dist/main.js where it is expected to end by itself. */
export function runServer(environment: Readonly<Record<string, string>>): Promise<Ended> {
  return launchServer({ environment }).ended;
}

/** Tells it to end, and again when it has heard: then no busy machine makes the second signal an echo of the first. */
export async function signalTwice({ process: child, url }: SpawnedServer, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await eventually(async () => !(await isReady(url)));
  await pass(AFTER_ECHO_MS);
  child.kill(signal);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/ready`);
    await response.text();
    return response.status === 200;
  } catch {
    // Nobody listens any more.
    return false;
  }
}

/** Starts dist/main.js and waits for nothing. */
export function launchServer({ environment = {}, nodeOptions = [] }: SpawnOptions): LaunchedServer {
  const child = spawn(process.execPath, [...END_WITH_PARENT, ...nodeOptions, 'dist/main.js'], {
    cwd: ROOT,
    env: { PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal, output, errors });
    });
  });
  return { process: child, logs: () => output + errors, ended };
}

/** The URL of the line that says so. */
function listening({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const read = (piece: string): void => {
      text += piece;
      const line = text.split('\n').find((each) => each.includes('"msg":"listening"') && each.endsWith('}'));
      if (line === undefined) return;
      stdout?.off('data', read);
      resolve((JSON.parse(line) as { url: string }).url);
    };
    stdout?.on('data', read);
  });
}

/**
 * The environment of a server whose only provider is at `upstreamUrl`.
 *
 * @param upstreamUrl its base URL, ends in /v1
 */
export function environmentFor(upstreamUrl: string): Record<string, string> {
  return { HOLYSHEEP_BASE_URL: upstreamUrl, HOLYSHEEP_API_KEY: UPSTREAM_KEY };
}

/** This service's key at the provider. */
export const UPSTREAM_KEY = 'upstream-key-Zk31qP8vT0';
