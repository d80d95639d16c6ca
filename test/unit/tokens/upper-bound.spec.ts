import { afterEach, describe, expect, it } from '@jest/globals';
import { TokenCounters } from '../../../src/tokens/index.js';
import { BatchedTokenCounter, type PieceEncoder } from '../../../src/tokens/batched-token.counter.js';

const tokenizer = { encoding: 'o200k', ratio: 1 } as const;
const never: PieceEncoder = (_, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(undefined);
    });
  });
/** Encodes one token for a piece, and after so many batches nothing more. */
const failingAfter = (batches: number): PieceEncoder => {
  let left = batches;
  return (pieces) => Promise.resolve((left -= 1) < 0 ? undefined : pieces.length);
};

let counters = new TokenCounters();

afterEach(async () => {
  await counters.close();
  counters = new TokenCounters();
});

describe('An upper bound', () => {
  it('is answered when patience ends, and says so', async () => {
    const count = await new BatchedTokenCounter(tokenizer, never).count('aé漢', { patienceMs: 10 });
    expect(count).toEqual({ tokens: 6, textTokens: 6, attachmentTokens: 0, isEstimate: true });
  });

  it('stands only for what was not counted', async () => {
    const text = 'a b '.repeat(10_000);
    const all = await new BatchedTokenCounter(tokenizer, failingAfter(0)).count(text);
    expect(all).toMatchObject({ tokens: 40_000, isEstimate: true });
    const part = await new BatchedTokenCounter(tokenizer, failingAfter(1)).count(text);
    expect(part.isEstimate).toBe(true);
    expect(part.tokens).toBeLessThan(40_000 - 15_000);
    expect(await new BatchedTokenCounter(tokenizer, failingAfter(9)).count(text)).toMatchObject({ isEstimate: false });
  });

  it('is scaled as the count would be, with its overheads', async () => {
    const counter = new BatchedTokenCounter({ ...tokenizer, ratio: 1.5 }, failingAfter(0));
    const { tokens } = await counter.countRequest({ messages: [{ role: 'user', content: 'hello' }] });
    expect(tokens).toBe(Math.ceil((3 + 3 + 'user'.length + 'hello'.length) * 1.5));
  });

  it('is what closed counters answer, never below the exact count', async () => {
    const counter = counters.for(tokenizer);
    const body = { messages: [{ role: 'user', content: 'The lease ends; 租约到期 😀. '.repeat(2_000) }] };
    const exact = await counter.countRequest(body, { patienceMs: 600_000 });
    const open = counter.countRequest(body, { patienceMs: 600_000 });
    await counters.close();
    const closed = await counter.countRequest(body);
    expect(exact.isEstimate).toBe(false);
    expect(closed.isEstimate).toBe(true);
    expect(closed.tokens).toBeGreaterThanOrEqual(exact.tokens);
    expect((await open).tokens).toBeGreaterThanOrEqual(exact.tokens);
  });
});

describe("A caller's signal", () => {
  it('ends the count with its reason, before and while it runs, and leaves no listener', async () => {
    const left = new Error('the caller has left');
    const counter = new BatchedTokenCounter(tokenizer, never);
    await expect(counter.count('a', { signal: AbortSignal.abort(left) })).rejects.toBe(left);
    const caller = new AbortController();
    const open = counter.count('a', { signal: caller.signal });
    caller.abort(left);
    await expect(open).rejects.toBe(left);
  });

  it('ends a count of bytes between two batches', async () => {
    const caller = new AbortController();
    const open = counters.for({ encoding: 'bytes', ratio: 1 }).count('a'.repeat(1_000_000), { signal: caller.signal });
    caller.abort(new Error('enough'));
    await expect(open).rejects.toThrow('enough');
  });
});
