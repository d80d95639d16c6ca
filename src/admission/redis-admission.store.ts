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
import { type ScopeHead, TurnScript } from './turn.script.js';

type Words = readonly (string | number)[];

/** What scripts are told of a scope, whoever asks and whatever is known of it. */
interface ScopeText {
  readonly keys: readonly string[];
  readonly rules: string;
  readonly name: string;
  readonly slot: string;
}

/** Scopes shared by all processes on one Redis. What a script does happens at once or not at all. */
export class RedisAdmissionStore implements AdmissionStore {
  private readonly channels: string;
  private readonly acquires: TurnScript;
  private readonly settles: TurnScript;
  private readonly texts = new WeakMap<Scope, ScopeText>();

  constructor(
    private readonly store: Store,
    private readonly scripts: AdmissionScripts = loadAdmissionScripts(),
  ) {
    this.channels = channelPrefix(store.keyPrefix);
    this.acquires = new TurnScript(store, scripts.acquire);
    this.settles = new TurnScript(store, scripts.settle);
  }

  async acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    const { id, flow, weight, tokens, microUsd, waitMs, leaseMs, scope } = command;
    const words = [plainName('an id', id), escapeName(flow), weight, tokens, microUsd, Math.floor(waitMs), leaseMs];
    return readAcquire(scope.rules, await this.acquires.run(this.headOf(command), words));
  }

  async settle(command: SettleCommand): Promise<SettleAnswer> {
    const words = [plainName('an id', command.id), command.tokens, command.microUsd];
    return readSettle(command.scope.rules, await this.settles.run(this.headOf(command), words));
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
    const { keys, rules, name } = this.textOf(scope);
    return readInspect(
      scope.rules,
      await this.store.run(this.scripts.inspect, keys, [rules, '', this.channels, name, '0|']),
    );
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

  private run(script: Script, command: ScopeCommand, words: Words): Promise<unknown> {
    const head = this.headOf(command);
    return this.store.run(script, head.keys, [...head.words, ...words]);
  }

  private headOf({ scope, process, seen, localMs }: ScopeCommand): ScopeHead {
    const { keys, rules, name, slot } = this.textOf(scope);
    const known = `${seen ? '1' : '0'}|${localMs === undefined ? '' : String(Math.floor(localMs))}`;
    const words = [rules, plainName('a process', process), this.channels, name, known];
    return { slot: `${process} ${slot}`, keys, words };
  }

  private channelOf(process: string): string {
    return `${this.channels}${plainName('a process', process)}`;
  }

  private textOf(scope: Scope): ScopeText {
    const known = this.texts.get(scope);
    if (known !== undefined) return known;
    const { name, slot = name, rules } = scope;
    const keys = scopeKeys(this.store.keyPrefix, scope);
    const text = { keys, rules: rulesText(rules), name: JSON.stringify(name), slot };
    this.texts.set(scope, text);
    return text;
  }
}
