import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subject } from './world.js';

/** A text of a file, by its path under src/lock, that is replaced by another. */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** One rule of the algorithm, broken in the source. */
export interface Mutation {
  readonly rule: string;
  readonly changes: readonly Change[];
}

export const inClient = (rule: string, file: string, from: string, to: string): Mutation =>
  inStore(rule, `client/${file}`, from, to);

export const inStore = (rule: string, file: string, from: string, to: string): Mutation => ({
  rule,
  changes: [{ file, from, to }],
});

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What the lock needs of it is never broken. */
const STORE = `${ROOT}src/store/index.js`;

/** Copies the lock's sources and the clock they run on, breaks one rule in the copy, and loads it. @throws where a change does not find its text exactly once */
export async function loadMutant({ rule, changes }: Mutation): Promise<Subject & AsyncDisposable> {
  const folder = `${ROOT}test-results/mutants/${rule.replaceAll(/\W+/g, '-')}`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(`${ROOT}src/lock`, `${folder}/lock`, { recursive: true });
  await cp(`${ROOT}src/store/process`, `${folder}/store/process`, { recursive: true });
  await writeFile(`${folder}/store/index.ts`, `export * from '${relative(`${folder}/store`, STORE)}';\n`);
  for (const { file, from, to } of changes) {
    const path = `${folder}/lock/${file}`;
    const source = await readFile(path, 'utf8');
    if (source.split(from).length !== 2)
      throw new Error(`"${from}" is not once in ${file}: the mutation needs another text`);
    await writeFile(
      path,
      source.replace(from, () => to),
    );
  }
  const { LockClient } = await importOf<Pick<Subject, 'LockClient'>>(`${folder}/lock/client/lock.client.ts`);
  const { SuspendAwareClock } = await importOf<Pick<Subject, 'SuspendAwareClock'>>(
    `${folder}/store/process/suspend-aware.clock.ts`,
  );
  const { MemoryLockStore } = await importOf<Pick<Subject, 'MemoryLockStore'>>(`${folder}/lock/memory-lock.store.ts`);
  const { resolveLockKeys } = await importOf<Pick<Subject, 'resolveLockKeys'>>(`${folder}/lock/lock.options.ts`);
  return {
    LockClient,
    resolveLockKeys,
    SuspendAwareClock,
    MemoryLockStore,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A copy has the types of its original. */
async function importOf<Module>(path: string): Promise<Module> {
  return (await import(path)) as Module;
}
