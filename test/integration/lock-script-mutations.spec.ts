import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { LOCK_LIMITS } from '../../src/lock/lock.limits.js';
import type { LockScripts } from '../../src/lock/lock.scripts.js';
import { loadScripts } from '../../src/store/index.js';
import { CLOCK_KEY } from '../support/clocked-redis.js';
import { recordFigures } from '../support/figures.js';
import { EndlessTable, memoryBench, redisBench } from '../support/lock-bench.js';
import { LockComparison, type Sight } from '../support/lock-comparison.js';
import { RARE_LIVES } from '../support/lock-lives.js';
import { sequences } from '../support/lock-sequences.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import type { ScriptMutation } from '../support/script-mutations.prelude.js';
import { SCRIPT_MUTATIONS } from '../support/script-mutations.js';

jest.setTimeout(sized(120_000, 600_000));

/** The same for all, so that the unbroken scripts are shown to pass what the broken ones fail. */
const LIVES = [...RARE_LIVES, ...fc.sample(sequences, { seed: 3, numRuns: sized(60, 300) })];
const SCRIPTS = fileURLToPath(new URL('../../src/lock/scripts/', import.meta.url));
const NAMES = ['acquire', 'beat', 'leave', 'revoke', 'inspect'] as const;

let server: RedisServer;
let benches = 0;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

/** @throws {Error} where the text is not once in the script, so that no mutation outlives the rule that it breaks */
async function loadBroken({ script, from, to }: ScriptMutation): Promise<LockScripts> {
  const folder = await mkdtemp(join(tmpdir(), 'scripts-'));
  try {
    await cp(SCRIPTS, folder, { recursive: true });
    const path = join(folder, `${script}.lua`);
    const source = await readFile(path, 'utf8');
    if (source.split(from).length !== 2) throw new Error(`"${from}" is not once in ${script}.lua`);
    const broken = source.replace(from, () => to);
    await writeFile(path, broken);
    return loadScripts(pathToFileURL(`${folder}/`), NAMES, { clock: { key: CLOCK_KEY } });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Where the scripts first differ from the rules in memory, over these lives; undefined: nowhere. */
async function firstDifference(scripts?: LockScripts): Promise<(Sight & { readonly life: number }) | undefined> {
  benches += 1;
  const redis = await redisBench(server, `m${benches}:`, undefined, scripts);
  const comparison = new LockComparison(redis, await memoryBench(redis.clock, new EndlessTable(LOCK_LIMITS)));
  try {
    for (const [life, sequence] of LIVES.entries()) {
      for (const step of sequence) {
        const sight = await comparison.run(step, `k${life}`);
        if (!isDeepStrictEqual(sight.redis, sight.memory)) return { life, ...sight };
      }
      const heard = await comparison.heard();
      if (!isDeepStrictEqual(heard.redis, heard.memory)) return { life, ...heard };
    }
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { life: 0, redis: error.message, memory: undefined };
  } finally {
    await redis.close();
  }
}

/** A script that Redis can't run, or one whose reply nobody can read. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'ReplyError' || /^\w+\.lua answered /.test(error.message));
}

describe('the scripts of a lock, on the same commands as the rules in memory', () => {
  it('differ nowhere while they are whole', async () => {
    expect(await firstDifference()).toBeUndefined();
  });

  it.each(SCRIPT_MUTATIONS)('differ when in $script $rule', async (mutation) => {
    const difference = await firstDifference(await loadBroken(mutation));
    expect(difference).toBeDefined();
    recordFigures('script-mutations', {
      [`${mutation.script}: ${mutation.rule}`]: { differsInLife: difference?.life },
    });
  });
});
