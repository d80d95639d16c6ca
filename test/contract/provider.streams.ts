import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UpstreamFailure } from '../../src/ai/upstream/upstream-failure.js';
import { costUsd, readUsage } from '../../src/ai/call/cost.js';
import { holdHead } from '../../src/ai/call/stream.head.js';
import { sized } from '../support/proof-scale.js';
import { json, RESET, stream } from '../support/scripted-upstream.js';
import { answering, attemptAt, CannedTransport, reply, textReply } from './provider.attempts.js';
import { collected, type Collected, unnamed } from './provider.collector.js';
import type { Reply, Subject } from './provider.rig.js';

const RICH = reply([
  { kind: 'text', text: 'Grüezi 你好😀é' },
  { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich","days":[1,2,3]}' },
  { kind: 'call', id: 'call_2', name: 'get_time', arguments: '{}' },
]);

/** A stream says what the whole answer would have said, however it is cut, and never ends silently short. */
export function describeStreams({ rig, bench }: Subject): void {
  const { wire } = rig;
  const streamed = async (played: Reply): Promise<Collected> => {
    bench().fake.play(answering(wire, played));
    return collected(await bench().adapter.stream(attemptAt(bench(), { stream: true })));
  };
  /** Bytes that come in these pieces. */
  const canned = async (pieces: readonly Uint8Array[], seen?: (soFar: Collected) => void): Promise<Collected> => {
    const own = await rig.start(new CannedTransport(pieces));
    try {
      return await collected(await own.adapter.stream(attemptAt(own, { stream: true })), seen);
    } finally {
      await own.close();
    }
  };

  it('with its text, its end and its usage', async () => {
    expect(await streamed(textReply('Hello, world!'))).toMatchObject({
      content: 'Hello, world!',
      finish: 'stop',
      usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
    });
  });

  it('with tools called in pieces', async () => {
    const { content, calls, finish } = await streamed(RICH);
    expect({ content, finish }).toEqual({ content: 'Grüezi 你好😀é', finish: 'tool_calls' });
    expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
    expect(JSON.parse(calls[0]?.arguments ?? '')).toEqual({ city: 'Zürich', days: [1, 2, 3] });
    expect(JSON.parse(calls[1]?.arguments ?? '')).toEqual({});
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it('with what the model thought', async () => {
    const thought = reply([
      { kind: 'reasoning', text: 'The user greets.' },
      { kind: 'text', text: 'Hello!' },
    ]);
    expect(await streamed(thought)).toMatchObject({ content: 'Hello!', reasoning: 'The user greets.' });
  });

  it('in more than one piece, as it came', async () => {
    bench().fake.play(answering(wire, textReply('one two three')));
    const { events } = await bench().adapter.stream(attemptAt(bench(), { stream: true }));
    const deltas: string[] = [];
    for await (const group of events) for (const event of group) if (event.kind === 'chunk') deltas.push(event.text);
    expect(deltas.filter((text) => /"content": ?"[^"]/.test(text)).length).toBeGreaterThan(1);
  });

  it.each(rig.stopReasons)('with %s as the finish reason %s', async (native, finish) => {
    expect((await streamed(textReply('x', { finish, native: { finish: native } }))).finish).toBe(finish);
  });

  it.each(rig.usages.map((each) => [each.name, each] as const))(
    'with its usage and price to a millionth of a dollar: %s',
    async (_, { native, usage, prices, costUsd: cost }) => {
      const { usage: told } = await streamed(textReply('x', { native: { usage: native } }));
      expect(told).toEqual(usage);
      const read = readUsage(told);
      if (read === undefined) throw new Error('no usage could be read');
      expect(costUsd(read, prices)).toBeCloseTo(cost, 9);
    },
  );

  it('row 36, row 37: as the same one, however the bytes are cut', async () => {
    const bytes = Buffer.from(wire.frames(RICH).join(''));
    const whole = unnamed(await canned([bytes]));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (places) => {
        const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
        const pieces = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
        expect(unnamed(await canned(pieces.filter(({ length }) => length > 0)))).toEqual(whole);
      }),
      { numRuns: sized(100, 5_000) },
    );
    expect(unnamed(await canned([...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(whole);
  });

  it('row 39: only whole: cut off anywhere, it fails or had everything', async () => {
    const bytes = Buffer.from(wire.frames(RICH).join(''));
    const { content, calls, finish } = unnamed(await canned([bytes]));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
        let seen: Collected | undefined;
        const cut = canned([bytes.subarray(0, length)], (soFar) => (seen = soFar));
        const outcome = await cut.then(unnamed, (error: unknown) => error);
        if (outcome instanceof Error) {
          expect(outcome).toBeInstanceOf(UpstreamFailure);
          expect(outcome).toMatchObject({ blame: 'upstream', code: 'upstream_error' });
          expect(seen?.kinds ?? []).not.toContain('done');
        } else {
          expect(outcome).toMatchObject({ content, calls, finish });
        }
      }),
      { numRuns: sized(100, 5_000) },
    );
  });

  it('row 39: with a failure where the connection breaks after content', async () => {
    const frames = wire.frames(textReply('one two three'));
    bench().fake.play(stream([...frames.slice(0, -2), RESET]));
    let seen: Collected | undefined;
    const { adapter } = bench();
    const opened = await adapter.stream(attemptAt(bench(), { stream: true }));
    await expect(collected(opened, (soFar) => (seen = soFar))).rejects.toMatchObject({ code: 'upstream_error' });
    expect(seen?.content).toMatch(/^one/);
  });

  it('without taking a sign of life for content', async () => {
    const [first = '', ...frames] = wire.frames(textReply('Hello!'));
    const { keepAlive } = wire;
    bench().fake.play(stream([keepAlive, keepAlive, first, keepAlive, ...frames]));
    const { events } = await bench().adapter.stream(attemptAt(bench(), { stream: true }));
    const groups = await holdHead('fake', events);
    const seen = await collected({ events: groups, headers: {} });
    expect(seen).toMatchObject({ content: 'Hello!', finish: 'stop' });

    bench().fake.play(stream([keepAlive, first, keepAlive, wire.errorFrame]));
    const again = await bench().adapter.stream(attemptAt(bench(), { stream: true }));
    await expect(holdHead('fake', again.events)).rejects.toMatchObject({ blame: 'upstream', code: 'overloaded' });
  });

  it('row 40: up to an error after content, which is told', async () => {
    const frames = wire.frames(textReply('one two three'));
    const at = frames.findIndex((frame) => frame.includes('one')) + 1;
    bench().fake.play(stream([...frames.slice(0, at), wire.errorFrame]));
    let seen: Collected | undefined;
    const opened = await bench().adapter.stream(attemptAt(bench(), { stream: true }));
    await expect(collected(opened, (soFar) => (seen = soFar))).rejects.toMatchObject({
      blame: 'upstream',
      code: 'overloaded',
    });
    expect(seen?.content).toMatch(/^one/);
    expect(seen?.kinds).not.toContain('done');
  });

  it.each([
    ['a page', 'data: <html>\n\n'],
    ['nothing', ''],
    ['bytes that are no text', Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a]).toString('latin1')],
  ])('but takes %s for no answer', async (_, text) => {
    await expect(canned(text === '' ? [] : [Buffer.from(text, 'latin1')])).rejects.toMatchObject({
      blame: 'upstream',
      code: 'upstream_error',
    });
  });

  it('but takes JSON for no stream', async () => {
    bench().fake.play(json(200, { any: 'thing' }));
    await expect(bench().adapter.stream(attemptAt(bench(), { stream: true }))).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
}
