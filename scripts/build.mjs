/**
 * Builds dist/ by `nest build`. With --if-needed only when dist/ does not belong to the present sources, so that `npm start`
 * works on a fresh clone, costs nothing the second time, and needs no compiler where dist/ came ready-made.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hashSources } from './source-hash.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}dist/.source-hash`;
const nestCli = `${root}node_modules/@nestjs/cli/bin/nest.js`;

const hash = hashSources(root);
if (!process.argv.includes('--if-needed') || !isFresh()) build();

function isFresh() {
  if (!existsSync(`${root}dist/main.js`)) return false;
  return hash === undefined || (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash);
}

function build() {
  if (hash === undefined) fail('there is neither a built dist/ nor a src/ to build it from');
  if (!existsSync(nestCli)) {
    fail(
      'dist/ is missing or older than src/, and building needs the development packages: run `npm ci --include=dev` first' +
        ' (plain `npm ci` leaves them out where NODE_ENV=production is set, or npm is told to omit them)',
    );
  }
  const { status } = spawnSync(process.execPath, [nestCli, 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, hash);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
