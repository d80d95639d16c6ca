import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TIERS } from '../../../../src/config/index.js';
import { readExchange } from '../../../../src/ai/fleet/fleet.replies.js';
import type { Bodies } from '../../../../src/ai/fleet/fleet.store.js';
import { latencyTopic } from '../../../../src/ai/fleet/topics/latency.topic.js';
import { PARKING_REASONS, parkingTopic } from '../../../../src/ai/fleet/topics/parking.topic.js';
import { ratioTopic } from '../../../../src/ai/fleet/topics/ratio.topic.js';
import { standingTopic } from '../../../../src/ai/fleet/topics/standing.topic.js';
import { USAGE_UNITS, usageTopic } from '../../../../src/ai/fleet/topics/usage.topic.js';
import { windowTopic } from '../../../../src/ai/fleet/topics/window.topic.js';

const whole = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const word = fc.stringMatching(/^[\w.-]{0,20}$/);
const window = fc.record({ limit: whole, remaining: whole, resetAt: whole, saidAt: whole });

function comesBack<Body>(topic: Bodies<Body>, bodies: fc.Arbitrary<Body>): void {
  fc.assert(
    fc.property(bodies, (body) => {
      expect(topic.parse(topic.format(body))).toEqual(body);
    }),
  );
}

describe('the bodies of the fleet', () => {
  it('come back from their text as they were', () => {
    comesBack(
      standingTopic,
      fc.record({
        ...{ since: whole, openUntil: whole, openings: whole, code: word, prober: word, probeUntil: whole },
        strikes: fc.array(whole, { maxLength: 3 }),
      }),
    );
    comesBack(parkingTopic, fc.record({ reason: fc.constantFrom(...PARKING_REASONS), until: whole, saidAt: whole }));
    comesBack(
      windowTopic,
      fc
        .record(
          { requests: window, tokens: window, 'input-tokens': window, 'output-tokens': window },
          { requiredKeys: [] },
        )
        .filter((windows) => Object.keys(windows).length > 0),
    );
    comesBack(
      usageTopic,
      fc.record({
        tier: fc.constantFrom(...TIERS),
        unit: fc.constantFrom(...USAGE_UNITS),
        left: fc.integer({ min: -1 }),
        most: fc.integer({ min: -1 }),
        isStale: fc.boolean(),
        checkedAt: whole,
      }),
    );
    const sample = fc
      .record({ ms: whole, tokens: whole, isCensored: fc.boolean() })
      .map((told) => ({ ...told, tokens: told.isCensored ? 0 : told.tokens }));
    comesBack(latencyTopic, fc.array(sample, { minLength: 1, maxLength: 100 }));
    comesBack(ratioTopic, whole);
  });

  it.each([
    ['standing', (): unknown => standingTopic.parse('1|2|3')],
    ['standing', (): unknown => standingTopic.parse('1|2|3|c|p|x|')],
    ['parking', (): unknown => parkingTopic.parse('lost|1|2')],
    ['window', (): unknown => windowTopic.parse('requests|1|2|3')],
    ['window', (): unknown => windowTopic.parse('miles|1|2|3|4')],
    ['usage', (): unknown => usageTopic.parse('gold|requests|1|1|0|5')],
    ['latency', (): unknown => latencyTopic.parse('1:2,x:3')],
    ['ratio', (): unknown => ratioTopic.parse('1.5')],
  ])('of a %s that cannot be are refused', (_topic, parse) => {
    expect(parse).toThrow(TypeError);
  });
});

describe('readExchange()', () => {
  it('reads what is as known, what is new, and what is gone', () => {
    expect(readExchange(ratioTopic, 3, [50, '', '7|99|1000000', '0|0|'])).toEqual({
      now: 50,
      cells: [undefined, { revision: 7, endsAt: 99, body: 1_000_000 }, { revision: 0, endsAt: 0, body: undefined }],
    });
  });

  it.each([['OK'], [[]], [['50', '']], [[50]], [[50, '', '']], [[50, 7]], [[50, '7|99']], [[50, 'x|99|1']]])(
    'refuses %j',
    (reply) => {
      expect(() => readExchange(ratioTopic, 1, reply)).toThrow('ratio.lua answered');
    },
  );
});
