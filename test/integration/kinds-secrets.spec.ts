import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answering, textReply } from '../contract/provider.attempts.js';
import { messages, postCompletion } from '../support/completion-rig.js';
import { KIND_RIGS, type KindRig, startKind } from '../support/kinds-rig.js';
import { json, type Script, stream } from '../support/scripted-upstream.js';
import { SPELLINGS } from '../support/secret-spellings.js';

const CREDENTIALS = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'];

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

  /** As `quoting`, but in every spelling that a server, a proxy or a page of theirs may use. */
  const spelling =
    (status: number, isInBand = false): Script =>
    (request, response) => {
      const secrets = CREDENTIALS.flatMap((name) => request.headers[name] ?? []).map((text) =>
        text.replace(/^Bearer /, ''),
      );
      const message = secrets.flatMap((secret) => Object.values(SPELLINGS).map((spell) => spell(secret))).join(' ');
      const error = { error: { message, type: 'invalid_request_error', code: status, param: message } };
      if (isInBand && request.headers.accept === 'text/event-stream')
        return stream([`data: ${JSON.stringify(error)}\n\n`])(request, response);
      return json(isInBand ? 200 : status, error)(request, response);
    };

  it.each([
    ['an answer', answering(rig.wire, textReply('ok'))],
    ['a 400 that quotes them', quoting(400)],
    ['a 400 that spells them in another way', spelling(400)],
    ['a 500 that spells them in another way', spelling(500)],
    ['a 200 that does so in place of an answer', spelling(400, true)],
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
        for (const [name, spell] of Object.entries(SPELLINGS)) {
          for (const text of texts) expect([name, text.includes(spell(secret))]).toEqual([name, false]);
        }
      }
      expect(bench.fake.requests.length).toBeGreaterThan(0);
      expect(coordinator.logs()).toContain('/v1/chat/completions');
    },
  );
});
