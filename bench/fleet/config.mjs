/** What the fleet and the provider are told: the same file. */
import { hash } from 'node:crypto';
import { SIZES } from './options.mjs';

/** Of the provider, in a window. */
export const LIMIT = 200;

/** Of somebody without limits, and of somebody with limits and a budget. */
export const PLAIN_KEY = 'bench-plain-key-0123456789abcdef';
export const LIMITED_KEY = 'bench-limited-key-0123456789abcdef';

/** Whether the fleet knows the limits that the provider has. */
export const MODES = ['coordinated', 'uncoordinated'];

/** Of one rush alone: it finds empty windows, and nobody knows how others before it went. */
export function rushModel(mode, size) {
  return `${mode}-${size}`;
}

const RUSHES = MODES.flatMap((mode) => SIZES.map((size) => ({ mode, name: rushModel(mode, size) })));
const HIGH = 1_000_000_000;

/** @param {number} windowMs of the provider's limit */
export function configuration(windowMs) {
  const limits = { windows: [{ windowMs, requests: LIMIT }] };
  const models = [
    ...RUSHES.map(({ mode, name }) =>
      model(name, { simulated: simulated(50), ...(mode === 'coordinated' && { limits }) }),
    ),
    model('plain', {}),
    model('limited', { limits: { rpm: HIGH, tpm: HIGH, concurrency: HIGH } }),
    model('everything', { limits: { rpm: HIGH, tpm: HIGH, concurrency: HIGH }, cacheTtlMs: '300s' }),
  ];
  const names = models.map(({ name }) => name);
  return {
    // The provider reads this file before it has an address.
    providers: [
      { name: 'judge', kind: 'openai', baseUrl: '${JUDGE_URL:-http://127.0.0.1:9/v1}', keyVariable: 'JUDGE_KEY' },
    ],
    models,
    tiers: { free: names, pro: names, enterprise: names },
    callers: [
      caller('plain', PLAIN_KEY, {}),
      caller('limited', LIMITED_KEY, { limits: { rpm: HIGH, tpm: HIGH }, budget: { usdPerDay: HIGH, hard: true } }),
    ],
  };
}

/** The provider's own words for its limits. */
export function judgedLimits(windowMs) {
  const text = `requests=${LIMIT}/${windowMs / 1_000}s`;
  return Object.fromEntries(RUSHES.map(({ name }) => [name, text]));
}

function model(name, more) {
  return {
    name,
    created: 1,
    contextWindow: 1_000_000,
    maxOutputTokens: 10_000,
    tokenizer: { encoding: 'o200k', ratio: 1 },
    simulated: simulated(0),
    cacheTtlMs: 0,
    deployments: [{ provider: 'judge', model: name, prices: { input: 2, output: 8 } }],
    ...more,
  };
}

function simulated(firstTokenMs) {
  return { firstTokenMs, tokensPerSecond: 100_000 };
}

function caller(name, key, more) {
  return { name, keySha256: hash('sha256', key), tier: 'enterprise', ...more };
}
