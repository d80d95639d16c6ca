import { afterEach, describe, expect, it } from '@jest/globals';
import { CountingThread, type CountingThreadOptions } from '../../../src/tokens/counting.thread.js';

/** A thread that counts pieces, and does as the first of them says. */
const OBEDIENT = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ id, pieces }) => {
    if (pieces[0] === 'throw') throw new Error('broken on purpose');
    if (pieces[0] === 'exit') process.exit(3);
    if (pieces[0] === 'babble') parentPort.postMessage('what?');
    else if (pieces[0] !== 'hang') parentPort.postMessage({ id, tokens: pieces.length });
  });
`;

const forever = new AbortController().signal;
let threads: CountingThread[] = [];

afterEach(async () => {
  await Promise.all(threads.map((thread) => thread.close()));
  threads = [];
});

function start(
  options: Partial<CountingThreadOptions> = {},
  code = OBEDIENT,
): { thread: CountingThread; failures: string[] } {
  const failures: string[] = [];
  const thread = new CountingThread({
    script: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    onFailure: (error) => failures.push(error.message),
    ...options,
  });
  threads.push(thread);
  return { thread, failures };
}

describe('CountingThread.count()', () => {
  it('answers each batch with its own count', async () => {
    const { thread } = start();
    const counts = [1, 5, 3].map((length) =>
      thread.count(
        'any',
        Array.from({ length }, () => 'a'),
        forever,
      ),
    );
    expect(await Promise.all(counts)).toEqual([1, 5, 3]);
  });

  it.each([
    ['throws', 'throw', 'broken on purpose'],
    ['exits', 'exit', 'the counting thread ended with 3'],
    ['answers something else', 'babble', 'the counting thread answered something else'],
  ])(
    'gives up on what was asked of a thread that %s, tells why once, and starts another',
    async (_, piece, message) => {
      const { thread, failures } = start();
      expect(
        await Promise.all([thread.count('any', [piece], forever), thread.count('any', ['hang'], forever)]),
      ).toEqual([undefined, undefined]);
      expect(failures).toEqual([message]);
      expect(await thread.count('any', ['a', 'b'], forever)).toBe(2);
      expect(failures).toHaveLength(1);
    },
  );

  it('replaces a thread that answers nothing', async () => {
    const { thread, failures } = start({ stallMs: 50 });
    expect(await thread.count('any', ['hang'], forever)).toBeUndefined();
    expect(failures).toEqual(['the counting thread answered nothing for 50 ms']);
  });

  it('pauses longer and longer before it starts one that never answers', async () => {
    let now = 0;
    const { thread, failures } = start({ clock: () => now }, 'throw new Error("no start")');
    const failsAt = async (time: number): Promise<boolean> => {
      now = time;
      const before = failures.length;
      await thread.count('any', ['a'], forever);
      return failures.length > before;
    };
    // At once, then after 1 s, 2 s, 4 s … 60 s.
    expect(await failsAt(0)).toBe(true);
    expect(await failsAt(0)).toBe(true);
    expect(await failsAt(999)).toBe(false);
    expect(await failsAt(1_000)).toBe(true);
    expect(await failsAt(2_999)).toBe(false);
    for (const time of [3_000, 7_000, 15_000, 31_000, 63_000, 123_000]) expect(await failsAt(time)).toBe(true);
    expect(await failsAt(182_999)).toBe(false);
    expect(await failsAt(183_000)).toBe(true);
  });

  it('takes no more than it is allowed to keep, counting what its callers have given up on', async () => {
    const { thread, failures } = start({ maxUnanswered: 2 });
    const caller = new AbortController();
    const given = [thread.count('any', ['hang'], caller.signal), thread.count('any', ['hang'], caller.signal)];
    expect(await thread.count('any', ['a'], forever)).toBeUndefined();
    caller.abort();
    expect(await Promise.all(given)).toEqual([undefined, undefined]);
    expect(await thread.count('any', ['a'], forever)).toBeUndefined();
    expect(failures).toEqual([]);
  });

  it('takes nothing from a caller who has left', async () => {
    const { thread } = start({}, 'throw new Error("started for nothing")');
    expect(await thread.count('any', ['a'], AbortSignal.abort())).toBeUndefined();
  });

  it('gives the thread neither environment nor arguments of the process', async () => {
    const code = `
      import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ id }) =>
        parentPort.postMessage({ id, tokens: Object.keys(process.env).length + process.execArgv.length + process.argv.slice(2).length }));
    `;
    const { thread } = start({}, code);
    expect(await thread.count('any', ['a'], forever)).toBe(0);
  });
});

describe('CountingThread.close()', () => {
  it('gives up on what is being counted, refuses what comes, and can be called again', async () => {
    const { thread, failures } = start();
    const open = thread.count('any', ['hang'], forever);
    await Promise.all([thread.close(), thread.close()]);
    expect(await open).toBeUndefined();
    expect(await thread.count('any', ['a'], forever)).toBeUndefined();
    expect(failures).toEqual([]);
  });
});
