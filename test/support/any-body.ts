import fc from 'fast-check';

const MESSAGES = [{ role: 'user', content: 'echo: hi' }];

/** Bodies that an upstream would answer, each with much in it that can be damaged. */
const VALID: readonly object[] = [
  { model: 'gpt-4.1', messages: MESSAGES },
  { model: 'gpt-4.1', messages: MESSAGES, stream: true, stream_options: { include_usage: true } },
  {
    models: ['no-such', 'deepseek-v3.2'],
    messages: [
      { role: 'system', content: 'You are terse.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'echo: 你好 😀' },
          { type: 'image_url', image_url: { url: 'https://example.invalid/a.png' } },
        ],
      },
    ],
    max_tokens: 40,
    temperature: 0.5,
    n: 2,
    stop: ['x'],
    user: 'u',
    metadata: { a: 'b' },
    cache: false,
  },
  {
    model: 'gemini-2.5-flash',
    stream: true,
    messages: [
      { role: 'user', content: 'call:f {"a":1}' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object', properties: {} } } },
  },
];

/** Names that mean something to somebody: here, at the upstream, or to JavaScript. */
const NAMES = [
  ...['model', 'models', 'messages', 'role', 'content', 'stream', 'stream_options', 'include_usage', 'n', 'max_tokens'],
  ...['cache', 'tools', 'response_format', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', ''],
];

const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(-1, 0, 2 ** 31, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  // Lone surrogates, U+2028, byte order mark, NUL.
  fc.constantFrom('\ud800', 'x\udfff', '\u2028\u2029', '\ufeff', '\0', 'e\u0301', 'gpt-4.1', 'data: [DONE]\n\n', '\\u'),
);
const key = fc.oneof(fc.constantFrom(...NAMES), text);
const leaf = fc.oneof(fc.constant(null), fc.boolean(), number, text);
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 4 }), object(tie('value'))),
})).value;

function object(members: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  // Pairs, so that `__proto__` becomes a member of its own.
  return fc.array(fc.tuple(key, members), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs) as object);
}

/** A valid body of which up to three places are replaced, removed or added to. */
const damaged = fc
  .tuple(
    fc.constantFrom(...VALID),
    fc.array(fc.record({ place: fc.nat(), how: fc.constantFrom('replace', 'remove', 'add'), key, value }), {
      maxLength: 3,
    }),
  )
  .map(([body, damages]) => damages.reduce((json, damage) => damageAt(json, damage), JSON.stringify(body)));

function damageAt(json: string, damage: { place: number; how: string; key: string; value: unknown }): string {
  const body = JSON.parse(json) as object;
  const places: (readonly [container: object, key: string])[] = [];
  collect(body, places);
  const [container, name] = places[damage.place % places.length] ?? [body, ''];
  if (damage.how === 'remove') Reflect.deleteProperty(container, name);
  else define(container, damage.how === 'replace' || Array.isArray(container) ? name : damage.key, damage.value);
  return JSON.stringify(body);
}

function collect(container: object, places: (readonly [object, string])[]): void {
  for (const [name, member] of Object.entries(container) as [string, unknown][]) {
    places.push([container, name]);
    if (typeof member === 'object' && member !== null) collect(member, places);
  }
}

function define(container: object, name: string, member: unknown): void {
  Object.defineProperty(container, name, { value: member, enumerable: true, configurable: true, writable: true });
}

/** JSON that no serialiser writes: members twice, numbers beyond all doubles, escapes everywhere, blanks, depth. */
const odd = fc.oneof(
  fc.constantFrom(
    '{"model":"gpt-4.1","model":"x","messages":[{"role":"user","content":"a"}],"model":"gpt-4.1"}',
    '{"m\\u006fdel":"gpt-4.1","messages":[{"role":"user","content":"\\ud83d\\ude00 \\ud83d"}],"stream":true}',
    ' \r\n\t{ "model" : "gpt-4.1" , "messages" : [ { "role" : "user" , "content" : "a" } ] } \n',
    '{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}],"max_tokens":1e400}',
    '{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}],"seed":123456789012345678901234567890}',
    '{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}],"n":1E+2,"temperature":-0.0}',
    '\ufeff{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}]}',
    '{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}],"stream":true,"stream_options":null}',
    '{"__proto__":{"model":"gpt-4.1"},"messages":[{"role":"user","content":"a"}]}',
  ),
  fc
    .tuple(fc.constantFrom('[', '{"a":', '[[{"b":['), fc.constantFrom(1, 50, 199, 201, 5_000, 100_000))
    .map(
      ([open, depth]) => `{"model":"gpt-4.1","messages":[{"role":"user","content":"a"}],"x":${nested(open, depth)}}`,
    ),
  fc.tuple(text, fc.nat()).map(([inserted, at]) => splice(JSON.stringify(VALID[1]), inserted, at)),
);

function nested(open: string, depth: number): string {
  const close = Array.from(open.replace(/[^[{]/g, ''), (each) => (each === '[' ? ']' : '}'))
    .reverse()
    .join('');
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}

function splice(body: string, inserted: string, at: number): string {
  const place = at % body.length;
  return body.slice(0, place) + inserted + body.slice(place);
}

/** Request bodies: any JSON value, valid requests with damage, JSON that no serialiser writes, and what is not quite JSON. */
export const anyBody: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: value.map((each) => JSON.stringify(each)) },
  { weight: 2, arbitrary: object(value).map((each) => JSON.stringify(each)) },
  { weight: 4, arbitrary: damaged },
  { weight: 2, arbitrary: odd },
);
