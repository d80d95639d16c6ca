import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's packages: they build and run images without an engine that somebody has to have started. */
const PACKAGES = ['buildah', 'podman', 'runc', 'debootstrap', 'catatonit'];
const INSTALL_TIMEOUT_MS = 280_000;
/** No single step takes longer, unless it hangs. */
const STEP_TIMEOUT_MS = 600_000;

/** buildah and podman with a store of their own in one folder: nothing of this machine's images and containers is seen or changed. */
export class ImageEngine {
  /** @param {string} folder where the store is; it is made */
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    const configuration = join(folder, 'containers.conf');
    writeFileSync(configuration, configurationText());
    this.env = { ...process.env, CONTAINERS_CONF: configuration };
    this.store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];
  }

  /**
   * @param {string[]} words
   * @param {{ input?: string }} [options]
   * @returns {string} what it printed
   * @throws {Error} with what it said, where it fails
   */
  podman(words, options) {
    return this.#run('podman', [...this.store, ...words], options);
  }

  /**
   * Builds a Dockerfile's image, from images that are here only.
   *
   * @param {{ folder: string, tag: string, args?: Record<string, string> }} build
   */
  build({ folder, tag, args = {} }) {
    const given = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
    // In Docker's format: OCI's own has no health check. By layers: what has not changed is not built again.
    const how = ['--isolation', 'chroot', '--pull-never', '--network', 'host', '--format', 'docker', '--layers'];
    return this.#run('buildah', [...this.store, 'bud', ...how, ...given, '-t', tag, folder]);
  }

  /** True where it ended well; for what may be missing. */
  succeeds(words) {
    return spawnSync('podman', [...this.store, ...words], { env: this.env, stdio: 'ignore' }).status === 0;
  }

  #run(program, words, { input } = {}) {
    const { status, error, stdout, stderr } = spawnSync(program, words, {
      env: this.env,
      encoding: 'utf8',
      timeout: STEP_TIMEOUT_MS,
      maxBuffer: 64 * 2 ** 20,
      ...(input !== undefined && { input }),
    });
    if (status === 0) return stdout;
    const said = error?.message ?? `${stdout}\n${stderr}`.trim().split('\n').slice(-25).join('\n');
    throw new Error(`${program} ${words.slice(this.store.length).join(' ')} failed:\n${said}`);
  }
}

/**
 * Installs what is missing.
 *
 * @throws {Error} saying what it takes, where that is not possible here
 */
export function ensureImageEngine() {
  const isMissing = (program) => spawnSync('which', [program], { stdio: 'ignore' }).status !== 0;
  const missing = PACKAGES.filter(isMissing);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || isMissing('apt-get')) {
    throw new Error(
      `the image is built with ${PACKAGES.join(', ')}: ${missing.join(', ')} can be installed by root on Debian`,
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_TIMEOUT_MS };
  execFileSync('apt-get', ['-qq', 'update'], options);
  execFileSync('apt-get', ['-qq', 'install', '--yes', '--no-install-recommends', ...missing], options);
}

/** runc, cgroups without systemd, and no more than this process may open: what works inside a container too. */
function configurationText() {
  const files = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  const limit = files === 'unlimited' ? '1048576' : files;
  return [
    '[containers]',
    `default_ulimits = ["nofile=${limit}:${limit}", "nproc=1000:1000"]`,
    '[engine]',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    'runtime = "runc"',
    '',
  ].join('\n');
}
