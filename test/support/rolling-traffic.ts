import { randomUUID } from 'node:crypto';
import { setTimeout as pass } from 'node:timers/promises';
import { contentOf } from './completion-rig.js';
import { CALLER, ROLLED_MODEL } from './rolling-fleet.js';
import { EventReader, textOf, type TurnEvent } from './turn-events.js';

export const CALL_KINDS = ['stream', 'json', 'joined', 'batch', 'turn', 'visit'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** What a client asked for and what it got, without any second try. */
export interface RolledCall {
  readonly kind: CallKind;
  readonly id: string;
  /** The entries that it must have in the ledger, by their request ids; a batch has one for each item. */
  readonly booked: readonly string[];
  readonly startedAt: number;
  readonly endedAt: number;
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly text: string;
  readonly expected: string;
  /** The end was said: `[DONE]`, `done`, or the last byte of a JSON answer. */
  readonly isWhole: boolean;
  /** What broke, where something did. */
  readonly fault: string;
}

/** One's time in a room that only one may be in; by the machine's monotonic clock, ms. */
export interface Visit {
  readonly room: string;
  readonly fence: number;
  readonly enteredAt: number;
  readonly leftAt: number;
}

/** How many of each kind go on at one time, each followed by the next. */
export type Lanes = Readonly<Record<CallKind, number>>;

export interface TrafficOptions {
  readonly lanes: Lanes;
  /** Of each answer; at the model's pace they are its length in time. */
  readonly words: number;
  /** Over which they begin one after the other, so that answers are at all stages at any time. */
  readonly rampMs: number;
}

type Told = Pick<RolledCall, 'status' | 'text' | 'isWhole'> & Partial<Pick<RolledCall, 'booked' | 'fault'>>;
interface Asked {
  readonly id: string;
  readonly words: string;
}

/** Those who ask for the same thing at the same time. */
const JOINERS = 3;
const ITEMS = 4;
/** Of which a reader of a turn sees the first, leaves, and comes back for the rest. */
const SEEN_EVENTS = 3;
const ROOMS = 2;

/** Clients behind the balancer, each of whom expects every call to be answered in full. */
export class RollingTraffic {
  readonly calls: RolledCall[] = [];
  readonly visits: Visit[] = [];
  #isOver = false;
  readonly #lanes: readonly Promise<void>[];

  constructor(
    private readonly url: string,
    private readonly options: TrafficOptions,
  ) {
    const { lanes, rampMs } = options;
    const kinds = CALL_KINDS.flatMap((kind) => Array.from({ length: lanes[kind] }, (_, index) => ({ kind, index })));
    this.#lanes = kinds.map(async ({ kind, index }) => {
      await pass((rampMs * index) / lanes[kind]);
      await this.#lane(kind, index);
    });
  }

  /** No more are begun; those that go on come to their ends. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lanes);
  }

  async #lane(kind: CallKind, index: number): Promise<void> {
    while (!this.#isOver) {
      if (kind === 'joined') {
        const words = this.#newWords();
        await Promise.all(Array.from({ length: JOINERS }, () => this.#call(kind, index, words)));
      } else await this.#call(kind, index, this.#newWords());
    }
  }

  async #call(kind: CallKind, index: number, words: string): Promise<void> {
    const id = randomUUID();
    const startedAt = performance.now();
    const told = await this.#ask(kind, index, { id, words }).then(
      (answer) => answer,
      (error: unknown) => ({ status: 0, text: '', isWhole: false, fault: causeOf(error) }),
    );
    const expected = kind === 'visit' ? '' : kind === 'batch' ? itemsOf(words).join('|') : words;
    this.calls.push({ kind, id, expected, startedAt, endedAt: performance.now(), booked: [], fault: '', ...told });
  }

  #ask(kind: CallKind, index: number, asked: Asked): Promise<Told> {
    switch (kind) {
      case 'stream':
        return this.#stream(asked);
      case 'json':
      case 'joined':
        return this.#json(asked);
      case 'batch':
        return this.#batch(asked);
      case 'turn':
        return this.#turn(asked);
      case 'visit':
        return this.#visit(asked, index);
    }
  }

  async #stream({ id, words }: Asked): Promise<Told> {
    const body = { model: ROLLED_MODEL, stream: true, messages: [echo(words)] };
    const response = await this.#send('POST', '/v1/chat/completions', { id, body });
    const text = await response.text();
    if (response.status !== 200) return { status: response.status, text, isWhole: true };
    return { status: 200, text: contentOf(text), isWhole: text.endsWith('data: [DONE]\n\n'), booked: [id] };
  }

  async #json({ id, words }: Asked): Promise<Told> {
    const body = { model: ROLLED_MODEL, messages: [echo(words)] };
    const response = await this.#send('POST', '/v1/chat/completions', { id, body });
    const text = await response.text();
    const isGood = response.status === 200;
    return { status: response.status, text: isGood ? saidIn(text) : text, isWhole: true, booked: isGood ? [id] : [] };
  }

  async #batch({ id, words }: Asked): Promise<Told> {
    const requests = itemsOf(words).map((item) => ({ messages: [echo(item)] }));
    const body = { model: ROLLED_MODEL, concurrency: 2, requests };
    const response = await this.#send('POST', '/v1/chat/completions/batch', { id, body });
    const text = await response.text();
    if (response.status !== 200) return { status: response.status, text, isWhole: true };
    const { results } = JSON.parse(text) as { results: readonly { readonly data?: object; readonly error?: object }[] };
    const said = results.map(({ data, error }) =>
      data === undefined ? JSON.stringify(error) : saidIn(JSON.stringify(data)),
    );
    return { status: 200, text: said.join('|'), isWhole: true, booked: requests.map((_, at) => `${id}.${String(at)}`) };
  }

  async #turn({ id, words }: Asked): Promise<Told> {
    const created = await this.#send('POST', '/v1/conversations', { body: { model: ROLLED_MODEL } });
    if (!created.ok) return { status: created.status, text: await created.text(), isWhole: true };
    const { id: conversation } = (await created.json()) as { id: string };
    const path = `/v1/conversations/${conversation}/turns`;
    const response = await this.#send('POST', path, { id, body: { content: `echo:${words}`, stream: true } });
    if (!response.ok) return { status: response.status, text: await response.text(), isWhole: true };
    const reader = EventReader.of(response);
    const seen = await reader.take(SEEN_EVENTS);
    await reader.leave();
    const [begun] = seen;
    if (begun?.name !== 'turn') return { status: 200, text: '', isWhole: false, fault: JSON.stringify(seen) };
    return { ...(await this.#rest(`${path}/${String(begun.data['id'])}/events`, seen)), booked: [id] };
  }

  /** A reader that comes back, to whichever pod, while the turn goes on in its own. */
  async #rest(path: string, seen: readonly TurnEvent[]): Promise<Told> {
    const response = await this.#send('GET', path, { headers: { 'last-event-id': seen.at(-1)?.id ?? '' } });
    if (!response.ok) return { status: response.status, text: await response.text(), isWhole: true };
    const events = [...seen, ...(await EventReader.of(response).all())];
    const last = events.at(-1);
    const isWhole = last?.name === 'done' && last.data['status'] === 'complete';
    return { status: 200, text: textOf(events), isWhole, fault: isWhole ? '' : JSON.stringify(last) };
  }

  async #visit({ id }: Asked, index: number): Promise<Told> {
    const room = `room-${String(index % ROOMS)}`;
    const response = await this.#send('POST', `/v1/visits/${room}`, { id });
    const text = await response.text();
    if (response.status !== 201) return { status: response.status, text, isWhole: true };
    this.visits.push(JSON.parse(text) as Visit);
    return { status: 200, text: '', isWhole: true };
  }

  #send(
    method: string,
    path: string,
    { id, body, headers = {} }: { id?: string; body?: object; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${CALLER}`,
        ...(id !== undefined && { 'x-request-id': id }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** That nobody else asks for. */
  #newWords(): string {
    const own = randomUUID().slice(0, 8);
    return Array.from({ length: this.options.words }, (_, at) => `${own}-${String(at)}`).join(' ');
  }
}

function echo(text: string): object {
  return { role: 'user', content: `echo:${text}` };
}

function itemsOf(words: string): readonly string[] {
  const own = words.slice(0, words.indexOf(' '));
  return Array.from({ length: ITEMS }, (_, index) => `${own} item ${String(index)}`);
}

function saidIn(completion: string): string {
  const { choices } = JSON.parse(completion) as { choices: readonly { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}

/** By its members: Jest's errors and Node's own are not of one class. */
function causeOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: { readonly code?: string } };
  return [message, cause?.code].filter((part) => part !== undefined).join(': ');
}
