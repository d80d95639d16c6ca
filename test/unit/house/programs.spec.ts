import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../support/planted-project.js';

const BOTH = ['redis-server', 'haproxy'];

describe('ensurePrograms()', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'programs-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const plant = (name: string, script = ''): string => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${script}`);
    chmodSync(path, 0o755);
    return path;
  };
  /** In a process whose PATH has nothing but what is planted; its last line is the answer. */
  const ensure = (names: readonly string[], environment: Record<string, string> = {}): unknown => {
    const script = `
      const { ensurePrograms } = await import(${JSON.stringify(join(ROOT, 'scripts/programs.mjs'))});
      console.log(JSON.stringify(ensurePrograms(${JSON.stringify(names)}, [])));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: folder, ...environment },
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return JSON.parse(output.trim().split('\n').at(-1) ?? '');
  };

  it('finds what is on the PATH, and takes what a variable names instead', () => {
    const [redis, , own] = [plant('redis-server'), plant('haproxy'), plant('own-haproxy')];
    expect(ensure(BOTH, { HAPROXY: own })).toEqual({
      environment: { REDIS_SERVER: redis, HAPROXY: own },
      complaints: {},
    });
    expect(ensure([])).toEqual({ environment: {}, complaints: {} });
  });

  it('refuses a variable that names no program', () => {
    expect(() => ensure(['haproxy'], { HAPROXY: '/nowhere' })).toThrow('HAPROXY=/nowhere is not an executable file');
  });

  it('installs what is missing by one call', () => {
    const [redis, haproxy, calls] = ['redis-server', 'haproxy', 'calls'].map((name) => join(folder, name));
    const install = `echo "$@" >> ${String(calls)}
      case "$*" in *install*) echo '#!/bin/sh' > ${String(redis)}; echo '#!/bin/sh' > ${String(haproxy)}; /bin/chmod 755 ${String(redis)} ${String(haproxy)};; esac`;
    plant('env', install);
    plant('sudo', `shift 2; ${install}`);
    expect(ensure(BOTH)).toEqual({ environment: { REDIS_SERVER: redis, HAPROXY: haproxy }, complaints: {} });
    const lines = readFileSync(String(calls), 'utf8').trim().split('\n');
    expect(lines.filter((line) => line.includes(' install '))).toEqual([
      expect.stringMatching(/--no-install-recommends redis-server haproxy$/),
    ]);
  });

  it('says how else to get what it cannot install, of each', () => {
    const redis = plant('redis-server');
    expect(ensure(BOTH)).toEqual({
      environment: { REDIS_SERVER: redis },
      complaints: { haproxy: expect.stringMatching(/brew install haproxy.* HAPROXY=\/path\/to\/haproxy/) },
    });
  });
});
