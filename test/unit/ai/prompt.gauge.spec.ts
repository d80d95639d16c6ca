import { describe, expect, it } from '@jest/globals';
import { PromptGauge } from '../../../src/ai/call/prompt.gauge.js';
import { Fleet } from '../../../src/ai/fleet/index.js';
import { MemoryFleetStore } from '../../../src/ai/fleet/memory-fleet.store.js';
import type { ModelSettings } from '../../../src/config/index.js';
import { createLogger } from '../../../src/observability/index.js';
import { TokenCounters, type TokenCounter } from '../../../src/tokens/index.js';
import { candidateAt, SequenceBench } from '../../support/sequence-bench.js';

const { model } = candidateAt(0);
const PROMPT_TOKENS = 12;

/** Knows what it was asked for, and can fail. */
class ScriptedCounters extends TokenCounters {
  readonly asked: string[] = [];

  constructor(private readonly fault?: Error) {
    super();
  }

  override for(tokenizer: ModelSettings['tokenizer']): TokenCounter {
    this.asked.push(tokenizer.encoding);
    const { fault } = this;
    if (fault === undefined) return super.for(tokenizer);
    const fail = (): Promise<never> => Promise.reject(fault);
    return { count: fail, countMessage: fail, countRequest: fail };
  }
}

describe('PromptGauge', () => {
  it('counts a request once for all models of an encoding, each by its own ratio', async () => {
    const logger = createLogger({ level: 'silent', secrets: [] }, { write: () => undefined });
    const counters = new ScriptedCounters();
    const { fleet, gauge } = gaugeOver(counters, logger);
    const { call } = new SequenceBench();
    const asked = { ...call, body: { messages: [{ role: 'user', content: 'Hello there, world.' }] } };
    const bytes = { ...model, tokenizer: { encoding: 'bytes', ratio: 1 } } as const;
    const one = await gauge.count(asked, bytes);
    const double = await gauge.count(asked, { ...bytes, tokenizer: { encoding: 'bytes', ratio: 2 } });
    expect([double.tokens, counters.asked]).toEqual([2 * one.tokens, ['bytes']]);
    expect(one.tokens).toBeGreaterThan(0);
    await fleet.close();
  });

  it('never rejects when it learns: what went wrong is in the log, and the sample is lost', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', secrets: [] }, { write: (line: string) => void lines.push(line) });
    const { fleet, gauge } = gaugeOver(new ScriptedCounters(new Error('no vocabulary')), logger);
    const { call } = new SequenceBench();
    await expect(gauge.count(call, model)).rejects.toThrow('no vocabulary');
    for (let sample = 0; sample < 2_000 && lines.length === 0; sample += 1)
      await gauge.learn(call, model, PROMPT_TOKENS);
    expect(lines.join('\n')).toContain('no vocabulary');
    await fleet.close();
  });
});

function gaugeOver(
  counters: TokenCounters,
  logger: ReturnType<typeof createLogger>,
): { readonly fleet: Fleet; readonly gauge: PromptGauge } {
  const fleet = new Fleet({
    store: new MemoryFleetStore(() => Date.now() * 1_000),
    deployments: [],
    models: [{ name: model.name, firstTokenMs: 1_000 }],
  });
  return { fleet, gauge: new PromptGauge(counters, fleet, logger) };
}
