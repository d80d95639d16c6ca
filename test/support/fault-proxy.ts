import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  type CommandFault,
  FaultyConnection,
  type FaultRule,
  type MessageFault,
  type Words,
} from './faulty-connection.js';
import { freePort } from './free-port.js';
import { MAX_STARTS } from './redis-server.js';

export type { CommandFault, MessageFault, Words } from './faulty-connection.js';

/** One rule while it is in force. */
export interface Fault {
  /** How often it was applied. */
  readonly hits: number;
  /** Resolves when it was applied for the first time. */
  readonly met: Promise<void>;
  remove(): void;
}

/** Stands between clients and one redis-server, and does what bad networks do. Rules count for the first that matches. */
export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** Clients' connections that are open now. */
  readonly connections: number;
  /** @param times after so many it is over. Default 1 */
  onCommand(matches: (words: Words) => boolean, fault: CommandFault, times?: number): Fault;
  /** @param times after so many it is over. Default: all */
  onMessage(matches: (words: Words) => boolean, fault: MessageFault, times?: number): Fault;
  /** Counts commands and changes nothing. */
  watch(matches: (words: Words) => boolean): Fault;
  /** Resets every connection that is open. */
  cut(): void;
  /** Takes no connections and ends those it has, as a server that is down; `accept()` ends it. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Passes nothing either way while connections stay open; `heal()` ends it, and what was held back is lost. */
  partition(): void;
  heal(): void;
  /** Removes all rules and faults. */
  clear(): void;
  close(): Promise<void>;
}

/** @example const proxy = await startFaultProxy({ target: server }); proxy.onCommand(([name]) => name === 'evalsha', 'cut after'); */
export async function startFaultProxy({
  target,
}: {
  readonly target: { readonly host: string; readonly port: number };
}): Promise<FaultProxy> {
  for (let start = 1; ; start += 1) {
    const proxy = new NetworkProxy(target, await freePort());
    try {
      await proxy.accept();
      return proxy;
    } catch (error) {
      if (start === MAX_STARTS) throw error;
    }
  }
}

const HOST = '127.0.0.1';

class NetworkProxy implements FaultProxy {
  readonly host = HOST;
  #server: Server | undefined;
  readonly #open = new Set<FaultyConnection>();
  readonly #rules = new Set<Rule>();
  #isPartitioned = false;

  /** @param port kept while it refuses: clients know no other */
  constructor(
    private readonly target: { readonly host: string; readonly port: number },
    readonly port: number,
  ) {}

  get connections(): number {
    return this.#open.size;
  }

  onCommand(matches: (words: Words) => boolean, fault: CommandFault, times = 1): Fault {
    return this.#add({ about: 'command', matches, fault }, times);
  }

  onMessage(matches: (words: Words) => boolean, fault: MessageFault, times = Infinity): Fault {
    return this.#add({ about: 'message', matches, fault }, times);
  }

  watch(matches: (words: Words) => boolean): Fault {
    return this.#add({ about: 'command', matches, fault: undefined }, Infinity);
  }

  cut(): void {
    for (const connection of this.#open) connection.reset();
  }

  async refuse(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = [once(server, 'close'), ...[...this.#open].map((connection) => connection.closed)];
    server.close();
    this.cut();
    await Promise.all(closed);
  }

  async accept(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer((client) => {
      this.#take(client);
    });
    await once(server.listen(this.port, HOST), 'listening');
    this.#server = server;
  }

  partition(): void {
    this.#isPartitioned = true;
    for (const connection of this.#open) connection.silence();
  }

  /** Connections that were silent stay so: what TCP would send again is gone, and their ends would not fit. */
  heal(): void {
    this.#isPartitioned = false;
  }

  clear(): void {
    this.#rules.clear();
    this.heal();
  }

  async close(): Promise<void> {
    this.clear();
    await this.refuse();
  }

  #take(client: Socket): void {
    const server = connect(this.target.port, this.target.host);
    const connection = new FaultyConnection(client, server, (about, words) => this.#ruleFor(about, words));
    this.#open.add(connection);
    void connection.closed.then(() => this.#open.delete(connection));
    if (this.#isPartitioned) connection.silence();
  }

  #add(rule: FaultRule, times: number): Fault {
    const added = new Rule(rule, times, () => this.#rules.delete(added));
    this.#rules.add(added);
    return added;
  }

  /** Those that only watch see all that passes. */
  #ruleFor(about: FaultRule['about'], words: Words): FaultRule['fault'] {
    for (const rule of this.#rules) {
      if (!rule.takes(about, words)) continue;
      if (rule.fault !== undefined) return rule.fault;
    }
    return undefined;
  }
}

class Rule implements Fault {
  hits = 0;
  readonly met: Promise<void>;
  #meet: () => void = () => undefined;

  constructor(
    private readonly rule: FaultRule,
    private readonly times: number,
    readonly remove: () => void,
  ) {
    this.met = new Promise((resolve) => (this.#meet = resolve));
  }

  get fault(): FaultRule['fault'] {
    return this.rule.fault;
  }

  /** @returns whether it applies; then that was one time of those it has */
  takes(about: FaultRule['about'], words: Words): boolean {
    if (about !== this.rule.about || !this.rule.matches(words)) return false;
    this.hits += 1;
    this.#meet();
    if (this.hits >= this.times) this.remove();
    return true;
  }
}
