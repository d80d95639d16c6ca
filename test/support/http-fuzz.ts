import { hash } from 'node:crypto';
import { type ConfigFile, modelAt, openTiers, providerAt, writeConfig } from './config-file.js';
import { FuzzClient } from './http-fuzz.client.js';
import { fuzzRequest, type FuzzKeys } from './http-fuzz.requests.js';
import type { Ground } from './http-fuzz.templates.js';
import { faultOf } from './http-fuzz.verdict.js';

/** At one time. */
const LANES = 24;
/** More of them say nothing new. */
const MOST_FAULTS = 20;

export const FUZZ_KEYS: FuzzKeys = { caller: 'fuzz-caller-key-0123456789', operator: 'fuzz-operator-key-0123456789' };
const MODELS = ['gpt-4.1', 'gemini-2.5-flash'] as const;

/** A file with two callers, one of them an operator, and the provider at `upstreamUrl`. */
export function writeFuzzConfig(upstreamUrl: string): Promise<ConfigFile> {
  const caller = (name: string, key: string, scopes: readonly string[]): object => ({
    ...{ name, tier: 'enterprise', scopes },
    keySha256: hash('sha256', key),
  });
  return writeConfig({
    providers: [providerAt('open', upstreamUrl)],
    models: MODELS.map((name) => modelAt('open', name, { cacheTtlMs: '1m' })),
    tiers: openTiers(MODELS),
    callers: [
      caller('frontend', FUZZ_KEYS.caller, ['chat']),
      caller('operator', FUZZ_KEYS.operator, ['chat', 'admin']),
    ],
  });
}

/** Proves both keys, so that whoever guesses does not get them slowed down, and makes turns that can be asked for. */
export async function prepareGround(url: string): Promise<Ground> {
  const turns: { conversation: string; turn: string }[] = [];
  for (const key of [FUZZ_KEYS.operator, FUZZ_KEYS.caller]) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    for (const conversation of ['ground-1', 'ground-2']) {
      const post = (path: string, method: string, body: object): Promise<Response> =>
        fetch(`${url}/v1/conversations/${path}`, { method, headers, body: JSON.stringify(body) });
      await (await post(conversation, 'PUT', { title: 'Ground', model: MODELS[0] })).text();
      const answer: unknown = await (await post(`${conversation}/turns`, 'POST', { content: 'words:3 hello' })).json();
      if (typeof answer !== 'object' || answer === null || !('id' in answer)) throw new Error(JSON.stringify(answer));
      turns.push({ conversation, turn: String(answer.id) });
    }
  }
  return { models: [...MODELS], turns };
}

export interface FuzzRun {
  readonly seed: number;
  /** The first and one past the last place. */
  readonly from: number;
  readonly to: number;
  readonly ground: Ground;
}

export interface FuzzReport {
  /** How many answers of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** With the seed and the place, so that it can be sent again. */
  readonly faults: readonly string[];
}

/** Sends the requests of some places of a run, and judges what comes. */
export async function fuzz(url: string, { seed, from, to, ground }: FuzzRun): Promise<FuzzReport> {
  const client = new FuzzClient(url);
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  const places = Array.from({ length: to - from }, (_, index) => from + index).values();
  const lane = async (): Promise<void> => {
    for (const place of places) {
      if (faults.length >= MOST_FAULTS) return;
      const request = fuzzRequest(seed, place, ground, FUZZ_KEYS);
      const outcome = await client.send(request);
      const status = 'status' in outcome ? String(outcome.status) : outcome.failure;
      statuses[status] = (statuses[status] ?? 0) + 1;
      const fault = faultOf(request, outcome);
      if (fault !== undefined) faults.push(`${String(seed)}/${String(place)} ${shown(request)}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  client.close();
  return { statuses, faults };
}

function shown(request: ReturnType<typeof fuzzRequest>): string {
  if (request.kind === 'raw') return request.name;
  const { method, path, headers, body } = request;
  return `${method} ${path.slice(0, 200)} ${JSON.stringify(headers).slice(0, 400)} ${body?.toString().slice(0, 400) ?? ''}`;
}
