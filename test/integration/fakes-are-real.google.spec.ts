import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ApiError,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
} from '@google/genai';
import { OAuth2Client } from 'google-auth-library';
import { answering, reply, textReply } from '../contract/provider.attempts.js';
import { vertexRig } from '../contract/provider.vertex-rig.js';
import { json, type ScriptedUpstream, startScriptedUpstream, stream } from '../support/scripted-upstream.js';

/** Google's own client, unmodified, takes the fake of Vertex AI for the real thing. */

const CALLED = reply([
  { kind: 'text', text: 'I look 你好😀.' },
  { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich"}' },
  { kind: 'call', id: 'call_2', name: 'get_time', arguments: '{}' },
]);

describe('the fake of Vertex AI, read by @google/genai', () => {
  const { wire } = vertexRig;
  let fake: ScriptedUpstream;
  let client: GoogleGenAI;

  beforeEach(async () => {
    fake = await startScriptedUpstream();
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token: 'token-1', expiry_date: Date.now() + 3_600_000 });
    client = new GoogleGenAI({
      vertexai: true,
      project: 'p1',
      location: 'global',
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl: fake.url.replace(/\/v1$/, ''), apiVersion: 'v1' },
    });
  });
  afterEach(() => fake.close());

  const generate = (config: GenerateContentConfig = {}, contents = 'Hi') =>
    client.models.generateContent({ model: 'gemini-2.5-flash', contents, config });
  const generateStream = () => client.models.generateContentStream({ model: 'gemini-2.5-flash', contents: 'Hi' });

  it('answers whole', async () => {
    fake.play(answering(wire, CALLED));
    const response = await generate();
    expect(response.candidates?.[0]).toMatchObject({ finishReason: 'STOP', content: { role: 'model' } });
    expect(response.candidates?.[0]?.content?.parts?.[0]?.text).toBe('I look 你好😀.');
    expect(response.functionCalls).toEqual([
      { name: 'get_weather', args: { city: 'Zürich' } },
      { name: 'get_time', args: {} },
    ]);
    expect(response.usageMetadata).toMatchObject({ promptTokenCount: 12, candidatesTokenCount: 7 });
  });

  it('streams the same answer', async () => {
    fake.play(answering(wire, reply([{ kind: 'reasoning', text: 'The user greets.' }, ...CALLED.content])));
    const responses: GenerateContentResponse[] = [];
    for await (const response of await generateStream()) responses.push(response);
    const parts = responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const textOf = (isThought: boolean): string =>
      parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? '') : '')).join('');
    expect([textOf(false), textOf(true)]).toEqual(['I look 你好😀.', 'The user greets.']);
    expect(responses.flatMap(({ functionCalls }) => functionCalls ?? [])).toEqual([
      { name: 'get_weather', args: { city: 'Zürich' } },
      { name: 'get_time', args: {} },
    ]);
    expect(responses.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 12, totalTokenCount: 19 },
    });
  });

  it('stays alive, and fails within a stream', async () => {
    const frames = wire.frames(textReply('one two three')).slice(0, 2);
    fake.play(stream([wire.keepAlive, ...frames, { waitMs: 50 }, wire.errorFrame]));
    let text = '';
    const read = async (): Promise<void> => {
      for await (const response of await generateStream()) {
        text += response.candidates?.[0]?.content?.parts?.[0]?.text ?? '';
      }
    };
    await expect(read()).rejects.toMatchObject({ status: 503 });
    expect(text).toBe('one t');
  });

  // The client takes any page that says it were JSON for a fault of its own.
  const refusals = vertexRig.refusals.filter(({ body }) => typeof body !== 'string');
  it.each(refusals.map((each) => [each.name, each] as const))('refuses: %s', async (_, refusal) => {
    fake.play(json(refusal.status, refusal.body, { ...refusal.headers }));
    const failure = await generate().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ status: refusal.status });
  });

  it('understands what the client sends', async () => {
    fake.play(answering(wire, textReply('ok')));
    await generate({
      systemInstruction: 'Be brief.',
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['END'],
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] }],
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['f'] } },
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    });
    const [request] = fake.requests;
    if (request === undefined) throw new Error('nothing reached the fake');
    expect(request.headers.authorization).toBe('Bearer token-1');
    expect(wire.understand(request)).toMatchObject({
      model: 'gemini-2.5-flash',
      system: ['Be brief.'],
      turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
      tools: [{ name: 'f', schema: { type: 'object' } }],
      toolChoice: 'f',
      maxTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      stop: ['END'],
      schema: { type: 'object' },
      isStream: false,
    });
  });

  it.each([
    ['an unknown member', { seed: 1 }],
    ['no contents', { contents: [] }],
    ['a role of OpenAI', { contents: [{ role: 'assistant', parts: [{ text: 'Hi' }] }] }],
    ['a content without parts', { contents: [{ role: 'user', parts: [] }] }],
    ['two things in one part', { contents: [{ role: 'user', parts: [{ text: 'a', inlineData: {} }] }] }],
    ['a schema for an answer that is no JSON', { generationConfig: { responseJsonSchema: {} } }],
    ['a label that is none', { labels: { user: 'Ann <ann@example.com>' } }],
    [
      'a call without its result',
      {
        contents: [
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
          { role: 'user', parts: [{ text: 'And?' }] },
        ],
      },
    ],
    [
      'a result without its call',
      { contents: [{ role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '1' } } }] }] },
    ],
  ])('refuses what the provider refuses: %s', async (_, members) => {
    fake.play(answering(wire, textReply('ok')));
    const path = '/projects/p1/locations/global/publishers/google/models/gemini-2.5-flash:generateContent';
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...members };
    const response = await fetch(fake.url + path, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status).toBe(400);
  });
});
