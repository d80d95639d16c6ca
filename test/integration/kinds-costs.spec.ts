import { afterEach, describe, expect, it } from '@jest/globals';
import { answering, textReply } from '../contract/provider.attempts.js';
import type { UsageCase } from '../contract/provider.rig.js';
import { type Answer, dataOf, messages, postCompletion, readAnswer } from '../support/completion-rig.js';
import { KIND_RIGS, type KindRig, startKind } from '../support/kinds-rig.js';

describe.each(KIND_RIGS)('what a call of a provider of kind %s costs', (_, rig) => {
  let kind: KindRig;
  afterEach(() => kind.close());

  const ask = async (body: object = {}): Promise<Answer> =>
    readAnswer(await postCompletion(kind.coordinator.url, { model: 'm', messages, ...body }));
  const metric = async (): Promise<number> => {
    const text = await (await fetch(`${kind.coordinator.url}/metrics`)).text();
    return Number(/^coordinator_cost_usd_total\{[^}]*\} (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
  };
  const start = async ({ prices, native }: Pick<UsageCase, 'native'> & Partial<UsageCase>): Promise<void> => {
    const deployment = { provider: rig.kind, model: 'upstream-model', ...(prices && { prices }) };
    kind = await startKind(rig, { deployments: [deployment] });
    kind.bench.fake.play(answering(rig.wire, textReply('x', { native: { usage: native } })));
  };

  it.each(rig.usages.map((each) => [each.name, each] as const))(
    'row 58: is what its own counts say at the configured prices, to a millionth of a dollar and less: %s',
    async (_name, usage) => {
      await start(usage);
      const whole = await ask();
      expect(whole.body['usage']).toEqual({ ...(usage.usage as object), cost: usage.costUsd });
      expect(whole.headers.get('x-coordinator-cost-usd')).toBe(String(usage.costUsd));
      const streamed = await ask({ stream: true, stream_options: { include_usage: true } });
      const told = dataOf(streamed.text).flatMap((chunk) => (chunk['usage'] ? [chunk['usage']] : []));
      expect(told).toEqual([{ ...(usage.usage as object), cost: usage.costUsd }]);
      expect(await metric()).toBeCloseTo(2 * usage.costUsd, 9);
    },
  );

  it('row 59: is counted by the provider also where a stream’s caller asks for no usage', async () => {
    const [usage] = rig.usages;
    if (usage === undefined) throw new Error('every kind has a golden usage');
    await start(usage);
    expect((await ask({ stream: true })).text).not.toContain('"usage":{');
    expect(await metric()).toBeCloseTo(usage.costUsd, 9);
  });

  it('row 60, row 61: is not told where no price is configured, neither as nothing nor by the price of a namesake', async () => {
    const [usage] = rig.usages;
    if (usage === undefined) throw new Error('every kind has a golden usage');
    await start({ native: usage.native });
    const { body, headers, status } = await ask();
    expect(status).toBe(200);
    expect(body['usage']).toEqual(usage.usage);
    expect(headers.get('x-coordinator-cost-usd')).toBeNull();
    expect(await metric()).toBeNaN();
  });
});
