import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { SeededRandom } from '../simulation/seeded.random.js';

const NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', '', 'a.b', 'model', 'messages', 'role', 'content', 'n'],
  ...['stream', 'tools', 'metadata', 'models', 'requests', 'max_tokens', '$where', '\u0000', '\u2028', '🙂'],
] as const;

const VALUES: readonly [unknown, ...unknown[]] = [
  null,
  ...[true, false, 0, -1, 1.5, 1e308, -1e308, 9_007_199_254_740_991, [], {}, [[]], '', ' ', 'null', 'NaN'],
  ...['__proto__', 'é🙂', '\ud800', '\u0000', '\r\nx-evil: 1', '\u001b[31m', '\u2028', 'x'.repeat(5_000)],
  ...["' OR 1=1 --", '{{7*7}}', '${7*7}', '../../etc/passwd', '<script>', '%s%n', '*', '{x}', 'KEYS *'],
  ...[{ toString: 1 }, { constructor: { prototype: { polluted: true } } }, [null, [1, { a: [] }]]],
  JSON.parse('{"__proto__":{"polluted":true}}'),
];

/** A value that is not quite the one it was made from. The original is not touched. */
export function mutatedValue(value: unknown, random: SeededRandom): unknown {
  if (random.chance(0.25)) return strange(random);
  if (Array.isArray(value)) return mutatedList(value, random);
  if (typeof value === 'object' && value !== null) return mutatedObject(value, random);
  return strange(random);
}

function strange(random: SeededRandom): unknown {
  return random.chance(0.05) ? nested(random.below(500)) : VALUES[random.below(VALUES.length)];
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function mutatedList(list: readonly unknown[], random: SeededRandom): unknown {
  const at = random.below(list.length);
  if (random.chance(0.2)) return [...list, strange(random)];
  if (random.chance(0.1)) return Array.from({ length: random.below(60) }, () => list[at] ?? null);
  return list.map((item, index) => (index === at ? mutatedValue(item, random) : item));
}

function mutatedObject(value: object, random: SeededRandom): unknown {
  const entries = Object.entries(value);
  const at = random.below(entries.length);
  if (random.chance(0.15)) return withMembers(entries.filter((_, index) => index !== at));
  if (random.chance(0.3)) return withMembers([...entries, [random.pick([...NAMES]), strange(random)]]);
  return withMembers(entries.map(([name, item], index) => [name, index === at ? mutatedValue(item, random) : item]));
}

/** Also members called `__proto__` are its own. */
function withMembers(entries: readonly (readonly [string, unknown])[]): object {
  const made = {};
  for (const [name, value] of entries)
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  return made;
}

/** Bytes that are not quite JSON. */
export function mutatedBytes(bytes: Buffer, random: SeededRandom): Buffer {
  const at = random.below(bytes.length + 1);
  const piece = random.pick([...PIECES]);
  switch (random.below(5)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes, bytes.subarray(at)]);
    case 3:
      return random.pick([
        Buffer.alloc(0),
        Buffer.from(bytes.toString('utf8'), 'utf16le'),
        Buffer.from([0xef, 0xbb, 0xbf]),
        piece,
      ]);
    default:
      return Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ (1 << random.below(8)) : byte)));
  }
}

const PIECES: readonly [Buffer, ...Buffer[]] = [
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0xc3]),
  Buffer.from([0]),
  Buffer.from('"__proto__":{"a":1},'),
  Buffer.from('['.repeat(300)),
  Buffer.from('{"a":'.repeat(300)),
  Buffer.from('\u2028'),
  Buffer.from('//'),
  Buffer.from('1e999'),
];

/** A body with what its header says of it. */
export function encoded(bytes: Buffer, random: SeededRandom): { readonly encoding: string; readonly bytes: Buffer } {
  return random.pick([
    { encoding: 'gzip', bytes: gzipSync(bytes) },
    { encoding: 'gzip', bytes: gzipSync(Buffer.alloc(1_000_000)) },
    { encoding: 'br', bytes: brotliCompressSync(bytes) },
    { encoding: 'deflate', bytes: deflateSync(bytes) },
    { encoding: 'identity', bytes },
    { encoding: 'x-none', bytes },
    { encoding: 'gzip', bytes },
  ]);
}

type Values = readonly [name: string, values: readonly [string, ...string[]]];

const HEADERS: readonly [Values, ...Values[]] = [
  ['accept', ['*/*', 'text/event-stream', 'text/html', '', 'application/json;q=0', ',']],
  ['content-type', ['application/json', 'application/json; charset=utf-16', 'text/plain', 'application/xml', '', ';']],
  ['idempotency-key', ['', 'a', 'a b', 'x'.repeat(1_000), '__proto__', '{a}', '\u00e9']],
  ['last-event-id', ['', '0', '-1', '1e9', 'abc', '99999999999999999999', '__proto__']],
  ['if-match', ['*', '"0-1"', '"', 'W/"1"', '', '"1-1", "2-2"', 'x'.repeat(500)]],
  ['x-coordinator-timeout-ms', ['1', '0', '-1', 'abc', '1e3', '999999999999', '', '5']],
  ['x-coordinator-strict', ['true', 'false', '1', 'TRUE ', '']],
  ['cache-control', ['no-cache', 'no-store', 'max-age=0', 'a=b=c', '"', ','.repeat(300)]],
  ['traceparent', ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-0-0-0', 'ff', '']],
  ['tracestate', ['a=b', ',,,', 'x'.repeat(600)]],
  ['x-request-id', ['fuzz-1', '', 'a b', 'x'.repeat(129), '../..', '<script>']],
  ['origin', ['https://app.example', 'null', 'https://evil.example', '', 'x']],
  ['host', ['localhost', 'evil.example', '127.0.0.1', '', '[::1]:1', 'a b']],
  ['expect', ['100-continue', 'tea']],
  ['connection', ['close', 'keep-alive', 'upgrade']],
  ['upgrade', ['h2c', 'websocket']],
  ['te', ['trailers', 'gzip']],
  ['range', ['bytes=0-0', 'bytes=-1']],
  ['cookie', ['a=b', '__proto__=1']],
  ['x-forwarded-for', ['1.2.3.4', '::1', 'x']],
  ['x-forwarded-proto', ['https', 'x']],
  ['x-http-method-override', ['DELETE']],
  ['if-none-match', ['*', '"a"']],
  ['openai-beta', ['assistants=v2', '\u00e9', 'x'.repeat(400)]],
  ['__proto__', ['1']],
  ['constructor', ['1']],
];

export function strangeHeader(random: SeededRandom): readonly [name: string, value: string] {
  const [name, values] = random.pick([...HEADERS]);
  return [name, random.pick([...values])];
}

const QUERIES = [
  ...['limit=-1', 'limit=1e9', 'limit=', 'limit=1&limit=2', 'limit[]=1', 'after=abc', 'after=-5', 'dryRun=1', 'a=%zz'],
  ...[
    '__proto__[x]=1',
    '__proto__=1',
    'constructor.prototype.x=1',
    'onBusy=wait',
    'onBusy=x',
    'model=none',
    '=',
    '&&&',
  ],
  ...['max_tokens=abc', 'max_tokens=-1', 'token=a', 'mode=x', `q=${'x'.repeat(2_000)}`, '%00=%00', 'hasOwnProperty=1'],
] as const;
const SEGMENTS = [
  ...[
    '%2e%2e',
    '..%2f..',
    '%00',
    '%zz',
    '%ff',
    '%',
    '%E2%80%A8',
    '__proto__',
    'constructor',
    ';a=b',
    '*',
    '%2F',
    '%3F',
  ],
  ...['x'.repeat(600), '%F0%9F%99%82', "'", '"', '{a}', ':id', '%0d%0a', '+', '~', '\\', '//'],
] as const;

export function mutatedPath(path: string, random: SeededRandom): string {
  if (random.chance(0.5)) return `${path}${path.includes('?') ? '&' : '?'}${random.pick([...QUERIES])}`;
  const parts = path.split('/');
  const at = random.below(parts.length);
  const changed = parts.map((part, index) => (index === at ? random.pick([...SEGMENTS, `${part}/`, '']) : part));
  const joined = changed.join('/');
  return joined.startsWith('/') ? joined : `/${joined}`;
}
