import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AnswerLine } from '../../../../src/ai/reuse/flight/answer.line.js';
import { SILENT_REUSE_OBSERVER } from '../../../../src/ai/reuse/reuse.observer.js';
import type { BeatCommand, FlightOf } from '../../../../src/ai/reuse/store/answer.store.js';
import { MemoryAnswerStore } from '../../../../src/ai/reuse/store/memory-answer.store.js';
import { StoreUnavailableError } from '../../../../src/store/index.js';

/** Counts what it is asked, can be away, and can lose messages. */
class CountedStore extends MemoryAnswerStore {
  readonly beats: BeatCommand[] = [];
  looks = 0;
  left = 0;
  isAway = false;
  isMute = false;

  override async look(command: Parameters<MemoryAnswerStore['look']>[0]) {
    this.looks += 1;
    this.check();
    return super.look(command);
  }

  override async beat(command: BeatCommand) {
    this.beats.push(command);
    this.check();
    return super.beat(command);
  }

  override async leave(command: Parameters<MemoryAnswerStore['leave']>[0]) {
    this.left += 1;
    this.check();
    await super.leave(command);
  }

  override async finish(command: Parameters<MemoryAnswerStore['finish']>[0]) {
    this.check();
    await super.finish(command);
  }

  override async subscribe(process: string, over: (token: string) => void) {
    this.check();
    await super.subscribe(process, (token) => {
      if (!this.isMute) over(token);
    });
  }

  private check(): void {
    if (this.isAway) throw new StoreUnavailableError('away');
  }
}

const flight = (token: string, shelf = 's'): FlightOf => ({ shelf, flight: `f-${token}`, token });

describe('AnswerLine', () => {
  let store: CountedStore;
  let lost: unknown[];
  let line: AnswerLine;
  let other: AnswerLine;
  let patience: AbortController;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask'] });
    store = new CountedStore(() => Date.now() * 1_000);
    lost = [];
    const observer = { ...SILENT_REUSE_OBSERVER, storeLost: (error: unknown) => void lost.push(error) };
    line = new AnswerLine(store, observer);
    other = new AnswerLine(store, observer);
    patience = new AbortController();
  });
  afterEach(async () => {
    await Promise.all([line.close(), other.close()]);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  const enter = (at: AnswerLine, token: string) => at.enter({ ...flight('1'), token, answers: [], purpose: '' });
  /** A flight that `line` leads and `other` waits for. */
  async function followed(): Promise<{ over: () => void; told: Promise<string | undefined> }> {
    await enter(line, '1');
    const over = line.lead(flight('1'));
    expect(await enter(other, '2')).toEqual({ kind: 'follows', token: '1' });
    const told = other.follow(flight('1'), patience.signal);
    await pass(0);
    return { over, told };
  }
  const finish = (text: string): Promise<void> => line.finish({ ...flight('1'), purpose: '', text });

  it('hears of an end at once', async () => {
    const { over, told } = await followed();
    await finish('text');
    over();
    expect(await told).toBe('text');
    expect(store.looks).toBe(2);
  });

  it('finds an end of which no message came within a second', async () => {
    store.isMute = true;
    const { over, told } = await followed();
    await finish('text');
    over();
    await pass(1_000);
    expect(await told).toBe('text');
  });

  it('waits as long as the leader lives, and begins again when he is silent', async () => {
    const { over, told } = await followed();
    await pass(60_000);
    expect(await line.isAwaited(flight('1'))).toBe(true);
    over();
    await pass(5_000);
    expect(await told).toBeUndefined();
  });

  it('begins again where the leader has nothing to tell', async () => {
    const { over, told } = await followed();
    await finish('');
    over();
    expect(await told).toBeUndefined();
  });

  it('leaves with the signal’s reason, and says so', async () => {
    const { over, told } = await followed();
    patience.abort(new Error('left'));
    await expect(told).rejects.toThrow('left');
    expect(store.left).toBe(1);
    expect(await line.isAwaited(flight('1'))).toBe(false);
    over();
  });

  it('begins again where the store goes away, and tells of it', async () => {
    const { over, told } = await followed();
    store.isAway = true;
    await pass(1_000);
    expect(await told).toBeUndefined();
    await finish('text');
    expect(await line.isAwaited(flight('1'))).toBe(false);
    over();
    expect(lost.every((error) => error instanceof StoreUnavailableError)).toBe(true);
    expect(lost.length).toBeGreaterThanOrEqual(3);
  });

  it('looks where it can’t listen, and listens again for the next flight', async () => {
    await enter(line, '1');
    const over = line.lead(flight('1'));
    await enter(other, '2');
    store.isAway = true;
    const told = other.follow(flight('1'), patience.signal);
    store.isAway = false;
    await pass(0);
    await finish('text');
    over();
    await pass(1_000);
    expect(await told).toBe('text');
    expect(lost).toHaveLength(1);
  });

  it('keeps all its flights of a shelf alive with one command a second, and none when they are over', async () => {
    const overs = [flight('1'), flight('2'), flight('3', 'r')].map((each) => line.lead(each));
    await pass(3_000);
    expect(store.beats.map(({ shelf, flights }) => `${shelf} ${flights.length}`)).toEqual(
      Array.from({ length: 3 }, () => ['s 2', 'r 1']).flat(),
    );
    for (const over of overs) over();
    expect(jest.getTimerCount()).toBe(0);
    store.beats.length = 0;
    await pass(5_000);
    expect(store.beats).toEqual([]);
  });

  it('survives a store that is away between two signs of life', async () => {
    await enter(line, '1');
    const over = line.lead(flight('1'));
    store.isAway = true;
    await pass(2_000);
    store.isAway = false;
    await pass(10_000);
    expect(await enter(other, '2')).toEqual({ kind: 'follows', token: '1' });
    over();
  });
});
