import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Redis } from 'ioredis';
import { Link } from './link.js';
import type { Address, StoreTuning } from './redis.options.js';
import { replyCode } from './redis.fault.js';
import { SwitchOrder } from './switch.order.js';

/** What sentinels publish, and how many words each message has (Redis documentation, "Sentinel Pub/Sub messages"). */
const SWITCH = '+switch-master';
/** name, old host, old port, new host, new port */
const SWITCH_WORDS = 5;
/** A replica was chosen, and is told next that it is the master. */
const LEAVE = '+failover-state-send-slaveof-noone';
/** kind, name, host and port of the replica, @, then name, host and port of its master */
const LEAVE_WORDS = 8;
const LEFT_OUT = 5;
const UNTOLD =
  'the sentinels do not say who the master is (allow their user +sentinel|master): a switch while they are not listened to shows ' +
  'only by refusals';

/** How the sentinels of one master are reached. */
export interface Sentinels {
  readonly masterName: string;
  /** Each opens a connection to one of them. */
  readonly open: readonly (() => Redis)[];
}

/** What is heard from the sentinels; each of them may say the same. */
export interface SentinelNews {
  /** A failover leaves this master; where the next one is will be told. */
  readonly leaving: (master: Address) => void;
  readonly switched: (master: Address) => void;
}

/**
 * Hears from the sentinels that they leave a master, and then which one is the next. The old one, where it still runs, hears of it
 * up to ten seconds after its replica did, and takes commands all the while: what it was told since then is lost. What was said while
 * no connection listened is asked for with the next one.
 */
export class SentinelWatch {
  readonly #links: readonly Link<Redis>[];
  readonly #order = new SwitchOrder();
  #isNoticed = false;

  constructor(
    { masterName, open }: Sentinels,
    private readonly tuning: Required<StoreTuning>,
    private readonly news: SentinelNews,
  ) {
    this.#links = open.map(
      (openOne) =>
        new Link<Redis>({
          kind: 'sentinel',
          open: () => this.#listen(masterName, openOne()),
          prepare: (client) => this.#begin(masterName, client),
          probe: async (client) => {
            await client.ping();
          },
          patienceMs: 2 * tuning.commandTimeoutMs,
          heartbeatMs: tuning.heartbeatMs,
        }),
    );
    for (const link of this.#links) link.start();
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.close()));
  }

  #listen(masterName: string, client: Redis): Redis {
    return client.on('message', (channel: string, message: string) => {
      const words = message.split(' ');
      const [name, ...addresses] = channel === SWITCH ? words : words.slice(LEFT_OUT);
      if (name !== masterName || words.length !== (channel === SWITCH ? SWITCH_WORDS : LEAVE_WORDS)) return;
      const [old, next] = [addresses.slice(0, 2).join(' '), addresses.slice(2).join(' ')];
      if (channel === LEAVE) {
        // At once: whatever the old one is told from now on may be lost.
        this.#leave(old);
        return;
      }
      // Behind what was answered before it on this connection.
      setImmediate(() => {
        this.#switch(old, next);
      });
    });
  }

  async #begin(masterName: string, client: Redis): Promise<void> {
    // In one write, which a sentinel answers in one go: nothing is said between the answers and the subscription.
    const [known, address, subscribed] =
      (await client
        .pipeline()
        .call('SENTINEL', 'MASTER', masterName)
        .call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)
        .subscribe(SWITCH, LEAVE)
        .exec()) ?? [];
    if (subscribed?.[0]) throw subscribed[0];
    if (replyCode(known?.[0]) === 'NOPERM') this.#notice();
    this.#answer(epochOf(known?.[1]), address?.[1]);
  }

  #notice(): void {
    if (!this.#isNoticed) this.tuning.notify(UNTOLD);
    this.#isNoticed = true;
  }

  /** Undefined where it watches no such master; who asks it for the master is told so. */
  #answer(epoch: number | undefined, address: unknown): void {
    if (epoch === undefined || !Array.isArray(address)) return;
    const master = address.join(' ');
    if (!this.#order.hasMissed(master, epoch)) return;
    const { left } = this.#order;
    if (left !== undefined) void this.#tell('leaving', left);
    void this.#tell('switched', master);
  }

  #leave(old: string): void {
    this.#order.leave(old);
    void this.#tell('leaving', old);
  }

  #switch(old: string, next: string): void {
    if (!this.#order.takes(old, next)) return;
    void this.#tell('leaving', old);
    void this.#tell('switched', next);
  }

  async #tell(news: keyof SentinelNews, address: string): Promise<void> {
    const [host = '', port] = address.split(' ');
    this.news[news]({ host: await addressOf(host), port: Number(port) });
  }
}

/** From the names and values in turn that SENTINEL MASTER answers. */
function epochOf(known: unknown): number | undefined {
  if (!Array.isArray(known)) return undefined;
  const epoch = Number(known[known.indexOf('config-epoch') + 1]);
  return Number.isSafeInteger(epoch) ? epoch : undefined;
}

/** Sentinels may be told to name hosts; connections know addresses. */
async function addressOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch {
    // A machine that is gone may have lost its name: then it can't be told from others.
    return host;
  }
}
