import { afterEach, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { currentLease, LockModule, WithLock } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import type { LockWorld } from '../support/lock-world.js';
import { pass } from '../support/pass.js';

/** What all applications of a test have in common, to see who is inside together. */
class Crowd {
  readonly fences: number[] = [];
  most = 0;
  #inside = 0;

  enter(fence: number): void {
    this.fences.push(fence);
    this.#inside += 1;
    this.most = Math.max(this.most, this.#inside);
  }

  leave(): void {
    this.#inside -= 1;
  }
}

@Injectable()
class Jobs {
  end: (() => void) | undefined;

  constructor(private readonly crowd: Crowd) {}

  @WithLock((name: string) => `job:${name}`, { waitMs: 30_000 })
  async run(name: string): Promise<string> {
    this.crowd.enter(currentLease()?.fence ?? 0);
    await pass(2);
    this.crowd.leave();
    return name;
  }

  @WithLock('hanging')
  async hang(): Promise<string> {
    await new Promise<void>((resolve) => (this.end = resolve));
    return 'done';
  }
}

@Module({})
class RootModule {}

/** @WithLock() in applications without HTTP; routes, streams and skipped calls: test/integration/with-lock-*.spec.ts. */
export function describeDecorated(world: () => LockWorld): void {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
  const start = async (crowd: Crowd): Promise<{ readonly jobs: Jobs; readonly close: () => Promise<void> }> => {
    const locks = LockModule.forRoot({ lockStore: await world().open(), graceMs: 0 });
    const root = { module: RootModule, imports: [locks], providers: [Jobs, { provide: Crowd, useValue: crowd }] };
    const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    opened.push(app);
    return { jobs: app.get(Jobs), close: () => app.close() };
  };

  it('D15: is exclusive across applications, by key, with fences that rise', async () => {
    const crowd = new Crowd();
    const pods = [await start(crowd), await start(crowd)];
    const runs = Array.from({ length: 10 }, () => pods.map(({ jobs }) => jobs.run('same'))).flat();
    expect(new Set(await Promise.all(runs))).toEqual(new Set(['same']));
    expect(crowd.most).toBe(1);
    expect(crowd.fences).toHaveLength(20);
    expect(crowd.fences).toEqual([...new Set(crowd.fences)].sort((one, other) => one - other));
  });

  it('D15: lets calls with different keys in together', async () => {
    const crowd = new Crowd();
    const [{ jobs: one }, { jobs: two }] = [await start(crowd), await start(crowd)];
    const together = async (): Promise<boolean> => {
      await Promise.all([one.run('this'), two.run('that')]);
      return crowd.most === 2;
    };
    await eventually(together);
  });

  it('D7: lets go of the lock when its application closes', async () => {
    const { jobs, close } = await start(new Crowd());
    const outcome = jobs.hang().catch((error: unknown) => error);
    await eventually(() => jobs.end !== undefined);
    await close();
    expect(await world().busy()).toEqual([]);
    jobs.end?.();
    expect(await outcome).toMatchObject({ code: 'lock_lost', reason: 'closing', result: 'done' });
    await expect(jobs.run('late')).rejects.toMatchObject({ code: 'draining' });
  });
}
