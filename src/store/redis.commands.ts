import { type Cluster, Command, type Redis } from 'ioredis';
import { ClusterNodes } from './cluster.nodes.js';
import { type Deadline, withDeadline } from './deadline.js';
import { GatheredWrites } from './gathered.writes.js';
import { HealthRecord } from './health.record.js';
import { leadsTo, type LeftMaster } from './left.master.js';
import { Link } from './link.js';
import { type Clients, isCluster } from './redis.clients.js';
import type { Address, StoreTuning } from './redis.options.js';
import { replyCode, storeFault } from './redis.fault.js';
import { checkServer } from './server.check.js';
import { StoreError, type StoreFaultReason, StoreUnavailableError } from './store.errors.js';
import { TurnEnd } from './turn.end.js';

/** A probe writes, so that a read-only server shows itself; the key never exists. */
const PROBE_KEY = 'heartbeat';
/** How many keys a SCAN looks at in one go: enough to get on, little enough to hold nobody up. */
const SCAN_STEP = 500;
const LEFT = 'redis fails over: the sentinels leave this master';

export interface RedisCommand {
  readonly name: string;
  /** Not readonly for ioredis' sake, which takes a copy. */
  readonly args: (string | number)[];
}

type Work<T> = (client: Redis | Cluster, deadline: Deadline) => Promise<T>;

/** The connection that commands go over: each with its own deadline, never queued, never repeated. */
export class RedisCommands {
  readonly #health = new HealthRecord();
  readonly #link: Link<Redis | Cluster>;
  /** Of the cluster client in use. */
  #nodes: ClusterNodes | undefined;
  #wasDemoted = false;
  readonly #noticed = new Set<string>();
  readonly #turn = new TurnEnd();
  readonly #writes = new GatheredWrites(this.#turn);

  /**
   * @param left no connection to it is used
   * @param renewed told of each usable connection, and whether the one before led to a server that was made a replica
   */
  constructor(
    private readonly clients: Clients,
    private readonly tuning: Required<StoreTuning>,
    private readonly left: LeftMaster,
    private readonly renewed: (wasDemoted: boolean) => void,
  ) {
    this.#link = new Link<Redis | Cluster>({
      kind: clients.kind,
      open: () => this.#open(),
      prepare: (client) => this.#prepare(client),
      probe: (client) => this.#probe(client),
      patienceMs: 2 * tuning.commandTimeoutMs,
      heartbeatMs: tuning.heartbeatMs,
      lost: (fault) => {
        this.#health.failed(fault);
      },
    });
    this.#link.start();
  }

  get downForMs(): number {
    return this.#health.downForMs;
  }

  get downReason(): StoreFaultReason | undefined {
    return this.#health.reason;
  }

  get client(): Redis | Cluster | undefined {
    return this.#link.client;
  }

  /** The client; waits for the very first connection only. @throws StoreUnavailableError, StoreConfigurationError */
  usable(deadline: Deadline): Promise<Redis | Cluster> {
    return this.#link.usable(deadline);
  }

  /** Resolves when the first connection is there. @throws StoreError where it can't be had within a command's deadline */
  async connected(): Promise<void> {
    await withDeadline('the connection', 2 * this.tuning.commandTimeoutMs, (deadline) => this.#link.usable(deadline));
  }

  /**
   * @param label what the error messages call it
   * @param alternative sent once, within the same deadline, where the server doesn't know the script
   * @throws StoreTimeoutError, StoreUnavailableError, StoreConfigurationError; a script's own error as it is
   */
  async send(label: string, command: RedisCommand, alternative?: () => RedisCommand): Promise<unknown> {
    return this.#within(label, (client, deadline) => this.#sendEither(client, deadline, { command, alternative }));
  }

  /**
   * As send(); then waits until replicas have received what this connection has written.
   *
   * @throws StoreUnavailableError also where they have not in half of a command's deadline
   */
  async sendDurably(
    label: string,
    command: RedisCommand,
    { alternative, replicas }: { alternative: () => RedisCommand; replicas: number },
  ): Promise<unknown> {
    return this.#within(label, async (client, deadline) => {
      const reply = await this.#sendEither(client, deadline, { command, alternative });
      const node = isCluster(client)
        ? this.#nodes?.masterOf(new Command(command.name, command.args).getSlot())
        : client;
      const reached = (await node?.wait(replicas, Math.floor(this.tuning.commandTimeoutMs / 2))) ?? 0;
      if (reached >= replicas) return reply;
      const message = `only ${reached} of ${replicas} replicas have received what ${label} wrote`;
      throw new StoreUnavailableError(message, { mayHaveRun: true });
    });
  }

  /** Names of keys, found on each primary; see Store. */
  async *scan(pattern: string): AsyncGenerator<readonly string[]> {
    const seen = new Set<string>();
    for (const node of await this.#primaries()) {
      let cursor = '0';
      do {
        const step = await this.#within('SCAN', () => node.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_STEP));
        cursor = step[0];
        // While the table grows or shrinks, SCAN gives some names twice.
        const fresh = [...new Set(step[1])].filter((name) => !seen.has(name));
        for (const name of fresh) seen.add(name);
        yield fresh;
      } while (cursor !== '0');
    }
  }

  /** Leaves a connection to the left master. */
  leave(): void {
    const { client } = this.#link;
    if (client !== undefined && this.left.isBehind(client)) this.#link.renew(new StoreUnavailableError(LEFT));
  }

  /** Leaves a connection that leads anywhere else, also one that is still being made. */
  follow(master: Address): void {
    const { client } = this.#link;
    if (client !== undefined && leadsTo(client, master)) return;
    this.#link.renew(new StoreUnavailableError('redis fails over: the sentinels name another master'));
  }

  /** See Store. */
  atTurnsEnd(work: () => void): void {
    this.#turn.then(work);
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  async #within<T>(label: string, work: Work<T>): Promise<T> {
    try {
      const answer = await withDeadline(label, this.tuning.commandTimeoutMs, (deadline) => {
        const { client } = this.#link;
        return client === undefined
          ? this.#link.usable(deadline).then((usable) => work(usable, deadline))
          : work(client, deadline);
      });
      this.#health.succeeded();
      return answer;
    } catch (error) {
      throw this.#judged(storeFault(error, this.clients.kind));
    }
  }

  #primaries(): Promise<readonly Redis[]> {
    return this.#within('SCAN', async (client) =>
      isCluster(client) ? ((await this.#nodes?.primaries()) ?? []) : [client],
    );
  }

  /** A refused command (wrong type, no permission, a script's error) is an answer all the same. */
  #judged(fault: unknown): unknown {
    if (fault instanceof StoreError && fault.isRetryable) {
      this.#health.failed(fault);
      this.#nodes?.refresh();
    }
    return fault;
  }

  async #sendEither(
    client: Redis | Cluster,
    deadline: Deadline,
    { command, alternative }: { command: RedisCommand; alternative: (() => RedisCommand) | undefined },
  ): Promise<unknown> {
    try {
      return await this.#sendOver(client, deadline, command);
    } catch (error) {
      if (replyCode(error) !== 'NOSCRIPT' || alternative === undefined || deadline.isOver) throw error;
      return this.#sendOver(client, deadline, alternative());
    }
  }

  async #sendOver(client: Redis | Cluster, deadline: Deadline, { name, args }: RedisCommand): Promise<unknown> {
    const make = (): Command => new Command(name, args, { replyEncoding: 'utf8' });
    if (isCluster(client)) return this.#nodes?.send(make, deadline);
    const command = make();
    this.#writes.gather(client);
    client.sendCommand(command);
    return command.promise;
  }

  #open(): Redis | Cluster {
    const client = this.clients.openCommands();
    this.#nodes = isCluster(client) ? new ClusterNodes(client, this.tuning.commandTimeoutMs) : undefined;
    return client;
  }

  async #prepare(client: Redis | Cluster): Promise<void> {
    const notices = isCluster(client)
      ? ((await this.#nodes?.prepare()) ?? [])
      : await checkServer(client, this.clients.kind);
    if (this.left.isBehind(client)) throw new StoreUnavailableError(LEFT);
    for (const notice of notices) this.#notify(notice);
    this.#health.succeeded();
    this.renewed(this.#wasDemoted);
    this.#wasDemoted = false;
  }

  #notify(notice: string): void {
    if (this.#noticed.has(notice)) return;
    this.#noticed.add(notice);
    this.tuning.notify(notice);
  }

  async #probe(client: Redis | Cluster): Promise<void> {
    if (isCluster(client)) await this.#nodes?.probe();
    else if (this.#health.hasSucceededWithin(this.tuning.heartbeatMs)) return;
    else await this.#probeMaster(client);
    this.#health.succeeded();
  }

  /** One that was made a replica keeps its connections, also where the name that it was reached by leads to another server by now. */
  async #probeMaster(client: Redis): Promise<void> {
    try {
      await client.del(`${this.clients.keyPrefix}${PROBE_KEY}`);
    } catch (error) {
      this.#wasDemoted = replyCode(error) === 'READONLY';
      if (this.#wasDemoted) this.#link.renew(storeFault(error, this.clients.kind));
      throw error;
    }
  }
}
