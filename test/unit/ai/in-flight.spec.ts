import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { InFlight } from '../../../src/ai/call/in-flight.js';

describe('InFlight', () => {
  it('counts the calls that are under way, by deployment', () => {
    const inFlight = new InFlight(new Registry());
    const [first, second, other] = [inFlight.begin('a', 'm'), inFlight.begin('a', 'm'), inFlight.begin('b', 'm')];
    expect([inFlight.at('a'), inFlight.at('b'), inFlight.at('never'), inFlight.total]).toEqual([2, 1, 0, 3]);
    second();
    other();
    expect([inFlight.at('a'), inFlight.at('b'), inFlight.total]).toEqual([1, 0, 1]);
    first();
    expect(inFlight.total).toBe(0);
  });

  it('takes a second end of one call for none', () => {
    const inFlight = new InFlight(new Registry());
    const end = inFlight.begin('a', 'm');
    inFlight.begin('a', 'm');
    end();
    end();
    expect(inFlight.at('a')).toBe(1);
  });

  it('is a metric, which goes down to 0 again', async () => {
    const registry = new Registry();
    const inFlight = new InFlight(registry);
    const end = inFlight.begin('acme/m-1', 'one');
    expect(await registry.metrics()).toContain('coordinator_attempts_in_flight{deployment="acme/m-1"} 1\n');
    end();
    expect(await registry.metrics()).toContain('coordinator_attempts_in_flight{deployment="acme/m-1"} 0\n');
  });

  it('counts each call that has begun, by its model as well', async () => {
    const registry = new Registry();
    const inFlight = new InFlight(registry);
    inFlight.begin('acme/m-1', 'one')();
    inFlight.begin('acme/m-1', 'one');
    expect(await registry.metrics()).toContain('coordinator_attempts_total{model="one",deployment="acme/m-1"} 2\n');
  });
});
