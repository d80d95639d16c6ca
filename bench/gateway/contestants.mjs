/**
 * Who is compared, and how each is started. A contestant needs a base URL, headers, and (but for `direct`) a process
 * whose CPU is read. All of them talk to the same upstream, which no contestant can tell from a real provider.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, messageOf, startOwn, startProgram } from './child.mjs';
import { coordinatorYaml, OPERATOR_KEY, PROVIDER_KEYS } from './coordinator-config.mjs';
import { faultOfRouting } from './routing.check.mjs';
import { bodiesOf, workloadNamed } from './workloads.mjs';

const START_TIMEOUT_MS = 30_000;
const START_POLL_MS = 100;
const CALLER_KEY = 'bench-caller-key-0123456789abcdef';
/** Those of `npm start`. */
const COORDINATOR_FLAGS = ['--enable-source-maps', '--max-semi-space-size=32'];
const COORDINATOR = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const PORTKEY = fileURLToPath(new URL('../node_modules/@portkey-ai/gateway/build/start-server.js', import.meta.url));

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {string} title
 * @property {string} url base URL, `/v1` included
 * @property {Record<string, string>} headers
 * @property {import('node:child_process').ChildProcess | undefined} process undefined: nothing stands between
 * @property {() => Promise<string | undefined>} [faultWhenWarm] what it lacks, once it is warm, of what it is to be measured with
 */

export const CONTESTANTS = [
  { name: 'direct', title: 'direct', isLimit: true, start: startDirect },
  { name: 'bare', title: 'bare JSON proxy (the limit)', isLimit: true, start: (upstream) => startBare(upstream, []) },
  {
    name: 'coordinator',
    title: 'ai-api-coordinator',
    needs: COORDINATOR,
    hint: 'npm run build',
    start: startCoordinator,
  },
  { name: 'portkey', title: '@portkey-ai/gateway', needs: PORTKEY, hint: 'npm ci --prefix bench', start: startPortkey },
  {
    name: 'pipe',
    title: 'bare proxy, streams unread',
    isOptIn: true,
    start: (upstream) => startBare(upstream, ['--pipe']),
  },
];

/** Starts one and waits until it answers a completion. @throws Error when it is not installed or does not start */
export async function startContestant({ name, title, needs, hint, start }, upstream) {
  if (needs && !existsSync(needs))
    throw new Error(`${name} is not there (${needs}): run \`${hint}\`, or name the contestants you want with --only`);
  const contestant = { name, title, ...(await start(upstream)) };
  await untilItAnswers(contestant);
  return contestant;
}

function startDirect(upstream) {
  return { url: `${upstream}/v1`, headers: { authorization: 'Bearer bench-key' } };
}

async function startBare(upstream, flags) {
  const process = startOwn('./bare-proxy.mjs', [upstream, ...flags]);
  const { port } = await messageOf(process, START_TIMEOUT_MS);
  return { process, url: `http://127.0.0.1:${port}/v1`, headers: {} };
}

async function startCoordinator(upstream) {
  const folder = await mkdtemp(path.join(tmpdir(), 'coordinator-bench-'));
  const configFile = path.join(folder, 'coordinator.yaml');
  await writeFile(configFile, coordinatorYaml(`${upstream}/v1`));
  const port = await freePort();
  const process = startProgram([...COORDINATOR_FLAGS, COORDINATOR], {
    HOST: '127.0.0.1',
    PORT: String(port),
    CONFIG_FILE: configFile,
    ...PROVIDER_KEYS,
    CALLER_KEYS: `bench:enterprise:${CALLER_KEY}`,
    LOG_LEVEL: 'info',
  });
  process.once('exit', () => void rm(folder, { recursive: true, force: true }));
  const url = `http://127.0.0.1:${port}/v1`;
  return {
    process,
    url,
    headers: { authorization: `Bearer ${CALLER_KEY}` },
    faultWhenWarm: () => faultOfRouting(url, OPERATOR_KEY),
  };
}

async function startPortkey(upstream) {
  const port = await freePort();
  const process = startProgram([PORTKEY, `--port=${port}`, '--headless'], { NODE_ENV: 'production' });
  return {
    process,
    url: `http://127.0.0.1:${port}/v1`,
    headers: {
      authorization: 'Bearer bench-key',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    },
  };
}

async function untilItAnswers({ name, url, headers, process }) {
  const body = bodiesOf(workloadNamed('json-1k'))();
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const seen = await attempt(url, headers, body);
    if (seen === 'ok') return;
    process?.ended.throwIfAborted();
    if (Date.now() > deadline) throw new Error(`${name} does not answer (${seen}):\n${process?.logTail ?? ''}`);
    await wait(START_POLL_MS);
  }
}

async function attempt(url, headers, body) {
  try {
    const answer = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(START_TIMEOUT_MS),
    });
    const text = await answer.text();
    return answer.ok ? 'ok' : `${answer.status} ${text.slice(0, 300)}`;
  } catch (error) {
    return String(error.cause ?? error);
  }
}
