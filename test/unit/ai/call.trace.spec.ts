import { beforeEach, describe, expect, it } from '@jest/globals';
import { CallTrace } from '../../../src/ai/call/call.trace.js';
import { ChatRequest } from '../../../src/ai/call/chat-request.js';
import { TracedGate } from '../../../src/ai/call/traced.gate.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { ClientGoneError } from '../../../src/http/index.js';
import type { Candidate } from '../../../src/ai/route/route.plan.js';
import { catalogue, deployment, model, provider } from '../../support/catalogues.js';
import { RecordedSpan } from '../../support/recorded-span.js';

describe('CallTrace', () => {
  let above: RecordedSpan;
  let trace: CallTrace;

  beforeEach(() => {
    above = new RecordedSpan('request');
    trace = new CallTrace(above, Object.assign(new ChatRequest(), { model: 'm' }), 'r');
  });

  it('shows a wait for room from its beginning, and none that is shorter than a millisecond', () => {
    trace.waited(0.4, {});
    trace.waited(250, { 'coordinator.admission': 'caller' });
    const [call] = above.children;
    expect(call?.children.map(({ name, options }) => [name, options])).toEqual([
      ['admission wait', { beganMsAgo: 250, attributes: { 'coordinator.admission': 'caller' } }],
    ]);
  });

  it('says of each attempt but the first whether it is a retry or a fallback', () => {
    for (const name of ['p1', 'p1', 'p2']) trace.attempt(candidateAt(name), 1);
    expect(above.children[0]?.events.map(({ name }) => name)).toEqual(['retry', 'fallback']);
  });

  it.each<[unknown, string | undefined]>([
    [undefined, undefined],
    [new ClientGoneError(), 'client_gone'],
    [new UpstreamFailure('upstream', 'timeout', 'WORDS'), 'timeout'],
    [new Error('WORDS'), 'internal_error'],
  ])('ends with the code of %s alone', (error, code) => {
    trace.end({ attempts: 0 }, error);
    expect(above.children[0]?.ended).toEqual([code]);
    expect(JSON.stringify(above.children)).not.toContain('WORDS');
  });
});

describe('TracedGate', () => {
  it('lets pass as its gate does, and shows who was passed over and why', async () => {
    const above = new RecordedSpan('request');
    const trace = new CallTrace(above, new ChatRequest(), 'r');
    const obstacle = {
      detour: 'busy',
      error: new UpstreamFailure('upstream', 'rate_limit_exceeded', 'WORDS'),
    } as const;
    const gate = new TracedGate(
      {
        obstacleAt: () => undefined,
        enter: ({ deployment }) => Promise.resolve(deployment.provider === 'p1' ? obstacle : undefined),
        isLimited: () => true,
        forgo: () => undefined,
      },
      trace,
    );
    expect(await gate.enter(candidateAt('p1'), 0)).toBe(obstacle);
    expect(await gate.enter(candidateAt('p2'), 0)).toBeUndefined();
    expect(gate.isLimited(candidateAt('p1'))).toBe(true);
    expect(above.children[0]?.events).toEqual([
      {
        name: 'passed over',
        attributes: {
          'coordinator.model': candidateAt('p1').model.name,
          'coordinator.deployment': candidateAt('p1').deployment.id,
          'coordinator.route': 'busy',
          'error.type': 'rate_limit_exceeded',
        },
      },
    ]);
  });
});

const MODEL = model(
  'm',
  ['p1', 'p2'].map((name) => deployment(name)),
);
const DEPLOYMENTS = catalogue({
  models: [MODEL],
  providers: [provider('p1', 'key-1'), provider('p2', 'key-2')],
}).reachableDeployments(MODEL);

function candidateAt(name: string): Candidate {
  const found = DEPLOYMENTS.find((each) => each.provider === name);
  if (found === undefined) throw new RangeError(`nothing at ${name}`);
  return { model: MODEL, deployment: found };
}
