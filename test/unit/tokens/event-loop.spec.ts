import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TokenCounters, type Encoding } from '../../../src/tokens/index.js';
import { BatchedTokenCounter, type PieceEncoder } from '../../../src/tokens/batched-token.counter.js';
import { sized } from '../../support/proof-scale.js';
import { TurnWatch } from '../../support/turn-watch.js';
import { patient } from '../../support/patient-counter.js';

const CHARS = sized(200_000, 1_000_000);
const LONGEST_PAUSE_MS = 50;
/** What is collected or compiled spoils one try, a pause of ours spoils every one. */
const TRIES = 10;

const random = (alphabet: string): string => {
  const characters = Array.from(alphabet);
  let state = 1;
  return Array.from({ length: CHARS }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return characters[(state >>> 8) % characters.length];
  }).join('');
};
const range = (from: number, count: number): string =>
  String.fromCodePoint(...Array.from({ length: count }, (_, index) => from + index));
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const HOSTILE: readonly (readonly [name: string, make: () => string])[] = [
  ['one letter', () => 'a'.repeat(CHARS)],
  ['spaces', () => ' '.repeat(CHARS)],
  ['mixed whitespace', () => random(' \t\n\u00a0\u3000')],
  ['underscores', () => '_'.repeat(CHARS)],
  ['one emoji', () => '😀'.repeat(CHARS / 2)],
  ['emoji and exclamation marks', () => random(`!${range(0x1f600, 60)}`)],
  ['random letters', () => random(LETTERS)],
  ['base64', () => random(`${LETTERS}${LETTERS.toUpperCase()}0123456789+/`)],
  ['random Han without spaces', () => random(range(0x4e00, 20_000))],
  ['random unicode', () => random(range(0xa0, 0xd000))],
  ['lone surrogates', () => '\ud800'.repeat(CHARS)],
  ['punctuation, slashes and newlines', () => random('!/\n')],
  ['marks', () => random('!a\u0301\u0302')],
  [
    'minified JSON',
    () => JSON.stringify(Array.from({ length: CHARS / 20 }, (_, id) => ({ id, name: `n${String(id)}` }))),
  ],
];

let counters: TokenCounters;

beforeAll(() => {
  counters = new TokenCounters();
});

afterAll(() => counters.close());

describe.each<Encoding>(['o200k', 'claude', 'bytes'])('counting in %s', (encoding) => {
  it.each(HOSTILE)(
    'holds the event loop up for no 50 ms on %s',
    async (_, make) => {
      const counter = patient(counters.for({ encoding, ratio: 1 }));
      const body = { messages: [{ role: 'user', content: make() }] };
      const pauses: number[] = [];
      do {
        const watch = new TurnWatch();
        const { tokens, isEstimate } = await counter.countRequest(body);
        const longestMs = watch.stop();
        expect(isEstimate).toBe(false);
        expect(tokens).toBeGreaterThan(CHARS / 1_000);
        pauses.push(longestMs);
      } while (Math.min(...pauses) > LONGEST_PAUSE_MS && pauses.length < TRIES);
      expect(Math.min(...pauses)).toBeLessThanOrEqual(LONGEST_PAUSE_MS);
    },
    600_000,
  );
});

it('sees a turn that takes longer', () => {
  const watch = new TurnWatch();
  const before = process.cpuUsage();
  while (process.cpuUsage(before).user < 3_000 * LONGEST_PAUSE_MS);
  expect(watch.stop()).toBeGreaterThan(LONGEST_PAUSE_MS);
});

it('gives the loop a turn before every further batch, however fast the answers come', async () => {
  let batches = 0;
  let turns = 0;
  const atOnce: PieceEncoder = (pieces) => {
    expect(turns).toBe(batches);
    batches += 1;
    setImmediate(() => (turns += 1));
    return Promise.resolve(pieces.length);
  };
  await new BatchedTokenCounter({ encoding: 'o200k', ratio: 1 }, atOnce).count('word '.repeat(100_000));
  expect(batches).toBeGreaterThan(25);
});

it('lets a short text overtake a long one', async () => {
  const counter = patient(counters.for({ encoding: 'o200k', ratio: 1 }));
  const order: string[] = [];
  const long = counter.count(random(LETTERS)).then(() => order.push('long'));
  const short = counter.count('hello').then(() => order.push('short'));
  await Promise.all([long, short]);
  expect(order).toEqual(['short', 'long']);
});
