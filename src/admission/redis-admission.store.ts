import { escapeName, type Script, type Store } from '../store/index.js';
import { channelPrefix, plainName, rulesText, scopeKeys } from './admission.keys.js';
import {
  readAcquire,
  readBeat,
  readCancel,
  readInspect,
  readMessage,
  readPlain,
  readSettle,
} from './admission.replies.js';
import { type AdmissionScripts, loadAdmissionScripts } from './admission.scripts.js';
import type {
  AcquireAnswer,
  AcquireCommand,
  AdmissionMessage,
  AdmissionStore,
  BeatAnswer,
  BeatCommand,
  CancelAnswer,
  CancelCommand,
  HoldCommand,
  LearnCommand,
  Scope,
  ScopeCommand,
  ScopeNews,
  ScopeState,
  SettleAnswer,
  SettleCommand,
} from './admission.store.js';

type Words = readonly (string | number)[];

/** Scopes shared by all processes on one Redis. Each command is one script, so it happens at once or not at all. */
export class RedisAdmissionStore implements AdmissionStore {
  private readonly channels: string;

  constructor(
    private readonly store: Store,
    private readonly scripts: AdmissionScripts = loadAdmissionScripts(),
  ) {
    this.channels = channelPrefix(store.keyPrefix);
  }

  async acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    const { id, flow, weight, tokens, microUsd, waitMs, leaseMs, scope } = command;
    const words = [plainName('an id', id), escapeName(flow), weight, tokens, microUsd, Math.floor(waitMs), leaseMs];
    return readAcquire(scope.rules, await this.run(this.scripts.acquire, command, words));
  }

  async settle(command: SettleCommand): Promise<SettleAnswer> {
    const words = [plainName('an id', command.id), command.tokens, command.microUsd];
    return readSettle(command.scope.rules, await this.run(this.scripts.settle, command, words));
  }

  async cancel(command: CancelCommand): Promise<CancelAnswer> {
    const words = [plainName('an id', command.id)];
    return readCancel(command.scope.rules, await this.run(this.scripts.cancel, command, words));
  }

  async beat(command: BeatCommand): Promise<BeatAnswer> {
    const words = command.ids.map((id) => plainName('an id', id));
    return readBeat(command.scope.rules, words.length, await this.run(this.scripts.beat, command, words));
  }

  async hold(command: HoldCommand): Promise<ScopeNews> {
    const reply = await this.run(this.scripts.hold, command, [Math.ceil(command.forMs)]);
    return readPlain('hold', command.scope.rules, reply);
  }

  async learn(command: LearnCommand): Promise<ScopeNews> {
    const limits = command.limits.flatMap(({ windowMs, requests = -1, tokens = -1 }) => [windowMs, requests, tokens]);
    const reply = await this.run(this.scripts.learn, command, [Math.ceil(command.forMs), ...limits]);
    return readPlain('learn', command.scope.rules, reply);
  }

  async inspect(scope: Scope): Promise<ScopeState> {
    const words = [rulesText(scope.rules), '', this.channels, JSON.stringify(scope.name), '0|'];
    const reply = await this.store.run(this.scripts.inspect, this.keysOf(scope), words);
    return readInspect(scope.rules, reply);
  }

  subscribe(process: string, receive: (message: AdmissionMessage) => void, resumed?: () => void): Promise<void> {
    const hear = (text: string): void => {
      const message = readMessage(text);
      if (message !== undefined) receive(message);
    };
    return this.store.subscribe(this.channelOf(process), hear, resumed);
  }

  unsubscribe(process: string): Promise<void> {
    return this.store.unsubscribe(this.channelOf(process));
  }

  private run(script: Script, { scope, process, seen, localMs }: ScopeCommand, words: Words): Promise<unknown> {
    const { name, rules } = scope;
    const common = [rulesText(rules), plainName('a process', process), this.channels, JSON.stringify(name)];
    const known = `${seen ? '1' : '0'}|${localMs === undefined ? '' : String(Math.floor(localMs))}`;
    return this.store.run(script, this.keysOf(scope), [...common, known, ...words]);
  }

  private channelOf(process: string): string {
    return `${this.channels}${plainName('a process', process)}`;
  }

  private keysOf({ name, rules }: Scope): readonly string[] {
    return scopeKeys(this.store.keyPrefix, name, rules);
  }
}
