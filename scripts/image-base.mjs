import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DEBOOTSTRAP_TIMEOUT_MS = 580_000;
const PATHS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** What the stand-in is called; given to the Dockerfile as NODE_IMAGE. */
export const BASE_IMAGE = 'localhost/node-stand-in:bookworm-slim';

/**
 * A stand-in for the published base image, where no image registry can be reached: Debian bookworm's smallest system with this
 * machine's Node and npm. It proves the Dockerfile's steps and what they make, not what is in the published image.
 *
 * @param {import('./image-engine.mjs').ImageEngine} engine
 */
export function ensureBaseImage(engine) {
  if (hasThisNode(engine)) return;
  const root = join(engine.folder, 'rootfs');
  if (!existsSync(join(root, 'usr'))) bootstrap(root);
  putNode(root);
  trustWhatIsTrustedHere(root);
  const archive = join(engine.folder, 'rootfs.tar');
  execFileSync('tar', ['-C', root, '-cf', archive, '.']);
  engine.podman(['import', '-c', 'CMD ["node"]', '-c', `ENV PATH=${PATHS}`, archive, BASE_IMAGE]);
  rmSync(archive);
}

function hasThisNode(engine) {
  const isThere = engine.succeeds(['image', 'exists', BASE_IMAGE]);
  return (
    isThere &&
    engine.podman(['run', '--rm', '--network', 'host', BASE_IMAGE, 'node', '--version']).trim() === process.version
  );
}

/** Two minutes; kept for the next time, once it is whole. */
function bootstrap(root) {
  console.log('the base image is not here: debootstrap makes it (some minutes, once)');
  const begun = `${root}.begun`;
  rmSync(begun, { recursive: true, force: true });
  execFileSync('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', begun], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: DEBOOTSTRAP_TIMEOUT_MS,
  });
  renameSync(begun, root);
}

/** Node needs nothing but what the smallest system has. */
function putNode(root) {
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
  const modules = join(root, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  cpSync(npm, join(modules, 'npm'), { recursive: true, verbatimSymlinks: true, force: true });
  for (const name of ['npm', 'npx']) {
    execFileSync('ln', ['-sf', `../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name)]);
  }
}

/** A package registry may be reached through a proxy with a certificate of its own, and npm does not read the system's list. */
function trustWhatIsTrustedHere(root) {
  if (!existsSync(CERTIFICATES)) return;
  writeFileSync(join(root, CERTIFICATES), readFileSync(CERTIFICATES));
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true });
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `cafile=${CERTIFICATES}\nupdate-notifier=false\n`);
}
