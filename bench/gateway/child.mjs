/** Child processes of a run: started with an environment of their own, watched, and all ended with the run. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const STOP_GRACE_MS = 5_000;
const LOG_TAIL_CHARS = 4_000;
const running = new Set();

/** Starts a script of this folder that tells its port, or answers orders, over the IPC channel. */
export function startOwn(script, args = []) {
  const child = fork(new URL(script, import.meta.url), args, { env: {}, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  return watch(child, script);
}

/** Starts any Node program; it sees only the environment given here. */
export function startProgram(args, env) {
  return watch(spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }), args[0]);
}

/** The next message of a child. @throws Error when the child ends or nothing comes in time */
export async function messageOf(child, timeoutMs) {
  const [message] = await once(child, 'message', {
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), child.ended]),
  });
  return message;
}

/** Ends every child of this run: SIGTERM, after a grace SIGKILL. Nothing else is ever signalled. */
export async function stopAll() {
  await Promise.all(Array.from(running, stop));
}

/** A port that was free a moment ago. */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

function watch(child, name) {
  const ended = new AbortController();
  child.ended = ended.signal;
  child.logTail = '';
  // Read to the end: a full pipe would stop the gateway at its log.
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (chunk) => (child.logTail = (child.logTail + chunk).slice(-LOG_TAIL_CHARS)));
  }
  running.add(child);
  child.once('exit', (code, signal) => {
    running.delete(child);
    ended.abort(new Error(`${name} ended (${signal ?? code}):\n${child.logTail}`));
  });
  return child;
}

async function stop(child) {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await Promise.race([gone, wait(STOP_GRACE_MS, undefined, { ref: false })]);
  if (!running.has(child)) return;
  child.kill('SIGKILL');
  await gone;
}
