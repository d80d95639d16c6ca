import { type Store, StoreConfigurationError } from '../store/index.js';
import { busyPattern, channelPrefix, escapeText, keyOfName, lockKeys, tombstoneKey } from './lock.keys.js';
import { cutDescription, LOCK_LIMITS } from './lock.limits.js';
import { readMessage } from './lock.messages.js';
import { LockReplyError, readAcquire, readBeat, readInspect, readLeave, readRevoke } from './lock.replies.js';
import { loadLockScripts, type LockScripts } from './lock.scripts.js';
import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
  LockMessage,
  LockState,
  LockStore,
  RevokeAnswer,
  RevokeCommand,
} from './lock.store.js';

/** So many locks of a list are looked at together. */
const INSPECTED_AT_ONCE = 50;

/** Locks shared by all processes on one Redis. Each command is one script, so it happens at once or not at all. */
export class RedisLockStore implements LockStore {
  private readonly channels: string;

  constructor(
    private readonly store: Store,
    private readonly scripts: LockScripts = loadLockScripts(),
  ) {
    this.channels = channelPrefix(store.keyPrefix);
  }

  async acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    const { key, token, weight, capacity, leaseMs, process, ticket, waits, description } = command;
    const reply = await this.store.run(this.scripts.acquire, this.keysOf(key, token), [
      this.channels,
      escapeText(token),
      weight,
      capacity,
      leaseMs,
      escapeText(process),
      ticket,
      waits ? 1 : 0,
      escapeText(cutDescription(description)),
    ]);
    return readAcquire(reply);
  }

  async beat(command: BeatCommand): Promise<BeatAnswer> {
    const { key, process, renewals, waiters } = command;
    const reply = await this.store.run(this.scripts.beat, this.keysOf(key), [
      this.channels,
      escapeText(process),
      renewals.length,
      ...renewals.flatMap(({ token, leaseMs }) => [escapeText(token), leaseMs]),
      ...waiters.map(escapeText),
    ]);
    return readBeat(command, reply);
  }

  async leave({ key, token, keepMs, tombstoneMs }: LeaveCommand): Promise<LeaveAnswer> {
    const args = [this.channels, escapeText(token), keepMs, tombstoneMs];
    return readLeave(await this.store.run(this.scripts.leave, this.keysOf(key, token), args));
  }

  async revoke({ key, token, mode }: RevokeCommand): Promise<RevokeAnswer> {
    const wanted = token === undefined ? '' : escapeText(token);
    const reply = await this.store.run(this.scripts.revoke, this.keysOf(key), [this.channels, wanted, mode]);
    return { revoked: readRevoke(reply) };
  }

  async inspect(key: string, shown = LOCK_LIMITS.shown): Promise<LockState | undefined> {
    return readInspect(key, await this.store.run(this.scripts.inspect, this.keysOf(key), [shown]));
  }

  async list(limit: number, signal?: AbortSignal): Promise<readonly LockState[]> {
    const found: LockState[] = [];
    for await (const keys of this.busyKeys()) {
      signal?.throwIfAborted();
      const states = await Promise.all(keys.map((key) => this.inspectIfWhole(key)));
      // Redis keeps a lock for a moment after its last lease is over.
      found.push(...states.filter((state) => state !== undefined));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  subscribe(process: string, receive: (message: LockMessage) => void, resumed?: () => void): Promise<void> {
    const hear = (text: string): void => {
      const message = readMessage(this.store.keyPrefix, text);
      if (message !== undefined) receive(message);
    };
    return this.store.subscribe(this.channelOf(process), hear, resumed);
  }

  unsubscribe(process: string): Promise<void> {
    return this.store.unsubscribe(this.channelOf(process));
  }

  /** A lock whose keys are damaged, or somebody else's, must not hide the others; who asks for it alone is told. */
  private async inspectIfWhole(key: string): Promise<LockState | undefined> {
    try {
      return await this.inspect(key);
    } catch (error) {
      if (isAboutOneKey(error)) return undefined;
      throw error;
    }
  }

  /** Each once, although a lock may have both holders and a queue; some may be over. */
  private async *busyKeys(): AsyncGenerator<readonly string[]> {
    const { keyPrefix } = this.store;
    const seen = new Set<string>();
    for await (const names of this.store.scan(busyPattern(keyPrefix))) {
      const keys = names.map((name) => keyOfName(keyPrefix, name)).filter((key) => key !== undefined);
      const fresh = [...new Set(keys)].filter((key) => !seen.has(key));
      for (const key of fresh) seen.add(key);
      // At least once a step, so that its reader may stop it.
      for (let from = 0; from === 0 || from < fresh.length; from += INSPECTED_AT_ONCE) {
        yield fresh.slice(from, from + INSPECTED_AT_ONCE);
      }
    }
  }

  private channelOf(process: string): string {
    return `${this.channels}${escapeText(process)}`;
  }

  private keysOf(key: string, token?: string): readonly string[] {
    const keys = lockKeys(this.store.keyPrefix, key);
    return token === undefined ? keys : [...keys, tombstoneKey(this.store.keyPrefix, key, token)];
  }
}

function isAboutOneKey(error: unknown): boolean {
  if (error instanceof LockReplyError) return true;
  return (
    error instanceof StoreConfigurationError && (error.reason === 'wrong_type' || error.reason === 'script_failed')
  );
}
