import { SeededRandom } from '../simulation/seeded.random.js';
import { encoded, mutatedBytes, mutatedPath, mutatedValue, strangeHeader } from './http-fuzz.mutations.js';
import { RAW_REQUESTS } from './http-fuzz.raw.js';
import { type Ground, type Template, TEMPLATES } from './http-fuzz.templates.js';

export type FuzzRequest =
  | {
      readonly kind: 'message';
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string | string[]>>;
      readonly body: Buffer | undefined;
    }
  /** Bytes that no client library would send. */
  | { readonly kind: 'raw'; readonly name: string; readonly bytes: Buffer };

export interface FuzzKeys {
  readonly caller: string;
  readonly operator: string;
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'LOCK',
  'QUERY',
] as const;

/** The request at a place of a run: the same for the same seed, whatever was sent before. */
export function fuzzRequest(seed: number, index: number, ground: Ground, keys: FuzzKeys): FuzzRequest {
  const random = new SeededRandom(seed * 1_000_003 + index);
  if (random.chance(0.08)) return { kind: 'raw', ...random.pick([...RAW_REQUESTS]) };
  const template = random.pick([...TEMPLATES])(random, ground);
  return messageOf(template, random, keys);
}

function messageOf(template: Template, random: SeededRandom, keys: FuzzKeys): FuzzRequest {
  const isChanged = (): boolean => random.chance(0.22);
  const headers: Record<string, string | string[]> = { ...authorization(random, keys), ...template.headers };
  let body = bodyOf(template, isChanged(), random);
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (body !== undefined && random.chance(0.12)) body = mutatedBytes(body, random);
  if (body !== undefined && random.chance(0.04)) {
    const { encoding, bytes } = encoded(body, random);
    headers['content-encoding'] = encoding;
    body = bytes;
  }
  const more = isChanged() ? Array.from({ length: 1 + random.below(3) }, () => strangeHeader(random)) : [];
  for (const [name, value] of more) Object.defineProperty(headers, name, { ...OWN, value });
  const method = random.chance(0.06) ? random.pick([...METHODS]) : template.method;
  const path = random.chance(0.15) ? mutatedPath(template.path, random) : template.path;
  return { kind: 'message', method, path, headers, body };
}

const OWN = { enumerable: true, configurable: true, writable: true };

function bodyOf({ body, method }: Template, isChanged: boolean, random: SeededRandom): Buffer | undefined {
  if (body === undefined) {
    const isGiven = method !== 'GET' && random.chance(0.1);
    return isGiven ? Buffer.from(JSON.stringify(mutatedValue({ a: 1 }, random))) : undefined;
  }
  return Buffer.from(JSON.stringify(isChanged ? mutatedValue(body, random) : body));
}

/** Wrong keys are few, or those who guess would be slowed down and nothing else be tried. */
function authorization(random: SeededRandom, { caller, operator }: FuzzKeys): Record<string, string | string[]> {
  if (random.chance(0.004)) return { authorization: `Bearer wrong-${String(random.below(1_000))}` };
  if (random.chance(0.03))
    return random.pick<Record<string, string>>([
      {},
      { authorization: '' },
      { authorization: `Basic ${caller}` },
      { authorization: 'Bearer' },
    ]);
  return { authorization: `Bearer ${random.chance(0.25) ? operator : caller}` };
}
