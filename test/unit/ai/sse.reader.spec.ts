import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sized } from '../../support/proof-scale.js';
import { MalformedStreamError, readEvents, type SseEvent } from '../../../src/ai/wire/sse.reader.js';

/** Cuts bytes at the given places. */
async function* cut(bytes: Uint8Array, places: readonly number[]): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  let from = 0;
  for (const place of [...places.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)) {
    yield bytes.subarray(from, place);
    from = place;
  }
}

async function read(bytes: Uint8Array, places: readonly number[]): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const group of readEvents(cut(bytes, places))) events.push(...group);
  return events;
}

const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('你好😀é', 'e\u0301a\u0308', '👩‍👩‍👧‍👦', '"\\n"'));
const frames = fc.array(
  fc.record({
    data: texts.map((text) => JSON.stringify({ text })),
    space: fc.constantFrom(' ', ''),
    comment: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('readEvents()', () => {
  it('row 36, row 37: any split of any frames gives the same events, whatever the line ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        frames,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(), { maxLength: 40 }),
        async (list, eol, places) => {
          const wire = list
            .map(({ data, space, comment }) => `${comment ? `: ping${eol}` : ''}data:${space}${data}${eol}${eol}`)
            .join('');
          const events = await read(Buffer.from(wire), places);
          const data = events.flatMap((event) => (event.kind === 'event' ? [event.data] : []));
          expect(data).toEqual(list.map((frame) => frame.data));
          expect(events.filter(({ kind }) => kind === 'comment')).toHaveLength(
            list.filter(({ comment }) => comment).length,
          );
        },
      ),
      { numRuns: sized(300, 20_000) },
    );
  });

  it('row 36: reads characters that arrive one byte at a time', async () => {
    const bytes = Buffer.from('data: {"t":"你好😀é"}\n\n');
    const events = await read(bytes, [...bytes.keys()]);
    expect(events).toEqual([{ kind: 'event', name: undefined, data: '{"t":"你好😀é"}' }]);
  });

  it('joins the data lines of one event', async () => {
    expect(await read(Buffer.from('event: x\ndata: {\ndata: }\n\n'), [])).toEqual([
      { kind: 'event', name: 'x', data: '{\n}' },
    ]);
  });

  it('refuses bytes that are not UTF-8', async () => {
    await expect(read(Uint8Array.from([100, 97, 116, 97, 58, 0xff, 10, 10]), [])).rejects.toThrow(MalformedStreamError);
  });

  it.each(['x'.repeat(70_000), `${'x'.repeat(60_000)}\n:\ndata: `])(
    'refuses an event that never ends',
    async (line) => {
      async function* endless(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('data: ');
        for (let written = 0; written < 40_000_000; written += line.length)
          yield await Promise.resolve(Buffer.from(line));
      }
      const drain = async (): Promise<void> => {
        for await (const group of readEvents(endless()))
          expect(group.every(({ kind }) => kind === 'comment')).toBe(true);
      };
      await expect(drain()).rejects.toThrow(MalformedStreamError);
    },
  );

  it('refuses a stream that ends within a character', async () => {
    await expect(read(Buffer.from('data: é').subarray(0, 7), [])).rejects.toThrow(MalformedStreamError);
  });
});
