import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Command, Redis } from 'ioredis';
import type { Deadline } from './deadline.js';
import { checkServer, type ServerNotice } from './server.check.js';
import { StoreUnavailableError } from './store.errors.js';

/** Slots are asked for again at most so often, ms: under load every command fails while a master is away. */
const REFRESH_PAUSE_MS = 200;
/** And at least so often, ms, though nothing fails: a replica may have come. */
const REFRESH_MS = 5_000;
/** How often a command for a slot on its way is sent again, ms. */
const MOVING_PAUSE_MS = 25;

/**
 * The nodes behind a cluster client. ioredis connects to a node with the first command for it, and keeps that command in a queue
 * meanwhile; here masters are connected before they are used, and a silent one is dropped.
 */
export class ClusterNodes {
  readonly #connecting = new WeakMap<Redis, Promise<void>>();
  #lastRefresh = -Infinity;

  constructor(
    private readonly cluster: Cluster,
    /** How long a node may be silent, ms. */
    private readonly patienceMs: number,
  ) {
    cluster.on('+node', (node: Redis) => {
      if (cluster.status === 'ready') void this.#connect(node);
    });
  }

  /** Connects to the masters and looks at one of them. @throws StoreUnavailableError, StoreConfigurationError */
  async prepare(): Promise<readonly ServerNotice[]> {
    const masters = await this.primaries();
    const node = masters.find(({ status }) => status === 'ready');
    if (node === undefined) throw new StoreUnavailableError('no master of the cluster can be reached');
    return checkServer(node, 'cluster');
  }

  /** The masters, connected as far as they can be. */
  async primaries(): Promise<readonly Redis[]> {
    const masters = this.cluster.nodes('master');
    await Promise.all(masters.map((node) => this.#connect(node)));
    return masters;
  }

  /**
   * Sends a command to the master of its first key, and follows it to where that has gone; never from a queue. While it is on its way,
   * and no command is taken for it, asks again for nearly as long as a node may be silent.
   *
   * @param make a command can be sent but once
   */
  async send(make: () => Command, deadline: Deadline): Promise<unknown> {
    const until = performance.now() + this.patienceMs - 2 * MOVING_PAUSE_MS;
    for (;;) {
      try {
        return await this.#sendOnce(make());
      } catch (error) {
        if (!isMoving(error) || deadline.isOver || performance.now() > until) throw error;
      }
      await sleep(MOVING_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** Where the commands for a slot go now. */
  masterOf(slot: number | null | undefined): Redis | undefined {
    const [address] = (typeof slot === 'number' ? this.cluster.slots[slot] : undefined) ?? [];
    return this.cluster.nodes('all').find(({ options }) => `${options.host ?? ''}:${options.port ?? 0}` === address);
  }

  /** Drops nodes that are silent. @throws StoreUnavailableError where none answers, or the cluster says that it is down */
  async probe(): Promise<void> {
    if (performance.now() - this.#lastRefresh >= REFRESH_MS) this.refresh();
    const connected = this.cluster.nodes('all').filter(({ status }) => status === 'ready');
    const answers = await Promise.all(connected.map((node) => this.#isAlive(node)));
    const alive = connected.find((_, index) => answers[index] === true);
    if (alive === undefined) throw new StoreUnavailableError('no node of the cluster answers');
    const state = await alive.cluster('INFO');
    if (!state.includes('cluster_state:ok')) throw new StoreUnavailableError('the cluster is down');
  }

  /** Asks where the slots are now, soon after something failed. */
  refresh(): void {
    const now = performance.now();
    if (this.cluster.status !== 'ready' || now - this.#lastRefresh < REFRESH_PAUSE_MS) return;
    this.#lastRefresh = now;
    this.cluster.refreshSlotsCache();
  }

  async #sendOnce(command: Command): Promise<unknown> {
    const node = this.masterOf(command.getSlot());
    if (node !== undefined && node.status !== 'ready') await this.#connect(node);
    const { reject } = command;
    this.cluster.sendCommand(command);
    // ioredis has put its own in place: it would ask any node, and also after the caller has left.
    const follow = command.reject;
    command.reject = (error) => {
      (isMoving(error) ? reject : follow).call(command, error);
    };
    return command.promise;
  }

  /** Resolves when the node is connected or can't be: then it is gone from the pool, and who needs it is told. */
  async #connect(node: Redis): Promise<void> {
    if (node.status === 'wait')
      this.#connecting.set(
        node,
        node.connect().catch(() => undefined),
      );
    await this.#connecting.get(node);
  }

  async #isAlive(node: Redis): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, this.patienceMs, false);
    });
    const isAlive = await Promise.race([answers(node), silence]);
    clearTimeout(timer);
    if (!isAlive) {
      node.disconnect();
      this.refresh();
    }
    return isAlive;
  }
}

/** A slot is on its way: its keys are at both masters, or one of them does not know yet that it has come. Nothing was run. */
function isMoving(error: unknown): boolean {
  return error instanceof Error && /^(TRYAGAIN|ASK) |^Too many Cluster redirections/.test(error.message);
}

async function answers(node: Redis): Promise<boolean> {
  try {
    await node.ping();
    return true;
  } catch (error) {
    // An error reply is an answer; anything else ended the connection.
    return error instanceof Error && error.name === 'ReplyError';
  }
}
