import { inspect } from 'node:util';
import { type Bodies, type Cell, type Exchange, type FleetNews, TOPIC_NAMES } from './fleet.store.js';

const CELL = /^(\d{1,16})\|(\d{1,16})\|(.*)$/s;
const NEWS = /^(\w+)\|([^|]+)$/;

/** Reads what a script answered. @throws TypeError where it is none of its answers */
export function readExchange<Body>(topic: Bodies<Body>, count: number, reply: unknown): Exchange<Body> {
  const [now, ...cells] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  if (typeof now !== 'number' || !Number.isSafeInteger(now) || cells.length !== count) throw fault(topic.name, reply);
  return { now, cells: cells.map((text) => readCell(topic, text)) };
}

/** Undefined for anything else that somebody published. */
export function readNews(text: string): FleetNews | undefined {
  const [, name, from] = NEWS.exec(text) ?? [];
  const topic = TOPIC_NAMES.find((candidate) => candidate === name);
  return topic === undefined || from === undefined ? undefined : { topic, from };
}

function readCell<Body>(topic: Bodies<Body>, text: unknown): Cell<Body> | undefined {
  if (text === '') return undefined;
  const [, revision, endsAt, body] = (typeof text === 'string' ? CELL.exec(text) : undefined) ?? [];
  if (body === undefined) throw fault(topic.name, text);
  return {
    revision: Number(revision),
    endsAt: Number(endsAt),
    body: body === '' ? undefined : topic.parse(body),
  };
}

function fault(script: string, value: unknown): TypeError {
  return new TypeError(`${script}.lua answered ${inspect(value)} where that cannot be`);
}
