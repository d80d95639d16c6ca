import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SeededRandom } from '../simulation/seeded.random.js';
import { ApiError } from '../../src/http/index.js';
import { ConversationRig, type LogMessage } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { logFaults, type SentMessage } from '../support/log-verdict.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { later, type Script, stop, text } from '../support/scripted-generator.js';
import { storeBench } from '../support/store-bench.js';
import { EventReader, textOf } from '../support/turn-events.js';

jest.setTimeout(sized(120_000, 240_000));

const PODS = 3;
const CONVERSATIONS = sized(6, 20);
const LANES = sized(12, 50);
const SECONDS = sized(2, 60);
/** Between two deaths, ms. */
const LIFE_MS = sized(800, 1_500);
const LEASE_MS = 500;
const WORDS = 6;

const bench = storeBench();

describe('conversations on three pods that are killed, with clients that leave', () => {
  const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
  const random = new SeededRandom(seed);
  const answerOf = (content: string): string =>
    Array.from({ length: WORDS }, (_, at) => `${content}.${String(at)} `).join('');
  /** Says every word of it, takes its time, and fails now and then. */
  const model: Script = async function* ({ body }) {
    const content = String((body['messages'] as readonly { content: unknown }[]).at(-1)?.content);
    const [waitMs, failsAt] = [random.next() * 15, random.chance(0.1) ? random.below(WORDS) : -1];
    for (let at = 0; at < WORDS; at += 1) {
      if (at === failsAt) throw new ApiError('upstream_error', 'broke off');
      yield text(`${content}.${String(at)} `);
      await later(waitMs);
    }
    yield stop();
  };
  let rig: ConversationRig;
  let paths: readonly string[];
  const sent: SentMessage[] = [];
  const statuses: Record<string, number> = {};
  const burials: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    const settings = { leaseMs: LEASE_MS, quietMs: 400, graceMs: 0, requestDeadlineMs: 2_000 };
    const store = bench.open();
    await store.connected();
    rig = await ConversationRig.start({ pods: PODS, settings, store, usual: model });
    const created: string[] = [];
    await eventually(async () => created.push(await rig.create()) === CONVERSATIONS);
    paths = created;
  });
  afterEach(async () => {
    await Promise.all(burials.map((bury) => bury()));
    await rig.close();
  });

  /** One message until it is answered for, in whatever pod, with one key. */
  async function say(lane: number, round: number): Promise<void> {
    const message: SentMessage = {
      path: random.pick(asPair(paths)),
      content: `m${String(lane)}-${String(round)}`,
      isAcknowledged: false,
      seen: undefined,
    };
    sent.push(message);
    for (let tries = 0; tries < 3 && !message.isAcknowledged; tries += 1) {
      try {
        await tell(message);
      } catch (error) {
        // Left, or cut off: its key finds it.
        if (!(error instanceof Error) && !isAbort(error)) throw error;
      }
    }
  }

  async function tell(message: SentMessage): Promise<void> {
    const isStream = random.chance(0.5);
    const leaves = random.chance(0.3) ? { signal: AbortSignal.timeout(10 + random.below(150)) } : {};
    const query = random.chance(0.5) ? '?onBusy=wait' : '';
    const { path, content } = message;
    const how = { pod: random.below(PODS), headers: { 'idempotency-key': content }, ...leaves };
    const response = await rig.send('POST', `${path}/turns${query}`, { content, stream: isStream }, how);
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    if (isStream && response.ok) return follow(message, response);
    message.isAcknowledged ||= isAcknowledgement(response.status, (await response.json()) as TurnBody);
  }

  async function follow(message: SentMessage, response: Response): Promise<void> {
    const reader = EventReader.of(response);
    const events = [...(await reader.take(1))];
    message.isAcknowledged ||= events[0]?.name === 'turn';
    if (random.chance(0.1))
      await rig.ask('POST', `${message.path}/turns/${String(events[0]?.data['id'])}/cancel`, undefined, {
        pod: random.below(PODS),
      });
    events.push(...(await reader.all()));
    if (events.at(-1)?.name === 'done') message.seen = textOf(events);
  }

  async function killNowAndThen(until: number): Promise<number> {
    let deaths = 0;
    for (; performance.now() < until; deaths += 1) {
      await later(LIFE_MS * (0.5 + random.next()));
      burials.push(await rig.replace(random.below(PODS)));
    }
    return deaths;
  }

  it(`keep every log gapless and whole (CHAOS_SEED=${String(seed)})`, async () => {
    const until = performance.now() + SECONDS * 1_000;
    const lane = async (_: unknown, number: number): Promise<void> => {
      for (let round = 0; performance.now() < until; round += 1) await say(number, round);
    };
    const [deaths] = await Promise.all([killNowAndThen(until), ...Array.from({ length: LANES }, lane)]);
    const logs = await Promise.all(paths.map(settled));

    const faults = logs.flatMap((log, at) =>
      logFaults(
        log,
        sent.filter(({ path }) => path === paths[at]),
        answerOf,
      ),
    );
    expect([`CHAOS_SEED=${String(seed)}`, ...faults]).toEqual([`CHAOS_SEED=${String(seed)}`]);
    expect(chainsOf(rig)).toBeLessThanOrEqual(1);
    const ends: Record<string, number> = {};
    for (const { role, status } of logs.flat()) if (role === 'assistant') ends[status] = (ends[status] ?? 0) + 1;
    expect(logs.flat().length).toBeGreaterThan(2 * CONVERSATIONS);
    const acknowledged = sent.filter(({ isAcknowledged }) => isAcknowledged).length;
    recordFigures('conversations-chaos', {
      ...{ seed, deaths, sent: sent.length, acknowledged, statuses, messages: logs.flat().length, ends },
    });
  });

  /** The log when nothing runs in it any more: what was left is ended by whoever comes next. */
  async function settled(path: string): Promise<readonly LogMessage[]> {
    await eventually(async () => (await rig.turn(path, { content: 'last' })).status === 200);
    return rig.log(path);
  }
});

interface TurnBody {
  readonly id?: string;
  readonly error?: { readonly turn_id?: string } | null;
}

/** A turn that failed was acknowledged as well; one that runs is somebody else's. */
function isAcknowledgement(status: number, { id, error }: TurnBody): boolean {
  return id !== undefined || (status !== 409 && error?.turn_id !== undefined);
}

/** The most upstream calls that any message was worth; each has a key of its own, but for the last ones. */
function chainsOf({ generator }: ConversationRig): number {
  const counts = new Map<unknown, number>();
  for (const { request } of generator.calls) {
    const content = (request.body['messages'] as readonly { content: unknown }[]).at(-1)?.content;
    if (content !== 'last') counts.set(content, (counts.get(content) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error;
}

function asPair<Item>([first, ...rest]: readonly Item[]): readonly [Item, ...Item[]] {
  if (first === undefined) throw new RangeError('there is at least one');
  return [first, ...rest];
}
