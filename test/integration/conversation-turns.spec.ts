import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConversationRig, told } from '../support/conversation-rig.js';

let rig: ConversationRig;
beforeEach(async () => {
  rig = await ConversationRig.start();
});
afterEach(() => rig.close());

describe('a turn', () => {
  it('is one message and its reply', async () => {
    const path = await rig.create({ system: 'Be brief.' });
    const answer = await rig.turn(path, 'Hello');
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect(answer.body).toMatchObject({
      object: 'turn',
      status: 'complete',
      assistant: { content: 'you said: Hello' },
    });
    expect(told(await rig.log(path))).toEqual(['user complete: Hello', 'assistant complete: you said: Hello']);
    expect(rig.generator.messages()).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ]);
  });
});
