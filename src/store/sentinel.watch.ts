import type { Redis } from 'ioredis';
import { Link } from './link.js';
import type { Address, StoreTuning } from './redis.options.js';

const SWITCH = '+switch-master';
/** name, old host, old port, new host, new port (Redis documentation, "Sentinel Pub/Sub messages"). */
const SWITCH_WORDS = 5;

/** How the sentinels of one master are reached. */
export interface Sentinels {
  readonly masterName: string;
  /** Each opens a connection to one of them. */
  readonly open: readonly (() => Redis)[];
}

/**
 * Hears from the sentinels when the master is another one. After a planned failover the old master goes on taking commands, until
 * the sentinels make it a replica some ten seconds later; what it was told is lost then.
 */
export class SentinelWatch {
  readonly #links: readonly Link<Redis>[];

  /** @param switched told by every sentinel, each time, where the master is now */
  constructor(
    { masterName, open }: Sentinels,
    tuning: Required<StoreTuning>,
    private readonly switched: (master: Address) => void,
  ) {
    this.#links = open.map(
      (openOne) =>
        new Link<Redis>({
          kind: 'sentinel',
          open: () => this.#listen(masterName, openOne()),
          prepare: async (client) => {
            await client.subscribe(SWITCH);
          },
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
    return client.on('message', (_channel: string, message: string) => {
      const words = message.split(' ');
      const [name, , , host, port] = words;
      if (name !== masterName || host === undefined || words.length !== SWITCH_WORDS) return;
      this.switched({ host, port: Number(port) });
    });
  }
}
