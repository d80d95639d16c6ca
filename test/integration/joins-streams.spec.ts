import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ABORT_MS, ABORT_SEEN_MS } from '../support/abort-limits.js';
import { contentOf } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { met, ReuseRig } from '../support/reuse-rig.js';
import { DONE } from '../support/scripted-upstream.js';

let rig: ReuseRig;

beforeAll(async () => {
  rig = await ReuseRig.start(2);
});
afterEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

describe('identical streams in flight', () => {
  const parts = async (response: Response, until: string): Promise<{ text: string; rest: () => Promise<string> }> => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) throw new Error('no body');
    let text = '';
    const more = async (): Promise<boolean> => {
      const { value = '', done } = await reader.read();
      text += value;
      return !done;
    };
    while (!text.includes(until)) if (!(await more())) break;
    const rest = async (): Promise<string> => {
      while (await more());
      return text;
    };
    return { text, rest };
  };

  it('give whoever comes later on the same pod what was sent already, and then go on together', async () => {
    rig.upstream.play(rig.halves());
    const body = rig.question({ stream: true });
    const one = await parts(await rig.send(body), 'first');
    const lateResponse = await rig.send({ ...body, stream_options: { include_usage: true } });
    expect(met(lateResponse)).toBe('joined');
    const late = await parts(lateResponse, 'first');
    expect([contentOf(one.text), contentOf(late.text)]).toEqual(['first ', 'first ']);
    rig.open();
    const [first, second] = await Promise.all([one.rest(), late.rest()]);
    expect([contentOf(first), contentOf(second), rig.calls]).toEqual(['first second', 'first second', 1]);
    expect(first).not.toContain('usage');
    expect(second).toContain('"cost":0}');
    expect(second.endsWith(DONE)).toBe(true);
    expect(met(await rig.ask(body, { pod: 1 }))).toBe('hit');
  });

  it('go on when the first reader leaves, and end when the last one does', async () => {
    rig.upstream.play(rig.halves());
    const body = rig.question({ stream: true });
    const [one, other] = [new AbortController(), new AbortController()];
    await parts(await rig.send(body, { signal: one.signal }), 'first');
    const second = await parts(await rig.send(body, { signal: other.signal }), 'first');
    one.abort();
    await new Promise((resolve) => setTimeout(resolve, ABORT_MS / 2));
    expect(rig.upstream.aborted).toBe(0);
    const ended = second.rest().catch(() => 'left');
    other.abort();
    await eventually(() => rig.upstream.aborted === 1, ABORT_SEEN_MS);
    await ended;
  });

  it('end for a follower whose time is over, and for nobody else', async () => {
    rig.upstream.play(rig.halves());
    const body = rig.question({ stream: true });
    const leader = await parts(await rig.send(body), 'first');
    const hurried = await rig.ask(body, { headers: { 'x-coordinator-timeout-ms': '1000' } });
    expect(hurried.status).toBe(200);
    expect(hurried.text).toContain('"code":"timeout"');
    expect(hurried.text).not.toContain(DONE);
    rig.open();
    expect(contentOf(await leader.rest())).toBe('first second');
  });
});
