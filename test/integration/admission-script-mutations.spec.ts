import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { AdmissionScripts } from '../../src/admission/admission.scripts.js';
import { loadScripts } from '../../src/store/index.js';
import { EndlessTable, memoryBench, redisBench, scopeOf } from '../support/admission-bench.js';
import { RARE_LIVES } from '../support/admission-lives.js';
import { ADMISSION_MUTATIONS, type AdmissionMutation } from '../support/admission-mutations.js';
import { admissionSequences } from '../support/admission-sequences.js';
import { CLOCK_KEY } from '../support/clocked-redis.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 600_000));

/** The same for all, so that the unbroken scripts are shown to pass what the broken ones fail. */
const LIVES = [...RARE_LIVES, ...fc.sample(admissionSequences, { seed: 11, numRuns: sized(40, 400) })];
const SCRIPTS = fileURLToPath(new URL('../../src/admission/scripts/', import.meta.url));
const NAMES = ['acquire', 'settle', 'cancel', 'beat', 'hold', 'learn', 'inspect'] as const;

let server: RedisServer;
let benches = 0;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

/** @throws {Error} where the text is not once in the script, so that no mutation outlives the rule that it breaks */
async function loadBroken({ script, from, to }: AdmissionMutation): Promise<AdmissionScripts> {
  const folder = await mkdtemp(join(tmpdir(), 'scripts-'));
  try {
    await cp(SCRIPTS, folder, { recursive: true });
    // A prelude has parts.
    const files = (await readdir(folder)).filter((file) => file.startsWith(`${script}.`));
    const paths = files.map((file) => join(folder, file));
    const sources = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    if (sources.join('').split(from).length !== 2) throw new Error(`"${from}" is not once in ${script}.lua`);
    await Promise.all(
      paths.map((path, index) =>
        writeFile(
          path,
          (sources[index] ?? '').replace(from, () => to),
        ),
      ),
    );
    return loadScripts(pathToFileURL(`${folder}/`), NAMES, { clock: { key: CLOCK_KEY } });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The life in which the scripts first differ from the rules in memory; undefined: none. */
async function firstDifference(scripts?: AdmissionScripts): Promise<number | undefined> {
  benches += 1;
  const redis = await redisBench(server, `m${benches}:`, undefined, scripts);
  const memory = await memoryBench(redis.clock, new EndlessTable());
  try {
    for (const [life, { limits, changed, steps }] of LIVES.entries()) {
      for (const [index, step] of steps.entries()) {
        const scope = scopeOf((index > steps.length / 2 ? changed : undefined) ?? limits, `scope:${life}`);
        redis.clock.us += step.passMs * 1_000;
        const answers = [await step.run(redis.store, scope), await step.run(memory.store, scope)];
        if (!isDeepStrictEqual(answers[0], answers[1])) return life;
      }
      const heard = [await redis.heard(), await memory.heard()].map((messages) => messages.length);
      if (heard[0] !== heard[1]) return life;
    }
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return -1;
  } finally {
    await redis.close();
  }
}

/** A script that Redis can't run, or one whose reply nobody can read. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'ReplyError' || /^\w+\.lua answered /.test(error.message));
}

describe('the scripts of admission, on the same commands as the rules in memory', () => {
  it('differ nowhere while they are whole', async () => {
    expect(await firstDifference()).toBeUndefined();
  });

  it.each(ADMISSION_MUTATIONS)('differ when in $script $rule', async (mutation) => {
    expect(await firstDifference(await loadBroken(mutation))).toBeDefined();
  });
});
