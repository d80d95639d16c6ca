import { afterEach, describe, expect, it } from '@jest/globals';
import { answering, textReply } from '../contract/provider.attempts.js';
import { messages, postCompletion, readAnswer } from '../support/completion-rig.js';
import { KIND_RIGS, type KindRig, startKind } from '../support/kinds-rig.js';

describe.each(KIND_RIGS)('what is this service’s own in a request to a provider of kind %s', (_, rig) => {
  let kind: KindRig;
  afterEach(() => kind.close());

  it.each([
    ['a list of models', { models: ['m'] }],
    ['the switch of the cache', { model: 'm', cache: false }],
  ])('is no matter of the provider’s: %s', async (_name, body) => {
    kind = await startKind(rig);
    kind.bench.fake.play(answering(rig.wire, textReply('fine')));
    const answer = await readAnswer(await postCompletion(kind.coordinator.url, { messages, ...body }));
    expect([answer.status, answer.text.includes('fine')]).toEqual([200, true]);
  });
});
