import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { LockModule, LockService, MemoryLockStore } from '../../src/lock/index.js';
import { DocSamples } from '../support/doc-samples.js';
import { eventually } from '../support/eventually.js';
import { startHttpApp } from '../support/http-app.js';
import { type LockContext, startLockContext } from '../support/lock-context.js';

/** The second sample of the section, with what it leaves to the reader. */
interface Library {
  cleanUp(): Promise<number | undefined>;
  answer(user: string, message: string): Promise<string>;
  scan(page: string): Promise<string>;
  read(id: string): Promise<string | undefined>;
  write(id: string, text: string): Promise<void>;
  deleteExpired(): Promise<number>;
  reply(user: string, message: string): Promise<string>;
  recognize(page: string): Promise<string>;
  load(id: string): Promise<string | undefined>;
  save(id: string, text: string, fence: number): Promise<void>;
}

let samples: DocSamples;
let Orders: Type;
let LibraryService: Type<Library>;
beforeAll(async () => {
  samples = await DocSamples.of('README.md', '## Locks');
  Orders = (await samples.load(1))['OrdersController'] as Type;
  LibraryService = (await samples.load(2))['LibraryService'] as Type<Library>;
});
afterAll(() => samples[Symbol.asyncDispose]());

/** Two pods of the sample on one store. */
async function inPods(
  run: (pods: readonly [LockContext<Library>, LockContext<Library>]) => Promise<void>,
): Promise<void> {
  const lockStore = new MemoryLockStore();
  const pods = [
    await startLockContext(LibraryService, { lockStore }),
    await startLockContext(LibraryService, { lockStore }),
  ] as const;
  try {
    await run(pods);
  } finally {
    for (const { app } of pods) await app.close();
  }
}

/** Knows who is inside of some work; each stays until it is let go. */
class Room {
  readonly entered: string[] = [];
  most = 0;
  #guests: { readonly name: string; readonly leave: () => void }[] = [];

  get inside(): readonly string[] {
    return this.#guests.map(({ name }) => name);
  }

  readonly enter = (name: string): Promise<void> =>
    new Promise((leave) => {
      this.entered.push(name);
      this.#guests.push({ name, leave });
      this.most = Math.max(this.most, this.#guests.length);
    });

  /** Lets out who has been in longest. */
  letGo(): void {
    this.#guests.shift()?.leave();
  }
}

describe("the README's locks", () => {
  it('compile by the rules of the project', () => {
    expect(samples.files).toHaveLength(2);
    expect(samples.faults()).toEqual([]);
  });

  it('an endpoint: one call per order at a time, each with a higher fence', async () => {
    const server = await startHttpApp({ controllers: [Orders], imports: [LockModule.forRoot({ graceMs: 0 })] });
    const pay = async (id: string): Promise<{ status: number; body: unknown }> => {
      const response = await fetch(`${server.url}/v1/orders/${id}/pay`, { method: 'POST' });
      return { status: response.status, body: await response.json() };
    };
    try {
      const lease = await server.app.get(LockService).acquire('order:7');
      const waiting = pay('7');
      expect(await pay('8')).toMatchObject({ status: 201, body: { id: '8' } });
      await eventually(async () => (await server.app.get(LockService).inspect('order:7'))?.queued === 1);
      await lease.release();
      const { body } = await waiting;
      expect((body as { fence: number }).fence).toBeGreaterThan(lease.fence);
    } finally {
      await server.close();
    }
  });

  it('a cron job: every pod calls it, one runs it', async () => {
    await inPods(async (pods) => {
      for (const { service } of pods) jest.spyOn(service, 'deleteExpired').mockResolvedValue(3);
      const results = await Promise.all(pods.map(({ service }) => service.cleanUp()));
      expect(results.filter((result) => result === 3)).toHaveLength(1);
      expect(results.filter((result) => result === undefined)).toHaveLength(1);
      // It is done, and still taken.
      expect(await Promise.all(pods.map(({ service }) => service.cleanUp()))).toEqual([undefined, undefined]);
    });
  });

  it('a queue per user: one message at a time, in their order, beside those of others', async () => {
    await inPods(async ([one, other]) => {
      const room = new Room();
      for (const pod of [one, other]) {
        jest.spyOn(pod.service, 'reply').mockImplementation(async (user, message) => {
          await room.enter(`${user} ${message}`);
          return message;
        });
      }
      const answers = [one.service.answer('zoe', '1')];
      await eventually(() => room.inside.length === 1);
      for (const [index, pod] of [other, one, other].entries()) {
        answers.push(pod.service.answer('zoe', String(index + 2)));
        await eventually(async () => (await one.locks.inspect('user:zoe'))?.queued === index + 1);
      }
      answers.push(other.service.answer('bob', '1'));
      await eventually(() => room.inside.includes('bob 1'));
      for (let left = answers.length; left > 0; left -= 1) {
        await eventually(() => room.inside.length > 0);
        expect(room.inside.filter((name) => name.startsWith('zoe')).length).toBeLessThanOrEqual(1);
        room.letGo();
      }
      expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4', '1']);
      expect(room.entered.filter((name) => name.startsWith('zoe'))).toEqual(['zoe 1', 'zoe 2', 'zoe 3', 'zoe 4']);
    });
  });

  it('permits: five at a time, over all pods', async () => {
    await inPods(async (pods) => {
      const room = new Room();
      for (const { service } of pods) {
        jest.spyOn(service, 'recognize').mockImplementation(async (page) => {
          await room.enter(page);
          return page;
        });
      }
      const pages = Array.from({ length: 12 }, (_, index) => `page ${index}`);
      const scans = pages.map((page, index) => (index % 2 === 0 ? pods[0] : pods[1]).service.scan(page));
      await eventually(() => room.inside.length === 5);
      for (let left = pages.length; left > 0; left -= 1) {
        await eventually(() => room.inside.length > 0);
        room.letGo();
      }
      expect(await Promise.all(scans)).toEqual(pages);
      expect(room.most).toBe(5);
    });
  });

  it('many readers, or one writer', async () => {
    await inPods(async ([one, other]) => {
      const room = new Room();
      for (const pod of [one, other]) {
        jest.spyOn(pod.service, 'load').mockImplementation(async (id) => {
          await room.enter('reader');
          return id;
        });
        jest.spyOn(pod.service, 'save').mockImplementation(() => room.enter('writer'));
      }
      const readers = [one.service.read('a'), other.service.read('a')];
      await eventually(() => room.inside.length === 2);
      const writer = other.service.write('a', 'new');
      await eventually(async () => (await one.locks.inspect('text:a'))?.queued === 1);
      const late = one.service.read('a');
      room.letGo();
      room.letGo();
      await Promise.all(readers);
      await eventually(() => room.inside.length === 1);
      expect(room.inside).toEqual(['writer']);
      room.letGo();
      await writer;
      await eventually(() => room.inside.length === 1);
      expect(room.inside).toEqual(['reader']);
      room.letGo();
      expect(await late).toBe('a');
    });
  });

  it('work without a body of the test', async () => {
    await inPods(async ([one]) => {
      expect(await one.service.cleanUp()).toBe(0);
      expect(await one.service.answer('zoe', 'hi')).toBe('zoe said hi');
      expect(await one.service.scan('1')).toBe('1');
      await one.service.write('a', 'text');
      expect(await one.service.read('a')).toMatch(/^text \(\d{16}\)$/);
    });
  });
});
