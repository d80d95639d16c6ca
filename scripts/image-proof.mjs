/**
 * Builds the image and runs it, without Docker: `npm run proof -- --only image`. What it proves and what not is in
 * docs/deployment.md.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BASE_IMAGE, ensureBaseImage } from './image-base.mjs';
import { ensureImageEngine, ImageEngine } from './image-engine.mjs';
import { freePort, RunningImage } from './image-running.mjs';
import { podmanPod } from './image-pod.mjs';
import { ensureRedisServer } from './programs.mjs';

const IMAGE = 'localhost/ai-api-coordinator:proof';
const NAME = 'ai-api-coordinator-proof';
/** As k8s/ runs it: nothing to write to but /tmp, no rights at all. */
const LOCKED_UP = [
  ...['--network', 'host', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges'],
];
const root = fileURLToPath(new URL('..', import.meta.url));
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');

ensureImageEngine();
const engine = new ImageEngine(join(cache, 'ai-api-coordinator/image'));
const scratch = mkdtempSync(join(tmpdir(), 'image-proof-'));
const key = randomBytes(24).toString('hex');
const password = randomBytes(24).toString('hex');
const figures = {};
let redis;

try {
  await step('base', () => ensureBaseImage(engine));
  await step('build', () => engine.build({ folder: root, tag: IMAGE, args: { NODE_IMAGE: BASE_IMAGE } }));
  await step('contents', proveContents);
  redis = await startRedis();
  await step('container', proveContainer);
  await step('pod', provePod);
  if (process.env.PROOF_FIGURES) {
    appendFileSync(process.env.PROOF_FIGURES, `${JSON.stringify({ name: 'image', figures })}\n`);
  }
} finally {
  engine.succeeds(['rm', '--force', '--time', '1', NAME]);
  engine.succeeds(['pod', 'rm', '--force', '--time', '1', 'coordinator-pod-0']);
  engine.succeeds(['volume', 'prune', '--force']);
  redis?.process.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
}

async function step(name, work) {
  const startedAt = Date.now();
  await work();
  figures[`${name}_seconds`] = Math.round((Date.now() - startedAt) / 100) / 10;
  console.log(`image: ${name} in ${figures[`${name}_seconds`]} s`);
}

/** What is in it, and what is not. */
function proveContents() {
  const [{ Config, Size }] = JSON.parse(engine.podman(['image', 'inspect', IMAGE]));
  figures.megabytes = Math.round(Size / 1e6);
  expectSame('the user', Config.User, '10001:10001');
  expectSame('the command', Config.Cmd, ['node', '--enable-source-maps', 'dist/main.js']);
  const script = `
    const { readFileSync, readdirSync, accessSync, constants } = require('node:fs');
    const { packages } = JSON.parse(readFileSync('node_modules/.package-lock.json'));
    const isWritable = (path) => { try { accessSync(path, constants.W_OK); return true; } catch { return false; } };
    console.log(JSON.stringify({
      development: Object.keys(packages).filter((name) => packages[name].dev === true),
      files: readdirSync('.').sort(),
      writable: ['.', 'dist', 'node_modules', 'coordinator.yaml', '/etc', '/usr'].filter(isWritable),
    }));`;
  const found = JSON.parse(engine.podman(['run', '--rm', ...LOCKED_UP, IMAGE, 'node', '-e', script]));
  expectSame('what it holds and may write', found, {
    development: [],
    files: ['LICENSE', 'coordinator.yaml', 'dist', 'node_modules', 'package.json', 'scripts'],
    writable: [],
  });
}

/** What the server's own process, the first of its container, may do. */
function proveRights(container) {
  const status = engine.podman(['exec', container, 'cat', '/proc/1/status']);
  const mounts = engine.podman(['exec', container, 'cat', '/proc/1/mounts']);
  const of = (name) => new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(status)?.[1];
  const [root] = mounts.split('\n').filter((line) => line.split(' ')[1] === '/');
  const rights = {
    uid: of('Uid'),
    gid: of('Gid'),
    capabilities: of('CapEff'),
    noNewPrivileges: of('NoNewPrivs'),
    isReadOnly: root?.split(' ')[3].split(',').includes('ro'),
  };
  expectSame('the rights of the server', rights, {
    ...{ uid: '10001', gid: '10001', capabilities: '0000000000000000', noNewPrivileges: '1' },
    isReadOnly: true,
  });
}

/** `docker run` as the README has it, the quick start, a rollout. */
async function proveContainer() {
  const port = await freePort();
  const environment = {
    PORT: String(port),
    UPSTREAM: 'simulator',
    CALLER_KEYS: `app:enterprise:${key}`,
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: String(redis.port),
    REDIS_PASSWORD: password,
  };
  const variables = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  engine.podman(['run', '--detach', '--name', NAME, ...LOCKED_UP, ...variables, IMAGE]);
  const running = new RunningImage({ url: `http://127.0.0.1:${port}`, key, logs: () => engine.podman(['logs', NAME]) });
  await running.ready();
  engine.podman(['exec', NAME, 'node', 'scripts/image-health.mjs']);
  proveRights(NAME);
  await running.quickStart();
  figures.container_drain_seconds = await running.drains({
    terminate: () => engine.podman(['kill', '--signal', 'TERM', NAME]),
    exitCode: () => Number(engine.podman(['wait', NAME]).trim()),
  });
  expectSame('locks and places that are left', await redis.held(), []);
}

/** The pod of the dev overlay, by the Deployment that is applied, and its Secret. */
async function provePod() {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const pod = podmanPod(join(root, 'k8s/rendered/dev.yaml'), {
    image: IMAGE,
    environment: {
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(redis.port),
    },
    secrets: { 'api-key': 'unused', 'caller-keys': `app:enterprise:${key}`, 'redis-password': password },
  });
  const file = join(scratch, 'pod.yaml');
  writeFileSync(file, pod, { mode: 0o600 });
  engine.podman(['kube', 'play', '--network', 'host', file]);
  const container = 'coordinator-pod-0-coordinator';
  const running = new RunningImage({
    url: `http://127.0.0.1:${port}`,
    key,
    logs: () => engine.podman(['logs', container]),
  });
  await running.ready();
  proveRights(container);
  await running.quickStart();
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  expectSame('metrics on their own port', metrics.includes('coordinator_http_requests_total{'), true);
  expectSame('metrics on the port of the API', (await fetch(`http://127.0.0.1:${port}/metrics`)).status, 404);
  figures.pod_drain_seconds = await running.drains({
    terminate: () => engine.podman(['kill', '--signal', 'TERM', container]),
    exitCode: () => Number(engine.podman(['wait', container]).trim()),
  });
  expectSame('locks and places that are left', await redis.held(), []);
}

/** A Redis as k8s/ wants it, on loopback. */
async function startRedis() {
  const port = await freePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', scratch, '--save', '', '--appendonly', 'yes'];
  const options = ['--maxmemory-policy', 'noeviction', '--requirepass', password];
  const child = spawn(ensureRedisServer(), [...words, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => String(text).includes('Ready to accept connections') && resolve());
    child.once('close', () => reject(new Error('redis-server ended before it was ready')));
  });
  const { Redis } = await import('ioredis');
  /** The sets of holders and of waiters, which are there only while somebody holds or waits. */
  const held = async () => {
    const client = new Redis({ port, password });
    const keys = await client.keys('coordinator:lk:{*}:[eq]');
    client.disconnect();
    return keys;
  };
  return { port, process: child, held };
}

function expectSame(what, actual, expected) {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== shouldBe) throw new Error(`${what}: ${is}, not ${shouldBe}`);
}
