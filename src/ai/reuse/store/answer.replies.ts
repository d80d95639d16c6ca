import { inspect } from 'node:util';
import type { BeatAnswer, EnterAnswer, LookAnswer } from './answer.store.js';

/** @throws TypeError where the script answered something else, as everything here */
export function readEnter(reply: unknown): EnterAnswer {
  const [kind, text] = listOf(reply);
  if (kind === 1 && typeof text === 'string') return { kind: 'kept', text };
  if (kind === 2 && typeof text === 'string') return { kind: 'follows', token: text };
  if (kind === 0) return { kind: 'leads' };
  if (kind === -1) return { kind: 'mismatch' };
  if (kind === -2) return { kind: 'nothing' };
  throw fault('enter', reply);
}

export function readLook(reply: unknown): LookAnswer {
  const [kind, text] = listOf(reply);
  if (kind === 1 && typeof text === 'string') return { kind: 'over', text };
  if (kind === 0) return { kind: 'running' };
  if (kind === -1) return { kind: 'gone' };
  throw fault('look', reply);
}

export function readBeat(count: number, reply: unknown): readonly BeatAnswer[] {
  const numbers = listOf(reply).filter((value) => typeof value === 'number');
  if (numbers.length !== count) throw fault('beat', reply);
  return numbers.map((waiting) => (waiting < 0 ? undefined : waiting));
}

function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

function fault(script: string, value: unknown): TypeError {
  return new TypeError(`${script}.lua answered ${inspect(value)} where that cannot be`);
}
