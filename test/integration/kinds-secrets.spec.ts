import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answering, textReply } from '../contract/provider.attempts.js';
import { messages, postCompletion } from '../support/completion-rig.js';
import { KIND_RIGS, type KindRig, startKind } from '../support/kinds-rig.js';
import { json, type Script, stream } from '../support/scripted-upstream.js';

describe.each(KIND_RIGS)('row 48: the keys for a provider of kind %s', (_, rig) => {
  let kind: KindRig;

  beforeEach(async () => {
    kind = await startKind(rig);
  });
  afterEach(() => kind.close());

  /** Quotes all it was sent, as careless servers do. */
  const quoting =
    (status: number): Script =>
    (request, response) => {
      const credentials = Object.values(request.headers).flat().join(' ');
      const message = `cannot serve ${request.path} with ${credentials}`;
      return json(status, { error: { message, type: 'error', code: 'no', param: message } })(request, response);
    };

  it.each([
    ['an answer', answering(rig.wire, textReply('ok'))],
    ['a 400 that quotes them', quoting(400)],
    ['a 401 that quotes them', quoting(401)],
    ['a 403 that quotes them', quoting(403)],
    ['a 429 that quotes them', quoting(429)],
    ['a 500 that quotes them', quoting(500)],
    ['a page in place of an answer', json(200, '<html>')],
    ['a stream that breaks off', stream([...rig.wire.frames(textReply('one two')).slice(0, -2), { resets: true }])],
    ['a reset', ((_request, response) => void response.socket?.resetAndDestroy()) satisfies Script],
  ] satisfies readonly [string, Script][])(
    'are in no log, answer, metric or status after %s',
    async (_case, script) => {
      const { coordinator, bench } = kind;
      bench.fake.play(script);
      const texts: string[] = [];
      for (const isStream of [false, true]) {
        const response = await postCompletion(coordinator.url, { model: 'm', messages, stream: isStream });
        texts.push(JSON.stringify([...response.headers]), await response.text());
      }
      for (const path of ['/metrics', '/ready', '/v1/status', '/v1/models']) {
        texts.push(await (await fetch(`${coordinator.url}${path}`)).text());
      }
      texts.push(coordinator.logs());
      for (const secret of [...bench.secrets, bench.upstream.apiKey]) {
        for (const text of texts) expect(text).not.toContain(secret);
      }
      expect(bench.fake.requests.length).toBeGreaterThan(0);
      expect(coordinator.logs()).toContain('/v1/chat/completions');
    },
  );
});
