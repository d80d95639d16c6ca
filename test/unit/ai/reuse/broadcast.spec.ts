import { describe, expect, it } from '@jest/globals';
import { Broadcast } from '../../../../src/ai/reuse/flight/broadcast.js';
import type { BroadcastReader } from '../../../../src/ai/reuse/flight/broadcast.reader.js';

const DONE = 'data: [DONE]\n\n';

interface Scene {
  readonly broadcast: Broadcast;
  /** How many pieces the source was asked for. */
  readonly asked: () => number;
  readonly whole: string[];
  readonly told: string[];
  readonly reader: () => BroadcastReader;
}

function scene(pieces: readonly string[], mostChars = 1_000, failure?: Error): Scene {
  const [whole, told]: [string[], string[]] = [[], []];
  let asked = 0;
  async function* source(): AsyncGenerator<string> {
    try {
      for (const piece of pieces) {
        asked += 1;
        await Promise.resolve();
        yield piece;
      }
      if (failure !== undefined) throw failure;
    } finally {
      told.push('source closed');
    }
  }
  const broadcast = new Broadcast(source(), {
    mostChars,
    whole: async (text) => {
      await Promise.resolve();
      whole.push(text);
    },
    outgrown: () => told.push('outgrown'),
    over: () => told.push('over'),
  });
  const reader = (): BroadcastReader => {
    const made = broadcast.reader();
    if (made === undefined) throw new Error('nobody can begin any more');
    return made;
  };
  return { broadcast, asked: () => asked, whole, told, reader };
}

async function readAll(reader: BroadcastReader): Promise<string> {
  let text = '';
  for (;;) {
    const piece = await reader.next();
    if (piece === undefined) return text;
    text += piece;
  }
}

describe('Broadcast', () => {
  it('gives every reader all of it, also one that comes when it is over', async () => {
    const { reader, whole, told } = scene(['a', 'b', DONE]);
    const [one, other] = [reader(), reader()];
    expect(await Promise.all([readAll(one), readAll(other)])).toEqual([`ab${DONE}`, `ab${DONE}`]);
    expect(await readAll(reader())).toBe(`ab${DONE}`);
    expect([whole, told]).toEqual([[`ab${DONE}`], ['source closed', 'over']]);
  });

  it('reads no faster than the fastest reader', async () => {
    const { reader, asked } = scene(['a', 'b', 'c', DONE]);
    const [fast, slow] = [reader(), reader()];
    expect(await fast.next()).toBe('a');
    expect(asked()).toBe(1);
    expect(await fast.next()).toBe('b');
    expect(asked()).toBe(2);
    expect(await slow.next()).toBe('ab');
    expect(asked()).toBe(2);
  });

  it('hands out the end only when the whole of it is kept', async () => {
    const { reader, whole } = scene(['a', DONE]);
    const one = reader();
    await one.next();
    expect(whole).toEqual([]);
    expect(await one.next()).toBe(DONE);
    expect(whole).toEqual([`a${DONE}`]);
  });

  it('is no whole without its regular end', async () => {
    const { reader, whole, told } = scene(['a', 'data: {"error":{}}\n\n']);
    await readAll(reader());
    expect([whole, told]).toEqual([[], ['source closed', 'over']]);
  });

  it('tells all readers of a source that fails, after what it said', async () => {
    const { reader, told } = scene(['a'], 1_000, new Error('broken'));
    const readers = [reader(), reader()];
    for (const each of readers) {
      expect(await each.next()).toBe('a');
      await expect(each.next()).rejects.toThrow('broken');
    }
    expect(told).toEqual(['source closed', 'over']);
  });

  it('beyond its bound is kept as far as somebody has still to read it, and begun by nobody', async () => {
    const { broadcast, reader, whole, told } = scene(['x'.repeat(60), 'y'.repeat(60), 'z'.repeat(60), DONE], 100);
    const only = reader();
    await only.next();
    await only.next();
    expect([told, broadcast.isOutgrown, broadcast.reader()]).toEqual([['outgrown'], true, undefined]);
    expect(await readAll(only)).toBe(`${'z'.repeat(60)}${DONE}`);
    expect(whole).toEqual([]);
  });

  it('beyond its bound leaves behind who stands still, and goes on for the others', async () => {
    const pieces = Array.from({ length: 10 }, (_, index) => String(index).repeat(60));
    const { reader } = scene([...pieces, DONE], 100);
    const [fast, slow] = [reader(), reader()];
    expect(await readAll(fast)).toBe(`${pieces.join('')}${DONE}`);
    await expect(slow.next()).rejects.toThrow(expect.objectContaining({ code: 'overloaded' }));
  });

  it('lets a reader fail while it waits, and nobody else', async () => {
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    async function* source(): AsyncGenerator<string> {
      await gate;
      yield DONE;
    }
    const options = {
      mostChars: 100,
      whole: () => Promise.resolve(),
      outgrown: () => undefined,
      over: () => undefined,
    };
    const broadcast = new Broadcast(source(), options);
    const [leaving, staying] = [broadcast.reader(), broadcast.reader()];
    const [left, stayed] = [leaving?.next(), staying?.next()];
    leaving?.fail(new Error('left'));
    await expect(left).rejects.toThrow('left');
    go();
    expect(await stayed).toBe(DONE);
  });

  it('is read to its end for nobody, or stopped', async () => {
    const drained = scene(['a', 'b', DONE]);
    await drained.broadcast.drain();
    expect(drained.whole).toEqual([`ab${DONE}`]);
    const stopped = scene(['a', 'b', DONE]);
    await stopped.reader().next();
    await stopped.broadcast.stop();
    expect([stopped.whole, stopped.told, stopped.asked()]).toEqual([[], ['source closed', 'over'], 1]);
  });
});
