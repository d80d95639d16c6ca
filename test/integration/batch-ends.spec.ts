import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BatchApp, contentOf, echo, gated, questions, resultsOf } from '../support/batch-app.js';
import { eventually } from '../support/eventually.js';
import { pass } from '../support/pass.js';
import { record } from '../support/schema.checker.js';

let app: BatchApp;
beforeEach(async () => {
  app = await BatchApp.start();
});
afterEach(() => app.close());

describe('a batch that is cut short', () => {
  it('by its time tells what it has, and begins no more', async () => {
    const gate = gated();
    app.script = (call) => (contentOf(call.body) === 'question 0' ? echo(call) : gate.script(call));
    const asked = app.ask({ requests: questions(9), concurrency: 3 }, { 'x-coordinator-timeout-ms': '1500' });
    await eventually(() => app.open === 3);
    for (const { deadlineMs } of app.calls) expect(deadlineMs).toBeLessThanOrEqual(1_500);
    await pass(1_510);
    gate.open();
    const { status, body } = await asked;
    expect([status, body]).toMatchObject([200, { succeeded: 4, failed: 5 }]);
    expect(resultsOf(body)[8]).toMatchObject({ error: { code: 'timeout', status: 504 } });
    expect(app.calls).toHaveLength(4);
  });

  it.each(['application/json', 'text/event-stream'])(
    'by its client aborts what is under way and begins no more (%s)',
    async (accept) => {
      app.script = gated().script;
      const leaving = new AbortController();
      const answer = app
        .send({ requests: questions(20), concurrency: 4 }, { accept }, leaving.signal)
        .catch(() => undefined);
      await eventually(() => app.open === 4);
      leaving.abort();
      await answer;
      await eventually(() => app.open === 0);
      await pass(20);
      expect(app.calls).toHaveLength(4);
      for (const { signal } of app.calls) expect(signal.reason).toMatchObject({ name: 'ClientGoneError' });
      await eventually(() => app.logs().some(({ msg }) => msg === 'request'));
      expect(app.logs().filter(({ level, msg }) => level === 'error' || msg === 'unforeseen error')).toEqual([]);
    },
  );

  it('by the end of the service tells what was answered until then', async () => {
    const gate = gated();
    app.script = (call) => (contentOf(call.body) === 'question 1' ? echo(call) : gate.script(call));
    const asked = app.ask({ requests: questions(5), concurrency: 2 });
    await eventually(() => app.calls.length === 3);
    await app.drain.run();
    const { status, body } = await asked;
    expect([status, body]).toMatchObject([200, { succeeded: 1, failed: 4 }]);
    const codes = resultsOf(body).map(({ error }) => record(error)['code']);
    expect(codes).toEqual(['draining', undefined, 'draining', 'draining', 'draining']);
  });

  it('warns of no leak with fifty under way', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): number => warnings.push(name);
    process.on('warning', note);
    await app.ask({ requests: questions(100), concurrency: 50 });
    await pass(10);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
